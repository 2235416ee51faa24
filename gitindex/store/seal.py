"""The seal: detects changes of the store that its writer did not make.

Two small files beside the store: `facts.seal` has the identity of the database file and a checksum
of each part of it, `lexical.seal` the same for every file of the lexical index. A `GLANCE` compares
identities, which costs a few system calls, and compares checksums only if one differs. Readers that
answer from the files also compare every part once (`ONCE`), because a disk that loses a bit changes
no identity; after a publish only the parts that it wrote are read again. Runners read all (`ALL`).
A seal is `open` while its writer changes the files; nothing is concluded from an open one.
"""

from __future__ import annotations

import fcntl
import os
import time
from zlib import crc32

from gitindex.base.atomic_file import read_small, write_atomic
from gitindex.base.lean import TYPE_CHECKING, NamedTuple
from gitindex.store.seal_lock import open_lock

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

SEALS = ("facts.seal", "lexical.seal")
GLANCE, ONCE, ALL = range(3)
"""How much is read: nothing if identities match, what this process has not read yet, everything."""
PART = 1 << 16
"""Number of bytes of the database under one checksum."""
TICK_SECONDS = 0.012
"""A file system's clock ticks every few milliseconds: changes within one tick look the same."""
MAX_SEAL = 1 << 24
MAX_SOUND = 1_000
META = "meta.json"
_descriptors: dict[str, tuple[int, int]] = {}
"""Inode and descriptor of databases read here. Closing one would drop SQLite's locks."""
_sound: dict[str, tuple[int, list[int]]] = {}
"""Inode and checksums of the files that were read here and matched their seal."""
_parsed: dict[str, tuple[bytes, Seal | str]] = {}
"""The bytes of each seal read last, and their parsed form: a runner reads the same ones often."""


class FileIdentity(NamedTuple):
    """Changes whenever the bytes of a file do."""

    inode: int
    size: int
    modified: int
    changed: int


class Seal(NamedTuple):
    """Identity and checksums of each file, as the writer left them."""

    is_open: bool
    files: dict[str, tuple[FileIdentity, list[int]]]


class SealedPart(NamedTuple):
    """A part of a file under one checksum; lexical files have one."""

    path: str
    number: int
    sum: int
    size: int

    def is_sound(self) -> bool:
        """Are its bytes as sealed, or is its file gone?"""
        read = _database_sum if os.path.basename(self.path) == "facts.db" else _file_sum
        try:
            return read(self.path, self.number) == self.sum
        except FileNotFoundError:
            return True


class BrokenSeal(Exception):
    """The seal's content is malformed."""


def damage_of_store(store: str, look: int = GLANCE) -> str:
    """Describe changes that the writer did not make; empty if there are none."""
    return database_damage(store, look) or lexical_damage(store, look)


def sealed_parts(store: str) -> list[SealedPart]:
    """Return everything that has a checksum; nothing of a seal that is open or broken."""
    found: list[SealedPart] = []
    for name, folder in (("facts.seal", store), ("lexical.seal", f"{store}/lexical")):
        seal = _read(f"{store}/{name}")
        if isinstance(seal, Seal) and not seal.is_open:
            for file, (identity, sums) in seal.files.items():
                size = PART if file == "facts.db" else identity.size
                found += [SealedPart(f"{folder}/{file}", n, s, size) for n, s in enumerate(sums)]
    return found


def database_damage(store: str, look: int = GLANCE) -> str:
    """The same for the database alone."""
    path = os.path.join(store, "facts.db")
    for attempt in (1, 2):
        seal = _read(f"{store}/facts.seal")
        if isinstance(seal, str):
            return seal
        if seal.is_open or "facts.db" not in seal.files:
            return ""
        identity, sums = seal.files["facts.db"]
        try:
            if _is_sound(path, identity, sums, look, _database_sum):
                return ""
        except FileNotFoundError:
            return ""  # a removed store is not damaged
        if attempt == 1 and _read(f"{store}/facts.seal") == seal:
            return "facts.db is not what was written"
    return ""


def lexical_damage(store: str, look: int = GLANCE) -> str:
    """The same for the lexical index. Added or missing files count only without a writer."""
    folder = os.path.join(store, "lexical")
    for attempt in (1, 2):
        seal = _read(f"{store}/lexical.seal")
        if isinstance(seal, str):
            return seal
        if not seal.files:
            return ""
        wrong = _wrong_file(folder, seal, look)
        if not wrong or not os.path.isdir(folder):
            return ""
        if attempt == 1 and _read(f"{store}/lexical.seal") == seal:
            return f"lexical/{wrong} is not what was written"
    return ""


