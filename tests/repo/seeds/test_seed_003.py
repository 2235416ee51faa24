"""Seed 003, the metadata index: each test carries the ids of the sentences it holds.

Other rows are held by tests/repo/query/test_documents.py (1.1, 1.4-1.9, 3.2-3.6, 4.1-4.3, 5.1-5.6, 6.2, 6.3,
7, 0-0c, 10.2-10.4: the store's own documents) and tests/e2e/mcp/test_tools.py (5.7: `search_documents`).
"""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gitindex import open_index, query_index, reconcile, upsert_entity
from gitindex.base.errors import GitIndexError
from gitindex.query.documents import DocumentQuery, count_topics, find_documents
from gitindex.store.connection import open_reader
from gitindex.store.entities import Filter
from tests.support import Repo, stop_runners

JETSON = """---
topics: [Jetson, "#CUDA"]
summary: how the board boots
created_at: 2026-03-14
session_id: S-042
participants:
  - Ada
  - Grace
---
# Boot

The loader returns early when retries fail.
"""
PLAIN = """---
tags: jetson
date: 2026-05-01
Session-ID: S-043
---
Nothing about loaders.
"""


@pytest.fixture(scope="module")
def vault(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Repo]:
    made = Repo(tmp_path_factory.mktemp("seed003") / "repo")
    made.init()
    made.write("docs/boot.md", JETSON)
    made.write("docs/jetson-plain.md", PLAIN)
    made.write("src/loader.py", "def returns(): ...\n")
    made.write(".gitignore", "private/\n")
    made.commit()
    made.index()
    made.write("private/notes/secret-plan.md", PLAIN.replace("S-043", "S-044"))
    yield made
    stop_runners(made.path.parent)


def ask(vault: Repo, *args: Any, **named: Any) -> list[str]:
    wanted = DocumentQuery(*args, **named)
    answer = find_documents(vault.worktree, str(vault.path), wanted)
    return sorted(result["path"] for result in answer["results"])


@pytest.mark.parametrize(
    ("fields", "found"),
    [
        ((("session_id", "S-042"),), ["docs/boot.md"]),
        ((("Session-Id", "s-043"),), ["docs/jetson-plain.md"]),
        ((("participants", "grace"),), ["docs/boot.md"]),
        ((("session_id", "S-04"),), []),
        ((("session_id", "S-042"), ("participants", "Alan")), []),
    ],
)
def test_003_5_8_session_id_and_any_other_key_is_a_filter(
    vault: Repo, fields: tuple[tuple[str, str], ...], found: list[str]
) -> None:
    assert ask(vault, fields=fields) == found


def test_003_4_2c_the_query_may_be_a_regex(vault: Repo) -> None:
    assert ask(vault, r"ret.*early\b", regex=True) == ["docs/boot.md"]
    assert ask(vault, r"ret.*early\b") == []
    assert ask(vault, r"loaders?\b", Filter(tags=("jetson",)), regex=True) == [
        "docs/boot.md",
        "docs/jetson-plain.md",
    ]
    assert ask(vault, "loader", Filter(date_from="2026-04-01"), regex=True) == [
        "docs/jetson-plain.md"
    ]
    with pytest.raises(GitIndexError):
        ask(vault, "(", regex=True)


@pytest.mark.parametrize(
    ("query", "told"), [(r"ret.*early\b", True), ("l.aders.", True), ("load", False)]
)
def test_003_5_1_a_regex_that_finds_nothing_as_words_says_how_to_ask(
    vault: Repo, query: str, told: bool
) -> None:
    said = vault.gitindex("docs", query).stderr
    assert ("reads as a regular expression: ask with --regex" in said) == told


def test_003_4_2d_regex_search_narrowed_by_tags_and_dates(vault: Repo) -> None:
    """`grep --tag`: the index narrows, ripgrep searches. Row 10.1 as well."""
    done = vault.gitindex("grep", r"return\w+", "--tag", "cuda", "--from", "2026-03-14")
    assert done.stdout == "docs/boot.md:12:The loader returns early when retries fail.\n"
    assert vault.gitindex("grep", r"return\w+", "--to", "2026-03-13").returncode == 1
    assert vault.gitindex("grep", r"return\w+", "--from", "March").returncode == 2


