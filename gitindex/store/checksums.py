"""Checksums of the store: they detect changes that its writer did not make. The only integrity layer.

Two small files beside the store: `facts.checksums` has the identity of the database file and a checksum
of each part of it, `lexical.checksums` the same for every file of the lexical index. `CheckLevel.STAT`
compares identities, which costs a few system calls, and compares checksums only if one differs.
Readers that answer from the files also compare every part once (`CACHED`), because a disk that loses a
bit changes no identity; after a publish only the parts that it wrote are read again. Runners read all
(`FULL`).

A power cut must not look like damage. The list of the database is `open`, durably, before a checkpoint
changes the file, and nothing is concluded from an open one. A list of the lexical index that is older
than the last commit counts as open, so that nothing is synced before a commit. The first transaction in a
write-ahead log marks it with the state of the database file that it belongs to (`log_tag`): a log of an
earlier state, put back, is noticed.

Each half of the store also has a name and a number that grows (`Half`): a stamp and the database name
the halves that they were written with, so that an older copy, or that of another store, is noticed.
"""

from __future__ import annotations

import os
import time
from struct import unpack
from zlib import crc32

from gitindex.base.atomic_file import read_small, write_atomic
from gitindex.base.light_types import TYPE_CHECKING, IntEnum, NamedTuple, Suppress
from gitindex.base.system import EXCLUSIVE, SHARED, lock

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator
    from typing import Self

CHECKSUM_FILES = ("facts.checksums", "lexical.checksums")
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
NO_LOG, UNTAGGED = -1, 0
"""Untagged: a log of a database that had no checksums yet."""
_BEGUN = 1 << 40  # more than the size of any log
_TAG_AT = 68
"""Where SQLite keeps the application id in page 1: the tag of the log."""
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

    def following(self) -> Half:
        """Return the next state; an unknown half gets a name."""
        return Half(os.urandom(8).hex() if self.id == UNKNOWN else self.id, self.number + 1)

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
    half: Half = Half()
    log: int = NO_LOG  # tag of a log that a checkpoint left in place


class BrokenFooter(Exception):
    """A file of Tantivy does not match the checksum that it carries itself."""


def half_of_database(store: str) -> Half:
    """The database, as its writer left it; unknown while one writes into it."""
    listed = _read(f"{store}/facts.checksums")
    if (
        isinstance(listed, Checksums)
        and not listed.files
        and not os.path.exists(f"{store}/facts.checksums")
    ):
        return GONE
    return listed.half if isinstance(listed, Checksums) and not listed.is_open else Half()


def log_tag(half: Half) -> int:
    """Return the mark of logs that belong to this state of the database file."""
    return crc32(str(half).encode()) & 0x7FFFFFFF or 1


def log_size(path: str, half: Half) -> int:
    """Return a number that only grows while the database file stays in this state.

    It is the size of its log; one started in this state, in place of one that was moved, counts as longer.
    """
    with Suppress(FileNotFoundError):
        size = os.stat(
            f"{path}-wal"
        ).st_size  # first: a log started after it is shorter, and no cut one
        return size + (_tag_in_log(path) == log_tag(half)) * _BEGUN
    return 0


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


def database_damage(store: str, level: CheckLevel = CheckLevel.STAT) -> str:
    """The same for the database alone."""
    path = os.path.join(store, "facts.db")
    for attempt in (1, 2):
        known = _read(f"{store}/facts.checksums")
        if isinstance(known, str):
            return known
        if known.is_open or "facts.db" not in known.files:
            return ""
        identity, sums = known.files["facts.db"]
        try:
            intact = _is_intact(path, identity, sums, level, _database_sum)
        except FileNotFoundError:
            return ""  # a removed store is not damaged
        tags = NO_LOG, known.log, log_tag(known.half)
        if intact and (_tag_in_log(path) in tags or not _is_log_valid(path)):
            return ""
        if attempt == 1 and _read(f"{store}/facts.checksums") == known:
            return f"facts.db{'-wal' * intact} is not what was written"
    return ""


def lexical_damage(store: str, level: CheckLevel = CheckLevel.STAT) -> str:
    """The same for the lexical index. Added or missing files count only without a writer."""
    folder = os.path.join(store, "lexical")
    for attempt in (1, 2):
        known = _read(f"{store}/lexical.checksums")
        if isinstance(known, str):
            return known
        wrong = _wrong_file(folder, known, level)
        if not wrong or not os.path.isdir(folder):
            return ""
        if attempt == 1 and _read(f"{store}/lexical.checksums") == known:
            return f"lexical/{wrong} is not what was written"
    return ""


