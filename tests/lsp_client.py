"""A language client that speaks the protocol itself over the server's pipes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.support import TIMEOUT


class LspClient:
    """One editor: starts the server, sends requests, waits for their answers."""

    def __init__(self, root: Path, **options: bool) -> None:
        self.root = root
        self._process = subprocess.Popen(
            [sys.executable, "-m", "gitindex", "lsp"],
            cwd=root,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self.pid = self._process.pid
        self._number = 0
        self.capabilities = self.ask(
            "initialize",
            processId=None,
            rootUri=root.as_uri(),
            workspaceFolders=[{"uri": root.as_uri(), "name": "root"}],
            capabilities={},
            initializationOptions=options,
        )["capabilities"]
        self.notify("initialized")

    def ask(self, method: str, **params: Any) -> Any:
        message = self.answer(method, **params)
        assert "error" not in message, message
        return message["result"]

    def answer(self, method: str, **params: Any) -> dict[str, Any]:
        """Return the whole answer, which may be an error."""
        self._number += 1
        self._send({"id": self._number, "method": method, "params": params})
        while True:
            message = self._receive()
            if message.get("id") == self._number and "method" not in message:
                return message

    def notify(self, method: str, **params: Any) -> None:
        self._send({"method": method, "params": params})

    def open(self, name: str, text: str | None = None) -> str:
        file = self.root / name
        self.notify(
            "textDocument/didOpen",
            textDocument={
                "uri": file.as_uri(),
                "languageId": "python",
                "version": 1,
                "text": file.read_text() if text is None else text,
            },
        )
        return file.as_uri()

    def change(self, uri: str, text: str, version: int = 2) -> None:
        self.notify(
            "textDocument/didChange",
            textDocument={"uri": uri, "version": version},
            contentChanges=[{"text": text}],
        )

    def close(self) -> int:
        self.ask("shutdown")
        self.notify("exit")
        code = self._process.wait(TIMEOUT)
        self.kill()
        return code

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            pipe.close()

    def _send(self, message: dict[str, Any]) -> None:
        data = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self._process.stdin is not None
        self._process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(data), data))
        self._process.stdin.flush()

    def _receive(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        length = 0
        while (line := self._process.stdout.readline()) not in (b"\r\n", b""):
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        message = json.loads(self._process.stdout.read(length))
        assert isinstance(message, dict)
        return message
