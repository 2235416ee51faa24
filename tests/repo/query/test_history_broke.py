"""The commit that broke a name is found by facts alone."""

from __future__ import annotations

import pytest

from tests.support import Repo

CORE = "def build(a):\n    return a\n\n\ndef other():\n    return 2\n"
USE = "from core import build, other\n\n\ndef main():\n    return build(1), other()\n"


@pytest.fixture
def past(repo: Repo) -> Repo:
    repo.write("core.py", CORE)
    repo.write("use.py", USE)
    repo.commit("base")
    repo.write("core.py", CORE + "\n\ndef third():\n    return 3\n")
    repo.commit("harmless")
    repo.write("core.py", CORE.replace("build(a)", "build(a, b)"))
    repo.commit("another parameter")
    repo.write("core.py", CORE.replace("build(a)", "build(a, b)").replace("other", "another"))
    repo.commit("rename")
    repo.write("notes.md", "x\n")
    repo.commit("later")
    repo.index()
    return repo


def test_the_commit_after_which_it_dangles(past: Repo) -> None:
    answer = past.answer("history", "broke", "other")
    [row] = answer["commits"]
    assert (row["subject"], row["definedAgain"]) == ("rename", False)
    assert {(b["path"], b["line"]) for b in row["breaks"]} == {("use.py", 1), ("use.py", 5)}
    done = past.gitindex("history", "broke", "other")
    assert done.returncode == 0
    assert "rename" in done.stdout


def test_the_commit_after_which_a_call_does_not_fit(past: Repo) -> None:
    [row] = past.answer("history", "broke", "build")["commits"]
    assert row["subject"] == "another parameter"
    assert row["breaks"] == [{"path": "use.py", "line": 5, "why": "lacks `b`"}]


def test_a_name_that_came_back(past: Repo) -> None:
    past.write("core.py", CORE)
    past.commit("revert")
    past.gitindex("history", "index")
    [row] = past.answer("history", "broke", "other")["commits"]
    assert row["definedAgain"] is True


def test_a_name_that_nothing_broke_or_that_is_none(past: Repo) -> None:
    done = past.gitindex("history", "broke", "third")
    assert (done.returncode, done.stdout) == (1, "no commit broke a use of third\n")
    for name in ("no_such_name", "", "\x1b[31m", "a" * 600):
        done = past.gitindex("history", "broke", name)
        assert done.returncode == 2, name
        assert len(done.stderr.splitlines()) <= 2
        assert "\x1b" not in done.stderr
