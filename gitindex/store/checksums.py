"""Checksums of the store: they detect changes that its writer did not make. The only integrity layer.

Two small files beside the store: `facts.seal` has the identity of the database file and a checksum
of each part of it, `lexical.seal` the same for every file of the lexical index. `CheckLevel.STAT`
compares identities, which costs a few system calls, and compares checksums only if one differs.
Readers that answer from the files also compare every part once (`CACHED`), because a disk that loses a
bit changes no identity; after a publish only the parts that it wrote are read again. Runners read all
(`FULL`). The list is `open` while its writer changes the files; nothing is concluded from an open one.
Each half of the store also has a name and a number that grows (`Half`): a stamp and the database name
the halves that they were written with, so that an older copy, or that of another store, is noticed.
"""

from __future__ import annotations

import fcntl
import os
import time
from zlib import crc32

from gitindex.base.atomic_file import read_small, write_atomic
from gitindex.base.lean import TYPE_CHECKING, IntEnum, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

SEALS = ("facts.seal", "lexical.seal")
PART = 1 << 16
"""Bytes of the database under one checksum: a publish reads each part that it wrote into again, so
larger ones cost more than their number of checksums saves."""
TICK_SECONDS = 0.012
"""A file system's clock ticks every few milliseconds: changes within one tick look the same."""
MAX_LIST_BYTES = 1 << 24
"""Of a list of checksums: a database of 100 GB has one of 15 MB."""
MAX_INTACT = 1_000
"""Files remembered as intact: segments that were merged away are forgotten with the others."""
META = "meta.json"
LEXICAL_ID = "id"
"""In the folder of a lexical index: the name that it was given when it was made."""
UNKNOWN = "-"
_descriptors: dict[str, tuple[int, int]] = {}
"""Inode and descriptor of databases read here. Closing one would drop SQLite's locks."""
_intact: dict[str, tuple[int, list[int]]] = {}
"""Inode and checksums of the files that were read here and matched their checksums."""
_parsed: dict[str, tuple[bytes, Checksums | str]] = {}
"""The bytes of each list read last, and their parsed form: a runner reads the same ones often."""


class CheckLevel(IntEnum):
    """How much of the store is compared with its checksums."""

    STAT = 0  # nothing if identities match
    CACHED = 1  # what this process has not compared yet
    FULL = 2


class Half(NamedTuple):
    """One half of a store at one moment: who it is, and a number that every change raises."""

    id: str = UNKNOWN
    number: int = 0

    def precedes(self, named: Half) -> bool:
        """Is this an older state than the one that was named, or that of another store?"""
        if named.id == UNKNOWN:
            return False
        return self.id != named.id or self.number < named.number

    def __str__(self) -> str:
        return f"{self.id} {self.number}"


GONE = Half("gone")
"""A database without checksums: one whose first writer has not closed it, or somebody removed them."""


def parse_half(words: str) -> Half:
    """A half as `str` writes it; an unknown one for anything else."""
    name, _, number = words.partition(" ")
    return Half(name, int(number)) if number.isdecimal() else Half()


class FileIdentity(NamedTuple):
    """Changes whenever the bytes of a file do."""

    inode: int
    size: int
    modified: int
    changed: int


class Checksums(NamedTuple):
    """Identity and checksums of each file, as the writer left them."""

    is_open: bool
    files: dict[str, tuple[FileIdentity, list[int]]]
    half: Half = Half()  # of the database; a lexical index has its own


class CheckedPart(NamedTuple):
    """A part of a file under one checksum; lexical files have one."""

    path: str
    number: int
    sum: int
    size: int

    def is_intact(self) -> bool:
        """Are its bytes as written, or is its file gone?"""
        read = _database_sum if os.path.basename(self.path) == "facts.db" else _file_sum
        try:
            return read(self.path, self.number) == self.sum
        except FileNotFoundError:
            return True


