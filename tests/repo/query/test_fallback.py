"""No index, a damaged one, an unreadable one: search and grep still answer, say so, and create nothing."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gitindex.base.errors import StoreError
from gitindex.base.vocabulary import GrepForm
from gitindex.query.grep.grep import GrepQuery, scan
from gitindex.query.grep.pattern import GrepPattern
from gitindex.query.search.live import search_live
from gitindex.query.search.query_text import Filters
from gitindex.view.live_scan import served_or_scanned
from gitindex.view.tree import NOW, TreeChoice
from tests.support import Repo


def _files(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, git's own included."""
    return {
        os.path.join(where, name): Path(where, name).read_bytes()
        for where, _, names in os.walk(folder)
        for name in names
    }


def _assert_answers(repo: Repo, gate: str) -> None:
    """Both commands answer by a live scan, with the gate's word beside it, and write nothing."""
    before = _files(repo.path)
    for command in (["search", "helper"], ["grep", "def helper"]):
        done = repo.gitindex(*command, "--json")
        answer = json.loads(done.stdout)
        assert done.returncode == 0, done.stderr
        assert (answer["status"], answer["source"]) == ("ok", "LOCAL_FALLBACK")
        assert answer["freshness"]["state"] == "unknown"
        assert answer["gate"]["status"] == gate
        assert "lib/util.py" in [row["path"] for row in answer["results"]]
    assert _files(repo.path) == before


def _remove(repo: Repo) -> None:
    shutil.rmtree(repo.worktree.store)
    shutil.rmtree(repo.worktree.llmc)


def _empty(repo: Repo) -> None:
    Path(repo.worktree.database).write_bytes(b"")


def _garble(repo: Repo) -> None:
    database = Path(repo.worktree.database)
    data = bytearray(database.read_bytes())
    data[100:] = bytes(byte ^ 0x5A for byte in data[100:])
    database.write_bytes(data)


@pytest.mark.parametrize(
    ("damage", "gate"),
    [(_remove, "not_indexed"), (_empty, "error"), (_garble, "error")],
    ids=["e12-missing", "e13-zero-bytes", "e14-damaged"],
)
def test_e12_e13_e14_a_live_scan_answers(
    quiet: Repo, damage: Callable[[Repo], None], gate: str
) -> None:
    damage(quiet)
    _assert_answers(quiet, gate)


def test_e15_a_read_only_store_is_an_index_like_any_other(quiet: Repo) -> None:
    store = Path(quiet.worktree.store)
    for path in [store, *store.rglob("*")]:
        path.chmod(0o500 if path.is_dir() else 0o400)
    before = _files(quiet.path)
    try:
        for command in (["search", "helper"], ["grep", "def helper"]):
            answer = quiet.answer(*command)
            assert answer["status"] == "ok"
            assert "lib/util.py" in [row["path"] for row in answer["results"]]
    finally:
        for path in [store, *store.rglob("*")]:
            path.chmod(0o700 if path.is_dir() else 0o600)
    assert _files(quiet.path) == before


def test_exit_codes_and_words_of_a_live_scan(repo: Repo) -> None:
    repo.write("app.py", "def main():\n    return 42\n")
    repo.commit()
    before = _files(repo.path)
    found = repo.gitindex("grep", "def main")
    assert (found.returncode, found.stdout) == (0, "app.py:1:def main():\n")
    assert "live scan" in found.stderr
    said = repo.gitindex("search", "main")
    assert said.returncode == 0
    assert said.stdout.startswith("app.py:1\n")
    assert "live scan" in said.stderr
    assert repo.gitindex("grep", "nosuchtext").returncode == 1
    assert repo.gitindex("search", "nosuchtext").returncode == 1
    for command in (["grep", "main", "--strict"], ["search", "main", "--strict"]):
        assert repo.gitindex(*command).returncode == 3
    assert repo.gitindex("grep", "main", "--at", "HEAD").returncode == 3
    assert _files(repo.path) == before


def test_what_a_scan_covers(repo: Repo) -> None:
    for name, text in {
        "tracked.py": "covered_word\n",
        ".env": "covered_word\n",
        "gen.py": "# @generated\ncovered_word\n",
        "left.txt": "covered_word\n",
        ".gitindexignore": "left.txt\n",
        ".gitignore": "ignored/\n",
        "bin": "\0covered_word\n",
        "gone.py": "covered_word\n",
    }.items():
        repo.write(name, text)
    (repo.path / "link.py").symlink_to("tracked.py")
    repo.commit()
    repo.write("ignored/x.py", "covered_word\n")
    repo.write("new.py", "covered_word\n")
    (repo.path / "gone.py").unlink()
    for pattern in ("covered_word", r"covered_\w+"):
        found = scan(repo.worktree, GrepQuery(GrepPattern(pattern), form=GrepForm.FILES), "a test")
        assert [row["path"] for row in found["results"]] == ["gen.py", "new.py", "tracked.py"]
    searched = search_live(repo.worktree, "covered_word", 10, "a test")
    assert {row["path"] for row in searched["results"]} == {"gen.py", "new.py", "tracked.py"}


def test_a_live_search_ranks_and_filters(repo: Repo) -> None:
    repo.write("lib/parser.py", "def parse(text):\n    return text.split()\n")
    repo.write("lib/other.py", "# parse nothing here\nvalue = 1\n" + "x = 1\n" * 50)
    repo.write("tests/test_parser.py", "def test_parse():\n    assert parse('a')\n")
    repo.write("notes.md", "How to parse a text:\n\nfirst split it\n")
    repo.commit()

    def paths(text: str, **filters: Any) -> list[str]:
        answer = search_live(repo.worktree, text, 10, "a test", Filters(**filters))
        return [row["path"] for row in answer["results"]]

    assert paths("parse text")[0] in ("lib/parser.py", "notes.md")
    assert paths("parser.py")[0] == "lib/parser.py"
    assert paths("parse", paths=("lib",)) == ["lib/parser.py", "lib/other.py"]
    assert "notes.md" not in paths("parse", languages=("python",))
    assert set(paths("parse", must=("split",))) == {"lib/parser.py", "notes.md"}
    assert set(paths('"first split it"')) == {"notes.md"}
    assert "lib/other.py" not in paths("parse", exclude=("nothing",))
    assert paths("") == []
    assert paths("parse", kinds=("class",)) == []


def test_only_where_there_is_no_index_to_ask() -> None:
    def fail() -> dict[str, Any]:
        raise StoreError("broken", "mend it")

    assert served_or_scanned(NOW, fail, lambda why: {"why": why}) == {
        "why": "broken; mend it",
        "gate": {"status": "error", "message": "broken; mend it"},
    }
    for ask in (TreeChoice(strict=True), TreeChoice(at="HEAD"), TreeChoice(staged=True)):
        with pytest.raises(StoreError):
            served_or_scanned(ask, fail, lambda why: {"why": why})
