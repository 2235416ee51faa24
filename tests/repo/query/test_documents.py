"""Documents by topic, day and text: scenarios E1–E16 on real repositories."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from gitindex.base.errors import Exit, GitIndexError
from gitindex.extract.frontmatter import FrontMatter
from gitindex.query.documents import DocumentQuery, find_documents
from gitindex.refresh.public_files import create_store
from gitindex.refresh.runner import RefreshRequest, Runner
from gitindex.store import entities
from gitindex.store.connection import Database, open_writer
from gitindex.store.entities import Filter
from gitindex.view.tree import NOW, TreeChoice
from tests.support import TIMEOUT, Repo

SIGNS = ("c++", "foo-bar", "#Jetson", '"', "AND", "%", "_", "a b", "Grüße", "' OR 1=1 --", "*", "c")


def _document(tags: tuple[str, ...], day: str = "", summary: str = "", body: str = "Text.") -> str:
    listed = "".join(f"  - '{tag.replace(chr(39), chr(39) * 2)}'\n" for tag in tags)
    date = f"date: {day}\n" if day else ""
    return f"---\ntags:\n{listed}summary: {summary}\n{date}---\n# Title\n\n{body}\n"


def _find(
    repo: Repo, text: str = "", *tags: str, ask: TreeChoice = NOW, limit: int = 20, **bounds: str
) -> dict[str, Any]:
    wanted = DocumentQuery(
        text, Filter(tags, bounds.get("since", ""), bounds.get("until", "")), limit
    )
    return dict(find_documents(repo.worktree, str(repo.path), wanted, ask))


def _paths(answer: dict[str, Any]) -> list[str]:
    return [result["path"] for result in answer["results"]]


def _index(repo: Repo) -> None:
    """Opt in and refresh, without a process of its own."""
    create_store(repo.worktree)
    assert Runner(repo.worktree).serve(RefreshRequest(repo.worktree, "index"))


@pytest.fixture
def library(repo: Repo) -> Repo:
    """One document per sign, one dated late in a day, one of each format, and code that says the same."""
    for number, sign in enumerate(SIGNS):
        repo.write(f"signs/{number}.md", _document((sign, "all"), body=f"Sign {number} hello"))
    repo.write("late.md", _document(("dated",), "2024-03-05T23:59:59", "At the end of a day"))
    repo.write(
        "early.rst", "Title\n=====\n\n:date: 2024-03-05\n:tags: dated, rest\n\nHello rest.\n"
    )
    repo.write(
        "other.adoc", "= Title\n:keywords: dated, asciidoc\n:revdate: 2023-12-31\n\nHello.\n"
    )
    repo.write("undated.md", _document(("undated",), summary="hello summary"))
    repo.write("plain.md", "# No front matter\n\nhello plain\n")
    repo.write("code.py", '"""hello"""\ntags = ["all"]\n')
    repo.write("notes.txt", _document(("all",)))
    repo.commit("library")
    _index(repo)
    return repo


def test_e1_e2_topics_follow_their_documents(tmp_path: Path) -> None:
    database = open_writer(str(tmp_path / "facts.db"))
    with closing(database):
        with database.write():
            for blob in range(1, 40):
                _add_blob(database, blob)
                entities.upsert_entity(database, blob, FrontMatter(("all", f"t{blob}"), "s", ""))
        with database.write():
            for blob in range(1, 20):
                entities.upsert_entity(database, blob, FrontMatter((f"new{blob}", "All"), "s", ""))
            entities.remove_entities(database, range(30, 40))
        assert _blobs(database, "t5") == []
        assert _blobs(database, "new5") == [5]
        assert _blobs(database, "t35") == []
        assert _blobs(database, "t25", "ALL") == [25]
        assert _blobs(database, "all") == list(range(1, 30))


def test_e2_a_document_whose_blob_is_gone_is_reconciled(tmp_path: Path) -> None:
    path = str(tmp_path / "facts.db")
    database = open_writer(path)
    with closing(database):
        with database.write():
            for blob in (1, 2):
                _add_blob(database, blob)
                entities.upsert_entity(database, blob, FrontMatter(("all",), "", ""))
        with closing(sqlite3.connect(path)) as careless:
            careless.execute("DELETE FROM blobs WHERE id=1")
            careless.commit()
        assert entities.reconcile(database) == 1
        assert entities.reconcile(database) == 0
        assert _blobs(database, "all") == [2]


def test_e3_a_tag_is_matched_whole_whatever_it_is(library: Repo) -> None:
    for number, sign in enumerate(SIGNS):
        for tag in (sign.upper(), f" {sign} "):
            assert _paths(_find(library, "", tag)) == [f"signs/{number}.md"], tag
        assert _paths(_find(library, "", "ALL", sign)) == [f"signs/{number}.md"], sign
        assert _paths(_find(library, "", sign, "dated")) == []
        assert _paths(_find(library, "", sign + sign)) == []


def test_e3_through_the_command(library: Repo) -> None:
    for sign in ('"', "-x", "\udcff"):
        done = library.gitindex("docs", "--tag", sign, "--", "-hello")
        assert done.returncode in (0, 1), done.stderr
    done = library.gitindex("docs", "--tag", "C++")
    assert (done.returncode, done.stdout.splitlines()[0]) == (0, "signs/0.md:9  [c++, all]")
    assert library.gitindex("docs").returncode == Exit.USAGE
    assert library.gitindex("docs", "--from", "5 March").returncode == Exit.USAGE


def test_e6_a_bound_includes_its_whole_day(library: Repo) -> None:
    on_the_day = {"late.md", "early.rst"}
    assert set(_paths(_find(library, since="2024-03-05", until="2024-03-05"))) == on_the_day
    assert set(_paths(_find(library, until="2024-03-05"))) == on_the_day | {"other.adoc"}
    assert _paths(_find(library, until="2024-03-04")) == ["other.adoc"]
    assert _paths(_find(library, since="2024-03-06")) == []
    assert _paths(_find(library, since="0001-01-01", until="9999-12-31")) == [
        "late.md",
        "early.rst",
        "other.adoc",
    ]
    assert _paths(_find(library, "", "undated", until="9999-12-31")) == [], "never in a range"


def test_e8_filters_that_match_nothing_find_nothing(library: Repo) -> None:
    assert len(_paths(_find(library, "hello"))) == len(SIGNS) + 4
    assert _paths(_find(library, "hello", "nowhere")) == []
    assert _paths(_find(library, "hello", since="2030-01-01")) == []
    assert _paths(_find(library, "hello", "dated", "rest")) == ["early.rst"]
    assert _paths(_find(library, "HELLO plain")) == ["plain.md"]


def test_e9_e10_names_and_texts_are_never_patterns(repo: Repo) -> None:
    repo.write("[a]*.md", _document(("odd",), body="-rf --files ^x$ (a"))
    repo.write("a.md", _document(("other",), body="-rf --files ^x$ (a"))
    repo.write("-e.md", _document(("dash",), body="none"))
    repo.write(os.fsdecode(b"\xff.md"), _document(("bytes",), body="(a"))
    repo.commit()
    _index(repo)
    for text in ("-rf", "--files", "^x$", "(a"):
        assert _paths(_find(repo, text, "odd")) == ["[a]*.md"], text
    assert _paths(_find(repo, "none", "dash")) == ["-e.md"]
    (result,) = _find(repo, "(a", "bytes")["results"]
    assert (result["path"], result["pathBytes"]) == ("\\xff.md", "/y5tZA==")


def test_e11_ten_thousand_candidates(repo: Repo) -> None:
    """Their names would fill any command line; the tree is made by hand, so that the test is quick."""
    blobs = {}
    for word in ("needle", "hay"):
        repo.write(word, _document(("many",), body=word))
        blobs[word] = repo.git("hash-object", "-w", word).strip()
    lines = [
        f"100644 blob {blobs['needle' if n % 1000 == 7 else 'hay']}\t{'d' * 200}{n:05}.md"
        for n in range(10_000)
    ]
    repo.write("tree", "\n".join(lines))
    with open(repo.path / "tree", "rb") as listed:
        made = subprocess.run(
            ["git", "-C", str(repo.path), "mktree"],
            stdin=listed,
            capture_output=True,
            text=True,
            timeout=TIMEOUT,
            check=True,
        )
    commit = repo.git("commit-tree", "-m", "many", made.stdout.strip()).strip()
    repo.git("update-ref", "HEAD", commit)
    _index(repo)
    found = _find(repo, "needle", "many", ask=TreeChoice(at="HEAD"), limit=1000)
    assert [path[200:] for path in sorted(_paths(found))] == [f"0{n}007.md" for n in range(10)]
    everything = _find(repo, "", "many", ask=TreeChoice(at="HEAD"), limit=5)
    assert (everything["totalCount"], everything["truncated"]) == (10_000, True)


def _break(repo: Repo, how: str) -> None:
    store = Path(repo.worktree.store)
    if how == "missing":
        shutil.rmtree(store)
    elif how == "zero bytes":
        Path(repo.worktree.database).write_bytes(b"")
    elif how == "damaged":
        data = bytearray(Path(repo.worktree.database).read_bytes())
        data[:4096] = os.urandom(4096)
        Path(repo.worktree.database).write_bytes(data)
    else:
        os.remove(repo.worktree.database)
        os.mkdir(repo.worktree.database)


@pytest.mark.parametrize("how", ["missing", "zero bytes", "damaged", "unreadable"])
def test_e12_e13_e14_e15_without_a_usable_index_the_files_answer(library: Repo, how: str) -> None:
    expected = [
        _find(library, "hello"),
        _find(library, "", "all"),
        _find(library, until="2024-03-05"),
    ]
    _break(library, how)
    before = _snapshot(library)
    found = [_find(library, "hello"), _find(library, "", "all"), _find(library, until="2024-03-05")]
    for was, now in zip(expected, found, strict=True):
        assert _paths(was) == _paths(now)
        assert now["source"] == "LOCAL_FALLBACK"
        assert now["warnings"]
        assert {result["source"] for result in now["results"]} == {"LOCAL_FALLBACK"}
        assert (now["freshness"]["state"], now["receipt"]) == ("unknown", None)
    done = library.gitindex("docs", "--tag", "c++")
    assert (done.returncode, "live scan" in done.stderr) == (0, True)
    assert _snapshot(library) == before


def test_e15_a_read_only_store_answers_and_stays_as_it_is(library: Repo) -> None:
    store = Path(library.worktree.store)
    store.chmod(0o500)
    try:
        if os.access(store, os.W_OK):
            pytest.skip("root may write anywhere")
        before = _snapshot(library)
        assert _paths(_find(library, "", "c++")) == ["signs/0.md"]
        assert _snapshot(library) == before
    finally:
        store.chmod(0o700)


def _snapshot(repo: Repo) -> dict[str, tuple[int, bytes]]:
    """Every file's time and content."""
    return {
        str(path): (path.stat().st_mtime_ns, path.read_bytes())
        for path in repo.path.rglob("*")
        if path.is_file()
    }


