"""The command in a process of its own, forked from one that has imported it already.

A start of Python and its imports cost more than most commands do. One process per test worker imports
the package once and runs nothing; each command is a fork of it. Where the environment could matter to
an import, or to a library that reads it when it is loaded, the command is started as users start it.
"""

from __future__ import annotations

import atexit
import json
import os
import pkgutil
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import NoReturn

from tests.workers import compile_patterns, fork_workers, forking_process

_READ_AT_CALL = ("GIT_", "GITINDEX", "_GITINDEX", "PYTEST_", "COMP_")
_READ_AT_CALL_TOO = frozenset(
    {"TERM", "NO_COLOR", "CLICOLOR_FORCE", "PAGER", "LESS", "CI", "SKIP", "EDITOR", "COLUMNS"}
)
_UNLIKE_A_COMMAND = ("gitindex.mcp", "gitindex.lsp", "gitindex.web", "gitindex.extract.worker")
_MODULE = ["-m", "tests.command"]


def run_command(
    args: tuple[str, ...], cwd: Path, env: Mapping[str, str], timeout: float
) -> subprocess.CompletedProcess[str]:
    """Run `gitindex` and capture what it prints, through pipes as a shell would."""
    forks = _Forks.here()
    if not forks.fit(env):
        return subprocess.run(
            [sys.executable, "-m", "gitindex", *args],
            cwd=cwd,
            env=env,
            capture_output=True,
            text=True,
            errors="surrogateescape",
            timeout=timeout,
            check=False,
        )
    (out_read, out_write), (err_read, err_write) = os.pipe(), os.pipe()
    with open(os.devnull, "rb") as nothing:
        running = forks.start(args, cwd, env, (nothing.fileno(), out_write, err_write))
    os.close(out_write)
    os.close(err_write)
    out, err = _read_both(timeout, out_read, err_read)
    code = running.wait(timeout)
    return subprocess.CompletedProcess(
        ["gitindex", *args],
        code,
        out.decode("utf-8", "surrogateescape").replace("\r\n", "\n"),
        err.decode("utf-8", "surrogateescape").replace("\r\n", "\n"),
    )


def start_command(
    args: tuple[str, ...], cwd: Path, env: Mapping[str, str], fd: int
) -> RunningCommand | subprocess.Popen[bytes]:
    """Start `gitindex` with one descriptor, such as a terminal's, for all that it reads and prints."""
    forks = _Forks.here()
    if forks.fit(env):
        return forks.start(args, cwd, env, (fd, fd, fd))
    command = [sys.executable, "-m", "gitindex", *args]
    return subprocess.Popen(command, cwd=cwd, env=env, stdin=fd, stdout=fd, stderr=fd)


def _umask() -> int:
    """Return the mask of this process; where `/proc` does not say it, by setting it twice."""
    try:
        return int(Path("/proc/self/status").read_text().partition("Umask:")[2].split()[0], 8)
    except FileNotFoundError:
        mask = os.umask(0o077)
        os.umask(mask)
        return mask


class RunningCommand:
    """A command that was forked; its exit code comes through a socket."""

    def __init__(self, line: socket.socket) -> None:
        self._line = line

    def wait(self, timeout: float) -> int:
        self._line.settimeout(timeout)
        with self._line:
            told = self._line.recv(16)
        assert told, "the process that forks commands is gone"
        return int(told)


