"""Extraction workers forked from a process that has imported them already.

They are what they are in use: processes of their own, with their own limits, that can be killed. Only
their start is cheaper, by more than half of what a small index costs. Background runners, and whatever
runs in an environment that could matter to an import, start theirs as users' machines do.
"""

from __future__ import annotations

import atexit
import json
import os
import re
import select
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import IO, Any, NoReturn

from gitindex.base.pattern import LazyPattern
from gitindex.extract import pool
from gitindex.git.command import clean_env

_WARM = {"python": b"def f(a):\n    return a\n", "markdown": b"# T\n", "typescript": b"let a = 1\n"}
_MATTERS = ("LD_", "MALLOC_", "ASAN_")
_start_as_users_do = pool.start_worker


class ForkedWorker:
    """The part of `subprocess.Popen` that the pool uses, for a child of another process."""

    def __init__(self, pid: int, stdin: IO[bytes], stdout: IO[bytes]) -> None:
        self.pid, self.stdin, self.stdout = pid, stdin, stdout
        try:
            self._fd = os.pidfd_open(pid)
        except ProcessLookupError:
            self._fd = -1

    def poll(self) -> int | None:
        if self._fd >= 0 and select.select([self._fd], [], [], 0)[0]:
            self._forget()
        return None if self._fd >= 0 else 0

    def send_signal(self, number: int) -> None:
        if self._fd >= 0:
            signal.pidfd_send_signal(self._fd, number)

    def wait(self, timeout: float | None = None) -> int:
        if self._fd >= 0:
            select.select([self._fd], [], [])
            self._forget()
        return 0

    def _forget(self) -> None:
        os.close(self._fd)
        self._fd = -1

    def __del__(self) -> None:
        if self._fd >= 0:
            self._forget()


def compile_patterns() -> None:
    """Compile what modules compile at its first use: `re` keeps it, and forks inherit that."""
    for module in list(sys.modules.values()):
        if module.__name__.startswith("gitindex"):
            for value in vars(module).values():
                if isinstance(value, LazyPattern):
                    re.compile(*value.given)


def fork_workers(address: Callable[[], str]) -> None:
    """From now on, workers of this process are forks of the one that listens at `address`."""

    def start() -> Any:
        if any(name.startswith(_MATTERS) for name in os.environ):
            return _start_as_users_do()
        return _fork(address(), clean_env())

    pool.start_worker = start


def _fork(address: str, env: dict[str, str]) -> ForkedWorker:
    (in_read, in_write), (out_read, out_write) = os.pipe(), os.pipe()
    request = json.dumps(env).encode("utf-8", "surrogatepass")
    with socket.socket(socket.AF_UNIX) as line:
        line.connect(address)
        socket.send_fds(line, [len(request).to_bytes(8, "big")], [in_read, out_write])
        line.sendall(request)
        pid = int.from_bytes(line.recv(8), "big")
    os.close(in_read)
    os.close(out_write)
    assert pid, "the process that forks workers is gone"
    return ForkedWorker(
        pid, os.fdopen(in_write, "wb", buffering=0), os.fdopen(out_read, "rb", buffering=0)
    )


@lru_cache
def forking_process() -> str:
    """The address of the process that forks workers, started at first use; it ends with this one."""
    folder = tempfile.TemporaryDirectory(prefix="gitindex-workers-")
    address = os.path.join(folder.name, "socket")
    ready = os.pipe()
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.workers", address, str(ready[1])],
        cwd=Path(__file__).parent.parent,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        pass_fds=(ready[1],),
    )
    os.close(ready[1])
    assert os.read(ready[0], 1) == b"r", "the process that forks workers did not start"
    os.close(ready[0])

    def close() -> None:
        process.kill()
        process.wait()
        folder.cleanup()

    atexit.register(close)
    return address


def _serve(address: str, ready: int) -> NoReturn:
    from gitindex.extract.frames import WorkRequest
    from gitindex.extract.worker import extract

    compile_patterns()
    for language, text in _WARM.items():
        extract(WorkRequest(language, text, b""))
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(address)
    listening.listen(64)
    listening.settimeout(10)
    parent = os.getppid()
    os.write(ready, b"r")
    os.close(ready)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for them here
    while True:
        try:
            line, _ = listening.accept()
        except TimeoutError:
            if os.getppid() != parent:  # killed: nobody asks any more
                os._exit(0)
            continue
        size, fds, _, _ = socket.recv_fds(line, 8, 2)
        if len(fds) == 2:
            request = b""
            while len(request) < int.from_bytes(size, "big"):
                request += line.recv(1 << 16)
            pid = os.fork()
            if pid == 0:
                listening.close()
                line.close()
                _become(request, fds)
            line.sendall(pid.to_bytes(8, "big"))
        for fd in fds:
            os.close(fd)
        line.close()


def _become(request: bytes, fds: list[int]) -> NoReturn:
    """Be the worker: its environment, its folder and its descriptors."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for to, fd in enumerate(fds):
        os.dup2(fd, to)
        os.close(fd)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    os.environ.clear()
    os.environ.update(json.loads(request.decode("utf-8", "surrogatepass")))
    os.chdir("/")
    from gitindex.extract.worker import main

    code = 1
    try:
        code = main()
    finally:
        os._exit(code)


if __name__ == "__main__":
    _serve(sys.argv[1], int(sys.argv[2]))