def test_e16_the_same_answers_from_a_store_that_had_fts5(library: Repo) -> None:
    """Stores of older versions have a full-text index of topics, which nobody reads or follows now."""
    asked: list[tuple[str, ...]] = [(sign,) for sign in SIGNS]
    asked += [("all", "c++"), ("dated", "rest"), ("none",), ("x",), ("78",)]
    before = [_paths(_find(library, "", *tags)) for tags in asked]
    assert all(before[: len(SIGNS)])
    database = open_writer(library.worktree.database)
    with closing(database), database.write():
        database.run(
            "CREATE VIRTUAL TABLE documents_fts USING fts5(tags, content='documents',"
            " content_rowid='blob_id', tokenize='ascii', detail='none')"
        )
        database.run("CREATE TABLE documents_in_step (unused)")
    library.write("late.md", _document(("c++",)))
    library.commit("after")
    _index(library)
    assert [_paths(_find(library, "", *tags)) for tags in asked[1 : len(SIGNS)]] == before[
        1 : len(SIGNS)
    ]
    assert set(_paths(_find(library, "", "c++"))) == {"signs/0.md", "late.md"}


def test_the_index_and_the_files_find_the_same_words(repo: Repo) -> None:
    """The text index narrows: it may never hide a document that the words are in."""
    bodies = [
        "Straße in İstanbul",
        "STRASSE ΩMEGA",
        "ab\tcd -- a.b(c)",
        "x\0yzzy \x1b[0m",
        "ﬁne ǅ ẞ",
    ]
    for number, body in enumerate(bodies):
        repo.write(f"{number}.md", body)
    repo.write("5.md", "utf-16 strasse".encode("utf-16"))
    repo.write("6.md", b"bad \xff\xfe bytes \xc3")
    repo.commit()
    asked = [
        "strasse",
        "straße",
        "istanbul",
        "İSTANBUL",
        "ωmega",
        "cd ab",
        "a.b(c)",
        "yzzy",
        "fine",
        "ẞ",
        "ǆ",
        "--",
        "\x1b[0m",
        "bad",
        "\ufffd",
        "\ufffd\ufffd bytes",
        "utf-16",
    ]
    scanned = [sorted(_paths(_find(repo, text))) for text in asked]
    assert scanned[0] == ["0.md", "1.md", "5.md"]
    _index(repo)
    assert [sorted(_paths(_find(repo, text))) for text in asked] == scanned


