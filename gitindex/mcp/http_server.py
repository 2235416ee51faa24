"""The MCP server over HTTP on loopback, for many clients of one user.

It follows the rules of every HTTP server here (base/loopback_guard.py), with a bearer token instead
of a cookie. Each request is answered by itself, so there are no sessions to keep.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import MutableMapping
from typing import Any

from gitindex.base.loopback_guard import LoopbackGuard, LoopbackRules, Receive, Send
from gitindex.base.loopback_listen import bind_loopback, quiet_server
from gitindex.mcp.server import Message, Protocol, open_state, packed, unpacked

PATH = "/mcp"
METHODS = frozenset({"POST"})
MAX_BODY = 4 << 20


def serve_http(path: str, port: int = 0, text_only: bool = False, every: bool = False) -> int:
    """Serve every client that has the token, until Ctrl-C or a signal."""
    protocol = Protocol(open_state(path), text_only, every)
    sockets = bind_loopback(port)
    rules = LoopbackRules(sockets[0].getsockname()[1], METHODS, browser=False)

    async def app(scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        await _answer(protocol, scope, receive, send)

    guard = LoopbackGuard(app, rules)
    sys.stdout.write(f"http://127.0.0.1:{rules.port}{PATH}\nAuthorization: Bearer {guard.token}\n")
    sys.stdout.flush()
    sys.stderr.write("gitindex: serving MCP over HTTP; Ctrl-C ends the server\n")
    try:
        asyncio.run(quiet_server(guard).serve(sockets=sockets))
    except KeyboardInterrupt:
        pass
    finally:
        for one in sockets:
            one.close()
    os._exit(0)  # a thread may still work on a question; nothing here needs cleaning up


async def _answer(
    protocol: Protocol, scope: MutableMapping[str, Any], receive: Receive, send: Send
) -> None:
    """Answer one message: by events, so that progress comes before the reply; 202 if it wants none."""
    if scope["path"] != PATH:
        await _end(send, 404, b"gitindex: MCP is at /mcp\n")
        return
    body = await _body(receive)
    if body is None:
        await _end(send, 413, b"gitindex: a message has at most 4 MiB\n")
        return
    message = unpacked(body)
    if not isinstance(message, dict):
        await _end(send, 400, b"gitindex: the body is not one JSON-RPC message\n")
        return
    said: asyncio.Queue[Message] = asyncio.Queue()
    loop = asyncio.get_running_loop()
    if not protocol.take(message, lambda one: _pass(loop, said, one)):
        await _end(send, 202, b"")
        return
    headers = [(b"content-type", b"text/event-stream"), (b"cache-control", b"no-store")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    is_reply = False
    while not is_reply:
        one = await said.get()
        is_reply = "id" in one
        event = b"event: message\ndata: " + packed(one) + b"\n\n"
        await send({"type": "http.response.body", "body": event, "more_body": not is_reply})


def _pass(loop: asyncio.AbstractEventLoop, said: asyncio.Queue[Message], one: Message) -> None:
    loop.call_soon_threadsafe(said.put_nowait, one)


async def _body(receive: Receive) -> bytes | None:
    """Return the body of a request; None if it is too long."""
    body, more = b"", True
    while more and len(body) <= MAX_BODY:
        part = await receive()
        body += part.get("body", b"")
        more = part.get("more_body", False)
    return None if more or len(body) > MAX_BODY else body


async def _end(send: Send, status: int, body: bytes) -> None:
    await send({"type": "http.response.start", "status": status, "headers": []})
    await send({"type": "http.response.body", "body": body})