class BrokenFooter(Exception):
    """A file of Tantivy does not match the checksum that it carries itself."""


def half_of_database(store: str) -> Half:
    """The database, as its writer left it; unknown while one writes into it."""
    held = _read(f"{store}/facts.seal")
    if isinstance(held, Checksums) and not held.files and not os.path.exists(f"{store}/facts.seal"):
        return GONE
    return held.half if isinstance(held, Checksums) and not held.is_open else Half()


def half_of_lexical(folder: str) -> Half:
    """The lexical index, by its name and the number of operations of its last commit."""
    name = (read_small(f"{folder}/{LEXICAL_ID}") or b"").decode("ascii", "replace")
    listed = read_small(f"{folder}/{META}", MAX_LIST_BYTES) or b""
    number = listed.rpartition(b'"opstamp":')[2].strip().partition(b"\n")[0].rstrip(b"},\n ")
    return Half(name, int(number)) if number.isdigit() and name.isalnum() else Half()


def name_lexical(folder: str) -> None:
    """Give a lexical index a name, unless it has one."""
    path = f"{folder}/{LEXICAL_ID}"
    if not os.path.exists(path):
        write_atomic(path, os.urandom(8).hex().encode(), durable=False)


def damage_of_store(store: str, level: CheckLevel = CheckLevel.STAT) -> str:
    """Describe changes that the writer did not make; empty if there are none."""
    return database_damage(store, level) or lexical_damage(store, level)


def checked_parts(store: str) -> list[CheckedPart]:
    """Return everything that has a checksum; nothing of a list that is open or broken."""
    found: list[CheckedPart] = []
    for name, folder in (("facts.seal", store), ("lexical.seal", f"{store}/lexical")):
        known = _read(f"{store}/{name}")
        if isinstance(known, Checksums) and not known.is_open:
            for file, (identity, sums) in known.files.items():
                size = PART if file == "facts.db" else identity.size
                found += [CheckedPart(f"{folder}/{file}", n, s, size) for n, s in enumerate(sums)]
    return found


def database_damage(store: str, level: CheckLevel = CheckLevel.STAT) -> str:
    """The same for the database alone."""
    path = os.path.join(store, "facts.db")
    for attempt in (1, 2):
        known = _read(f"{store}/facts.seal")
        if isinstance(known, str):
            return known
        if known.is_open or "facts.db" not in known.files:
            return ""
        identity, sums = known.files["facts.db"]
        try:
            if _is_intact(path, identity, sums, level, _database_sum):
                return ""
        except FileNotFoundError:
            return ""  # a removed store is not damaged
        if attempt == 1 and _read(f"{store}/facts.seal") == known:
            return "facts.db is not what was written"
    return ""


def lexical_damage(store: str, level: CheckLevel = CheckLevel.STAT) -> str:
    """The same for the lexical index. Added or missing files count only without a writer."""
    folder = os.path.join(store, "lexical")
    for attempt in (1, 2):
        known = _read(f"{store}/lexical.seal")
        if isinstance(known, str):
            return known
        if not known.files:
            return ""
        wrong = _wrong_file(folder, known, level)
        if not wrong or not os.path.isdir(folder):
            return ""
        if attempt == 1 and _read(f"{store}/lexical.seal") == known:
            return f"lexical/{wrong} is not what was written"
    return ""


