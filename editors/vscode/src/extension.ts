// The VS Code side: status bar, pick lists and commands over `gitindex lsp`.
import * as path from "node:path";
import * as vscode from "vscode";
import { LanguageClient } from "vscode-languageclient/node";
import { ask, Asker, Item, references, search, status } from "./questions";

const STATUS_MS = 5_000; // a status costs the server about a millisecond; nobody sees a shorter wait
let client: LanguageClient | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const bar = vscode.window.createStatusBarItem(vscode.StatusBarAlignment.Left, 0);
  bar.command = "gitindex.showStatus";
  context.subscriptions.push(
    bar,
    vscode.commands.registerCommand("gitindex.search", pickSearch),
    vscode.commands.registerCommand("gitindex.explore", explore),
    vscode.commands.registerCommand("gitindex.references", pickReferences),
    vscode.commands.registerCommand("gitindex.renamePlan", renamePlan),
    vscode.commands.registerCommand("gitindex.showStatus", () => showText("status", {})),
    vscode.commands.registerCommand("gitindex.restart", async () => {
      await client?.stop(); // a new client: the command may be another one
      await start();
    }),
    vscode.workspace.registerTextDocumentContentProvider("gitindex", { provideTextDocumentContent: shown }),
  );
  await start();
  const timer = setInterval(() => void refresh(bar), STATUS_MS);
  context.subscriptions.push({ dispose: () => clearInterval(timer) });
  context.subscriptions.push(vscode.window.onDidChangeActiveTextEditor(() => void refresh(bar)));
  await refresh(bar);
}

export async function deactivate(): Promise<void> {
  await client?.stop();
}

async function start(): Promise<void> {
  const settings = vscode.workspace.getConfiguration("gitindex");
  const [command, ...args] = settings.get<string[]>("command", ["gitindex", "lsp"]);
  client = new LanguageClient("gitindex", "gitindex", { command, args }, {
    documentSelector: [{ scheme: "file" }],
    initializationOptions: { codeLens: settings.get<boolean>("codeLens", false) },
  });
  try {
    await client.start();
  } catch (error) {
    client = undefined;
    void vscode.window.showErrorMessage(`gitindex does not start: ${String(error)}. Set gitindex.command, then restart.`);
  }
}

async function refresh(bar: vscode.StatusBarItem): Promise<void> {
  const uri = here();
  if (client === undefined || uri === "") {
    bar.hide();
    return;
  }
  try {
    const found = await status(client as Asker, uri);
    bar.text = found.text;
    bar.tooltip = found.tooltip;
    bar.show();
  } catch {
    bar.hide(); // not a repository, or the server restarts
  }
}

function here(): string {
  const editor = vscode.window.activeTextEditor;
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
  return editor?.document.uri.scheme === "file" ? editor.document.uri.toString() : folder?.toString() ?? "";
}

function root(uri: string): string {
  return vscode.workspace.getWorkspaceFolder(vscode.Uri.parse(uri))?.uri.fsPath ?? "";
}

async function pickSearch(): Promise<void> {
  const pick = vscode.window.createQuickPick<vscode.QuickPickItem & { found: Item }>();
  pick.placeholder = "Search the code of this repository";
  pick.matchOnDescription = true;
  let asked = 0;
  pick.onDidChangeValue(async (value) => {
    const number = ++asked;
    const found = client && value ? await search(client as Asker, value, here()) : [];
    if (number === asked) {
      pick.items = found.map((one) => ({ label: one.label, description: one.description, detail: one.detail, alwaysShow: true, found: one }));
    }
  });
  pick.onDidAccept(async () => {
    pick.hide();
    await open(pick.selectedItems[0]?.found);
  });
  pick.show();
}

async function pickReferences(): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  if (client === undefined || editor === undefined) {
    return;
  }
  const uri = editor.document.uri.toString();
  const { line, character } = editor.selection.active;
  const before = editor.document.lineAt(line).text.slice(0, character);
  const file = path.relative(root(uri), editor.document.uri.fsPath).split(path.sep).join("/");
  const found = await references(client as Asker, file, line + 1, Buffer.byteLength(before) + 1, uri);
  const rows = found.items.map((one) => ({ label: one.label, description: one.description, detail: one.detail, found: one }));
  const chosen = await vscode.window.showQuickPick(rows, { title: found.title, matchOnDescription: true });
  await open(chosen?.found);
}

async function explore(): Promise<void> {
  const question = await vscode.window.showInputBox({ prompt: "What do you want to know about this code?" });
  if (question) {
    await showText("explore", { query: question });
  }
}

async function renamePlan(): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  if (editor === undefined) {
    return;
  }
  const word = editor.document.getText(editor.document.getWordRangeAtPosition(editor.selection.active));
  const name = await vscode.window.showInputBox({ prompt: `Rename ${word} to`, value: word });
  if (name && name !== word) {
    const file = path.relative(root(editor.document.uri.toString()), editor.document.uri.fsPath);
    await showText("rename", { symbol: `${file}#${word}`, newName: name });
  }
}

const texts = new Map<string, string>();

function shown(uri: vscode.Uri): string {
  return texts.get(uri.path) ?? "";
}

async function showText(question: string, params: Record<string, unknown>): Promise<void> {
  if (client === undefined) {
    return;
  }
  const answer = await ask(client as Asker, question, params, here());
  const name = `/${question}-${texts.size}.txt`;
  texts.set(name, answer.text.join("\n"));
  await vscode.window.showTextDocument(vscode.Uri.parse(`gitindex:${name}`), { preview: true });
}

async function open(found: Item | undefined): Promise<void> {
  if (found === undefined) {
    return;
  }
  const place = new vscode.Position(found.line - 1, found.column - 1);
  const uri = vscode.Uri.file(path.join(root(here()), found.path));
  await vscode.window.showTextDocument(uri, { selection: new vscode.Range(place, place) });
}