def test_003_3_1b_topics_with_counts(vault: Repo) -> None:
    told = count_topics(vault.worktree, str(vault.path))
    assert told["topics"] == [{"topic": "jetson", "count": 2}, {"topic": "#CUDA", "count": 1}]
    assert vault.gitindex("docs", "--topics").stdout == "     2  jetson\n     1  #CUDA\n"


def test_003_5_5_a_query_of_more_than_500_characters_is_refused(vault: Repo) -> None:
    assert ask(vault, "x" * 500) == []
    with pytest.raises(GitIndexError, match="at most 500"):
        ask(vault, "x" * 501)


def test_003_5_6b_a_hash_before_a_tag_means_nothing(vault: Repo) -> None:
    assert ask(vault, filter=Filter(tags=("#Jetson",))) == ask(vault, filter=Filter(("jetson",)))
    assert ask(vault, filter=Filter(tags=("cuda",))) == ["docs/boot.md"]


def test_003_5_7_at_least_one_of_query_tags_dates_or_fields(vault: Repo) -> None:
    with pytest.raises(GitIndexError, match="no query or filter"):
        ask(vault)
    for bad in ("2026-13-01", "14.3.2026", "2026-3-1"):
        with pytest.raises(GitIndexError, match="not a date"):
            ask(vault, filter=Filter(date_from=bad))


def test_003_1_5b_full_text_covers_path_topics_and_summary(vault: Repo) -> None:
    assert ask(vault, "jetson-plain") == ["docs/jetson-plain.md"]
    assert ask(vault, "board boots") == ["docs/boot.md"]
    assert ask(vault, "cuda loader") == ["docs/boot.md"]