class _Forks:
    """The process that forks commands, started at the first of them."""

    _made: _Forks | None = None

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="gitindex-forks-")
        self._address = os.path.join(self._folder.name, "socket")
        self._environment = dict(os.environ)
        ready = os.pipe()
        self._process = subprocess.Popen(
            [sys.executable, *_MODULE, self._address, str(ready[1])],
            cwd=Path(__file__).parent.parent,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            pass_fds=(ready[1],),
        )
        os.close(ready[1])
        assert os.read(ready[0], 1) == b"r", "the process that forks commands did not start"
        os.close(ready[0])
        atexit.register(self._close)

    @classmethod
    def here(cls) -> _Forks:
        if cls._made is None:
            cls._made = cls()
        return cls._made

    def fit(self, env: Mapping[str, str]) -> bool:
        """Does this environment differ only in what is read while a command runs?"""
        ours = self._environment
        changed = {name for name in {*env, *ours} if env.get(name) != ours.get(name)}
        return all(n in _READ_AT_CALL_TOO or n.startswith(_READ_AT_CALL) for n in changed)

    def start(
        self, args: tuple[str, ...], cwd: Path, env: Mapping[str, str], fds: tuple[int, int, int]
    ) -> RunningCommand:
        mask = f"{_umask():04o}"
        line = socket.socket(socket.AF_UNIX)
        line.connect(self._address)
        request = json.dumps([args, str(cwd), dict(env), mask, forking_process()]).encode(
            "utf-8", "surrogatepass"
        )
        socket.send_fds(line, [len(request).to_bytes(8, "big")], fds)
        line.sendall(request)
        return RunningCommand(line)

    def _close(self) -> None:
        self._process.kill()
        self._process.wait()
        self._folder.cleanup()


def _read_both(timeout: float, *fds: int) -> list[bytes]:
    """What comes through pipes until the last writer has closed them."""
    deadline = time.monotonic() + timeout
    found = {fd: bytearray() for fd in fds}
    with selectors.DefaultSelector() as waiting:
        for fd in fds:
            waiting.register(fd, selectors.EVENT_READ)
        while waiting.get_map():
            ready = waiting.select(max(0.0, deadline - time.monotonic()))
            if not ready:
                raise subprocess.TimeoutExpired("gitindex", timeout)
            for key, _ in ready:
                chunk = os.read(key.fd, 1 << 16)
                found[key.fd] += chunk
                if not chunk:
                    waiting.unregister(key.fd)
                    os.close(key.fd)
    return [bytes(found[fd]) for fd in fds]


def _serve(address: str, ready: int) -> NoReturn:
    """Import the package, then fork a command for everybody who connects."""
    import gitindex

    for module in pkgutil.walk_packages(gitindex.__path__, "gitindex."):
        if not module.name.startswith((*_UNLIKE_A_COMMAND, "gitindex.__main")):
            try:
                __import__(module.name)
            except ImportError:
                continue  # an extra that is not installed
    import gitindex.__main__

    compile_patterns()
    del sys.path[0]  # the folder of this checkout, which no user has there
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(address)
    listening.listen(64)
    listening.settimeout(10)
    parent = os.getppid()
    os.write(ready, b"r")
    os.close(ready)
    signal.signal(
        signal.SIGCHLD, signal.SIG_IGN
    )  # nobody waits for those that hand over exit codes
    while True:
        try:
            line, _ = listening.accept()
        except TimeoutError:
            if os.getppid() != parent:  # killed: nobody asks any more
                os._exit(0)
            continue
        if os.fork() == 0:
            listening.close()
            _hand_over(line)
        line.close()


def _hand_over(line: socket.socket) -> NoReturn:
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    size, fds, _, _ = socket.recv_fds(line, 8, 3)
    request = b""
    while len(request) < int.from_bytes(size, "big"):
        request += line.recv(1 << 16)
    child = os.fork()
    if child == 0:
        line.close()
        _become(request, fds)
    for fd in fds:
        os.close(fd)
    _, status = os.waitpid(child, 0)
    line.sendall(str(os.waitstatus_to_exitcode(status)).encode())
    os._exit(0)


def _become(request: bytes, fds: list[int]) -> NoReturn:
    """Be the command: its folder, environment, mask, descriptors and arguments."""
    args, folder, env, mask, workers = json.loads(request.decode("utf-8", "surrogatepass"))
    for to, fd in enumerate(fds):
        os.dup2(fd, to)
    for fd in fds:
        os.close(fd)
    os.umask(int(mask, 8))
    os.environ.clear()
    os.environ.update(env)
    os.chdir(folder)
    sys.argv = ["gitindex", *args]
    if os.isatty(1):
        assert hasattr(sys.stdout, "reconfigure")
        sys.stdout.reconfigure(line_buffering=True)
    fork_workers(lambda: workers)
    from gitindex.__main__ import run

    run()


if __name__ == "__main__":
    _serve(sys.argv[1], int(sys.argv[2]))
