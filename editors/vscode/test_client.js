// Drives the real server with the protocol library of VS Code's client: node test_client.js PYTHON ROOT
const { spawn } = require("node:child_process");
const { pathToFileURL } = require("node:url");
const rpc = require("vscode-languageserver-protocol/node");
const { certificate, references, search, status } = require("./out/questions");

async function main(python, root) {
  const server = spawn(python, ["-m", "gitindex", "lsp"], { cwd: root, stdio: ["pipe", "pipe", "inherit"] });
  const connection = rpc.createProtocolConnection(
    new rpc.StreamMessageReader(server.stdout), new rpc.StreamMessageWriter(server.stdin),
  );
  connection.listen();
  const rootUri = pathToFileURL(root).toString();
  const begun = await connection.sendRequest(rpc.InitializeRequest.type, {
    processId: process.pid, rootUri, capabilities: {}, workspaceFolders: [{ uri: rootUri, name: "root" }],
  });
  connection.sendNotification(rpc.InitializedNotification.type, {});
  const found = {
    commands: begun.capabilities.executeCommandProvider.commands,
    status: await status(connection, rootUri),
    search: await search(connection, "helper", rootUri),
    references: await references(connection, "lib/util.py", 6, 5, rootUri),
    absent: certificate({ status: "ok", text: [], absent: true, accountedFor: true, accounted: { total: 7 } }),
  };
  await connection.sendRequest(rpc.ShutdownRequest.type);
  connection.sendNotification(rpc.ExitNotification.type);
  connection.dispose();
  process.stdout.write(JSON.stringify(found));
}

main(...process.argv.slice(2)).catch((error) => {
  process.stderr.write(`${error.stack}\n`);
  process.exit(1);
});