class DatabaseChecksums:
    """Around every change of the database file: one writer at a time."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._list = os.path.join(os.path.dirname(path), "facts.seal")

    def __enter__(self) -> DatabaseChecksums:
        self._lock = open_lock(self._list)
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        self._held = _read(self._list)
        there = os.path.exists(self._list)
        if isinstance(self._held, Checksums):
            _write(self._list, self._held._replace(is_open=True), existing=there)
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._lock)

    def check(self, pages: Iterable[int], page_size: int) -> None:
        """Before the pages are written: are the parts that they lie in as written?

        Their checksums will be of all their pages. If one is not, the list is broken from now on.
        """
        held = self._held
        if isinstance(held, str) or held.is_open or "facts.db" not in held.files:
            return
        sums = held.files["facts.db"][1]
        for part in sorted({(page - 1) * page_size // PART for page in pages}):
            if part < len(sums) and _database_sum(self._path, part) != sums[part]:
                self._held = "facts.db is not what was written"
                write_atomic(self._list, b"", durable=False)
                return

    def finish(self, pages: Collection[int], page_size: int) -> None:
        """Checksums the file again: only the pages that were written get new checksums."""
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
        name, number = held.half
        files = {"facts.db": (_settled(self._path), sums)}
        if pages or files != held.files or name == UNKNOWN:  # an empty log changes nothing
            half = Half(os.urandom(8).hex() if name == UNKNOWN else name, number + 1)
        else:
            half = held.half
        _write(self._list, Checksums(False, files, half), existing=True)


class LexicalChecksums:
    """The checksums of a lexical index's writer: open from its first file to its last."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._list = os.path.join(os.path.dirname(folder), "lexical.seal")
        held = _read(self._list)
        self._files = held.files if isinstance(held, Checksums) else {}
        self._broken = not isinstance(held, Checksums)
        self._write(True, first=not os.path.exists(self._list))

    def note(self) -> None:
        """Checksums the present files; the writer continues."""
        self._write(True)

    def finish(self) -> None:
        """Checksums everything when the last writer ends."""
        self._write(False)

    def _write(self, is_open: bool, first: bool = False) -> None:
        """Write the list; one that is gone is not made anew, because the store is being deleted."""
        if self._broken:
            return
        files = {}
        for name in _used_files(self._folder):
            try:
                noted = self._checked(name, is_open)
            except FileNotFoundError:
                continue  # merged away in the meantime
            except BrokenFooter:
                self._broken = True
                write_atomic(self._list, b"", durable=False)
                return
            if noted is not None:
                files[name] = noted
        self._files = files
        try:
            _write(self._list, Checksums(is_open, files), existing=not first)
        except FileNotFoundError:
            return  # somebody removes the store

    def _checked(self, name: str, is_open: bool) -> tuple[FileIdentity, list[int]] | None:
        """Return the known checksum of a file (written once); a new file must match its footer."""
        path = os.path.join(self._folder, name)
        if name in self._files and name != META:
            return self._files[name]
        if is_open and (name == META or _age(path) < TICK_SECONDS):
            return None  # it changes, or could change unnoticed
        with open(path, "rb") as file:
            data = file.read()
        if name != META and not footer_fits(data):
            raise BrokenFooter
        return _settled(path), [crc32(data)]


def renew(store: str) -> None:
    """Update the identities of files whose bytes are as written: a rename changes times."""
    for name, folder, wrong in (
        (SEALS[0], store, database_damage(store, CheckLevel.FULL)),
        (SEALS[1], os.path.join(store, "lexical"), lexical_damage(store, CheckLevel.FULL)),
    ):
        held = _read(f"{store}/{name}")
        if isinstance(held, Checksums) and not wrong:
            files = {f: (_settled(f"{folder}/{f}"), sums) for f, (_, sums) in held.files.items()}
            _write(f"{store}/{name}", held._replace(files=files))


def is_lexical_closed(store: str) -> bool:
    """Did the last writer of the lexical index finish?"""
    held = _read(f"{store}/lexical.seal")
    return isinstance(held, Checksums) and not held.is_open


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


def _wrong_file(folder: str, known: Checksums, level: CheckLevel) -> str:
    """Return the first file that is not as it was written."""
    for name, (identity, sums) in known.files.items():
        if known.is_open and name == META:
            continue
        try:
            if not _is_intact(f"{folder}/{name}", identity, sums, level, _file_sum):
                return name
        except FileNotFoundError:
            if not known.is_open:
                return name
    return ""


