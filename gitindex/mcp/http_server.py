"""The MCP server over HTTP on loopback, for many clients of one user.

It follows the rules of every HTTP server here (base/loopback_guard.py), with a bearer token instead
of a cookie.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import MutableMapping
from typing import Any

from gitindex.base.loopback_guard import AsgiApp, LoopbackGuard, LoopbackRules, Receive, Send
from gitindex.base.loopback_listen import bind_loopback, quiet_server
from gitindex.mcp.server import open_state, sessions_over_http

PATH = "/mcp"
METHODS = frozenset({"GET", "POST", "DELETE"})


def serve_http(path: str, port: int = 0, text_only: bool = False, every: bool = False) -> int:
    """Serve every client that has the token, until Ctrl-C or a signal."""
    state = open_state(path)
    sockets = bind_loopback(port)
    rules = LoopbackRules(sockets[0].getsockname()[1], METHODS, browser=False)
    sessions = sessions_over_http(state, text_only, every)
    guard = LoopbackGuard(_only_at(PATH, sessions.handle_request), rules)
    sys.stdout.write(f"http://127.0.0.1:{rules.port}{PATH}\nAuthorization: Bearer {guard.token}\n")
    sys.stdout.flush()
    sys.stderr.write("gitindex: serving MCP over HTTP; Ctrl-C ends the server\n")
    server = quiet_server(guard)

    async def run() -> None:
        async with sessions.run():
            await server.serve(sockets=sockets)

    try:
        asyncio.run(run())
    except KeyboardInterrupt:
        pass
    finally:
        for one in sockets:
            one.close()
    os._exit(0)  # a thread may still work on a question; nothing here needs cleaning up


def _only_at(path: str, app: AsgiApp) -> AsgiApp:
    """Serve the app at this path only; 404 elsewhere."""

    async def routed(scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        if scope["path"] == path:
            await app(scope, receive, send)
            return
        await send({"type": "http.response.start", "status": 404, "headers": []})
        await send({"type": "http.response.body", "body": b"gitindex: MCP is at /mcp\n"})

    return routed
