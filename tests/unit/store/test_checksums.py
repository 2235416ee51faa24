"""The seal of the store's files: what it notices, what it does not mind, and when it reads again."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from zlib import crc32

import pytest

from gitindex.store import checksums, connection
from gitindex.store.checksums import (
    PART,
    CheckLevel,
    Checksums,
    DatabaseChecksums,
    Half,
    LexicalChecksums,
    LogLock,
    complete_checksums,
    damage_of_store,
    database_damage,
    footer_fits,
    is_lexical_closed,
    lexical_damage,
    make_lock,
    renew,
    wal_pages,
)

PAGE = 4096


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Path]:
    """A store whose database has three and a half parts, sealed."""
    (tmp_path / "lexical").mkdir()
    make_lock(str(tmp_path / "facts.db"))
    (tmp_path / "facts.db").write_bytes(os.urandom(3 * PART + PART // 2))
    write_pages(tmp_path, set())
    yield tmp_path
    checksums._intact.clear()
    checksums._parsed.clear()


def write_pages(store: Path, pages: set[int], change: bytes = b"") -> None:
    """Put `change` at the start of each page, as a checkpoint would, and seal that."""
    with (
        DatabaseChecksums(str(store / "facts.db")) as sealing,
        (store / "facts.db").open("r+b") as f,
    ):
        sealing.check(pages, PAGE)
        for page in pages:
            f.seek((page - 1) * PAGE)
            f.write(change)
        f.flush()
        sealing.finish(pages, PAGE)


def sums(store: Path) -> list[int]:
    held = checksums._read(f"{store}/facts.checksums")
    assert isinstance(held, Checksums)
    assert not held.is_open
    return held.files["facts.db"][1]


def real_sums(store: Path) -> list[int]:
    data = (store / "facts.db").read_bytes()
    return [crc32(data[at : at + PART]) for at in range(0, len(data), PART)]


def lose_a_bit(path: Path, at: int) -> None:
    """Change a byte, and name the file in its seal as it is now: a disk changes no identity."""
    data = bytearray(path.read_bytes())
    data[at] ^= 1
    path.write_bytes(data)
    keep_identity(path)


def keep_identity(path: Path) -> None:
    lexical = path.parent.name == "lexical"
    name = (
        f"{path.parent.parent}/lexical.checksums" if lexical else f"{path.parent}/facts.checksums"
    )
    held = checksums._read(name)
    assert isinstance(held, Checksums)
    known = held.files[path.name][1]
    files = {**held.files, path.name: (checksums._identity(str(path)), known)}
    checksums._write(name, held._replace(files=files))


def test_the_sums_are_those_of_every_part(store: Path) -> None:
    assert len(sums(store)) == 4
    assert sums(store) == real_sums(store)
    assert [
        damage_of_store(str(store), look)
        for look in (CheckLevel.STAT, CheckLevel.CACHED, CheckLevel.FULL)
    ] == ["", "", ""]


@pytest.mark.parametrize("page", [1, 16, 17, 32, 33, 48, 49, 56])
def test_only_the_parts_of_written_pages_are_summed_again(store: Path, page: int) -> None:
    before = sums(store)
    write_pages(store, {page}, b"new")
    changed = [part for part in range(4) if sums(store)[part] != before[part]]
    assert changed == [(page - 1) * PAGE // PART]
    assert sums(store) == real_sums(store)


def test_a_page_that_nobody_told_of_is_damage(store: Path) -> None:
    with (store / "facts.db").open("r+b") as file:
        file.write(b"sneaked in")
    write_pages(store, {40}, b"new")
    assert database_damage(str(store), CheckLevel.FULL) == "facts.db is not what was written"


@pytest.mark.parametrize("page", [2, 16])
def test_damage_beside_a_written_page_is_not_sealed(store: Path, page: int) -> None:
    lose_a_bit(store / "facts.db", 100)
    write_pages(store, {page}, b"new")
    assert database_damage(str(store), CheckLevel.STAT) == "facts.checksums is not what was written"
    write_pages(store, {page + 20}, b"new")
    assert database_damage(str(store), CheckLevel.STAT), "it stays broken"


@pytest.mark.parametrize("grown", [1, PART // 2, PART // 2 + 1, 3 * PART])
def test_a_database_that_grows(store: Path, grown: int) -> None:
    with DatabaseChecksums(str(store / "facts.db")) as sealing:
        with (store / "facts.db").open("ab") as file:
            file.write(os.urandom(grown))
        sealing.finish(set(), PAGE)
    assert sums(store) == real_sums(store)
    assert database_damage(str(store), CheckLevel.FULL) == ""


def test_a_database_that_is_empty(tmp_path: Path) -> None:
    make_lock(str(tmp_path / "facts.db"))
    (tmp_path / "facts.db").touch()
    write_pages(tmp_path, set())
    assert sums(tmp_path) == []
    write_pages(tmp_path, {1}, b"first")
    assert sums(tmp_path) == real_sums(tmp_path) != []


def test_every_page_is_summed_again_after_a_writer_that_died(store: Path) -> None:
    with DatabaseChecksums(str(store / "facts.db")):
        with (store / "facts.db").open("r+b") as file:
            file.write(b"half a checkpoint")
        assert database_damage(str(store), CheckLevel.FULL) == "", (
            "nothing is concluded from an open seal"
        )
    write_pages(store, {40}, b"new")
    assert sums(store) == real_sums(store)
    assert database_damage(str(store), CheckLevel.FULL) == ""


def test_a_broken_seal_stays_broken(store: Path) -> None:
    (store / "facts.checksums").write_bytes(b"garbage")
    for _ in range(2):
        assert damage_of_store(str(store)) == "facts.checksums is not what was written"
        write_pages(store, {1}, b"x")


@pytest.mark.parametrize(
    "bad",
    [
        b"00000000\nclosed\n",
        b"%08x\nclosed\nfacts.db 1 2 3\n" % crc32(b"closed\nfacts.db 1 2 3\n"),
        b"%08x\nclosed\nfacts.db 1 2 3 4 xyz\n" % crc32(b"closed\nfacts.db 1 2 3 4 xyz\n"),
        b"%08x\n\xff\n" % crc32(b"\xff\n"),
        b"%08x\n" % crc32(b""),
    ],
)
def test_a_seal_of_another_form(store: Path, bad: bytes) -> None:
    (store / "facts.checksums").write_bytes(bad)
    assert database_damage(str(store)) == "facts.checksums is not what was written"


def test_no_seal_and_no_database_are_no_damage(store: Path) -> None:
    (store / "facts.db").unlink()
    assert damage_of_store(str(store), CheckLevel.FULL) == ""
    (store / "facts.checksums").unlink()
    assert checksums._read(f"{store}/facts.checksums") == Checksums(True, {})
    assert damage_of_store(str(store), CheckLevel.FULL) == ""


def test_a_copy_with_the_same_bytes_is_sound_and_a_cut_one_is_not(store: Path) -> None:
    data = (store / "facts.db").read_bytes()
    (store / "facts.db").write_bytes(data)
    assert database_damage(str(store)) == ""
    (store / "facts.db").write_bytes(data[:-1])
    assert database_damage(str(store)) == "facts.db is not what was written"
    (store / "facts.db").write_bytes(data + b"x")
    assert database_damage(str(store)) == "facts.db is not what was written"


def test_a_lost_bit_is_seen_by_who_reads(store: Path) -> None:
    lose_a_bit(store / "facts.db", 2 * PART)
    told = [
        database_damage(str(store), look)
        for look in (CheckLevel.STAT, CheckLevel.CACHED, CheckLevel.FULL)
    ]
    assert told == ["", "facts.db is not what was written", "facts.db is not what was written"]


def test_what_was_read_once_is_not_read_again_unless_all_is_asked(store: Path) -> None:
    assert database_damage(str(store), CheckLevel.CACHED) == ""
    lose_a_bit(store / "facts.db", 0)
    told = [database_damage(str(store), look) for look in (CheckLevel.CACHED, CheckLevel.FULL)]
    assert told == ["", "facts.db is not what was written"]


def test_another_file_in_its_place_is_read_anew(store: Path) -> None:
    assert database_damage(str(store), CheckLevel.CACHED) == ""
    data = bytearray((store / "facts.db").read_bytes())
    data[-1] ^= 1
    (store / "other").write_bytes(data)
    (store / "other").rename(store / "facts.db")
    keep_identity(store / "facts.db")
    assert database_damage(str(store), CheckLevel.CACHED) == "facts.db is not what was written"


def test_only_parts_that_were_written_since_are_read_again(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[int] = []
    real = checksums._database_sum

    def noted(path: str, part: int) -> int:
        read.append(part)
        return real(path, part)

    monkeypatch.setattr(checksums, "_database_sum", noted)
    for expected in ([0, 1, 2, 3], [], [1]):
        read.clear()
        assert database_damage(str(store), CheckLevel.CACHED) == ""
        assert read == expected
        if not expected:
            write_pages(store, {17}, b"new")


def test_the_memory_of_sound_files_is_bounded(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checksums, "MAX_INTACT", 2)
    checksums._intact.update({"a": (1, []), "b": (2, [])})
    assert database_damage(str(store), CheckLevel.CACHED) == ""
    assert list(checksums._intact) == [str(store / "facts.db")]


def test_a_seal_that_is_renewed_during_the_look_is_looked_at_again(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A writer seals while a reader compares: the second look decides, and there is no third."""
    lose_a_bit(store / "facts.db", 0)
    found = checksums._read(f"{store}/facts.checksums")
    looks = []

    def other(_path: str) -> Checksums:
        looks.append(_path)
        assert isinstance(found, Checksums)
        return found._replace(files={**found.files, f"x{len(looks)}": found.files["facts.db"]})

    monkeypatch.setattr(checksums, "_read", other)
    assert database_damage(str(store), CheckLevel.FULL) == ""
    assert len(looks) == 3, "read, compared with what is there now, and read again"