def test_an_edit_shows_in_the_next_answer(library: Repo) -> None:
    tree = library.tree()
    library.write("late.md", _document(("edited",), "2025-01-01", body="hello edit"))
    library.write("new.md", _document(("edited",)))
    (library.path / "undated.md").unlink()
    assert _paths(_find(library, "", "edited")) == ["late.md", "new.md"]
    assert _paths(_find(library, "hello", "edited")) == ["late.md"]
    assert _paths(_find(library, "", "undated")) == []
    assert _paths(_find(library, "", "dated")) == ["early.rst", "other.adoc"]
    sources = {r["path"]: r["source"] for r in _find(library, since="2024-01-01")["results"]}
    assert sources == {"late.md": "worktree", "early.rst": f"index@{tree}"}
    library.git("stash", "-q", "-u")
    assert _paths(_find(library, "", "edited")) == []
    assert _paths(_find(library, "", "undated")) == ["undated.md"]


def test_any_commit_and_the_staged_tree_answer(library: Repo) -> None:
    library.write("late.md", _document(("second",)))
    library.commit("second")
    library.write("late.md", _document(("staged",)))
    library.git("add", "-A")
    library.write("late.md", _document(("edited",)))
    for tag, ask in (
        ("dated", TreeChoice(at="HEAD~1")),
        ("second", TreeChoice(at="HEAD")),
        ("staged", TreeChoice(staged=True)),
        ("edited", NOW),
    ):
        for other in ("second", "staged", "edited"):
            assert ("late.md" in _paths(_find(library, "", other, ask=ask))) == (tag == other)
        assert "late.md" in _paths(_find(library, "", tag, ask=ask))


