"""The Model Context Protocol: messages in and out, alike over every transport; and stdin and stdout.

A library for it took each server 0.5 s of CPU and 54 MB before the first answer. The protocol of a
server that has tools and nothing else is this file; tests speak to it by the library's own client.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Callable
from queue import SimpleQueue
from threading import Lock, Thread, Timer
from typing import Any

from gitindex.base.escape import refusal
from gitindex.base.locations import state_folder
from gitindex.base.version import __version__
from gitindex.freshness.observation import read_progress
from gitindex.mcp.arguments import input_schema
from gitindex.mcp.dispatch import Answer, Arguments, McpTool, call, content_of
from gitindex.mcp.question_tools import BY_NAME, INSTRUCTIONS, TOOLS
from gitindex.mcp.server_state import Operation, Registry, ServerState, home_of

VERSIONS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
"""Of the protocol, newest first: a server with tools alone says the same in all of them."""
THREADS = 4
CALL_SECONDS = 120.0
POLL_SECONDS = 0.1
LAST_SECONDS = 10.0
"""How long a client that closed stdin still gets answers: `printf … | gitindex mcp` wants them."""
SYNC_SECONDS = 10
"""How long `sync` waits for the refresh by default, to return its outcome."""
NO_JSON, NO_METHOD, BAD_PARAMS, CANCELLED = -32700, -32601, -32602, -32800

Message = dict[str, Any]
Send = Callable[[Message], None]


class Call:
    """One call of a tool, until its first reply."""

    def __init__(self, name: str | int, params: Message, send: Send) -> None:
        self.name = name
        self.tool: str = params["name"]
        self.given: Arguments = params.get("arguments") or {}
        self.is_over = False
        self._send, self._turn = send, Lock()
        meta = params.get("_meta")
        self._token = meta.get("progressToken") if isinstance(meta, dict) else None

    def end(self, reply: Message) -> None:
        """Send the reply, unless one was sent."""
        with self._turn:
            if not self.is_over:
                self._send(reply)
            self.is_over = True

    def report(self, percent: float, phase: str | None) -> None:
        """Tell a client that asked for it how far the work is."""
        if self._token is not None and not self.is_over:
            said = {"progress": percent, "total": 100.0, "message": phase}
            params = {"progressToken": self._token} | said
            self._send({"jsonrpc": "2.0", "method": "notifications/progress", "params": params})


class Protocol:
    """What a server says to each message. Tools are called in threads and reply in any order."""

    def __init__(self, state: ServerState, text_only: bool, every: bool) -> None:
        """`text_only` leaves structuredContent out, `every` lists all tools."""
        self._state, self._text_only, self._every = state, text_only, every
        self._calls: dict[str | int, Call] = {}
        self._waiting: SimpleQueue[tuple[Call, Timer]] = SimpleQueue()
        for _ in range(THREADS):
            Thread(target=self._work, daemon=True).start()

    def take(self, message: object, send: Send) -> bool:
        """Answer one message by `send`, now or from a thread; False if it wants no answer."""
        if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
            return False
        name, method, params = message.get("id"), message.get("method"), message.get("params", {})
        if method == "notifications/cancelled" and isinstance(params, dict):
            self._cancel(params.get("requestId"))
        if not isinstance(name, str | int) or not isinstance(method, str):
            return False  # a notification, or the answer to a question that we never ask
        if not isinstance(params, dict) or (method == "tools/call" and not _names_tool(params)):
            send(_error(name, BAD_PARAMS, "invalid request parameters"))
        elif method == "tools/call":
            self._begin(Call(name, params, send))
        else:
            result = self._result(method, params)
            missing = _error(name, NO_METHOD, "no such method")
            send(missing if result is None else _reply(name, result))
        return True

    def finish(self, seconds: float) -> None:
        """Wait so long for the calls that are not answered yet."""
        deadline = time.monotonic() + seconds
        while self._calls and time.monotonic() < deadline:
            time.sleep(0.01)

    def _result(self, method: str, params: Message) -> Message | None:
        if method == "initialize":
            asked = params.get("protocolVersion")
            return {
                "protocolVersion": asked if asked in VERSIONS else VERSIONS[0],
                "capabilities": {"tools": {"listChanged": False}},
                "serverInfo": {"name": "gitindex", "version": __version__},
                "instructions": INSTRUCTIONS,
            }
        if method == "tools/list":
            listed = (tool for tool in TOOLS if self._every or tool.question.listed)
            return {"tools": [_advertised(tool) for tool in listed]}
        return {} if method == "ping" else None

    def _begin(self, one: Call) -> None:
        self._calls[one.name] = one
        if one.tool == "manage_index":  # it may wait for a job: readers need the threads
            Thread(target=self._manage, args=(one,), daemon=True).start()
            return
        late = refusal("error", "the answer took too long", "ask for less")
        timer = Timer(CALL_SECONDS, self._end, (one, late))
        timer.daemon = True
        timer.start()
        self._waiting.put((one, timer))

    def _work(self) -> None:
        while True:
            one, timer = self._waiting.get()
            self._end(one, self._answer(one))
            timer.cancel()

    def _manage(self, one: Call) -> None:
        self._end(one, self._follow(one, self._answer(one)))

    def _end(self, one: Call, answer: Answer) -> None:
        """Reply to a call: by text for models, and by fields unless there shall be text only."""
        text = content_of(BY_NAME.get(one.tool), answer, one.given)
        result: Message = {"content": [{"type": "text", "text": text}], "isError": False}
        more = {} if self._text_only else {"structuredContent": answer}
        self._close(one, _reply(one.name, result | more))

    def _cancel(self, name: object) -> None:
        one = self._calls.get(name) if isinstance(name, str | int) else None
        if one is not None:
            self._close(one, _error(one.name, CANCELLED, "cancelled"))

    def _close(self, one: Call, reply: Message) -> None:
        one.end(reply)
        if self._calls.get(one.name) is one:
            del self._calls[one.name]

    def _answer(self, one: Call) -> Answer:
        tool = BY_NAME.get(one.tool)
        if one.is_over:
            return {}
        if tool is None:
            return refusal("invalid_request", "no such tool", f"one of {', '.join(BY_NAME)}")
        return call(self._state, tool, one.given)

    def _follow(self, one: Call, answer: Answer) -> Answer:
        """Wait for the end of an operation and report its progress to a client that asked for it."""
        state, given = self._state, one.given
        operation = _operation_of(state, answer, given)
        if operation is None:
            return answer
        deadline = time.monotonic() + _wait_seconds(given)
        last: tuple[Any, ...] = ()
        while time.monotonic() < deadline and not one.is_over and state.is_running(operation):
            progress = read_progress(operation.worktree)
            if progress is not None and (progress.phase, progress.progress_pct) != last:
                last = (progress.phase, progress.progress_pct)
                one.report(progress.progress_pct or 0.0, progress.phase)
            time.sleep(POLL_SECONDS)
        if given["action"] == "status":
            return call(state, BY_NAME["manage_index"], given)
        return answer | _ended(state, operation)


def serve_stdio(path: str, text_only: bool = False, every: bool = False) -> int:
    """Serve the client on stdin and stdout until it disconnects."""
    protocol = Protocol(open_state(path), text_only, every)
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # nobody waits for one more line of stdin
    wire, turn = sys.stdout.buffer, Lock()

    def send(message: Message) -> None:
        try:
            with turn:
                wire.write(packed(message) + b"\n")
                wire.flush()
        except BrokenPipeError:
            os._exit(0)  # the client is gone

    for line in filter(bytes.strip, sys.stdin.buffer):
        message = unpacked(line)
        for one in message if isinstance(message, list) else [message]:  # a batch, or one
            if isinstance(one, dict):
                protocol.take(one, send)
            else:
                send(_error(None, NO_JSON, "not a JSON-RPC message"))
    protocol.finish(LAST_SECONDS)
    return 0


def open_state(path: str) -> ServerState:
    """Return the state of a server; sets up this process to do nothing but serve."""
    os.umask(0o077)
    state = ServerState(home_of(path), Registry(state_folder()))
    os.chdir("/")  # keep no folder of a repository busy: it may be deleted or moved
    return state


def packed(message: Message) -> bytes:
    """Return a message as one line. A lone surrogate, which no client could decode, becomes `?`."""
    return json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def unpacked(line: bytes) -> object:
    """Return what a line says; None if it is no JSON."""
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _names_tool(params: Message) -> bool:
    given = params.get("arguments")
    return isinstance(params.get("name"), str) and (given is None or isinstance(given, dict))


def _reply(name: str | int, result: Message) -> Message:
    return {"jsonrpc": "2.0", "id": name, "result": result}


def _error(name: str | int | None, code: int, message: str) -> Message:
    return {"jsonrpc": "2.0", "id": name, "error": {"code": code, "message": message}}


def _operation_of(state: ServerState, answer: Answer, given: Arguments) -> Operation | None:
    """Return the operation to wait for: one that was started, or the codebase's running job."""
    if not ("operationId" in answer or given.get("waitSeconds")) or "codebaseRoot" not in answer:
        return None
    known = state.operation(answer.get("operationId") or given.get("operationId", ""))
    if known is None and given["action"] == "status":
        return state.whatever_runs(given.get("path", ""))
    return known


def _ended(state: ServerState, operation: Operation) -> Answer:
    outcome = state.tell(operation)
    if outcome["state"] == "running":
        return {"indexing": outcome["indexing"]}
    return {k: outcome[k] for k in ("outcome", "error", "indexing") if k in outcome}


def _wait_seconds(given: Arguments) -> float:
    return float(given.get("waitSeconds", SYNC_SECONDS if given["action"] == "sync" else 0))


def _advertised(tool: McpTool) -> Message:
    question = tool.question
    shown = {
        "name": tool.name,
        "description": question.tells,
        "inputSchema": input_schema(tool.params),
        "annotations": {"readOnlyHint": not question.writes, "openWorldHint": False},
    }
    return shown | ({"_meta": {"anthropic/alwaysLoad": True}} if question.kept else {})