@pytest.mark.parametrize("name", ["facts.checksums", "lexical.checksums"])
def test_a_look_reads_the_seal_twice_where_nothing_is_as_it_was_written(
    store: Path, lexical: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Once before the files and once after them; only another seal is a reason to look again."""
    (store / "facts.db").write_bytes(b"other")
    (lexical / "meta.json").write_bytes(b"other")
    look = database_damage if name == "facts.checksums" else lexical_damage
    read: list[str] = []
    real = checksums._read

    def noted(path: str) -> Checksums | str:
        read.append(path)
        return real(path)

    monkeypatch.setattr(checksums, "_read", noted)
    assert look(str(store)).endswith("is not what was written")
    assert [os.path.basename(path) for path in read] == [name, name]


def test_a_lexical_seal_that_is_renewed_during_the_look(
    store: Path, lexical: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (lexical / "meta.json").write_bytes(b"other")
    found = checksums._read(f"{store}/lexical.checksums")
    assert isinstance(found, Checksums)
    looks: list[str] = []

    def other(path: str) -> Checksums:
        looks.append(path)
        return found._replace(files={**found.files, f"x{len(looks)}": found.files["meta.json"]})

    monkeypatch.setattr(checksums, "_read", other)
    assert lexical_damage(str(store), CheckLevel.FULL) == ""
    assert len(looks) == 3


def test_a_seal_is_parsed_once(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = checksums._read(f"{store}/facts.checksums")
    monkeypatch.setattr(checksums, "_parse", lambda *_: pytest.fail("it is parsed again"))
    assert checksums._read(f"{store}/facts.checksums") is first


def test_a_page_behind_the_end_of_the_file(store: Path) -> None:
    """The log may name pages that a later transaction has cut off."""
    write_pages(store, set())
    with DatabaseChecksums(str(store / "facts.db")) as sealing:
        sealing.finish({4 * PART // PAGE + 1, 9 * PART // PAGE}, PAGE)
    assert sums(store) == real_sums(store)


def segment(folder: Path, name: str, body: bytes = b"postings") -> Path:
    """A file of Tantivy: its body, a footer with the checksum, the footer's size, a magic number."""
    footer = b'{"version":{},"crc":%d}' % crc32(body)
    path = folder / name
    path.write_bytes(
        body + footer + len(footer).to_bytes(4, "little") + (1337).to_bytes(4, "little")
    )
    os.utime(path)
    return path


def write_meta(folder: Path, opstamp: int, *segments: str) -> None:
    """Write Tantivy's list of segments, as of a commit with this number."""
    (folder / "meta.json").write_text(json.dumps({"segments": segments, "opstamp": opstamp}))


@pytest.fixture
def lexical(store: Path) -> Path:
    """A lexical index of two files, with its list of checksums."""
    folder = store / "lexical"
    (folder / "id").write_text("abc")
    write_meta(folder, 1, "0123-4567")
    segment(folder, "01234567.idx")
    segment(folder, "01234567.store", b"documents")
    segment(folder, "89abcdef.idx", b"of no segment")
    (folder / ".lock").touch()
    LexicalChecksums(str(folder)).finish()
    return folder


def names(store: Path) -> tuple[bool, list[str]]:
    held = checksums._read(f"{store}/lexical.checksums")
    assert isinstance(held, Checksums)
    return held.is_open, sorted(held.files)


def test_the_files_of_listed_segments_are_sealed(store: Path, lexical: Path) -> None:
    assert names(store) == (False, ["01234567.idx", "01234567.store", "meta.json"])
    assert is_lexical_closed(str(store))
    assert [
        lexical_damage(str(store), look)
        for look in (CheckLevel.STAT, CheckLevel.CACHED, CheckLevel.FULL)
    ] == ["", "", ""]


@pytest.mark.parametrize("name", ["01234567.idx", "01234567.store", "meta.json"])
def test_a_lexical_file_that_changed_or_is_gone(store: Path, lexical: Path, name: str) -> None:
    told = f"lexical/{name} is not what was written"
    data = (lexical / name).read_bytes()
    (lexical / name).write_bytes(data[:-1])
    assert lexical_damage(str(store)) == told
    (lexical / name).unlink()
    assert lexical_damage(str(store)) == told
    (lexical / name).write_bytes(data)
    assert lexical_damage(str(store)) == ""
    checksums._intact.clear()
    lose_a_bit(lexical / name, 3)
    assert [lexical_damage(str(store), look) for look in (CheckLevel.STAT, CheckLevel.CACHED)] == [
        "",
        told,
    ]


def test_after_a_later_commit_files_may_go_and_the_list_of_segments_may_change(
    store: Path, lexical: Path
) -> None:
    """A writer works, or was killed, or the power failed before its checksums were written."""
    write_meta(lexical, 2, "0123-4567")
    (lexical / "01234567.store").unlink()
    assert not is_lexical_closed(str(store))
    assert lexical_damage(str(store), CheckLevel.FULL) == ""
    (lexical / "01234567.idx").write_bytes(b"other")
    assert lexical_damage(str(store)) == "lexical/01234567.idx is not what was written"


@pytest.mark.parametrize(("opstamp", "name"), [(1, "abc"), (0, "abc"), (2, "foreign")])
def test_an_older_or_a_foreign_commit_is_damage(
    store: Path, lexical: Path, opstamp: int, name: str
) -> None:
    (lexical / "id").write_text(name)
    write_meta(lexical, opstamp, "0123-4567", "fedc-ba98")
    assert lexical_damage(str(store)) == "lexical/meta.json is not what was written"


def test_nothing_is_concluded_from_a_list_of_an_unknown_commit(store: Path, lexical: Path) -> None:
    """An earlier version did not note which commit its list was of."""
    held = checksums._read(f"{store}/lexical.checksums")
    assert isinstance(held, Checksums)
    checksums._write(f"{store}/lexical.checksums", held._replace(half=Half()))
    write_meta(lexical, 1, "0123-4567", "fedc-ba98")
    assert lexical_damage(str(store)) == ""
    assert not is_lexical_closed(str(store))


def test_a_new_file_gets_its_checksum_when_the_writer_ends(store: Path, lexical: Path) -> None:
    writer = LexicalChecksums(str(lexical))
    write_meta(lexical, 2, "0123-4567", "fedc-ba98")
    segment(lexical, "fedcba98.idx")
    assert names(store) == (False, ["01234567.idx", "01234567.store", "meta.json"])
    writer.finish()
    assert is_lexical_closed(str(store))
    assert names(store) == (False, ["01234567.idx", "01234567.store", "fedcba98.idx", "meta.json"])


@pytest.mark.parametrize("listed", [True, False])
def test_a_file_of_a_later_commit_than_the_list_must_match_its_footer(
    store: Path, lexical: Path, listed: bool
) -> None:
    """Its writer was killed, or somebody put an older list back."""
    if not listed:
        (store / "lexical.checksums").unlink()
    write_meta(lexical, 2, "0123-4567", "fedc-ba98")
    path = segment(lexical, "fedcba98.idx")
    levels = (CheckLevel.STAT, CheckLevel.CACHED, CheckLevel.FULL)
    assert [lexical_damage(str(store), level) for level in levels] == ["", "", ""]
    checksums._intact.clear()
    path.write_bytes(path.read_bytes().replace(b"postings", b"postinks"))
    told = "lexical/fedcba98.idx is not what was written"
    assert [lexical_damage(str(store), level) for level in levels] == ["", told, told]
    path.unlink()
    assert lexical_damage(str(store), CheckLevel.CACHED) == "", "merged away in the meantime"


def test_the_next_session_completes_a_list_that_is_too_old(store: Path, lexical: Path) -> None:
    write_meta(lexical, 2, "0123-4567", "fedc-ba98")
    segment(lexical, "fedcba98.idx")
    complete_checksums(str(store))
    assert is_lexical_closed(str(store))
    assert "fedcba98.idx" in names(store)[1]
    before = (store / "lexical.checksums").stat().st_ino
    complete_checksums(str(store))
    assert (store / "lexical.checksums").stat().st_ino == before


def test_a_list_that_was_removed_is_not_made_anew(store: Path, lexical: Path) -> None:
    writer = LexicalChecksums(str(lexical))
    (store / "lexical.checksums").unlink()
    writer.finish()
    assert not (store / "lexical.checksums").exists(), "somebody removes the store"


def test_a_new_file_that_does_not_fit_its_footer_breaks_the_seal(
    store: Path, lexical: Path
) -> None:
    write_meta(lexical, 2, "0123-4567", "fedc-ba98")
    segment(lexical, "fedcba98.idx").write_bytes(b"torn")
    writer = LexicalChecksums(str(lexical))
    writer.finish()
    assert lexical_damage(str(store)) == "lexical.checksums is not what was written"
    assert not is_lexical_closed(str(store))
    segment(lexical, "fedcba98.idx")
    writer.finish()
    LexicalChecksums(str(lexical)).finish()
    assert lexical_damage(str(store)) == "lexical.checksums is not what was written", (
        "until a rebuild"
    )


def test_a_store_without_a_lexical_index(store: Path, lexical: Path) -> None:
    for path in lexical.iterdir():
        path.unlink()
    lexical.rmdir()
    assert lexical_damage(str(store), CheckLevel.FULL) == "", "it is being removed"
    assert checksums._used_files(str(lexical)) == []


def test_a_moved_store_is_sealed_anew_if_it_is_sound(store: Path, lexical: Path) -> None:
    for path in (store / "facts.db", lexical / "01234567.idx"):
        path.write_bytes(path.read_bytes())  # the same bytes, other times
    renew(str(store))
    for name, path in (
        ("facts.checksums", store / "facts.db"),
        ("lexical.checksums", lexical / "meta.json"),
    ):
        held = checksums._read(f"{store}/{name}")
        assert isinstance(held, Checksums)
        assert held.files[path.name][0] == checksums._identity(str(path))
    assert not names(store)[0]
    assert sums(store) == real_sums(store)
    lose_a_bit(store / "facts.db", 1)
    before = (store / "facts.checksums").read_bytes()
    (store / "facts.db").write_bytes((store / "facts.db").read_bytes())
    renew(str(store))
    assert (store / "facts.checksums").read_bytes() == before, "what is not sound is not sealed"


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"1234567",
        b"x" * 8,
        b"body{}" + (2).to_bytes(4, "little") + (1337).to_bytes(4, "little"),
        b"body" + b'{"crc":1}' + (9).to_bytes(4, "little") + (1337).to_bytes(4, "little"),
    ],
)
def test_footers_that_do_not_fit(data: bytes) -> None:
    assert not footer_fits(data)