def test_an_ignored_or_secret_document_never_shows(repo: Repo) -> None:
    repo.write(".gitindexignore", "private/\n")
    repo.write("private/a.md", _document(("all",)))
    repo.write("b.md", _document(("all",)))
    (repo.path / "link.md").symlink_to("private/a.md")
    repo.commit()
    assert _paths(_find(repo, "", "all")) == ["b.md"]
    assert _paths(_find(repo, "Text.")) == ["b.md"]
    _index(repo)
    assert _paths(_find(repo, "", "all")) == ["b.md"]
    assert _paths(_find(repo, "Text.")) == ["b.md"]


def test_something_must_be_asked_for(library: Repo) -> None:
    for bad in (
        DocumentQuery(),
        DocumentQuery("  "),
        DocumentQuery("", Filter(("",))),
        DocumentQuery("x", Filter((), "2024-1-1")),
        DocumentQuery("", Filter((), "", "tomorrow")),
        DocumentQuery("x", Filter(("a",) * 100)),
    ):
        with pytest.raises(GitIndexError) as error:
            find_documents(library.worktree, ".", bad)
        assert error.value.code is Exit.USAGE


def test_the_seeds_table_is_a_view(library: Repo) -> None:
    with closing(sqlite3.connect(library.worktree.database)) as connection:
        rows = connection.execute(
            "SELECT path, mtime > 0, topics, summary, created_at FROM entities WHERE path=?",
            ("late.md",),
        ).fetchall()
    assert rows == [("late.md", 1, '["dated"]', "At the end of a day", "2024-03-05T23:59:59")]


def test_a_new_extraction_replaces_what_was_known(library: Repo) -> None:
    database = open_writer(library.worktree.database)
    with closing(database), database.write():
        database.run("UPDATE documents SET summary='forged', topics='[]'")
    assert Runner(library.worktree).serve(RefreshRequest(library.worktree, "reindex", force=True))
    (result,) = _find(library, "", "dated", since="2024-03-05", limit=1)["results"]
    assert (result["summary"], result["topics"]) == ("At the end of a day", ["dated"])
    assert _paths(_find(library, "", "c++")) == ["signs/0.md"]


def _add_blob(database: Database, number: int) -> None:
    database.run(
        "INSERT INTO blobs VALUES (?,?,'x','markdown','parsed','',1,0,'','',0)",
        number,
        number.to_bytes(20),
    )


def _blobs(database: Database, *tags: str) -> list[int]:
    sql, values = entities.conditions(Filter(tags))
    rows = database.rows(f"SELECT blob_id FROM documents d WHERE {sql} ORDER BY 1", *values)
    return [blob_id for (blob_id,) in rows]
