"""The resident process: waits in a store's folder and answers each question in a copy of itself.

It only imports; copies read the repository, so that nothing it knows can be out of date, its memory
does not grow and no thread is lost in a copy. Of every copy it learns which modules to import next time.
It declines what writes, another user, version, interpreter or start-up variable.
"""

from __future__ import annotations

import os
import select
import signal
import socket
import sys
from contextlib import suppress
from importlib import import_module

from gitindex.__main__ import main
from gitindex.base.runner_lock import end_with_repository
from gitindex.base.system import MAX_DESCRIPTOR, end_when_closed, user_of_peer
from gitindex.base.worktree import check_owner, find_worktree
from gitindex.cli.commands import resolve
from gitindex.cli.resident import ACCEPTED, DECLINED, LENGTH, SOCKET, identity
from gitindex.questions.table import Question

IDLE_SECONDS = 300.0
REQUEST_SECONDS = 5.0
MAX_REPORT = 1 << 16
"""Bytes of the names of modules: about 1,500."""
STREAMS = 3


def serve(root: str) -> None:
    """Answer until nobody has asked for five minutes, the code was replaced, or the store is gone."""
    worktree = find_worktree(root)
    check_owner(worktree)
    _detach(worktree.store)
    listener = _listen()
    if os.fork():
        os._exit(0)  # whoever started us may ask now
    os.setsid()
    end_with_repository(worktree)
    own = os.stat(SOCKET).st_ino
    try:
        _answer_all(listener)
    finally:
        with suppress(OSError):
            if os.stat(SOCKET).st_ino == own:
                os.unlink(SOCKET)


def _detach(folder: str) -> None:
    os.closerange(STREAMS, MAX_DESCRIPTOR)
    os.chdir(folder)
    os.umask(0o077)


def _listen() -> socket.socket:
    listener = socket.socket(socket.AF_UNIX)
    with suppress(FileNotFoundError):
        os.unlink(SOCKET)  # of one that was killed
    listener.bind(SOCKET)
    listener.listen(64)
    return listener


def _answer_all(listener: socket.socket) -> None:
    ours, theirs = socket.socketpair(type=socket.SOCK_DGRAM)
    theirs.setblocking(False)
    sources = _sources()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for a copy
    while ready := select.select([listener, ours], [], [], IDLE_SECONDS)[0]:
        if ours in ready:
            _load(ours.recv(MAX_REPORT).decode().split())
            sources = _sources() | sources
            continue
        connection, _ = listener.accept()
        if any(_written(path) != written for path, written in sources.items()):
            return  # another version was installed
        if os.fork() == 0:
            _answer(connection, theirs)
        connection.close()


def _sources() -> dict[str, int]:
    """Return when each module of ours was written."""
    files = (getattr(sys.modules[name], "__file__", None) for name in _own_modules())
    return {path: _written(path) for path in files if path}


def _written(path: str) -> int:
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return 0


def _own_modules() -> list[str]:
    return [name for name in sys.modules if name.startswith("gitindex")]


def _load(names: list[str]) -> None:
    for name in names:
        with suppress(ImportError):
            import_module(name)


def _answer(connection: socket.socket, reports: socket.socket) -> None:
    """Become the process that asked: its streams, folder, environment and arguments; then end."""
    code = 4
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        before = set(_own_modules())
        if _take_over(connection):
            connection.sendall(ACCEPTED)
            end_when_closed(connection.fileno())
            code = main()
            sys.stdout.flush()
            sys.stderr.flush()
            new = sorted(set(_own_modules()) - before)
            if new:
                reports.send("\n".join(new).encode())
            connection.sendall(bytes([code]))  # last: then we are ended
        else:
            connection.sendall(DECLINED)
    except (OSError, ValueError):
        code = 4  # whoever asked is gone, or is told by the closed connection
    finally:
        os._exit(code)


def _take_over(connection: socket.socket) -> bool:
    """Take the place of the process that asked; False if it has to answer itself."""
    connection.settimeout(REQUEST_SECONDS)
    if user_of_peer(connection.fileno()) not in (os.geteuid(), None):
        return False
    data, streams, _, _ = socket.recv_fds(connection, LENGTH, STREAMS + 1)
    who, encoding, errors, count, *words = _read(connection, int(data)).split("\0")
    argv, environment = words[: int(count)], words[int(count) :]
    if who != identity() or not _is_read_only(argv[1:]) or len(streams) != STREAMS + 1:
        return False
    connection.settimeout(None)
    os.fchdir(streams.pop())
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.environ.clear()
    os.environ.update(pair.partition("=")[::2] for pair in environment)
    sys.argv = argv
    sys.stdin = open(0, encoding=encoding, errors=errors, closefd=False)  # noqa: SIM115
    sys.stdout = open(1, "w", encoding=encoding, errors=errors, closefd=False)  # noqa: SIM115
    how = "backslashreplace"
    sys.stderr = open(2, "w", 1, encoding=encoding, errors=how, closefd=False)  # noqa: SIM115
    return True


def _read(connection: socket.socket, left: int) -> str:
    parts = []
    while left and (part := connection.recv(left)):
        parts.append(part)
        left -= len(part)
    return os.fsdecode(b"".join(parts))


def _is_read_only(words: list[str]) -> bool:
    """Is this a question that writes nothing?"""
    one, _ = resolve(words)
    reads = isinstance(one, Question) and one.name != "rename"
    return reads or words[:1] in (["status"], ["check"])


if __name__ == "__main__":
    serve(sys.argv[1])
