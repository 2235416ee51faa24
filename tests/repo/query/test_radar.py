"""Work in several worktrees, edits included: what does not fit is found without touching anything."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.repo.query.impact.test_merge_check import snapshot
from tests.support import Repo

CORE = "def build():\n    return 1\n\n\ndef other(a):\n    return a\n"
USE = "from core import other\n\n\ndef main():\n    return other(1)\n"


@pytest.fixture
def team(repo: Repo) -> Repo:
    """Worktrees `a` renames a function, `b` calls it in a commit, `c` and `d` disagree on a signature."""
    repo.write("core.py", CORE)
    repo.write("use.py", USE)
    repo.write("notes.md", "# Notes\n")
    repo.commit("base")
    for name in "abcd":
        repo.git("worktree", "add", "-q", f"../{name}", "-b", name)
    edit(repo, "a", "core.py", CORE.replace("build", "make"))
    edit(repo, "b", "new.py", "from core import build\n\nX = build()\n")
    worktree(repo, "b").commit("call it")
    edit(repo, "c", "more.py", "from core import other\n\nother(3)\n")
    edit(repo, "d", "core.py", CORE.replace("other(a)", "other(a, b)"))
    repo.index()
    return repo


def worktree(repo: Repo, name: str) -> Repo:
    return Repo(repo.path.parent / name)


def edit(repo: Repo, name: str, file: str, text: str) -> None:
    worktree(repo, name).write(file, text)


def verdicts(answer: dict[str, Any]) -> dict[str, str]:
    short = {side["name"]: side["name"].split(" ")[0] for side in answer["sides"]}
    return {f"{short[p['ours']]} {short[p['theirs']]}": p["verdict"] for p in answer["pairs"]}


def pair(answer: dict[str, Any], one: str, other: str) -> dict[str, Any]:
    found: list[dict[str, Any]] = [
        p
        for p in answer["pairs"]
        if {p["ours"].split(" ")[0], p["theirs"].split(" ")[0]} == {one, other}
    ]
    assert len(found) == 1
    return found[0]


def test_what_does_not_fit_is_found_among_all_pairs(team: Repo) -> None:
    answer = team.answer("radar")
    broken = {ends for ends, verdict in verdicts(answer).items() if verdict != "fits"}
    assert broken == {"a b", "c d"}
    assert len(answer["pairs"]) == 10
    lost = pair(answer, "a", "b")
    assert [(b["path"], b["line"], b["name"]) for b in lost["breaks"]] == [
        ("new.py", 1, "build"),
        ("new.py", 3, "build"),
    ]
    [misfit] = pair(answer, "c", "d")["misfits"]
    assert (misfit["path"], misfit["line"], misfit["name"]) == ("more.py", 3, "other")
    assert team.gitindex("radar").returncode == 1


def test_nothing_is_written_into_the_repository(team: Repo, tmp_path: Path) -> None:
    before = {name: snapshot(worktree(team, name).path) for name in "abcd"}
    git = snapshot(team.path / ".git")
    done = team.gitindex("radar", env={"TMPDIR": str(tmp_path)})
    assert done.returncode == 1
    assert snapshot(team.path / ".git") == git
    assert {name: snapshot(worktree(team, name).path) for name in "abcd"} == before
    assert not list(tmp_path.glob("gitindex-*"))


def test_the_merged_tree_is_what_git_makes(team: Repo) -> None:
    merged = pair(team.answer("radar"), "a", "b")["mergedTree"]
    a, b = worktree(team, "a"), worktree(team, "b")
    a.commit("rename")
    made = team.git("merge-tree", "--write-tree", "a", "b").strip()
    assert made == merged
    assert pair(team.answer("radar"), "a", "b")["mergedTree"] == merged
    assert b.git("status", "--porcelain") == ""


def test_a_conflict_of_texts(team: Repo) -> None:
    edit(team, "a", "notes.md", "# Mine\n")
    edit(team, "c", "notes.md", "# Yours\n")
    found = pair(team.answer("radar"), "a", "c")
    assert (found["verdict"], found["conflicts"]) == ("conflict", ["notes.md"])


def test_edits_of_every_kind_are_in_the_tree(team: Repo) -> None:
    """Deleted, new in a new folder, executable, a link, a file that became a folder."""
    c = worktree(team, "c")
    (c.path / "use.py").unlink()
    c.write("deep/er/one.py", "x = 1\n")
    c.write("run.sh", "#!/bin/sh\n")
    (c.path / "run.sh").chmod(0o755)
    (c.path / "link").symlink_to("run.sh")
    (c.path / "notes.md").unlink()
    c.write("notes.md/inner.txt", "y\n")
    found = pair(team.answer("radar"), "repo", "c")
    c.commit("everything")
    assert c.git("rev-parse", "HEAD^{tree}").strip() == found["mergedTree"]


def test_branches_and_left_out_worktrees(team: Repo) -> None:
    team.git("branch", "old", "a~0")
    answer = team.answer("radar", "old", "--branches-only", "b")
    assert [side["kind"] for side in answer["sides"]] == ["branch", "branch"]
    team.git("worktree", "lock", "../a")
    gone = worktree(team, "d").path
    gone.rename(gone.parent / "moved")
    done = team.gitindex("radar", "--json")
    assert '"left out: worktree' in done.stdout


@pytest.mark.parametrize("name", ["no-such-branch", "--", "\x1b[31m", "HEAD:core.py"])
def test_a_branch_that_is_none(team: Repo, name: str) -> None:
    done = team.gitindex("radar", "--", name) if name != "--" else team.gitindex("radar", "--x")
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) <= 2
    assert "\x1b" not in done.stderr


def test_one_line_of_work_is_nothing_to_compare(repo: Repo) -> None:
    repo.index_files({"a.py": "x = 1\n"})
    done = repo.gitindex("radar")
    assert done.returncode == 2
    assert done.stderr.startswith("gitindex: there is only one line of work here\n")


def test_secrets_are_not_read(team: Repo) -> None:
    edit(team, "a", ".env", "TOKEN=hunter2\n")
    answer = team.answer("radar")
    assert answer["notes"] == ["a: 1 edited files left out"]


def test_watch_prints_again_only_after_a_change(team: Repo) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "gitindex", "radar", "--watch"],
        cwd=team.path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
        text=True,
    )
    try:
        assert process.stdout is not None
        first = until_count(process.stdout)
        assert "2 breaks" in first[-1]
        edit(team, "a", "core.py", CORE)
        assert "1 breaks" in until_count(process.stdout)[-1]
    finally:
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert "Traceback" not in errors
    assert process.returncode == 1


def until_count(stream: Any) -> list[str]:
    lines: list[str] = []
    while not lines or not lines[-1].startswith("-- "):
        lines.append(stream.readline())
        assert lines[-1], lines
    return lines
