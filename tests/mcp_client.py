"""The SDK's real client over stdio, with plain calls; and the same tools without a process."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import httpx2
from anyio.from_thread import start_blocking_portal
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

from gitindex.base.runner_lock import RunnerLock
from gitindex.base.vocabulary import BuildKind
from gitindex.mcp.dispatch import call
from gitindex.mcp.question_tools import BY_NAME
from gitindex.mcp.server_state import Registry, ServerState
from gitindex.refresh.public_files import create_store, note_progress
from gitindex.refresh.runner import RefreshRequest, Runner
from tests.support import Repo

READERS: dict[str, dict[str, Any]] = {
    "search_codebase": {"query": "helper"},
    "file_outline": {"file": "app.py"},
    "read_file": {"file": "app.py"},
    "slice": {"file": "app.py", "line": 5},
    "find_references": {"symbol": "helper"},
    "call_graph": {"symbol": "helper"},
    "check_mutation_gate": {"file": "lib/util.py"},
    "file_states": {"files": ["app.py"]},
    "repo_map": {},
    "explore": {"query": "helper"},
    "find_symbols": {"name": "helper"},
    "grep_codebase": {"pattern": "help.r"},
    "impact": {},
    "search_documents": {"query": "words"},
    "rename_symbol": {"symbol": "helper", "newName": "assist"},
}
"""The tools behind the gate, each with arguments that it answers in the `quiet` repository."""


def envelope_of(result: Any) -> dict[str, Any]:
    """The envelope of a result: text beside it where it is ok, the same as JSON elsewhere."""
    [content] = result.content
    value = result.structured_content
    assert isinstance(value, dict)
    assert isinstance(value["status"], str)
    if value["status"] == "ok":
        assert content.text.strip()
        assert not content.text.startswith("{")
    else:
        assert content.text.isascii()
        assert json.loads(content.text) == value
    return value


class Agent:
    """A client and the server process it started in `folder`."""

    def __init__(self, folder: Path, state: Path, *args: str) -> None:
        self.state = state
        self._parameters = StdioServerParameters(
            command=sys.executable,
            args=["-m", "gitindex", "mcp", *args],
            cwd=folder,
            env={**os.environ, "XDG_STATE_HOME": str(state)},
        )
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        self._portal = self._stack.enter_context(start_blocking_portal())
        client = Client(stdio_client(self._parameters))
        self._client = self._stack.enter_context(self._portal.wrap_async_context_manager(client))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._stack.__exit__(kind, error, at)

    def ask(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The envelope of one call: never a protocol error."""
        return self.watch(tool, arguments)

    def watch(
        self, tool: str, arguments: dict[str, Any], seen: list[Any] | None = None
    ) -> dict[str, Any]:
        """The same; progress notifications are appended to `seen`."""

        async def note(progress: float, total: float | None, message: str | None) -> None:
            assert seen is not None
            seen.append((progress, total, message))

        async def send() -> Any:
            return await self._client.call_tool(
                tool, arguments, progress_callback=note if seen is not None else None
            )

        result = self._portal.call(send)
        assert result.is_error is False
        return envelope_of(result)

    def call(self, tool: str, **arguments: Any) -> Any:
        """The result of one call, as the SDK has it."""
        return self._portal.call(self._client.call_tool, tool, arguments)

    def ask_at_once(self, calls: list[tuple[str, dict[str, Any]]]) -> list[dict[str, Any]]:
        """Many calls, all sent before the first answer."""
        pending = [
            self._portal.start_task_soon(self._client.call_tool, tool, arguments)
            for tool, arguments in calls
        ]
        results = [task.result(120) for task in pending]
        return [envelope_of(result) for result in results]

    def manage(self, action: str, path: object, **more: Any) -> dict[str, Any]:
        return self.ask("manage_index", action=action, path=str(path), **more)

    def tools(self) -> list[Any]:
        return list(self._portal.call(self._client.list_tools).tools)


class HttpAgent(Agent):
    """The same client over HTTP, to a server that is there already."""

    def __init__(self, url: str, token: str) -> None:
        self._url, self._token = url, token
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        self._portal = self._stack.enter_context(start_blocking_portal())
        headers = {"Authorization": f"Bearer {self._token}"}
        client_of = httpx2.AsyncClient(headers=headers, timeout=120)
        known = self._stack.enter_context(self._portal.wrap_async_context_manager(client_of))
        client = Client(streamable_http_client(self._url, http_client=known))
        self._client = self._stack.enter_context(self._portal.wrap_async_context_manager(client))
        return self


class Inside:
    """The same tools through the same door, in this process."""

    def __init__(self, home: str, state: Path) -> None:
        self.server = ServerState(home, Registry(str(state / "gitindex")))

    def ask(self, tool: str, **arguments: Any) -> dict[str, Any]:
        return call(self.server, BY_NAME[tool], arguments)


def make_quiet(repo: Repo) -> Repo:
    """What the `quiet` fixture makes, for more than one test: indexed in this very process."""
    repo.init()
    repo.write("app.py", "import lib.util\n\n\ndef main():\n    return lib.util.helper()\n")
    repo.write("lib/util.py", "def helper():\n    return 42\n")
    repo.write("README.md", "# Title\n\nSome words.\n")
    repo.commit("first")
    create_store(repo.worktree)
    assert Runner(repo.worktree).serve(RefreshRequest(repo.worktree, "index"))
    return repo


@contextmanager
def job_running(repo: Repo, kind: BuildKind) -> Iterator[None]:
    """What readers see while a runner is at work: its lock and its note."""
    lock = RunnerLock(repo.worktree.lock)
    assert lock.acquire()
    note_progress(repo.worktree, kind, "extract", 40.0)
    try:
        yield
    finally:
        os.unlink(repo.worktree.progress)
        lock.release()


@contextmanager
def probe_failing(repo: Repo) -> Iterator[None]:
    """The marker cannot be read: another thing is in its place. (A test may run as root.)"""
    marker = repo.worktree.marker
    os.rename(marker, marker + ".aside")
    os.mkdir(marker)
    try:
        yield
    finally:
        try:
            os.rmdir(marker)
        except (NotADirectoryError, FileNotFoundError):  # a writer repaired it, or is at it
            os.unlink(marker + ".aside")
        else:
            os.rename(marker + ".aside", marker)


def edit_marker(repo: Repo, change: Callable[[dict[str, Any]], None]) -> None:
    marker = repo.marker()
    change(marker)
    Path(repo.worktree.marker).write_text(json.dumps(marker))


def digests(*folders: str | Path) -> dict[str, str]:
    """Every file's hash and time below some folders, but for locks."""
    found = {}
    for folder in folders:
        for path in sorted(Path(folder).rglob("*")):
            if path.is_file() and not path.name.endswith("lock"):
                digest = hashlib.sha256(path.read_bytes()).hexdigest()
                found[str(path)] = f"{digest} {path.stat().st_mtime_ns}"
    return found
