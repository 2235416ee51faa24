"""The facts store: schema and versions, transactions, damage told with a remedy, the cache protocol."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gitindex.base.errors import CorruptStore, OlderSchema, StoreBusy, StoreError
from gitindex.base.vocabulary import FactsStatus, SkipReason
from gitindex.extract.policy import is_policy_file
from gitindex.freshness.marker import SCHEMA_VERSION
from gitindex.git.interface import Head
from gitindex.languages.facts import (
    BlobFacts,
    FactsKey,
    Symbol,
    decode_facts,
    encode_facts,
)
from gitindex.store import connection, mapping
from gitindex.store.blobs import BlobTable, dump
from gitindex.store.connection import AT_ONCE, Database, open_reader, open_writer
from gitindex.store.mapping import FileRow
from tests.unit.languages.test_blob_facts import FACTS, SAMPLE

KEY = FactsKey("ab" * 20, "1:python")


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "facts.db")


@pytest.fixture
def database(path: str) -> Iterator[Database]:
    opened = open_writer(path)
    yield opened
    opened.close()


def names(database: Database, kind: str) -> set[str]:
    return {n for (n,) in database.rows("SELECT name FROM sqlite_master WHERE type=?", kind)}


def test_schema_is_whole_and_created_once(path: str) -> None:
    first = open_writer(path)
    assert first.row("PRAGMA user_version")[0] == connection.CURRENT
    assert str(connection.CURRENT) == SCHEMA_VERSION, "else an older store would count as fresh"
    assert names(first, "table") - {"sqlite_sequence"} == {
        "blobs",
        "definitions",
        "shapes",
        "occurrences",
        "name_blobs",
        "imports",
        "exports",
        "names",
        "paths",
        "worktrees",
        "files",
        "edges",
        "contexts",
        "refresh_jobs",
        "repo_state",
        "file_semantic_facts",
        "semantic_symbols",
        "semantic_externals",
        "semantic_definitions",
        "semantic_occurrences",
        "semantic_relations",
        "decision_cache",
        "documents",
        "pack_blobs",
        "pack_imports",
        "path_history",
        "subject_windows",
        "subject_users",
        "subject_words",
        "file_refreshes",
        "scopes",
        "late_scopes",
        "text_words",
    }
    assert "entities" in names(first, "view")
    first.run("UPDATE repo_state SET lexical_docs=7")
    first.close()
    again = open_writer(path)
    assert again.rows("SELECT id, lexical_docs FROM repo_state") == [(1, 7)]
    again.close()


def test_every_table_and_most_columns_are_explained() -> None:
    folder = Path(connection.__file__).with_name("sql")
    text = "".join(file.read_text() for file in sorted(folder.iterdir()))
    for table in re.finditer(r"^CREATE (TABLE|VIEW) (\w+)", text, re.MULTILINE):
        line_before = text[: table.start()].rstrip("\n").rpartition("\n")[2]
        assert line_before.startswith("--"), table[2]


def test_settings_of_a_writer(database: Database) -> None:
    expected = {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1, "trusted_schema": 0}
    assert {k: database.row(f"PRAGMA {k}")[0] for k in expected} == expected


def test_s8_newer_store_says_upgrade_and_is_left_alone(path: str) -> None:
    database = open_writer(path)
    database.run(f"PRAGMA user_version={connection.CURRENT + 1}")
    database.close()
    before = digest(path)
    for open_it in (open_writer, open_reader):
        with pytest.raises(StoreError, match="newer gitindex") as caught:
            open_it(path)
        assert caught.value.hint == "upgrade gitindex"
        assert "index" not in caught.value.hint.removesuffix("gitindex")
    assert digest(path) == before


def test_s8_an_older_store_is_refused_for_whoever_builds_it_anew(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_writer(path).close()
    before = digest(path)
    monkeypatch.setattr(connection, "CURRENT", connection.CURRENT + 1)
    for open_it, error in ((open_reader, StoreError), (open_writer, OlderSchema)):
        with pytest.raises(error, match="older schema") as caught:
            open_it(path)
        assert caught.value.hint == "run `gitindex index`"
    assert digest(path) == before


@pytest.mark.parametrize("version", [-1, -(2**31)])
def test_s8_version_without_a_history_is_a_clear_error(path: str, version: int) -> None:
    raw = sqlite3.connect(path)
    raw.execute(f"PRAGMA user_version={version}")
    raw.close()
    with pytest.raises(StoreError):
        open_writer(path)


def digest(path: str) -> str:
    """Of the file itself; only from a process that holds no connection to it."""
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def test_i18_reader_creates_and_changes_nothing(path: str) -> None:
    assert open_reader(path) is None
    assert os.listdir(os.path.dirname(path)) == []
    open_writer(path).close()
    folder = os.path.dirname(path)

    def files() -> dict[str, tuple[str, int]]:
        names = {name: os.path.join(folder, name) for name in os.listdir(folder)}
        return {name: (digest(file), os.stat(file).st_mtime_ns) for name, file in names.items()}

    before = files()
    reader = open_reader(path)
    assert reader is not None
    assert reader.row("SELECT count(*) FROM blobs")[0] == 0
    for write in ("DELETE FROM repo_state", "CREATE TABLE x (y)", "PRAGMA user_version=9"):
        with pytest.raises(StoreError):
            reader.run(write)
    reader.close()
    assert files() == before, "also what SQLite shares between processes"


def test_reader_finds_a_store_with_an_odd_name(tmp_path: Path) -> None:
    folder = tmp_path / "a?b #c%41 é\n"
    folder.mkdir()
    open_writer(str(folder / "facts.db")).close()
    reader = open_reader(str(folder / "facts.db"))
    assert reader is not None
    reader.close()
    assert len(list(tmp_path.iterdir())) == 1


def read_all(path: str) -> None:
    reader = open_reader(path)
    assert reader is not None
    try:
        list(dump(reader))
    finally:
        reader.close()


@pytest.mark.promise("I-27")
@pytest.mark.parametrize("size", [0, 1, 15, 16, 99, 100, 4095, 4096, 5000, 20_000])
def test_f12_cut_store_is_told_or_read_right(path: str, size: int) -> None:
    database = open_writer(path)
    with database.write():
        BlobTable(database).add(KEY, SAMPLE, lexical=True)
    database.close()
    with open(path, "r+b") as file:
        file.truncate(size)
    with pytest.raises(StoreError) as caught:
        read_all(path)
    assert caught.value.hint


@pytest.mark.parametrize(
    "data", [b"garbage" * 1000, b"SQLite format 3\0" + b"\xff" * 5000], ids=["text", "header"]
)
@pytest.mark.parametrize("open_it", [open_writer, open_reader])
def test_damaged_store_is_corrupt_with_a_remedy(path: str, data: bytes, open_it: object) -> None:
    Path(path).write_bytes(data)
    assert callable(open_it)
    with pytest.raises(CorruptStore, match="damaged") as caught:
        open_it(path)
    assert caught.value.hint == "run `gitindex index --force`"
    assert Path(path).read_bytes() == data


def test_store_that_cannot_be_opened_is_not_called_corrupt(tmp_path: Path) -> None:
    (tmp_path / "facts.db").mkdir()
    with pytest.raises(StoreError) as caught:
        open_writer(str(tmp_path / "facts.db"))
    assert not isinstance(caught.value, CorruptStore)
    assert "permissions" in caught.value.hint


def test_write_takes_the_lock_up_front(database: Database, path: str) -> None:
    other = open_writer(path)
    other.run("PRAGMA busy_timeout=0")
    with database.write():
        with pytest.raises(StoreBusy) as caught, other.write():
            raise AssertionError("two writers at once")
        assert caught.value.hint == "try again in a moment"
        assert other.row("SELECT count(*) FROM repo_state")[0] == 1  # readers are not blocked
    with other.write():
        other.run("UPDATE repo_state SET lexical_docs=1")
    other.close()


class Stop(BaseException):
    """Even what is no Exception rolls back."""


def write_and(database: Database, sql: str, error: BaseException | None = None) -> None:
    with database.write():
        database.run("UPDATE repo_state SET lexical_docs=9")
        database.run(sql)
        if error is not None:
            raise error


def test_failed_write_leaves_nothing_behind(database: Database) -> None:
    for error in (ValueError(), Stop(), KeyboardInterrupt()):
        with pytest.raises(type(error)):
            write_and(database, "SELECT 1", error)
    with pytest.raises(StoreError):
        write_and(database, "BOGUS")
    assert database.row("SELECT lexical_docs FROM repo_state")[0] == 0
    write_and(database, "SELECT 1")
    assert database.row("SELECT lexical_docs FROM repo_state")[0] == 9


def test_l8_snapshot_sees_one_state(database: Database, path: str) -> None:
    reader = open_reader(path)
    assert reader is not None
    with reader.snapshot():
        assert reader.row("SELECT lexical_docs FROM repo_state")[0] == 0
        with database.write():
            database.run("UPDATE repo_state SET lexical_docs=5")
        assert reader.row("SELECT lexical_docs FROM repo_state")[0] == 0
    assert reader.row("SELECT lexical_docs FROM repo_state")[0] == 5
    reader.close()


CHILDREN = ("definitions", "occurrences", "imports", "exports")


def counts(database: Database) -> list[int]:
    return [database.row(f"SELECT count(*) FROM {table}")[0] for table in CHILDREN]


def test_s1_rows_of_a_blob_go_with_it(database: Database) -> None:
    with database.write():
        BlobTable(database).add(KEY, SAMPLE, lexical=True)
    assert counts(database) == [2, 1, 1, 1]
    database.run("DELETE FROM blobs")
    assert counts(database) == [0, 0, 0, 0]


def publish(database: Database, rows: list[FileRow], gone: list[bytes] = []) -> int:  # noqa: B006 — read only
    worktree = mapping.register(database, "main", "/r").worktree_id
    with database.write():
        ids = dict(database.rows("SELECT path, id FROM paths"))
        mapping.replace_rows(database, worktree, gone, rows, is_policy_file, ids)
        mapping.raise_generation(database, worktree, Head("c", "t"), "run", "{}")
    return worktree


def blob_row(database: Database, path: bytes) -> FileRow:
    table = BlobTable(database)
    with database.write():
        table.add(KEY, SAMPLE, lexical=True)
    return FileRow(path, KEY.oid, 0o100644, table.ids([KEY])[KEY], None)


def test_s1_a_deleted_file_leaves_no_row(database: Database) -> None:
    kept, gone = blob_row(database, b"kept.py"), blob_row(database, b"gone.py")
    secret = FileRow(b".env", "cd" * 20, 0o100644, None, SkipReason.SECRET)
    worktree = publish(database, [kept, gone, secret])
    assert mapping.count(database, worktree) == mapping.Counts(2, 4)
    publish(database, [], [b"gone.py", b".env", b"never there"])
    assert mapping.read_mapping(database, worktree) == [kept]
    assert mapping.count(database, worktree) == mapping.Counts(1, 2)
    assert mapping.skipped(database, worktree) == []


def test_s1_foreign_keys_refuse_dangling_rows(database: Database) -> None:
    row = blob_row(database, b"a.py")
    publish(database, [row])
    with pytest.raises(StoreError, match="FOREIGN KEY"):
        database.run("DELETE FROM blobs")
    with pytest.raises(StoreError, match="FOREIGN KEY"):
        publish(database, [row._replace(path=b"b.py", blob_id=999)])
    assert database.rows("PRAGMA foreign_key_check") == []


def test_s1_a_forgotten_worktree_takes_its_rows_along(database: Database) -> None:
    worktree = publish(database, [blob_row(database, b"a.py")])
    side = mapping.register(database, "wt-side", "/s")
    mapping.forget(database, "main")
    assert mapping.published(database, "main") is None
    assert mapping.read_mapping(database, worktree) == []
    assert mapping.published(database, "wt-side") == side
    assert BlobTable(database).missing([KEY]) == []  # facts belong to blobs, not to worktrees


def test_mapping_keeps_odd_paths_and_generations(database: Database) -> None:
    rows = [
        FileRow(path, "cd" * 20, 0o100644, None, SkipReason.BINARY)
        for path in sorted(
            [b"\xff\xfe", b"a\nb", b"quo'te\"", b"\x1b[31m", "é".encode(), b"e\xcc\x81"]
        )
    ]
    worktree = publish(database, rows)
    assert mapping.read_mapping(database, worktree) == rows
    publish(database, rows)
    found = mapping.published(database, "main")
    assert found is not None
    assert (found.generation, found.tree, found.head_commit, found.run_id) == (2, "t", "c", "run")
    assert mapping.count(database, worktree) == mapping.Counts(0, 0)


def test_register_keeps_the_row_and_moves_the_root(database: Database) -> None:
    first = mapping.register(database, "main", "/old")
    assert mapping.register(database, "main", "/n\udcffew") == first
    assert mapping.known_roots(database) == {"main": "/n\udcffew"}


def test_cache_protocol(database: Database) -> None:
    cache = BlobTable(database)
    other = KEY._replace(extractor="2:python")
    third = KEY._replace(oid="cd" * 32)
    assert cache.get(KEY) is None
    assert cache.missing([third, KEY, other]) == [third, KEY, other]
    payload = encode_facts(SAMPLE)
    cache.put(KEY, payload)
    assert cache.get(KEY) == payload
    assert cache.missing([third, KEY, other]) == [third, other]
    cache.put(KEY, encode_facts(BlobFacts("text", FactsStatus.LEXICAL, 1)))
    assert cache.get(KEY) == payload  # put if absent
    assert cache.missing([]) == []


@pytest.mark.parametrize(
    "payload", [b"", b"gixf3\n", encode_facts(SAMPLE)[:-1], b"\xff" * 99], ids=len
)
def test_bad_payload_is_a_miss(database: Database, payload: bytes) -> None:
    cache = BlobTable(database)
    cache.put(KEY, payload)
    assert cache.get(KEY) is None
    assert cache.missing([KEY]) == [KEY]
    assert list(dump(database)) == []


def test_put_alone_is_all_or_nothing(database: Database, path: str) -> None:
    """A reader never sees a blob without its children, whoever calls `put` and how."""
    database.run(
        "CREATE TRIGGER stop BEFORE INSERT ON exports BEGIN SELECT raise(ABORT, 'stop'); END"
    )
    table = BlobTable(database)
    with pytest.raises(StoreError, match="stop"):
        table.put(KEY, encode_facts(SAMPLE))
    assert database.row("SELECT count(*) FROM blobs")[0] == 0
    assert counts(database) == [0, 0, 0, 0]
    database.run("DROP TRIGGER stop")
    table.put(FactsKey("ef" * 20, "x"), encode_facts(SAMPLE))
    with database.write():
        table.put(KEY, encode_facts(SAMPLE))  # joins the caller's transaction
    assert BlobTable(database).get(KEY) == encode_facts(SAMPLE)


def test_many_keys_are_asked_for_in_order(database: Database) -> None:
    table = BlobTable(database)
    keys = [FactsKey(f"{n:040x}", f"{n % 3}:x") for n in range(3 * AT_ONCE)]
    with database.write():
        for key in keys[::2]:
            table.add(key, BlobFacts("text", FactsStatus.LEXICAL, 0), lexical=True)
    assert table.missing(keys) == keys[1::2]
    assert list(table.ids(keys[:4])) == [keys[0], keys[2]]


def test_replacing_facts_keeps_the_id_and_drops_the_old_rows(database: Database) -> None:
    table = BlobTable(database)
    with database.write():
        assert table.add(KEY, SAMPLE, lexical=True).new
        first = table.ids([KEY])
        assert not table.add(
            KEY, BlobFacts("text", FactsStatus.SKIPPED, 0, "binary"), lexical=False
        ).new
    assert table.ids([KEY]) == first
    assert counts(database) == [0, 0, 0, 0]


def test_names_are_learnt_again_after_a_rollback(database: Database) -> None:
    table = BlobTable(database)

    def add_and_stop() -> None:
        with database.write():
            table.add(KEY, SAMPLE, lexical=True)
            raise Stop

    with pytest.raises(Stop):
        add_and_stop()
    table.forget_names()
    with database.write():
        table.add(KEY, SAMPLE, lexical=True)
    assert table.get(KEY) == encode_facts(SAMPLE)


@settings(
    max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
@given(facts=FACTS, number=st.integers(0, 2**160 - 1))
def test_store_returns_the_facts_it_was_given(
    database: Database, facts: BlobFacts, number: int
) -> None:
    table, key = BlobTable(database), FactsKey(f"{number:040x}", "1:x")
    with database.write():
        table.add(key, facts, lexical=True)
    payload = table.get(key)
    assert payload is not None
    assert decode_facts(payload) == facts


def test_i16_equal_stores_have_equal_dumps(tmp_path: Path) -> None:
    dumps: list[list[str]] = []
    keys = [FactsKey(f"{n:040x}", "1:x") for n in range(6)]
    for order in (keys, keys[::-1]):
        folder = tmp_path / str(len(dumps))
        folder.mkdir()
        database = open_writer(str(folder / "facts.db"))
        with database.write():
            for key in order:
                BlobTable(database).add(key, SAMPLE, lexical=True)
        dumps.append(list(dump(database)))
        database.close()
        shutil.rmtree(folder)
    assert dumps[0] == dumps[1]
    assert len(dumps[0]) == 6


def test_symbol_columns_are_in_the_order_of_the_value(database: Database) -> None:
    numbers = Symbol("n", "q.n", "k", 1, 2, 3, 4, "s", "d", -1, True)
    with database.write():
        BlobTable(database).add(
            KEY, BlobFacts("x", FactsStatus.PARSED, 9, symbols=(numbers,)), True
        )
    row = database.row("SELECT * FROM symbols")
    assert row[3:] == ("q.n", "k", 1, 2, 3, 4, "s", "d", -1, 1)


def test_texts_of_definitions_are_read_as_they_were_written(database: Database) -> None:
    names = ("n", "def", "", "ü", "\0", "%")
    signatures = ("def n(self)", "n", "", "n = n", "\x01 n", "a\0n\0", "ünïcode n", "n\n", "'n'")
    symbols = tuple(
        Symbol(name, scope + name, kind, 7, 2, 5, 9, signature, "d", -1, True)
        for name, signature in product(names, signatures)
        for scope, kind in product(("", "C.", f"{name}.", "\0."), ("method", "n"))
    )
    facts = BlobFacts("x", FactsStatus.PARSED, 9, symbols=symbols)
    keys = [KEY, KEY._replace(oid="cd" * 20)]
    for key in keys:  # by two writers, neither of which knows the other's texts
        with database.write():
            BlobTable(database).add(key, facts, True)
    for key in keys:
        held = decode_facts(BlobTable(database).get(key) or b"")
        assert held is not None
        assert held.symbols == symbols


@pytest.mark.timeout(300)
def test_a14_a_reader_is_never_busy_and_touches_nothing(path: str) -> None:
    """Writers come, write and go; every reader gets an answer, and changes no byte of the log."""
    open_writer(path).close()
    script = (
        "import itertools, os, sys\nfrom gitindex.store.connection import open_writer\n"
        "for number in itertools.count():\n"
        "    if number >= 60 and os.path.exists(sys.argv[2]):\n"
        "        break\n"
        "    database = open_writer(sys.argv[1])\n"
        "    with database.write():\n"
        "        database.run('UPDATE repo_state SET lexical_docs=?', number)\n"
        "    database.close()\n"
    )
    seen, enough = [], Path(path).with_name("enough")
    with subprocess.Popen([sys.executable, "-c", script, path, str(enough)]) as writer:
        while writer.poll() is None:
            reader = open_reader(path)
            assert reader is not None
            seen.append(reader.row("SELECT lexical_docs FROM repo_state")[0])
            reader.close()
            if len(seen) == 100:
                enough.touch()
    assert writer.returncode == 0
    assert seen == sorted(seen)
    assert len(seen) >= 100


def test_a14_a_reader_after_a_writer_that_died_in_the_shared_memory(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQLite says so only after a kill at a certain moment (torture, kill_points, seed 9505)."""
    open_writer(path).close()
    real = connection._connect_reader
    asked: list[str] = []

    def killed(path: str, options: str) -> sqlite3.Connection:
        asked.append(options)
        if options:
            said = sqlite3.OperationalError("locking protocol")
            raise StoreError("the store failed: locking protocol") from said
        return real(path, options)

    monkeypatch.setattr(connection, "_connect_reader", killed)
    reader = open_reader(path)
    assert reader is not None
    assert reader.row("SELECT count(*) FROM blobs")[0] == 0
    assert asked == ["&readonly_shm=1", ""]
    reader.close()


def test_a14_a_writer_waits_for_the_readers_of_its_process(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_writer(path).close()
    reader = open_reader(path)
    assert reader is not None
    monkeypatch.setattr("gitindex.store.connection.TURN_SECONDS", 0.01)
    with pytest.raises(StoreError, match="reads the store"):
        open_writer(path)
    reader.close()
    writer = open_writer(path)
    beside = open_reader(path)
    assert beside is not None
    with writer.write():
        writer.run("UPDATE repo_state SET lexical_docs=7")
    assert beside.row("SELECT lexical_docs FROM repo_state")[0] == 7
    beside.close()
    writer.close()
