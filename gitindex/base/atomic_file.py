"""The one way to write a file that other processes read: whole or not at all, and private."""

import os


def write_atomic(
    path: str,
    data: bytes,
    durable: bool = True,
    mode: int = 0o600,
    owner: tuple[int, int] | None = None,
) -> None:
    """Replace `path` by `data`: temp beside it, fsync, rename, fsync the directory.

    Not durable: still whole for every reader, but a power cut may lose it. `owner` is a user and a
    group that the file is given to where we may.
    """
    folder, name = os.path.split(path)
    temp = os.path.join(folder, f".{name}.{os.urandom(8).hex()}.tmp")
    fd = os.open(temp, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        try:
            view = memoryview(data)
            while view:
                view = view[os.write(fd, view) :]
            if owner is not None and owner != (os.geteuid(), os.getegid()):
                _give_to(fd, owner)
            if mode != 0o600:
                os.fchmod(fd, mode)
            if durable:
                os.fsync(fd)
        finally:
            os.close(fd)
        os.replace(temp, path)
    except BaseException:
        _discard(temp)
        raise
    if durable:
        sync_dir(folder)


def sync_dir(folder: str) -> None:
    """Make renames and removals inside `folder` durable."""
    fd = os.open(folder or ".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def remove(path: str) -> None:
    """Remove `path` if it is there."""
    try:
        os.unlink(path)
    except FileNotFoundError:
        return


def read_small(path: str, limit: int = 1 << 20) -> bytes | None:
    """The content of a small regular file; None when there is none. Other errors are raised."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return None  # ValueError: a name that no file can have
    try:
        data = b""
        while chunk := os.read(fd, limit - len(data)):
            data += chunk
        return data
    finally:
        os.close(fd)


def _give_to(fd: int, owner: tuple[int, int]) -> None:
    try:
        os.fchown(fd, *owner)
    except PermissionError:
        return  # we may not; git runs it all the same


def _discard(temp: str) -> None:
    try:
        os.unlink(temp)
    except OSError:
        return  # the original error is the one to tell