class DatabaseSealing:
    """Around every change of the database file: one writer at a time."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._seal = os.path.join(os.path.dirname(path), "facts.seal")

    def __enter__(self) -> DatabaseSealing:
        self._lock = open_lock(self._seal)
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        self._held = _read(self._seal)
        if isinstance(self._held, Seal):
            _write(self._seal, self._held._replace(is_open=True))
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._lock)

    def check(self, pages: Iterable[int], page_size: int) -> None:
        """Before the pages are written: are the parts that they lie in as sealed?

        Their checksums will be of all their pages. If one is not, the seal is broken from now on.
        """
        held = self._held
        if isinstance(held, str) or held.is_open or "facts.db" not in held.files:
            return
        sums = held.files["facts.db"][1]
        for part in sorted({(page - 1) * page_size // PART for page in pages}):
            if part < len(sums) and _database_sum(self._path, part) != sums[part]:
                self._held = "facts.db is not what was written"
                write_atomic(self._seal, b"", durable=False)
                return

    def finish(self, pages: Iterable[int], page_size: int) -> None:
        """Seal the file again: only the pages that were written get new checksums."""
        held = self._held
        if isinstance(held, str):
            return  # broken: it stays so until the store is rebuilt
        whole = held.is_open or "facts.db" not in held.files  # its writer died: start over
        sums = [] if whole else list(held.files["facts.db"][1])
        known = len(sums)
        size = os.stat(self._path).st_size
        parts = {(page - 1) * page_size // PART for page in pages}
        if known:
            parts.add(known - 1)  # the end of the file may have cut it
        sums += [0] * (-(-size // PART) - known)
        parts |= set(range(known, len(sums)))
        fd = _descriptor(self._path)
        for part in sorted(part for part in parts if part < len(sums)):
            sums[part] = crc32(os.pread(fd, PART, part * PART))
        _write(self._seal, Seal(False, {"facts.db": (_settled(self._path), sums)}))


class LexicalSealing:
    """The seal of a lexical index's writer: open from its first file to its last."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._seal = os.path.join(os.path.dirname(folder), "lexical.seal")
        held = _read(self._seal)
        self._files = held.files if isinstance(held, Seal) else {}
        self._broken = not isinstance(held, Seal)
        self._write(True)

    def note(self) -> None:
        """Seal the present files; the writer continues."""
        self._write(True)

    def finish(self) -> None:
        """Seal everything when the last writer ends."""
        self._write(False)

    def _write(self, is_open: bool) -> None:
        if self._broken:
            return
        files = {}
        for name in _used_files(self._folder):
            try:
                sealed = self._sealed(name, is_open)
            except FileNotFoundError:
                continue  # merged away in the meantime
            except BrokenSeal:
                self._broken = True
                write_atomic(self._seal, b"", durable=False)
                return
            if sealed is not None:
                files[name] = sealed
        self._files = files
        _write(self._seal, Seal(is_open, files))

    def _sealed(self, name: str, is_open: bool) -> tuple[FileIdentity, list[int]] | None:
        """Return the known seal of a file (written once); a new file must match its footer."""
        path = os.path.join(self._folder, name)
        if name in self._files and name != META:
            return self._files[name]
        if is_open and (name == META or _age(path) < TICK_SECONDS):
            return None  # it changes, or could change unnoticed
        with open(path, "rb") as file:
            data = file.read()
        if name != META and not footer_fits(data):
            raise BrokenSeal
        return _settled(path), [crc32(data)]


def renew(store: str) -> None:
    """Update the identities of files whose bytes are as sealed: a rename changes times."""
    for name, folder, wrong in (
        (SEALS[0], store, database_damage(store, ALL)),
        (SEALS[1], os.path.join(store, "lexical"), lexical_damage(store, ALL)),
    ):
        held = _read(f"{store}/{name}")
        if isinstance(held, Seal) and not wrong:
            files = {f: (_settled(f"{folder}/{f}"), sums) for f, (_, sums) in held.files.items()}
            _write(f"{store}/{name}", held._replace(files=files))


def is_lexical_sealed(store: str) -> bool:
    """Did the last writer of the lexical index finish?"""
    held = _read(f"{store}/lexical.seal")
    return isinstance(held, Seal) and not held.is_open


def wal_pages(path: str) -> tuple[set[int], int]:
    """Return the pages in the write-ahead log, and their size."""
    found: set[int] = set()
    try:
        with open(f"{path}-wal", "rb", 0) as file:
            header = file.read(32)
            page_size = int.from_bytes(header[8:12])
            if len(header) < 32 or not page_size:
                return found, 4096
            end = os.fstat(file.fileno()).st_size - 23
            for at in range(32, end, page_size + 24):  # heads of frames only: a log can be large
                frame = os.pread(file.fileno(), 16, at)
                if frame[8:] == header[16:24]:  # else from an earlier cycle of the log
                    found.add(int.from_bytes(frame[:4]))
    except FileNotFoundError:
        return found, 4096
    return found, page_size


