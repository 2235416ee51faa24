"""I-43: whatever a limit left out is counted, and no answer is exact or complete beside it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gitindex.base.atomic_file import FileTooLarge, read_small
from gitindex.base.vocabulary import MAX_TEXT_BYTES, EditScope
from gitindex.extract import policy
from gitindex.extract.policy import MAX_POLICY_BYTES, of_tree
from gitindex.freshness import envelope
from gitindex.freshness.envelope import status_envelope
from gitindex.freshness.observation import observe
from gitindex.freshness.verdict import judge
from gitindex.git import interface
from gitindex.git.interface import TREE, Entry
from gitindex.query.grep.grep import GrepQuery, grep
from gitindex.query.grep.pattern import GrepPattern
from gitindex.query.references import ReferenceQuery, find_references
from gitindex.view.tree import NOW, TreeChoice, open_tree
from tests.repo.git.test_tree_bomb import mktree
from tests.support import Repo

USE = "from lib import needle_fn\n\n\nneedle_fn()\n"


def _repeated(repo: Repo, folders: int, junk: int) -> None:
    """Commit equal folders with a use of one function each, and the function."""
    repo.write("case/use.py", USE)
    for number in range(junk):
        repo.write(f"case/j{number}.txt", "x\n")
    repo.write("lib.py", "def needle_fn():\n    return 1\n")
    repo.commit()
    leaf = repo.git("rev-parse", "HEAD:case").strip()
    lib = repo.git("rev-parse", "HEAD:lib.py").strip()
    lines = [f"040000 tree {leaf}\tcase{number:03}" for number in range(folders)]
    top = mktree(repo, "\n".join([*lines, f"100644 blob {lib}\tlib.py"]))
    repo.git("reset", "-q", "--hard", repo.git("commit-tree", "-m", "x", top).strip())


def _ask(repo: Repo, ask: TreeChoice = NOW) -> tuple[dict[str, Any], dict[str, Any]]:
    with open_tree(repo.worktree, ".", ask) as view:
        lines = grep(view, GrepQuery(GrepPattern(r"^needle_fn\(\)")))
    with open_tree(repo.worktree, ".", ask) as view:
        uses = find_references(view, ReferenceQuery("needle_fn"))
    return dict(lines), dict(uses)


def _status(repo: Repo) -> dict[str, Any]:
    seen = observe(repo.worktree, EditScope.ALL)
    return status_envelope(repo.worktree, seen, judge(seen), ".")


def test_i43_equal_folders_are_all_indexed(repo: Repo) -> None:
    _repeated(repo, 60, 20)
    repo.index()
    lines, uses = _ask(repo)
    assert (len(lines["results"]), lines["freshness"]["exact"]) == (60, True)
    assert uses["complete"] is True
    assert "leftOut" not in _status(repo)["freshness"]


def test_i43_folders_over_the_limit_are_counted(
    repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(interface, "MAX_ENTRIES", 500)
    _repeated(repo, 60, 20)
    repo.index()
    left_out = sum(row.mode == TREE for row in repo.mapping())
    assert left_out > 0
    lines, uses = _ask(repo)
    assert len(lines["results"]) == 60 - left_out
    assert (lines["freshness"]["exact"], lines["freshness"]["leftOut"]) == (False, left_out)
    assert (uses["complete"], uses["freshness"]["leftOut"]) == (False, left_out)
    said = repo.gitindex("status")
    assert f"{left_out} paths left out of every answer" in said.stdout
    assert _status(repo)["freshness"]["leftOut"] == left_out
    repo.write("case000/use.py", USE + "needle_fn()\n")
    repo.commit()
    repo.index()  # which folders are left out follows from the whole tree, not from the difference
    assert sum(row.mode == TREE for row in repo.mapping()) == left_out
    assert json.loads(Path(repo.worktree.marker).read_text())["leftOut"] == left_out
    for first in (0, 20):  # few enough to be compared
        repo.git("rm", "-rq", *(f"case{number:03}" for number in range(first, first + 20)))
        repo.commit()
        repo.index()  # what was left out fits now, although no commit has changed it
    lines, _ = _ask(repo)
    assert (len(lines["results"]), lines["freshness"]["exact"]) == (20, True)


@pytest.mark.parametrize("ask", [NOW, TreeChoice(at="HEAD"), TreeChoice(staged=True)])
def test_i43_a_text_over_the_limit_is_counted(repo: Repo, ask: TreeChoice) -> None:
    repo.write("lib.py", "def needle_fn():\n    return 1\n")
    repo.commit()
    repo.index()
    assert _ask(repo)[0]["freshness"]["exact"] is True
    repo.write("large.txt", b"needle_fn()\n" * (MAX_TEXT_BYTES // 12 + 1))
    repo.write("large.bin", b"\0" + bytes(MAX_TEXT_BYTES))
    repo.commit()
    for indexed in range(2):
        answers = _ask(repo, ask)
        assert [a["freshness"]["exact"] for a in answers] == [False, False], indexed
        assert answers[1]["complete"] is False
        repo.index()
    assert [a["freshness"]["leftOut"] for a in _ask(repo, ask)] == [1, 1]  # not the binary one
    assert _status(repo)["freshness"]["exact"] is False


def test_i43_status_counts_the_edits_that_answers_leave_out(
    repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(envelope, "MAX_PATHS", 4)
    monkeypatch.setattr(envelope, "MAX_BYTES", 40)
    repo.write("lib.py", "def needle_fn():\n    return 1\n")
    repo.commit()
    repo.index()
    for number in range(6):
        repo.write(f"e{number}.py", f"needle_fn()  # {number}\n")
        lines, _ = _ask(repo)
        said = _status(repo)["freshness"]
        told = [lines["freshness"].get("leftOut", 0), said.get("leftOut", 0)]
        assert told == [number + 1 - len(lines["results"])] * 2
        assert lines["freshness"]["exact"] is said["exact"] is (told[0] == 0)
    assert told[0] > 2


def test_i43_half_a_pattern_skips_nothing() -> None:
    """A policy file that is too long counts up to its last whole line."""
    lines = b"#" * (MAX_POLICY_BYTES - 6) + b"\nsrc/generated/\n"
    rules = of_tree([Entry(policy.IGNORE_FILE, 0o100644, "1")], lambda _: {"1": lines})
    assert rules.skip_path(Entry(b"src/a.py", 0o100644, "2")) is None


def test_a_file_that_is_too_large_is_never_read_in_part(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x" * 11)
    assert read_small(str(tmp_path / "file"), 11) == b"x" * 11
    with pytest.raises(FileTooLarge):
        read_small(str(tmp_path / "file"), 10)
