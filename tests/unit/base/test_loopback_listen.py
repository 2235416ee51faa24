"""Half requests: the server answers others meanwhile, and ends them."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from gitindex.base import loopback_listen
from gitindex.base.loopback_listen import bind_loopback, quiet_server

HALF = (b"", b"GET /", b"GET / HTTP/1.1\r\nhost: a\r\nx: ")


async def _app(_scope: Any, _receive: Any, send: Any) -> None:
    await send(
        {"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]}
    )
    await send({"type": "http.response.body", "body": b"ok"})


async def _ask(port: int) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n")
    answer = await reader.read()
    writer.close()
    return answer


async def _walk() -> None:
    sockets = bind_loopback(0)
    port = sockets[0].getsockname()[1]
    server = quiet_server(_app)
    task = asyncio.create_task(server.serve(sockets=sockets))
    try:
        held = [await asyncio.open_connection("127.0.0.1", port) for _ in range(60)]
        for number, (_, writer) in enumerate(held):
            writer.write(HALF[number % len(HALF)])
        assert (await _ask(port)).endswith(b"ok")
        for reader, writer in held:
            assert await reader.read() == b"", "the server closes it"
            writer.close()
        assert (await _ask(port)).endswith(b"ok")
    finally:
        server.should_exit = True
        await task


def test_half_requests_are_ended_and_hold_up_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loopback_listen, "REQUEST_SECONDS", 0.3)
    asyncio.run(asyncio.wait_for(_walk(), 300))
