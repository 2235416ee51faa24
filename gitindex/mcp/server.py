"""The MCP server and its transports; the only importer of the SDK, and the only async code."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Mapping
from typing import Any

import anyio
import anyio.to_thread
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

from gitindex.base.escape import refusal
from gitindex.base.locations import state_folder
from gitindex.base.version import __version__
from gitindex.freshness.observation import read_progress
from gitindex.mcp.arguments import input_schema
from gitindex.mcp.dispatch import Answer, McpTool, call, content_of
from gitindex.mcp.question_tools import BY_NAME, INSTRUCTIONS, TOOLS
from gitindex.mcp.server_state import Operation, Registry, ServerState, home_of

THREADS = 4
CALL_SECONDS = 120.0
POLL_SECONDS = 0.1
SYNC_SECONDS = 10
"""How long `sync` waits for the refresh by default, to return its outcome."""


def serve_stdio(path: str, text_only: bool = False, every: bool = False) -> int:
    """Serve the client on stdin and stdout until it disconnects."""
    state = open_state(path)
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # the SDK would wait for one more line of stdin
    anyio.run(_serve, state, text_only, every)
    return 0


def open_state(path: str) -> ServerState:
    """Return the state of a server; sets up this process to do nothing but serve."""
    os.umask(0o077)
    state = ServerState(home_of(path), Registry(state_folder()))
    os.chdir("/")  # keep no folder of a repository busy: it may be deleted or moved
    return state


def sessions_over_http(
    state: ServerState, text_only: bool, every: bool
) -> StreamableHTTPSessionManager:
    """Serve one session per client over streamable HTTP; the guard decides who may connect."""
    return StreamableHTTPSessionManager(make_server(state, text_only, every))


def make_server(state: ServerState, text_only: bool, every: bool) -> Server[Any]:
    """Return the server; `text_only` leaves structuredContent out, `every` lists all tools."""
    limiter = anyio.CapacityLimiter(THREADS)

    async def list_tools(_ctx: Any, _params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(
            tools=[_advertised(tool) for tool in TOOLS if every or tool.question.listed]
        )

    async def call_tool(ctx: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        given = params.arguments or {}
        answer = await _answer(state, params.name, given, limiter)
        if params.name == "manage_index":
            answer = await _follow(state, answer, given, ctx.session)
        text = content_of(BY_NAME.get(params.name), answer, given)
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=text)],
            structured_content=None if text_only else _storable(answer),
            is_error=False,
        )

    server: Server[Any] = Server(
        "gitindex",
        version=__version__,
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )
    server.middleware.clear()  # telemetry, switched off
    return server


async def _serve(state: ServerState, text_only: bool, every: bool) -> None:
    server = make_server(state, text_only, every)
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


async def _answer(
    state: ServerState, name: str, given: object, limiter: anyio.CapacityLimiter
) -> Answer:
    tool = BY_NAME.get(name)
    if tool is None:
        return refusal("invalid_request", "no such tool", f"one of {', '.join(BY_NAME)}")
    with anyio.move_on_after(CALL_SECONDS):
        return await anyio.to_thread.run_sync(
            call, state, tool, given, limiter=limiter, abandon_on_cancel=True
        )
    return refusal("error", "the answer took too long", "ask for less")


async def _follow(
    state: ServerState, answer: Answer, given: Mapping[str, Any], session: Any
) -> Answer:
    """Wait for the end of an operation and report its progress to a client that asked for it."""
    operation = await _in_thread(_operation_of, state, answer, given)
    if operation is None:
        return answer
    deadline = time.monotonic() + _wait_seconds(given)
    last: tuple[Any, ...] = ()
    while time.monotonic() < deadline and await _in_thread(state.is_running, operation):
        progress = read_progress(operation.worktree)
        if progress is not None and (progress.phase, progress.progress_pct) != last:
            last = (progress.phase, progress.progress_pct)
            await session.report_progress(progress.progress_pct or 0.0, 100.0, progress.phase)
        await anyio.sleep(POLL_SECONDS)
    if given["action"] == "status":
        again: Answer = await _in_thread(call, state, BY_NAME["manage_index"], given)
        return again
    ended: Answer = await _in_thread(_ended, state, operation)
    return answer | ended


def _operation_of(state: ServerState, answer: Answer, given: Mapping[str, Any]) -> Operation | None:
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


async def _in_thread(function: Any, *args: Any) -> Any:
    return await anyio.to_thread.run_sync(function, *args, abandon_on_cancel=True)


def _storable(answer: Answer) -> Answer:
    """Return the answer without lone surrogates, which no client could decode."""
    text = json.dumps(answer, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:
        clean: Answer = json.loads(
            text.encode("utf-8", "backslashreplace").replace(b"\\ud", b"?ud")
        )
        return clean
    return answer


def _wait_seconds(given: Mapping[str, Any]) -> float:
    return float(given.get("waitSeconds", SYNC_SECONDS if given["action"] == "sync" else 0))


def _advertised(tool: McpTool) -> types.Tool:
    question = tool.question
    return types.Tool(
        name=tool.name,
        description=question.tells,
        input_schema=input_schema(tool.params),
        annotations=types.ToolAnnotations(
            read_only_hint=not question.writes, open_world_hint=False
        ),
        _meta={"anthropic/alwaysLoad": True} if question.kept else None,
    )
