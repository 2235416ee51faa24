"""All that needs POSIX or Linux: locks, limits, detaching, starting programs, who a process is.

No other module imports `fcntl`, `resource` or `pwd`, calls `os.posix_spawn` or reads `/proc`: a test says so.
What only Linux has is answered by a value elsewhere, never by an error.
"""

from __future__ import annotations

import fcntl
import os
from errno import ENOENT

from gitindex.base.light_types import TYPE_CHECKING, Suppress, once

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from ctypes import CDLL

EXCLUSIVE, SHARED = fcntl.LOCK_EX, fcntl.LOCK_SH
SIGKILL = 9  # not imported from signal: half a millisecond of every prompt
BACKGROUND_NICE = 10
"""The priority of work that nobody waits for."""
MAX_DESCRIPTOR = 4096
"""Descriptors that a hook may hand down are below it: git and shells open few."""
MOUNTS = "/proc/self/mountinfo"
_AT_FDCWD, _RENAME_EXCHANGE = -100, 2  # of Linux's renameat2
_DELETED_SELF = 0x400  # of inotify


def lock(fd: int, kind: int = EXCLUSIVE) -> None:
    """Wait for a lock on an open file; closing the last descriptor gives it up."""
    fcntl.flock(fd, kind)


def try_lock(fd: int, kind: int = EXCLUSIVE) -> bool:
    """Take a lock if it is free. OSError where the file system has none."""
    try:
        fcntl.flock(fd, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def unlock(fd: int) -> None:
    """Give a lock up without closing its file."""
    fcntl.flock(fd, fcntl.LOCK_UN)


def limit_memory(size: int) -> int:
    """Bound the address space by the least of `size` and what was inherited, and return it."""
    import resource  # lazily: a prompt sets no limit

    return _lower(resource.RLIMIT_AS, size)


def limit_cpu(seconds: int) -> None:
    """End this process after so much CPU time, or after less where less was inherited."""
    import resource

    _lower(resource.RLIMIT_CPU, seconds)


def forbid_core_dumps() -> None:
    """A crash leaves no core file: it would hold the user's code."""
    import resource

    _lower(resource.RLIMIT_CORE, 0)


def is_cpu_limited() -> bool:
    """Did this process inherit a limit of CPU time?"""
    import resource

    return resource.getrlimit(resource.RLIMIT_CPU)[0] != resource.RLIM_INFINITY


def _lower(kind: int, most: int) -> int:
    import resource

    inherited = [n for n in resource.getrlimit(kind) if n != resource.RLIM_INFINITY]
    limit = min([most, *inherited])
    resource.setrlimit(kind, (limit, limit))
    return limit


def is_background() -> bool:
    """Does this process run at the low priority of the background?"""
    return priority_of(0) >= BACKGROUND_NICE


def priority_of(pid: int) -> int:
    """The nice value of a process; 0 is this one."""
    return os.getpriority(os.PRIO_PROCESS, pid)


def lower_priority() -> None:
    """Work at the priority of the background from now on."""
    with Suppress(OSError):
        os.nice(BACKGROUND_NICE)


def become_background(memory: int) -> None:
    """Detach: own session, no inherited descriptor or git environment, cwd `/`, low priority, umask 077."""
    with Suppress(OSError):  # it leads a session already
        os.setsid()
    os.closerange(3, MAX_DESCRIPTOR)
    null = os.open(os.devnull, os.O_RDWR)
    for fd in range(3):
        os.dup2(null, fd)
    if null > 2:
        os.close(null)
    os.chdir("/")
    os.umask(0o077)
    for name in [n for n in os.environ if n.startswith(("GIT_", "PYTHON"))]:
        del os.environ[name]
    lower_priority()
    limit_memory(memory)


def spawn(
    argv: Sequence[str | bytes], env: dict[str, str], stdin: int, stdout: int, stderr: int | None
) -> int:
    """Start a program with these descriptors as its streams and return its pid; None discards errors."""
    actions: list[tuple[int, ...] | tuple[int, int, str, int, int]] = [
        (os.POSIX_SPAWN_DUP2, stdin, 0),
        (os.POSIX_SPAWN_DUP2, stdout, 1),
        (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0)
        if stderr is None
        else (os.POSIX_SPAWN_DUP2, stderr, 2),
    ]
    return os.posix_spawn(argv[0], [*argv], env, file_actions=actions)


def is_alive(pid: int) -> bool:
    """Is there a process of this number, of whichever user?"""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OverflowError:
        return False
    except OSError:
        return True  # of another user
    return True


def give_name(token: str) -> bool:
    """Give this process a name that others see beside its number; False where there is no such thing."""
    try:
        with open("/proc/self/comm", "w") as file:
            file.write(token)
    except OSError:
        return False
    return True


def name_of(pid: int) -> str:
    """The name of a process; "" if it is not known."""
    return (_read(f"/proc/{pid}/comm") or b"").decode("ascii", "replace").strip()


def command_of(pid: int) -> list[bytes] | None:
    """The words that a process was started with; None if they are not known."""
    data = _read(f"/proc/{pid}/cmdline")
    return None if data is None else data.split(b"\0")


def parent_of(pid: int) -> int:
    """The process that started this one; 0 if it is not known."""
    fields = _stat_of(pid)
    return int(fields[1]) if fields else 0


def cpu_of(pid: int) -> tuple[float, bool] | None:
    """A process's CPU seconds, and whether it runs or waits for the disk; None if that is not known."""
    fields = _stat_of(pid)
    if not fields:
        return None
    ticks = int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK"), fields[0] in (b"R", b"D")


def resident_bytes() -> int:
    """The memory of this process; 0 where the system does not tell."""
    data = _read("/proc/self/statm")
    return int(data.split()[1]) * os.sysconf("SC_PAGE_SIZE") if data else 0


def _stat_of(pid: int) -> list[bytes]:
    """The fields of a process behind its name, which may hold anything."""
    return (_read(f"/proc/{pid}/stat") or b"").rpartition(b")")[2].split()


def _read(path: str) -> bytes | None:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return None  # not Linux, or gone


def mounts() -> list[tuple[bytes, str]] | None:
    """Where each file system is mounted, and its kind; None if that is not known."""
    data = _read(MOUNTS)
    if data is None:
        return None
    lines = (line.split() for line in data.splitlines())
    return [
        (f[4].decode("unicode_escape").encode("latin-1"), f[f.index(b"-") + 1].decode())
        for f in lines
    ]


def watches_allowed() -> int:
    """How many folders this user may watch; 0 where the system does not tell."""
    data = _read("/proc/sys/fs/inotify/max_user_watches")
    return int(data) if data and data.strip().isdigit() else 0


def descriptor_path(fd: int) -> str | None:
    """A name in ASCII for an open file or folder; None where there is no such thing."""
    return f"/proc/self/fd/{fd}" if os.path.isdir("/proc/self/fd") else None


def exchange(temp: str, path: str, folder: int) -> bool:
    """Put `temp` of an open folder in the place of `path`, and remove what was there.

    No entry comes or goes beside `path`. False where the system has no such call; FileNotFoundError if
    `path` is gone.
    """
    library = _c_library()
    call = getattr(library, "renameat2", None)
    if library is None or call is None:
        return False
    if call(folder, os.fsencode(temp), _AT_FDCWD, os.fsencode(path), _RENAME_EXCHANGE) == 0:
        os.unlink(temp, dir_fd=folder)
        return True
    from ctypes import get_errno

    if get_errno() == ENOENT:
        raise FileNotFoundError(ENOENT, os.strerror(ENOENT), path)
    return False


def end_when_removed(paths: Iterable[str]) -> bool:
    """End this process and its children as soon as one of these files or folders is removed.

    By a signal that the kernel sends while it removes: no thread has to be scheduled first, and nobody
    runs another instruction. A path that is missing is left out, and one that somebody holds open lives until
    it is closed. False where the system has no such thing.
    """
    library = _c_library()
    start, add = (getattr(library, f"inotify_{n}", None) for n in ("init1", "add_watch"))
    if start is None or add is None:
        return False
    queue = start(os.O_NONBLOCK | os.O_CLOEXEC)  # never closed: it lives as long as the process
    if queue < 0:
        return False
    for path in paths:
        add(queue, os.fsencode(path), _DELETED_SELF)
    fcntl.fcntl(queue, fcntl.F_SETOWN, -os.getpgrp())
    fcntl.fcntl(queue, fcntl.F_SETFL, fcntl.fcntl(queue, fcntl.F_GETFL) | os.O_ASYNC)
    return True


@once
def _c_library() -> CDLL | None:
    try:
        from ctypes import CDLL  # lazily: most processes need none of it

        return CDLL(None, use_errno=True)
    except (ImportError, OSError):
        return None


def user_of_peer(connection: int) -> int | None:
    """The user at the other end of a local socket; None where the system does not tell."""
    from _socket import SOL_SOCKET, socket

    try:
        from _socket import SO_PEERCRED
    except ImportError:
        return None  # not Linux: the folder of the socket is private
    other = socket(fileno=os.dup(connection))
    return int.from_bytes(other.getsockopt(SOL_SOCKET, SO_PEERCRED, 12)[4:8], "little")


def end_when_closed(connection: int) -> None:
    """End this process by a signal as soon as the other end of a socket is closed."""
    fcntl.fcntl(connection, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(connection, fcntl.F_SETFL, fcntl.fcntl(connection, fcntl.F_GETFL) | os.O_ASYNC)