def test_a_footer_that_fits(tmp_path: Path) -> None:
    data = segment(tmp_path, "x").read_bytes()
    assert footer_fits(data)
    size = data[-8]
    spaced = data[:-8].replace(b'"crc":', b'"crc": ') + bytes([size + 1]) + data[-7:]
    assert footer_fits(spaced)
    for at in (0, len(data) - 20, len(data) - 8, len(data) - 1):
        changed = bytearray(data)
        changed[at] ^= 1
        assert not footer_fits(bytes(changed)), at
    empty = segment(tmp_path, "y", b"").read_bytes()
    assert footer_fits(empty)


def log(page_size: int, frames: list[tuple[int, bytes]], salt: bytes = b"saltsalt") -> bytes:
    header = b"\0" * 8 + page_size.to_bytes(4) + b"\0" * 4 + salt + b"\0" * 8
    written = [
        page.to_bytes(4) + b"\0" * 4 + of + b"\0" * 8 + b"d" * page_size for page, of in frames
    ]
    return header + b"".join(written)


def test_the_pages_of_the_log(tmp_path: Path) -> None:
    path, wal = str(tmp_path / "facts.db"), tmp_path / "facts.db-wal"
    assert wal_pages(path) == (set(), 4096)
    frames = [(3, b"saltsalt"), (70_000, b"saltsalt"), (5, b"old salt"), (3, b"saltsalt")]
    wal.write_bytes(log(512, frames))
    assert wal_pages(path) == ({3, 70_000}, 512)
    wal.write_bytes(log(512, frames)[: 32 + 536 + 23])
    assert wal_pages(path) == ({3}, 512), "half a header is none"
    wal.write_bytes(log(512, frames)[: 32 + 536 + 24])
    assert wal_pages(path) == ({3, 70_000}, 512)
    for header in (b"", log(512, [])[:31], log(0, [(3, b"saltsalt")])):
        wal.write_bytes(header)
        assert wal_pages(path) == (set(), 4096)


