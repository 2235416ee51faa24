"""The history layer: opt-in facts of the first-parent history, against commits made by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from gitindex.base.errors import Exit, GitIndexError
from gitindex.query.history import callers_between, edge_log, history_state, symbol_log
from gitindex.refresh.history_index import HistoryRun, index_history
from gitindex.store.history_database import history_file
from tests.support import Repo

STEPS: dict[str, dict[str, str | None]] = {
    "one": {"a.py": "def f():\n    return 1\n", "b.py": "def g():\n    pass\n"},
    "calls": {"b.py": "from a import f\n\n\ndef g():\n    f()\n"},
    "other": {"c.txt": "words\n"},
    "changed": {"a.py": "def f():\n    return 2\n"},
    "moved down": {"a.py": "# a comment\n\n\ndef f():\n    return 2\n"},
    "second": {"d.py": "class K:\n    def m(self):\n        f()\n"},
    "ceases": {"b.py": "def g():\n    pass\n"},
    "gone": {"a.py": None},
}


@pytest.fixture
def told(repo: Repo) -> Repo:
    """Eight commits, indexed with their history."""
    for subject, files in STEPS.items():
        for name, text in files.items():
            if text is None:
                (repo.path / name).unlink()
            else:
                repo.write(name, text)
        repo.git("add", "-A")
        repo.git("commit", "-qm", subject)
    repo.index()
    assert index(repo) == HistoryRun(len(STEPS), 0, 7)
    return repo


def index(repo: Repo) -> HistoryRun:
    return index_history(repo.worktree, lambda _phase, _percent: None)


def events(answer: dict[str, Any]) -> list[tuple[str, str, str, str]]:
    return [(e["subject"], e["what"], e["path"], e["name"]) for e in answer["events"]]


def test_the_log_of_a_symbol(told: Repo) -> None:
    answer = symbol_log(told.worktree, "f")
    assert events(answer) == [
        ("gone", "removed", "a.py", "f"),
        ("changed", "changed", "a.py", "f"),
        ("one", "added", "a.py", "f"),
    ]
    assert answer["exact"]
    assert events(symbol_log(told.worktree, "K.m")) == [("second", "added", "d.py", "K.m")]
    assert events(symbol_log(told.worktree, "X.m")) == []


def test_when_a_call_began_and_ended(told: Repo) -> None:
    assert events(edge_log(told.worktree, "g", "f")) == [
        ("ceases", "removed", "b.py", "g"),
        ("calls", "added", "b.py", "g"),
    ]
    assert events(edge_log(told.worktree, "m", "f")) == [("second", "added", "d.py", "K.m")]
    assert events(edge_log(told.worktree, "g", "nothing")) == []


def test_callers_between_two_commits(told: Repo) -> None:
    answer = callers_between(told.worktree, "f", "HEAD~6..HEAD")
    changes = [(c["what"], c["path"], c["name"]) for c in answer["changes"]]
    assert changes == [("removed", "b.py", "g"), ("added", "d.py", "K.m")]
    assert callers_between(told.worktree, "f", "HEAD~3..HEAD~2")["kept"] == 1
    with pytest.raises(GitIndexError, match="no such commit"):
        callers_between(told.worktree, "f", "nothing..HEAD")
    told.git("commit", "-q", "--allow-empty", "-m", "later")
    with pytest.raises(GitIndexError, match="does not hold HEAD") as error:
        callers_between(told.worktree, "f", "HEAD~1..HEAD")
    assert error.value.code is Exit.GATED


def test_more_commits_cost_only_themselves_and_a_rewrite_is_noticed(told: Repo) -> None:
    assert index(told) == HistoryRun(0, 0, 0)
    told.write("a.py", "def f():\n    return 3\n")
    told.commit()
    assert not symbol_log(told.worktree, "f")["exact"]
    assert index(told) == HistoryRun(1, 0, 1)
    added = symbol_log(told.worktree, "f")
    assert added["exact"]
    assert [e["what"] for e in added["events"]] == ["added", "removed", "changed", "added"]
    told.git("reset", "-q", "--hard", "HEAD~4")
    told.write("z.py", "def f():\n    pass\n")
    told.commit()
    assert index(told) == HistoryRun(1, 4, 1)
    assert [(e["what"], e["path"]) for e in symbol_log(told.worktree, "f")["events"]] == [
        ("added", "z.py"),
        ("changed", "a.py"),
        ("added", "a.py"),
    ]
    assert [e["what"] for e in edge_log(told.worktree, "g", "f")["events"]] == ["added"]


def test_only_the_first_parents_count(told: Repo) -> None:
    told.git("switch", "-qc", "side", "HEAD~2")
    told.write("e.py", "def sidelong():\n    pass\n")
    told.commit()
    told.git("switch", "-q", "main")
    told.git("merge", "-q", "--no-edit", "side")
    assert index(told).commits == 1
    (event,) = symbol_log(told.worktree, "sidelong")["events"]
    assert event["commit"] == told.git("rev-parse", "HEAD").strip()


def test_without_the_layer_nothing_is_made(indexed: Repo) -> None:
    questions: tuple[Callable[[], object], ...] = (
        lambda: symbol_log(indexed.worktree, "f"),
        lambda: edge_log(indexed.worktree, "g", "f"),
        lambda: callers_between(indexed.worktree, "f", "HEAD..HEAD"),
    )
    for ask in questions:
        with pytest.raises(GitIndexError, match="not indexed") as error:
            ask()
        assert error.value.code is Exit.GATED
    assert history_state(indexed.worktree)["status"] == "not_indexed"
    assert not (indexed.path / history_file(indexed.worktree)).exists()


def test_the_command(told: Repo) -> None:
    assert "changed  a.py: f" in told.gitindex("history", "log", "f").stdout
    assert "added    b.py: g" in told.gitindex("history", "when", "g", "f").stdout
    assert told.gitindex("history", "when", "g", "nobody").returncode == Exit.NO
    assert "+ d.py: K.m" in told.gitindex("callers", "f", "--between", "HEAD~6..").stdout
    assert told.gitindex("history", "status").returncode == Exit.OK
    assert told.gitindex("callees", "f", "--between", "HEAD~6..").returncode == Exit.USAGE
