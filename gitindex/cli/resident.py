"""The resident process, seen from a command: hands a question over to it, or starts one.

It has everything loaded. It runs a question in a copy of itself, with this process's own streams,
folder, environment and arguments: the same code gives the same bytes. Whatever is in doubt is answered here.
"""

from __future__ import annotations

import os
import sys

from gitindex.base.errors import Exit, GitIndexError
from gitindex.base.light_types import TYPE_CHECKING, Suppress
from gitindex.base.system import descriptor_path, user_of_peer
from gitindex.base.version import __version__
from gitindex.base.worktree import Worktree, check_owner, find_worktree

if TYPE_CHECKING:
    from socket import socket

SOCKET = "resident"
"""Its name in the store's folder."""
ACCEPTED, DECLINED = b"+", b"-"
LENGTH = 8
"""Digits of a request's size."""
_OWN_STATE = ("PYTHON", "GITINDEX_PURE", "GITINDEX_TRACE", "_GITINDEX")
"""Variables that count when a process starts: it was started without them."""
_HARMLESS = ("PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE")


def hand_over(argv: list[str]) -> int | None:
    """Let a resident process answer, and return the exit code; None: nobody did, and nothing was printed.

    Not if the answer goes to a terminal, whose pager and keys belong to this process's session.
    """
    if not argv[1:] or argv[1].startswith("-") or any(map(_changes_start, os.environ)):
        return None
    try:
        if os.isatty(1):
            return None
        worktree = find_worktree(".")
        if not os.path.lexists(os.path.join(worktree.store, SOCKET)) or _is_off(worktree):
            return None
        return _ask(worktree, argv)
    except (GitIndexError, OSError):
        return None  # this process says what is wrong


def _changes_start(name: str) -> bool:
    return name.startswith(_OWN_STATE) and name not in _HARMLESS


def _is_off(worktree: Worktree) -> bool:
    from gitindex.git.command import clean_env, git_program, may_be_anywhere, try_git

    if not may_be_anywhere(b"resident", worktree, git_program(clean_env())):
        return False
    answer = try_git(worktree.root, "config", "--get", "gitindex.resident")
    return answer.output.strip() == b"off"


def _ask(worktree: Worktree, argv: list[str]) -> int | None:
    connection = connect(worktree)
    if connection is None:
        return None
    here = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        send_request(connection, argv, here)
        if connection.recv(1) != ACCEPTED:
            return None
        code = connection.recv(1)
    finally:
        os.close(here)
    if not code:
        sys.stderr.write("gitindex: the resident process ended\n  hint: try again\n")
    return code[0] if code else int(Exit.ERROR)


def connect(worktree: Worktree) -> socket | None:
    """Return a connection to the resident process of a store; None if there is none of this user."""
    from _socket import AF_UNIX, SOCK_STREAM, socket  # the module `socket` costs 4 ms

    folder = os.open(worktree.store, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        base = descriptor_path(folder) or worktree.store  # an address has at most 107 bytes
        connection = socket(AF_UNIX, SOCK_STREAM)
        with Suppress(OSError):
            connection.connect(f"{base}/{SOCKET}")
            if user_of_peer(connection.fileno()) in (os.geteuid(), None):
                return connection  # type: ignore[return-value]
    finally:
        os.close(folder)
    connection.close()
    return None


def send_request(connection: socket, argv: list[str], folder: int) -> None:
    """Send version, arguments and environment, and with them the streams and the current folder."""
    from _socket import SCM_RIGHTS, SOL_SOCKET

    environment = [f"{name}={value}" for name, value in os.environ.items()]
    shape = (sys.stdout.encoding, sys.stdout.errors or "strict", str(len(argv)))
    data = os.fsencode("\0".join((identity(), *shape, *argv, *environment)))
    rights = b"".join(fd.to_bytes(4, sys.byteorder) for fd in (0, 1, 2, folder))
    whole = b"%0*d%s" % (LENGTH, len(data), data)
    sent = connection.sendmsg([whole], [(SOL_SOCKET, SCM_RIGHTS, rights)])
    connection.sendall(whole[sent:])


def identity() -> str:
    """Name what must be equal in both processes: version, interpreter, code, encoding of names."""
    code = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    return " ".join((__version__, sys.executable, code, sys.getfilesystemencoding()))


def start(path: str) -> int:
    """Start a resident process for this repository, unless one is there. It ends after five idle minutes."""
    worktree = find_worktree(path)
    check_owner(worktree)
    if not os.path.isdir(worktree.store):
        raise GitIndexError("not indexed", "run `gitindex index`", Exit.GATED)
    if _is_off(worktree):
        raise GitIndexError("gitindex.resident is off", "git config --unset gitindex.resident")
    there = connect(worktree)
    if there is not None:
        there.close()
        return int(Exit.OK)
    from gitindex.refresh.detached import start_detached  # lazily: no question needs it

    return start_detached("gitindex.resident", worktree.root).wait()