def is_locked(store: Path, how: int) -> bool:
    fd = os.open(store / "facts.checksums.lock", os.O_RDWR)
    try:
        fcntl.flock(fd, how | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(fd)
    return False


def test_who_excludes_whom(store: Path) -> None:
    path = str(store / "facts.db")
    with LogLock(path, exclusive=False):
        assert is_locked(store, fcntl.LOCK_EX)
        assert not is_locked(store, fcntl.LOCK_SH)
    with LogLock(path, exclusive=True):
        assert is_locked(store, fcntl.LOCK_SH)
    with DatabaseChecksums(path):
        assert is_locked(store, fcntl.LOCK_SH)
    assert not is_locked(store, fcntl.LOCK_EX)
    (store / "facts.checksums.lock").unlink()
    with LogLock(path, exclusive=False):
        assert not (store / "facts.checksums.lock").exists(), "the store may be being removed"
    with pytest.raises(FileNotFoundError), LogLock(path, exclusive=True):
        pass


def test_a_lock_is_given_up_if_the_list_cannot_be_written(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a descriptor left the process waited for its own lock, for ever."""

    def no_descriptor(*_: object, **__: object) -> None:
        raise OSError(errno.EMFILE, "too many open files")

    monkeypatch.setattr(checksums, "_write", no_descriptor)
    with pytest.raises(OSError, match="too many"), DatabaseChecksums(str(store / "facts.db")):
        pass
    assert not is_locked(store, fcntl.LOCK_EX)


def test_a_lock_may_have_any_descriptor(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process without standard input gets number 0."""
    closed: list[int] = []
    monkeypatch.setattr("gitindex.store.checksums.os.open", lambda *_: 0)
    monkeypatch.setattr("gitindex.store.checksums.lock", lambda *_: None)
    with monkeypatch.context() as patched:
        patched.setattr("gitindex.store.checksums.os.close", closed.append)
        with LogLock(str(store / "facts.db"), exclusive=False):
            pass
    assert closed == [0]


def test_the_lock_is_made_for_a_new_database_only(tmp_path: Path) -> None:
    path, lock = tmp_path / "facts.db", tmp_path / "facts.checksums.lock"
    make_lock(str(path))
    assert lock.stat().st_mode & 0o777 == 0o600
    path.touch()
    lock.unlink()
    make_lock(str(path))
    assert lock.exists()
    (tmp_path / "facts.checksums").touch()
    lock.unlink()
    make_lock(str(path))
    assert not lock.exists()


def test_an_identity_is_taken_when_later_changes_alter_it(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"x")
    changed = checksums._stable(str(path)).changed
    assert time.time() - changed / 1e9 >= checksums.TICK_SECONDS * 0.99


def test_a_file_of_this_very_moment_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    ages = iter([0.0, checksums.TICK_SECONDS])
    slept: list[float] = []
    monkeypatch.setattr(checksums, "_age", lambda _path: next(ages))
    monkeypatch.setattr("gitindex.store.checksums.time.sleep", slept.append)
    checksums._stable(str(tmp_path / "file"))
    assert len(slept) == 1


def test_a_file_of_the_future_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The clock was set back: the times of the file say nothing about now."""
    (tmp_path / "file").touch()
    monkeypatch.setattr(checksums, "_age", lambda _path: -1.0)
    monkeypatch.setattr("gitindex.store.checksums.time.sleep", lambda _: pytest.fail("it waits"))
    assert checksums._stable(str(tmp_path / "file")) == checksums._identity(str(tmp_path / "file"))


def test_one_descriptor_for_each_database(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = str(store / "facts.db")
    first = checksums._descriptor(path)
    with monkeypatch.context() as patched:
        patched.setattr(
            "gitindex.store.checksums.os.close", lambda _: pytest.fail("locks are lost")
        )
        assert checksums._descriptor(path) == first
    (store / "other").write_bytes(b"x")
    (store / "other").rename(path)
    again = checksums._descriptor(path)
    assert os.fstat(again).st_ino == os.stat(path).st_ino
    assert checksums._descriptors[path] == (os.stat(path).st_ino, again)


def test_a_log_that_was_moved_once_is_not_moved_by_every_later_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQLite keeps the file of a log that was moved; it is cut, so that its size says what is in it."""
    monkeypatch.setattr(connection, "LOG_BYTES", 1 << 20)
    database = connection.open_writer(str(tmp_path / "facts.db"))
    moved: list[int] = []
    move = connection.WriterDatabase._move_log

    def counted(database: connection.WriterDatabase, then: Callable[[], None]) -> None:
        moved.append(1)
        move(database, then)

    monkeypatch.setattr(connection.WriterDatabase, "_move_log", counted)
    with database.write():
        database.run("CREATE TABLE large (data BLOB)")
        database.run("INSERT INTO large VALUES (zeroblob(3000000))")
    assert moved == [1]
    for _ in range(5):
        with database.write():
            database.run("INSERT INTO large VALUES (zeroblob(10))")
    assert moved == [1]
    database.close()
