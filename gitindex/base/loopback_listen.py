"""Sockets of a server that only this machine can reach."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING, Any

from gitindex.base.errors import Exit, GitIndexError

if TYPE_CHECKING:
    import uvicorn

TRIES = 20
"""For a port that is free on both addresses: one taken on ::1 alone is rare."""
REQUEST_SECONDS = 20.0
"""A connection without a whole request for so long is closed."""


def bind_loopback(port: int) -> list[socket.socket]:
    """Listen on 127.0.0.1 and, where the machine has it, on ::1, at the same port and nowhere else."""
    for _ in range(TRIES):
        four = _listen(socket.AF_INET, "127.0.0.1", port)
        try:
            return [four, _listen(socket.AF_INET6, "::1", four.getsockname()[1])]
        except GitIndexError:
            if port or not _has_ipv6():
                return [four]
            four.close()
    raise GitIndexError("no port is free on both loopback addresses", "name one with --port")


def quiet_server(app: Any) -> uvicorn.Server:
    """Return the server of an ASGI app that logs nothing, says nothing of itself and ends at once."""
    import uvicorn

    return uvicorn.Server(
        uvicorn.Config(
            app,
            http=_impatient_protocol(),
            log_config=None,
            access_log=False,
            lifespan="off",
            ws="none",
            proxy_headers=False,
            server_header=False,
            timeout_graceful_shutdown=1,
        )
    )


def _impatient_protocol() -> type[Any]:
    """Return uvicorn's protocol with a limit on half requests, which else pile up until no socket is left."""
    from uvicorn.protocols.http.h11_impl import H11Protocol

    class ImpatientProtocol(H11Protocol):
        """HTTP that closes a connection on which no request arrives."""

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self.loop.call_later(REQUEST_SECONDS, self._look, None)

        def _look(self, last: object) -> None:
            if self.transport.is_closing():
                return
            is_waiting = self.cycle is None or self.cycle.response_complete
            if is_waiting and self.cycle is last:  # nothing since the last check
                self.transport.close()
            else:
                self.loop.call_later(REQUEST_SECONDS, self._look, self.cycle)

    return ImpatientProtocol


def _listen(family: int, host: str, port: int) -> socket.socket:
    made = None
    try:
        made = socket.socket(family, socket.SOCK_STREAM)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        made.bind((host, port))
        made.listen(64)
    except OSError as error:
        if made is not None:
            made.close()
        raise GitIndexError(
            f"cannot listen on {host}:{port}: {error.strerror}", "choose another --port", Exit.USAGE
        ) from error
    return made


def _has_ipv6() -> bool:
    try:
        _listen(socket.AF_INET6, "::1", 0).close()
    except GitIndexError:
        return False
    return True
