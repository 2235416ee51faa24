"""The one way to write a file that other processes read: whole or not at all, and private."""

from __future__ import annotations

import os
import time
from errno import EFBIG, EINVAL, EISDIR, EOPNOTSUPP, EXDEV
from stat import S_ISREG

from gitindex.base.light_types import TYPE_CHECKING, NamedTuple
from gitindex.base.system import descriptor_path, exchange, is_alive

if TYPE_CHECKING:
    from collections.abc import Callable
from zlib import crc32

MOMENT_SECONDS = 2.0
"""A process of another container may look dead: its temporary is left alone for so long."""


class FileAccess(NamedTuple):
    """Who may use a file: `owner` is a user and a group that it is given to where we may."""

    mode: int = 0o600
    owner: tuple[int, int] | None = None


class Staging(NamedTuple):
    """Where a file is before it is in its place: in a folder `scratch`, until `ready` returns."""

    scratch: str | None = None
    ready: Callable[[], None] | None = None


PRIVATE, BESIDE = FileAccess(), Staging()


def write_atomic(
    path: str,
    data: bytes,
    durable: bool = True,
    existing: bool = False,
    access: FileAccess = PRIVATE,
    staging: Staging = BESIDE,
) -> None:
    """Replace `path` by `data`: a temporary file, fsync, rename, fsync of the directory.

    Not durable: still whole for every reader, but a power cut may lose it. The temporary file lies
    in the scratch folder, so that only a rename touches the folder of `path`; beside `path` where there
    is none or it is on another file system. A folder that is missing is never made. `ready` is called
    last before the rename: it may wait for a better moment. `existing`: the file is replaced, never
    made: FileNotFoundError if it is gone, for whoever removed it is removing its folder. Where the
    system can exchange two files, not even a removal in that very moment finds it made again.
    """
    folder, name = os.path.split(path)
    temp = f".{name}.{os.getpid()}-{os.urandom(6).hex()}.tmp"

    def fill(fd: int) -> None:
        _fill(fd, data, durable, access)
        if staging.ready is not None:
            staging.ready()

    try:
        _put(staging.scratch or folder or ".", temp, path, fill, existing)
    except OSError as error:
        if staging.scratch is None or error.errno != EXDEV:
            raise
        _put(folder, temp, path, fill, existing)
    if durable:
        sync_dir(folder)


def _put(scratch: str, temp: str, path: str, fill: Callable[[int], None], existing: bool) -> None:
    """Write a file that has no name until it is whole, and rename it at once.

    Whoever removes the folder meanwhile fails if an entry appears that it has not listed: a name that
    lasts from the first byte to the end of an fsync is met, one of a few microseconds is not.
    """
    here = os.open(scratch, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fd, named = _open_temporary(here, temp)
        try:
            try:
                fill(fd)
                exists = existing and S_ISREG(os.lstat(path).st_mode)
                if not named:
                    os.link(descriptor_path(fd) or "", temp, dst_dir_fd=here, follow_symlinks=True)
                    named = True
                if not exists or not exchange(temp, path, here):
                    os.replace(temp, path, src_dir_fd=here)
            finally:
                os.close(fd)
        except BaseException:
            if named:
                _discard(temp, here)
            raise
    finally:
        os.close(here)


def _open_temporary(here: int, temp: str) -> tuple[int, bool]:
    """Open a new file in a folder: one without a name where the system has that; else True."""
    try:
        if descriptor_path(here):  # without it no name could be given later
            return os.open(
                ".", os.O_WRONLY | os.O_TMPFILE | os.O_CLOEXEC, 0o600, dir_fd=here
            ), False
    except (OSError, AttributeError) as error:
        if getattr(error, "errno", EOPNOTSUPP) not in (EOPNOTSUPP, EISDIR, EINVAL):
            raise
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    return os.open(temp, flags, 0o600, dir_fd=here), True


def _fill(fd: int, data: bytes, durable: bool, access: FileAccess) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]
    if access.owner is not None and access.owner != (os.geteuid(), os.getegid()):
        _give_to(fd, access.owner)
    if access.mode != 0o600:
        os.fchmod(fd, access.mode)
    if durable:
        os.fsync(fd)


def sweep_temporaries(folder: str, keep_seconds: float) -> None:
    """Remove temporary files of `write_atomic` whose process has ended, or that are older than that."""
    try:
        entries = list(os.scandir(folder))
    except (FileNotFoundError, NotADirectoryError):
        return
    for entry in entries:
        if entry.name.startswith(".") and entry.name.endswith((".tmp", ".tmp.lock")):
            try:
                age = abs(time.time() - entry.stat(follow_symlinks=False).st_mtime)
                if age > keep_seconds or (age > MOMENT_SECONDS and not _is_alive(entry.name)):
                    os.unlink(entry.path)
            except OSError:
                continue


def _is_alive(temp: str) -> bool:
    """Whether the process that the temporary's name carries lives; where it carries none, yes."""
    pid = temp.removesuffix(".tmp").rpartition(".")[2].partition("-")[0]
    return not pid.isdecimal() or is_alive(int(pid))


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


class FileTooLarge(OSError):
    """A file is larger than its reader expects: nothing is said about what it holds."""


def read_small(path: str, limit: int = 1 << 20) -> bytes | None:
    """The content of a small regular file, whole; None when there is none.

    A larger one raises FileTooLarge: a caller that went on with its beginning would decide on less
    than it asked for. Other errors are raised, too.
    """
    data = read_start(path, limit + 1)
    if data is not None and len(data) > limit:
        raise FileTooLarge(EFBIG, f"larger than {limit} bytes", path)
    return data


def read_start(path: str, limit: int) -> bytes | None:
    """The first bytes of a regular file, at most `limit`; None when there is none."""
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


def _discard(temp: str, dir_fd: int) -> None:
    try:
        os.unlink(temp, dir_fd=dir_fd)
    except OSError:
        return  # the original error is the one to tell


def add_checksum(data: bytes) -> bytes:
    """The bytes to write: a line with the checksum, then the data."""
    return b"%08x\n%s" % (crc32(data), data)


def strip_checksum(stored: bytes | None) -> bytes | None:
    """The data of what `add_checksum` made; None for anything else."""
    said, _, data = (stored or b"").partition(b"\n")
    return data if said == b"%08x" % crc32(data) else None