def _wrong_file(folder: str, seal: Seal, look: int) -> str:
    """Return the first file that is not as it was sealed."""
    for name, (identity, sums) in seal.files.items():
        if seal.is_open and name == META:
            continue
        try:
            if not _is_sound(f"{folder}/{name}", identity, sums, look, _file_sum):
                return name
        except FileNotFoundError:
            if not seal.is_open:
                return name
    return ""


def _is_sound(
    path: str, sealed: FileIdentity, sums: list[int], look: int, read: Callable[[str, int], int]
) -> bool:
    """Is a file as it was sealed? Parts already read from the same file are not read again."""
    found = os.stat(path)
    same = (found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns) == sealed
    if (same and look == GLANCE) or found.st_size != sealed.size:
        return same
    inode, known = _sound.get(path, (0, []))
    if not same or inode != found.st_ino or look == ALL:
        known = []
    for part, said in enumerate(sums):
        if known[part : part + 1] != [said] and read(path, part) != said:
            return False
    if len(_sound) >= MAX_SOUND:
        _sound.clear()  # of segments that were merged away long ago
    _sound[path] = (found.st_ino, sums)
    return True


def _used_files(folder: str) -> list[str]:
    """Return the list of segments, and the files of the segments in it."""
    try:
        with open(os.path.join(folder, META), "rb") as file:
            listed = file.read().replace(b"-", b"")
        names = sorted(os.listdir(folder))
    except FileNotFoundError:
        return []
    segments = [n for n in names if n[:1] != "." and n.partition(".")[0].encode() in listed]
    return [META, *(name for name in segments if name != META)]


def footer_fits(data: bytes) -> bool:
    """Does a file of Tantivy match the checksum in its footer?"""
    if len(data) < 8 or int.from_bytes(data[-4:], "little") != 1337:
        return False
    size = int.from_bytes(data[-8:-4], "little")
    footer, body = data[-8 - size : -8], data[: -8 - size]
    return b'"crc":%d' % crc32(body) in footer.replace(b" ", b"")


def _identity(path: str) -> FileIdentity:
    found = os.stat(path)
    return FileIdentity(found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


def _settled(path: str) -> FileIdentity:
    """Return the identity, once any later change is sure to alter it."""
    while 0 <= _age(path) < TICK_SECONDS:
        time.sleep(TICK_SECONDS / 4)
    return _identity(path)


def _age(path: str) -> float:
    return time.time() - os.stat(path).st_ctime


def _descriptor(path: str) -> int:
    inode = os.stat(path).st_ino
    held = _descriptors.get(path)
    if held is None or held[0] != inode:
        if held is not None:
            os.close(held[1])  # of a file that is gone: no lock on it matters
        held = _descriptors[path] = (inode, os.open(path, os.O_RDONLY | os.O_CLOEXEC))
    return held[1]


def _file_sum(path: str, _part: int, found: int = 0) -> int:
    with open(path, "rb", 0) as file:
        while piece := file.read(PART):  # its memory is used again
            found = crc32(piece, found)
    return found


def _database_sum(path: str, part: int) -> int:
    return crc32(os.pread(_descriptor(path), PART, part * PART))


def _read(path: str) -> Seal | str:
    """Return the seal, an empty open one if there is none, or a description of what is wrong."""
    data = read_small(path, MAX_SEAL)
    if data is None:
        return Seal(True, {})
    held = _parsed.get(path)
    if held is None or held[0] != data:
        held = _parsed[path] = data, _parse(os.path.basename(path), data)
    return held[1]


def _parse(name: str, data: bytes) -> Seal | str:
    said, _, body = data.partition(b"\n")
    try:
        if said != b"%08x" % crc32(body):
            return f"{name} is not what was written"
        state, *lines = body.decode().splitlines()
        files = {}
        for line in lines:
            file, inode, size, modified, changed, *sums = line.split(" ")
            identity = FileIdentity(int(inode), int(size), int(modified), int(changed))
            files[file] = identity, [int(number, 16) for number in sums]
        return Seal(state == "open", files)
    except (ValueError, UnicodeDecodeError):
        return f"{name} is not what was written"


def _write(path: str, seal: Seal) -> None:
    lines = ["open" if seal.is_open else "closed"]
    for name, (identity, sums) in seal.files.items():
        lines.append(" ".join((name, *map(str, identity), *(f"{number:x}" for number in sums))))
    body = "\n".join(lines).encode() + b"\n"
    write_atomic(path, b"%08x\n%s" % (crc32(body), body), durable=False)