def test_003_4_1_metadata_only_answers_without_a_search(
    vault: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The index alone answers: the first paragraph is there, and ripgrep is not started."""

    def refuse(*_args: object, **_more: object) -> None:
        raise AssertionError("a metadata query starts no search")

    monkeypatch.setattr(subprocess, "Popen", _git_only(subprocess.Popen, refuse))
    wanted = DocumentQuery(filter=Filter(tags=("cuda",)))
    [found] = find_documents(vault.worktree, str(vault.path), wanted)["results"]
    assert found["path"] == "docs/boot.md"
    assert found["summary"] == "how the board boots"


def _git_only(popen: Any, refuse: Any) -> Any:
    def start(command: Any, *args: Any, **more: Any) -> Any:
        if "rg" in str(command[0]).rsplit("/", 1)[-1]:
            refuse()
        return popen(command, *args, **more)

    return start


def test_003_0b_the_plan_uses_the_indexes(vault: Repo) -> None:
    """Days by their index; rows of a blob by its id."""
    database = open_reader(vault.worktree.database)
    assert database is not None
    try:
        found = [
            " ".join(
                str(step) for row in database.rows(f"EXPLAIN QUERY PLAN {sql}") for step in row
            )
            for sql in (
                "SELECT blob_id FROM documents WHERE substr(created_at, 1, 10) >= '2026-01-01'",
                "SELECT tags FROM documents WHERE blob_id=1",
            )
        ]
    finally:
        database.close()
    assert "documents_by_day" in found[0]
    assert "INTEGER PRIMARY KEY" in found[1]


def test_003_3_3_only_changed_documents_are_processed(vault: Repo) -> None:
    """Row 3.6 as well: a deleted file's document is gone."""
    vault.write("docs/third.md", JETSON.replace("S-042", "S-099"))
    vault.commit()
    vault.index()
    assert vault.jobs()[0]["extracted"] == 1
    assert ask(vault, fields=(("session_id", "S-099"),)) == ["docs/third.md"]
    vault.git("rm", "-q", "docs/third.md")
    vault.commit()
    vault.index()
    assert vault.jobs()[0]["extracted"] == 0
    assert ask(vault, fields=(("session_id", "S-099"),)) == []


def test_003_untracked_documents_below_a_configured_folder(vault: Repo) -> None:
    assert ask(vault, fields=(("session_id", "S-044"),)) == []
    vault.git("config", "gitindex.documents", "private")
    try:
        assert ask(vault, fields=(("session_id", "S-044"),)) == ["private/notes/secret-plan.md"]
        assert ask(vault, "nothing about", regex=True) == [
            "docs/jetson-plain.md",
            "private/notes/secret-plan.md",
        ]
        vault.git("config", "gitindex.documents", "../elsewhere")
        assert ask(vault, "nothing about") == ["docs/jetson-plain.md"]
    finally:
        vault.git("config", "--unset", "gitindex.documents")


@pytest.fixture
def index(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    made = open_index(tmp_path / "vault_index.sqlite")
    assert made is not None
    yield made
    made.close()


def test_003_9_empty_index(index: sqlite3.Connection) -> None:
    assert query_index(index, ["any"], None, None) == []


def test_003_2_2_upsert_and_query(index: sqlite3.Connection) -> None:
    """Rows 1.3, 1.7, 2.1-2.3 and 9: the seed's table, file times and text paths."""
    upsert_entity(index, "a.md", 12.5, ["Jetson", "old"], "boots", "2026-03-14")
    upsert_entity(index, "a.md", 13.5, ["Jetson", "c++"], "boots twice", "2026-03-14T10:00:00Z")
    upsert_entity(index, "b.md", 14.0, ["jetsonian"], "", "")
    index.commit()
    assert query_index(index, ["#jetson"], None, None) == ["a.md"]
    assert query_index(index, ["jetson", "C++"], None, None) == ["a.md"]
    assert query_index(index, ["old"], None, None) == []
    assert query_index(index, [], None, None) == ["a.md", "b.md"]
    assert index.execute("SELECT path, mtime FROM entities ORDER BY path").fetchall() == [
        ("a.md", 13.5),
        ("b.md", 14.0),
    ]
    found = index.execute("SELECT path FROM entities_fts WHERE entities_fts MATCH 'twice'")
    assert found.fetchall() == [("a.md",)]
    index.execute("INSERT INTO entities_fts(entities_fts, rank) VALUES ('integrity-check', 1)")
    assert index.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert index.execute("PRAGMA synchronous").fetchone() == (1,)


def test_003_10_2_the_index_needs_nothing_but_python(tmp_path: Path) -> None:
    code = (
        "import sys; from gitindex import open_index, upsert_entity, query_index;"
        "index = open_index(sys.argv[1]);"
        "upsert_entity(index, 'a.md', 1.0, ['x'], 'words', '2026-01-01');"
        "print(query_index(index, ['x'], None, None), sorted("
        "{'pygit2', 'tantivy', 'tree_sitter', 'yaml', 'typer'} & sys.modules.keys()))"
    )
    told = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "vault.sqlite")],
        capture_output=True,
        text=True,
        check=True,
    )
    assert told.stdout == "['a.md'] []\n"


def test_003_2_4_reconcile_removes_orphans(index: sqlite3.Connection, tmp_path: Path) -> None:
    (tmp_path / "kept.md").write_text("x")
    for name in ("kept.md", "gone.md"):
        upsert_entity(index, name, 1.0, ["t"], "s", "")
    assert reconcile(index, tmp_path) == 1
    assert reconcile(index, tmp_path) == 0
    assert query_index(index, ["t"], None, None) == ["kept.md"]
    index.execute("INSERT INTO entities_fts(entities_fts, rank) VALUES ('integrity-check', 1)")


def test_003_9_date_range_filtering(index: sqlite3.Connection) -> None:
    for name, day in (("a", "2026-03-14"), ("b", "2026-03-15T23:59:59Z"), ("c", "")):
        upsert_entity(index, name, 1.0, [], "", day)
    assert query_index(index, None, "2026-03-14", None) == ["a", "b"]
    assert query_index(index, None, None, "2026-03-15") == ["a", "b"]
    assert query_index(index, None, "2026-03-15", "2026-03-15") == ["b"]
    with pytest.raises(GitIndexError, match="not a date"):
        query_index(index, None, "yesterday", None)


def test_003_9_graceful_degradation(tmp_path: Path) -> None:
    damaged = tmp_path / "damaged.sqlite"
    damaged.write_bytes(b"not a database at all, whatever its name says" * 100)
    assert open_index(damaged) is None
    assert open_index(tmp_path / "no" / "such" / "folder.sqlite") is None
    assert open_index(tmp_path) is None