def _is_intact(
    path: str,
    noted: FileIdentity,
    sums: list[int],
    level: CheckLevel,
    read: Callable[[str, int], int],
) -> bool:
    """Is a file as it was written? Parts already read from the same file are not read again."""
    found = os.stat(path)
    same = (found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns) == noted
    if (same and level is CheckLevel.STAT) or found.st_size != noted.size:
        return same
    inode, known = _intact.get(path, (0, []))
    if not same or inode != found.st_ino or level is CheckLevel.FULL:
        known = []
    for part, said in enumerate(sums):
        if known[part : part + 1] != [said] and read(path, part) != said:
            return False
    if len(_intact) >= MAX_INTACT:
        _intact.clear()  # of segments that were merged away long ago
    _intact[path] = (found.st_ino, sums)
    return True


def _used_files(folder: str) -> list[str]:
    """Return the list of segments, and the files of the segments in it."""
    try:
        with open(os.path.join(folder, META), "rb") as file:
            listed = file.read().replace(b"-", b"")
        names = sorted(os.listdir(folder))
    except FileNotFoundError:
        return []
    others = {META, LEXICAL_ID}
    segments = [n for n in names if n[:1] != "." and n.partition(".")[0].encode() in listed]
    return [META, *(name for name in segments if name not in others)]


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


def _read(path: str) -> Checksums | str:
    """Return the list, an empty open one if there is none, or a description of what is wrong."""
    data = read_small(path, MAX_LIST_BYTES)
    if data is None:
        return Checksums(True, {})
    held = _parsed.get(path)
    if held is None or held[0] != data:
        held = _parsed[path] = data, _parse(os.path.basename(path), data)
    return held[1]


def _parse(name: str, data: bytes) -> Checksums | str:
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
        word, _, half = state.partition(" ")
        return Checksums(word == "open", files, parse_half(half))
    except (ValueError, UnicodeDecodeError):
        return f"{name} is not what was written"


def _write(path: str, known: Checksums, existing: bool = False) -> None:
    lines = [f"{'open' if known.is_open else 'closed'} {known.half}"]
    for name, (identity, sums) in known.files.items():
        lines.append(" ".join((name, *map(str, identity), *(f"{number:x}" for number in sums))))
    body = "\n".join(lines).encode() + b"\n"
    data = b"%08x\n%s" % (crc32(body), body)
    write_atomic(path, data, durable=False, existing=existing)


class LogHeld:
    """Around a transaction: blocks checkpoints, so no page of the log goes without a checksum."""

    def __init__(self, path: str) -> None:
        self._list = os.path.join(os.path.dirname(path), "facts.seal")
        self._lock = -1

    def __enter__(self) -> None:
        try:
            self._lock = open_lock(self._list)
        except OSError:
            return  # the store is being removed or is not writable: SQLite reports it
        fcntl.flock(self._lock, fcntl.LOCK_SH)

    def __exit__(self, *_: object) -> None:
        if self._lock >= 0:
            os.close(self._lock)


class NobodyWrites:
    """Excludes all transactions while the files of a store are exchanged."""

    def __init__(self, store: str) -> None:
        self._list = os.path.join(store, "facts.seal")

    def __enter__(self) -> None:
        self._lock = open_lock(self._list)
        fcntl.flock(self._lock, fcntl.LOCK_EX)

    def __exit__(self, *_: object) -> None:
        os.close(self._lock)


def make_lock(path: str) -> None:
    """Create the lock file of a new database. Never later: the store may be being removed."""
    listed = os.path.join(os.path.dirname(path), "facts.seal")
    if not (os.path.exists(path) and os.path.exists(listed)):
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        os.close(os.open(f"{listed}.lock", flags, 0o600))


def open_lock(path: str) -> int:
    """Open the lock file of a list of checksums."""
    return os.open(f"{path}.lock", os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