class LogLock:
    """Shared by transactions, so that no page of the log goes without a checksum; exclusive while the log,
    or the files of the store, are moved."""

    def __init__(self, path: str, exclusive: bool) -> None:
        self._path, self._exclusive, self._lock = path, exclusive, -1
        self._list = os.path.join(os.path.dirname(path), "facts.checksums")

    def __enter__(self) -> Self:
        try:
            self._lock = os.open(f"{self._list}.lock", os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
        except OSError:
            if self._exclusive:
                raise
            return self  # the store is being removed or is not writable: SQLite reports it
        lock(self._lock, EXCLUSIVE if self._exclusive else SHARED)
        return self

    def __exit__(self, *_: object) -> None:
        if self._lock >= 0:
            os.close(self._lock)


class DatabaseChecksums(LogLock):
    """Around every change of the database file: one writer at a time."""

    def __init__(self, path: str) -> None:
        super().__init__(path, exclusive=True)

    def __enter__(self) -> Self:
        super().__enter__()
        try:
            self._listed = _read(self._list)
            there = os.path.exists(self._list)
            if isinstance(self._listed, Checksums):
                _write(self._list, self._listed._replace(is_open=True), existing=there)
        except BaseException:
            self.__exit__()  # else this process would wait for itself the next time
            raise
        return self

    def check(self, pages: Iterable[int], page_size: int) -> None:
        """Before the pages are written: are the parts that they lie in as written?

        Their checksums will be of all their pages. If one is not, the list is broken from now on.
        """
        listed = self._listed
        if isinstance(listed, str) or listed.is_open or "facts.db" not in listed.files:
            return
        sums = listed.files["facts.db"][1]
        for part in sorted({(page - 1) * page_size // PART for page in pages}):
            if part < len(sums) and _database_sum(self._path, part) != sums[part]:
                self._listed = "facts.db is not what was written"
                write_atomic(self._list, b"", durable=False)
                return

    def finish(self, pages: Collection[int], page_size: int) -> None:
        """Checksums the file again: only the pages that were written get new checksums."""
        listed = self._listed
        if isinstance(listed, str):
            return  # broken: it stays so until the store is rebuilt
        whole = listed.is_open or "facts.db" not in listed.files  # its writer died: start over
        size = os.stat(self._path).st_size
        sums = [] if whole else listed.files["facts.db"][1][: -(-size // PART)]
        known = len(sums)
        parts = {(page - 1) * page_size // PART for page in pages}
        if known:
            parts.add(known - 1)  # the end of the file may have cut it
        sums += [0] * (-(-size // PART) - known)
        parts |= set(range(known, len(sums)))
        fd = _descriptor(self._path)
        for part in sorted(part for part in parts if part < len(sums)):
            sums[part] = crc32(os.pread(fd, PART, part * PART))
        files = {"facts.db": (_stable(self._path), sums)}
        half = listed.half
        if pages or files != listed.files or half.id == UNKNOWN:  # an empty log changes nothing
            half = half.following()
        _write(self._list, Checksums(False, files, half, _tag_in_log(self._path)), existing=True)


class LexicalChecksums:
    """The checksums of a lexical index, which its writer brings up to date when it ends."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._list = os.path.join(os.path.dirname(folder), "lexical.checksums")
        listed = _read(self._list)
        self._files = listed.files if isinstance(listed, Checksums) else {}
        self._broken = not isinstance(listed, Checksums)
        self._first = not os.path.exists(self._list)

    def finish(self) -> None:
        """Write the list; one that is gone is not made anew, because the store is being deleted."""
        if self._broken:
            return
        files = {}
        for name in _used_files(self._folder):
            try:
                files[name] = self._checked(name)
            except FileNotFoundError:
                continue  # merged away in the meantime
            except BrokenFooter:
                self._broken = True
                write_atomic(self._list, b"", durable=False)
                return
        known = Checksums(False, files, half_of_lexical(self._folder))
        with Suppress(FileNotFoundError):  # somebody removes the store
            _write(self._list, known, existing=not self._first)

    def _checked(self, name: str) -> tuple[FileIdentity, list[int]]:
        """Return the known checksum of a file (written once); a new file must match its footer."""
        path = os.path.join(self._folder, name)
        if name in self._files and name != META:
            return self._files[name]
        with open(path, "rb") as file:
            data = file.read()
        if name != META and not footer_fits(data):
            raise BrokenFooter
        return _stable(path), [crc32(data)]


def renew(store: str) -> None:
    """Update the identities of files whose bytes are as written: a rename changes times."""
    for name, folder, wrong in (
        (CHECKSUM_FILES[0], store, database_damage(store, CheckLevel.FULL)),
        (CHECKSUM_FILES[1], os.path.join(store, "lexical"), lexical_damage(store, CheckLevel.FULL)),
    ):
        listed = _read(f"{store}/{name}")
        if isinstance(listed, Checksums) and not wrong:
            files = {f: (_stable(f"{folder}/{f}"), sums) for f, (_, sums) in listed.files.items()}
            _write(f"{store}/{name}", listed._replace(files=files))


def is_lexical_closed(store: str) -> bool:
    """Did the last writer of the lexical index finish?"""
    listed = _read(f"{store}/lexical.checksums")
    return isinstance(listed, Checksums) and not _is_superseded(listed, f"{store}/lexical")


def torn_file(store: str) -> str:
    """Return a file that a killed writer or a power cut left torn; empty if there is none.

    A closed list of checksums vouches for the files. Else they must match their own, and be there.
    """
    folder = f"{store}/lexical"
    listed = read_small(f"{folder}/{META}", MAX_LIST_BYTES)
    if listed is None or is_lexical_closed(store):
        return ""
    from json import loads  # lazily: a prompt needs none

    try:
        used = [str.replace(one["segment_id"], "-", "") for one in loads(listed)["segments"]]
    except (ValueError, KeyError, TypeError):
        return META
    names = os.listdir(folder)
    gone = (f"{one}.store" for one in used if not any(name.startswith(one) for name in names))
    return _wrong_unlisted(folder, Checksums(True, {})) or next(gone, "")


def complete_checksums(store: str) -> None:
    """Write the list that a writer of the lexical index did not live to write."""
    if os.path.exists(f"{store}/lexical/{META}") and not is_lexical_closed(store):
        LexicalChecksums(f"{store}/lexical").finish()


def wal_pages(path: str) -> tuple[set[int], int]:
    """Return the pages in the write-ahead log, and their size."""
    with Suppress(FileNotFoundError), open(f"{path}-wal", "rb", 0) as file:
        header = os.pread(file.fileno(), 32, 0)
        page_size = int.from_bytes(header[8:12]) if len(header) == 32 else 0
        return {page for _, page, _ in _frames(file.fileno())}, page_size or 4096
    return set(), 4096


def _tag_in_log(path: str) -> int:
    """Return the tag of the first transaction in the write-ahead log; NO_LOG where it has none."""
    tag = UNTAGGED
    with Suppress(FileNotFoundError), open(f"{path}-wal", "rb", 0) as file:
        for at, page, committed in _frames(file.fileno()):
            if page == 1:
                tag = int.from_bytes(os.pread(file.fileno(), 4, at + _TAG_AT))
            if committed:
                return tag
    return NO_LOG


def _is_log_valid(path: str) -> bool:
    """Does SQLite take the first transaction in the log for a whole one? After a power cut it may not.

    Each frame carries a checksum of all before it, in the order of bytes that the first number says.
    """
    with Suppress(FileNotFoundError), open(f"{path}-wal", "rb", 0) as file:
        header = file.read(32)
        order, size = "<>"[header[3] & 1], int.from_bytes(header[8:12])
        sums = _log_sum(order, header[:24], (0, 0))
        valid = sums == unpack(">2I", header[24:])
        for at, _, committed in _frames(file.fileno()):
            frame = os.pread(file.fileno(), size + 24, at - 24)
            sums = _log_sum(order, frame[:8] + frame[24:], sums) if valid else sums
            valid = len(frame) == size + 24 and sums == unpack(">2I", frame[16:24])
            if committed or not valid:
                return valid
    return False


def _log_sum(order: str, data: bytes, sums: tuple[int, int]) -> tuple[int, int]:
    """Continue SQLite's checksum of a log."""
    one, two = sums
    words = unpack(f"{order}{len(data) // 4}I", data[: len(data) & ~7])
    for at in range(0, len(words), 2):
        one = (one + words[at] + two) & 0xFFFFFFFF
        two = (two + words[at + 1] + one) & 0xFFFFFFFF
    return one, two


def _frames(fd: int) -> Iterator[tuple[int, int, int]]:
    """Yield place and number of each page in a log, and whether it ends a transaction.

    Only heads of frames are read: a log can be large.
    """
    header = os.pread(fd, 32, 0)
    page_size = int.from_bytes(header[8:12])
    if len(header) < 32 or not page_size:
        return
    for at in range(32, os.fstat(fd).st_size - 23, page_size + 24):
        frame = os.pread(fd, 16, at)
        if frame[8:] == header[16:24]:  # else from an earlier cycle of the log
            yield at + 24, int.from_bytes(frame[:4]), int.from_bytes(frame[4:8])


def _is_superseded(known: Checksums, folder: str) -> bool:
    """Is there a later commit than that of this list, or is it unknown which one it is of?"""
    if known.is_open or known.half.id == UNKNOWN:
        return True
    now = half_of_lexical(folder)
    return now.id == known.half.id and now.number > known.half.number


def _wrong_file(folder: str, known: Checksums, level: CheckLevel) -> str:
    """Return the first file that is not as it was written.

    Files of a later commit than that of the list must match the checksums that they carry themselves.
    """
    superseded = not known.files
    for name, (identity, sums) in known.files.items():
        try:
            if _is_intact(f"{folder}/{name}", identity, sums, level, _file_sum):
                continue
            there = name != META
        except FileNotFoundError:
            there = False
        superseded = superseded or _is_superseded(known, folder)
        if there or not superseded:
            return name
    return _wrong_unlisted(folder, known) if superseded and level is not CheckLevel.STAT else ""


def _wrong_unlisted(folder: str, known: Checksums) -> str:
    unlisted = (name for name in _used_files(folder)[1:] if name not in known.files)
    return next((name for name in unlisted if not _carries_its_sum(f"{folder}/{name}")), "")


def _carries_its_sum(path: str) -> bool:
    """Does a file of Tantivy, if it is there, match its footer? Read once by each process."""
    with Suppress(FileNotFoundError), open(path, "rb") as file:
        inode = os.fstat(file.fileno()).st_ino
        if _intact.get(path) != (inode, []):
            if not footer_fits(file.read()):
                return False
            _intact[path] = inode, []
    return True


def _is_intact(
    path: str,
    noted: FileIdentity,
    sums: list[int],
    level: CheckLevel,
    read: Callable[[str, int], int],
) -> bool:
    """Is a file as it was written? Parts already read from the same file are not read again."""
    info = os.stat(path)
    same = (info.st_ino, info.st_size, info.st_mtime_ns, info.st_ctime_ns) == noted
    if (same and level is CheckLevel.STAT) or info.st_size != noted.size:
        return same
    inode, known = _intact.get(path, (0, []))
    if not same or inode != info.st_ino or level is CheckLevel.FULL:
        known = []
    for part, said in enumerate(sums):
        if known[part : part + 1] != [said] and read(path, part) != said:
            return False
    if len(_intact) >= MAX_INTACT:
        _intact.clear()  # of segments that were merged away long ago
    _intact[path] = (info.st_ino, sums)
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
    info = os.stat(path)
    return FileIdentity(info.st_ino, info.st_size, info.st_mtime_ns, info.st_ctime_ns)


def _stable(path: str) -> FileIdentity:
    """Return the identity, once any later change is sure to alter it."""
    while 0 <= _age(path) < TICK_SECONDS:
        time.sleep(TICK_SECONDS / 4)
    return _identity(path)


def _age(path: str) -> float:
    return time.time() - os.stat(path).st_ctime


def _descriptor(path: str) -> int:
    inode = os.stat(path).st_ino
    opened = _descriptors.get(path)
    if opened is None or opened[0] != inode:
        if opened is not None:
            os.close(opened[1])  # of a file that is gone: no lock on it matters
        opened = _descriptors[path] = (inode, os.open(path, os.O_RDONLY | os.O_CLOEXEC))
    return opened[1]


def _file_sum(path: str, _part: int, crc: int = 0) -> int:
    with open(path, "rb", 0) as file:
        while piece := file.read(PART):  # its memory is used again
            crc = crc32(piece, crc)
    return crc


def _database_sum(path: str, part: int) -> int:
    return crc32(os.pread(_descriptor(path), PART, part * PART))


def _read(path: str) -> Checksums | str:
    """Return the list, an empty open one if there is none, or a description of what is wrong."""
    try:
        data = read_small(path, MAX_LIST_BYTES)
    except IsADirectoryError:
        return f"{os.path.basename(path)} is not a file"
    if data is None:
        return Checksums(True, {})
    parsed = _parsed.get(path)
    if parsed is None or parsed[0] != data:
        parsed = _parsed[path] = data, _parse(os.path.basename(path), data)
    return parsed[1]


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
        word, name, number, *log = state.split(" ")
        half = parse_half(f"{name} {number}")
        return Checksums(word == "open", files, half, *map(int, log))
    except (ValueError, UnicodeDecodeError):
        return f"{name} is not what was written"


def _write(path: str, known: Checksums, existing: bool = False) -> None:
    lines = [f"{'open' if known.is_open else 'closed'} {known.half} {known.log}"]
    for name, (identity, sums) in known.files.items():
        lines.append(" ".join((name, *map(str, identity), *(f"{number:x}" for number in sums))))
    body = "\n".join(lines).encode() + b"\n"
    data = b"%08x\n%s" % (crc32(body), body)
    write_atomic(path, data, existing=existing)


def make_lock(path: str) -> None:
    """Create the lock file of a new database. Never later: the store may be being removed."""
    listed = os.path.join(os.path.dirname(path), "facts.checksums")
    if not (os.path.exists(path) and os.path.exists(listed)):
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        os.close(os.open(f"{listed}.lock", flags, 0o600))
