"""A write-ahead log of an earlier state of the database, put back, is noticed; a killed writer's is not."""

from __future__ import annotations

import os
import shutil
import signal
from pathlib import Path

import pytest

from gitindex.store import checksums
from gitindex.store.checksums import NO_LOG, UNTAGGED, Half, database_damage, log_size, log_tag
from gitindex.store.connection import Database, open_reader, open_writer

WRONG = "facts.db-wal is not what was written"


@pytest.fixture
def path(tmp_path: Path) -> str:
    """A database that its writer has closed."""
    path = str(tmp_path / "facts.db")
    open_writer(path).close()
    assert database_damage(str(tmp_path)) == ""
    return path


def note(database: Database, text: str) -> None:
    with database.write():
        database.run("INSERT INTO names (text) VALUES (?)", text)


def texts(path: str) -> list[str]:
    database = open_reader(path)
    assert database is not None
    found = [row[0] for row in database.rows("SELECT text FROM names ORDER BY id")]
    database.close()
    return found


def damage(path: str) -> str:
    return database_damage(os.path.dirname(path))


def half(path: str) -> Half:
    return checksums.half_of_database(os.path.dirname(path))


def kill_after_writing(path: str, text: str) -> None:
    child = os.fork()
    if child == 0:
        note(open_writer(path), text)
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)


def test_the_log_of_a_killed_writer_counts(path: str) -> None:
    kill_after_writing(path, "one")
    assert checksums._tag_in_log(path) == log_tag(half(path))
    assert damage(path) == ""
    assert texts(path) == ["one"]
    kill_after_writing(path, "two")
    assert (damage(path), texts(path)) == ("", ["one", "two"])
    open_writer(path).close()
    assert (damage(path), texts(path)) == ("", ["one", "two"])


def test_an_old_log_with_valid_frames_is_noticed(path: str, tmp_path: Path) -> None:
    database = open_writer(path)
    note(database, "one")
    shutil.copyfile(f"{path}-wal", tmp_path / "old")
    with database.write():
        database.run("UPDATE names SET text='other'")
    database.close()
    assert (damage(path), texts(path)) == ("", ["other"])
    shutil.copyfile(tmp_path / "old", f"{path}-wal")
    os.unlink(f"{path}-shm")
    assert texts(path) == ["one"], "SQLite itself takes it for its own"
    assert damage(path) == WRONG


def test_the_log_of_another_database_is_noticed(path: str, tmp_path: Path) -> None:
    (tmp_path / "foreign").mkdir()
    foreign = str(tmp_path / "foreign/facts.db")
    open_writer(foreign).close()
    kill_after_writing(foreign, "foreign")
    assert half(foreign).number == half(path).number
    shutil.copyfile(f"{foreign}-wal", f"{path}-wal")
    assert damage(path) == WRONG


def test_a_log_that_a_checkpoint_leaves_in_place_counts(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A reader holds pages of it back, or the writer goes on after it was moved."""
    monkeypatch.setattr("gitindex.store.connection.LOG_BYTES", 0)
    database = open_writer(path)
    before = half(path).number
    for number in range(3):
        note(database, str(number))
        assert half(path).number == before + number + 1
        assert damage(path) == "", "moved, and still there"
    database.close()
    assert damage(path) == ""
    assert checksums._tag_in_log(path) == NO_LOG


def test_the_log_of_a_new_database_has_no_tag(tmp_path: Path) -> None:
    path = str(tmp_path / "facts.db")
    database = open_writer(path)
    note(database, "one")
    assert checksums._tag_in_log(path) == UNTAGGED
    assert damage(path) == "", "it has no checksums yet"
    database._move_log(lambda: None)
    assert (damage(path), half(path).number) == ("", 1)
    note(database, "two")
    assert checksums._tag_in_log(path) == log_tag(half(path))
    database.close()


def test_a_transaction_that_has_not_ended_says_nothing(path: str) -> None:
    """Its pages may be in the log before the one with the tag."""
    database = open_writer(path)
    with database.write():
        database.run("PRAGMA cache_size=1")
        database.run("PRAGMA cache_spill=1")
        for number in range(3000):
            database.run("INSERT INTO names (text) VALUES (?)", f"{number:0200}")
        assert os.stat(f"{path}-wal").st_size > 1 << 16, "it spilled"
        assert damage(path) == ""
    assert damage(path) == ""
    database.close()


def test_each_log_is_marked_once(path: str) -> None:
    """A transaction that marks it writes one more page."""
    database = open_writer(path)
    note(database, "one")
    first = os.stat(f"{path}-wal").st_size
    note(database, "two")
    second = os.stat(f"{path}-wal").st_size - first
    assert second < first - 32
    database.close()


@pytest.mark.parametrize("lost", ["page 1", "its tag", "the header"])
def test_a_log_that_a_power_cut_tore_says_nothing(path: str, lost: str) -> None:
    """SQLite takes none of it, for its checksums do not match: the database is as before."""
    kill_after_writing(path, "one")
    wal = Path(f"{path}-wal")
    assert wal.stat().st_size < 1 << 16
    with wal.open("r+b") as file:
        at = next(at for at, page, _ in checksums._frames(file.fileno()) if page == 1)
        file.seek({"page 1": at, "its tag": at + 68, "the header": 24}[lost])
        file.write(bytes({"page 1": 4096, "its tag": 4, "the header": 8}[lost]))
    os.unlink(f"{path}-shm")
    assert texts(path) == []
    assert damage(path) == ""


def test_a_log_of_another_order_of_bytes_is_valid(path: str) -> None:
    """SQLite on a processor with the other order wrote it: every number is stored the other way."""
    kill_after_writing(path, "one")
    assert checksums._is_log_valid(path)
    assert not checksums._is_log_valid(f"{path}.gone")
    swapped = checksums._log_sum(">", b"\0\0\0\1\0\0\0\2", (0, 0))
    assert swapped == checksums._log_sum("<", b"\1\0\0\0\2\0\0\0", (0, 0)) == (1, 3)


def test_a_log_that_is_begun_while_it_is_measured_is_no_shorter(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = open_writer(path), open_writer(path)
    for text in ("one", "two", "three"):
        note(first, text)
    first.close()
    state, left = half(path), log_size(path, half(path))
    read_tag = checksums._tag_in_log

    def begin_after(log: str) -> int:
        tag = read_tag(log)
        note(second, "four")
        return tag

    monkeypatch.setattr(checksums, "_tag_in_log", begin_after)
    assert log_size(path, state) >= left
    monkeypatch.undo()
    assert os.stat(f"{path}-wal").st_size < left
    second.close()


def test_a_log_that_is_begun_anew_counts_as_longer(path: str) -> None:
    """Two writers: one moves the log of both, and the other begins it anew in the same state."""
    first, second = open_writer(path), open_writer(path)
    for text in ("one", "two", "three"):
        note(first, text)
    first.close()
    log = Path(f"{path}-wal")
    state, left, size = half(path), log_size(path, half(path)), log.stat().st_size
    assert left == size > 0
    note(second, "four")
    assert half(path) == state
    assert log.stat().st_size < size
    begun = log_size(path, state)
    assert begun > left
    os.truncate(log, log.stat().st_size - 1)
    assert log_size(path, state) < begun
    os.truncate(log, 0)
    assert log_size(path, state) == 0
    shutil.rmtree(os.path.dirname(path))
    assert log_size(path, state) == 0
    second.close()
