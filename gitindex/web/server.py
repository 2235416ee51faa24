"""Runs the page on loopback until it is stopped or idle for an hour."""

from __future__ import annotations

import asyncio
import gc
import os
import pathlib
import shutil
import signal
import socket
import sys
import tempfile
import threading
import time
import webbrowser
from typing import NoReturn

from gitindex.base.errors import Exit
from gitindex.base.loopback_guard import LoopbackGuard, LoopbackRules, redirect_page
from gitindex.base.loopback_listen import bind_loopback, quiet_server
from gitindex.base.worktree import Worktree
from gitindex.web.app import make_app
from gitindex.web.session import WebSession

IDLE_SECONDS = 60 * 60
CHECK_SECONDS = 5.0
REST_SECONDS = 60.0
"""Caches are dropped after so long without a question."""
YOUNG_OBJECTS = 20_000
"""Python looks for garbage after this many new objects: rarely, because a look may cost a frame."""


class IdleWatch:
    """Tracks when the last question was asked. An open event stream is not a question."""

    def __init__(self, seconds: float = IDLE_SECONDS) -> None:
        self._seconds = seconds
        self._last = time.monotonic()

    def note(self) -> None:
        """Record a question."""
        self._last = time.monotonic()

    def idle(self) -> float:
        """Return the seconds since the last question."""
        return time.monotonic() - self._last

    def is_over(self) -> bool:
        """Has the idle time run out?"""
        return self.idle() > self._seconds


def serve_page(worktree: Worktree, port: int = 0, opens: bool = True) -> int:
    """Serve until Ctrl-C, a signal, or an idle hour."""
    sockets = bind_loopback(port)
    rules = LoopbackRules(sockets[0].getsockname()[1])
    watch = IdleWatch()
    session = WebSession(worktree)
    guard = LoopbackGuard(make_app(session, watch.note), rules)
    address = f"http://127.0.0.1:{rules.port}/?token={guard.token}"
    sys.stdout.write(f"{address}\n")
    sys.stdout.flush()
    sys.stderr.write("gitindex: the link works once; Ctrl-C ends the server\n")
    link = PrivateLink(address) if opens else None
    if link is not None:
        guard.redeemed = link.remove
        # Some browsers end before it returns, some run until they are closed.
        threading.Thread(target=webbrowser.open, args=(link.url,), daemon=True).start()
    signal.signal(signal.SIGTERM, _interrupt)  # uvicorn raises it again when it has ended
    gc.freeze()
    gc.set_threshold(YOUNG_OBJECTS, 10, 20)
    try:
        asyncio.run(_serve(guard, sockets, watch, session))
    except KeyboardInterrupt:
        pass
    finally:
        if link is not None:
            link.remove()
        for one in sockets:
            one.close()
    return int(Exit.OK)


def _interrupt(*_: object) -> NoReturn:
    raise KeyboardInterrupt


class PrivateLink:
    """A file that leads a browser to an address which other users must not see.

    Every user of a machine can read the command line that a browser is started with.
    """

    def __init__(self, address: str) -> None:
        self._folder = tempfile.mkdtemp(prefix="gitindex-web-")  # 0700
        self._file = os.path.join(self._folder, "open.html")
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
        with open(os.open(self._file, flags, 0o600), "w", encoding="ascii") as file:
            file.write(redirect_page(address))

    @property
    def url(self) -> str:
        """The file's own address: it tells nothing."""
        return pathlib.Path(self._file).as_uri()

    def remove(self) -> None:
        """Remove the file; once it was used, or the server ends."""
        shutil.rmtree(self._folder, ignore_errors=True)


async def _serve(
    guard: LoopbackGuard, sockets: list[socket.socket], watch: IdleWatch, session: WebSession
) -> None:
    server = quiet_server(guard)

    async def end_when_idle() -> None:
        rested = True
        while not watch.is_over():
            await asyncio.sleep(CHECK_SECONDS)
            if watch.idle() < REST_SECONDS:
                rested = False
            elif not rested:
                rested = True
                await asyncio.to_thread(session.rest)
        server.should_exit = True

    idle = asyncio.create_task(end_when_idle())
    try:
        await server.serve(sockets=sockets)
    finally:
        idle.cancel()
