"""A textually clean merge that breaks: found without a checkout, and without a trace."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tests.support import Repo

CORE = "def build():\n    return 1\n\n\ndef other():\n    return 2\n"
USE = "from core import other\n\n\ndef main():\n    return other()\n"


@pytest.fixture
def split(repo: Repo) -> Repo:
    """main renames `build`; the branch `topic` starts to call it. Both are fine alone."""
    repo.write("core.py", CORE)
    repo.write("use.py", USE)
    repo.write("notes.md", "# Notes\n")
    repo.commit("base")
    repo.git("switch", "-qc", "topic")
    repo.write("use.py", USE.replace("import other", "import build, other") + "\n\nX = build()\n")
    repo.commit("call it")
    repo.git("switch", "-q", "main")
    repo.write("core.py", CORE.replace("build", "make"))
    repo.commit("rename")
    repo.index()
    return repo


def breaks(repo: Repo, *args: str) -> list[tuple[str, int, str, str]]:
    answer = repo.answer("merge-check", *args)
    assert answer["status"] == "ok", answer
    return [(b["path"], b["line"], b["name"], b["side"]) for b in answer["breaks"]]


def snapshot(folder: Path) -> dict[str, tuple[int, int, bytes]]:
    """Everything below a folder: mode, time and bytes."""
    found = {}
    for path in sorted(folder.rglob("*")):
        info = path.lstat()
        data = path.read_bytes() if path.is_file() else b""
        found[str(path)] = (info.st_mode, info.st_mtime_ns, data)
    return found


def test_both_directions(split: Repo) -> None:
    assert breaks(split, "topic") == [
        ("use.py", 1, "build", "theirs"),
        ("use.py", 8, "build", "theirs"),
    ]
    done = split.gitindex("merge-check", "topic")
    assert done.returncode == 1
    assert done.stdout.startswith("use.py:1: `build` is gone from core.py on our side\n")
    split.git("switch", "-q", "topic")
    assert breaks(split, "main") == [("use.py", 1, "build", "ours"), ("use.py", 8, "build", "ours")]


def test_the_git_directory_stays_as_it_is(split: Repo) -> None:
    """Neither objects nor a lock, nor a look at the index: also with a driver of the repository's."""
    split.git("config", "merge.evil.driver", f"touch {split.path}/ran; true")
    split.git("config", "filter.evil.clean", f"touch {split.path}/ran; cat")
    split.write(".gitattributes", "*.py merge=evil filter=evil\n")
    before = snapshot(split.path / ".git")
    assert split.gitindex("merge-check", "topic").returncode == 1
    assert snapshot(split.path / ".git") == before
    assert not (split.path / "ran").exists()


def test_the_same_file_on_both_sides(split: Repo) -> None:
    """git merges it into a blob that is nowhere in the repository."""
    split.git("switch", "-q", "topic")
    split.write("core.py", CORE + "\n\ndef late():\n    return build()\n")
    split.commit("uses it in its own file")
    split.git("switch", "-q", "main")
    assert ("core.py", 10, "build", "theirs") in breaks(split, "topic")


def test_a_merge_that_fits(split: Repo) -> None:
    split.git("switch", "-q", "topic")
    split.write("use.py", USE)
    split.write("notes.md", "# More\n")
    split.commit("does not call it")
    split.git("switch", "-q", "main")
    done = split.gitindex("merge-check", "topic")
    assert (done.returncode, done.stdout) == (0, "")


def test_a_name_that_both_sides_define(repo: Repo) -> None:
    repo.write("core.py", "def first():\n    pass\n\n\nMIDDLE = 1\n\n\ndef last():\n    pass\n")
    repo.commit("base")
    repo.git("switch", "-qc", "topic")
    repo.write("core.py", "def helper():\n    return 1\n\n\n" + (repo.path / "core.py").read_text())
    repo.commit("on top")
    repo.git("switch", "-q", "main")
    repo.write("core.py", (repo.path / "core.py").read_text() + "\n\ndef helper():\n    return 2\n")
    repo.commit("at the end")
    repo.index()
    answer = repo.answer("merge-check", "topic")
    assert [(d["name"], d["firstLine"], d["line"]) for d in answer["duplicates"]] == [
        ("helper", 1, 16)
    ]
    assert repo.gitindex("merge-check", "topic").returncode == 1


def test_conflicts_are_git_s_to_tell(split: Repo) -> None:
    for branch, text in (("topic", "# Topic\n"), ("main", "# Main\n")):
        split.git("switch", "-q", branch)
        split.write("notes.md", text)
        split.commit("notes")
    split.git("switch", "-q", "topic")
    split.write("use.py", USE)
    split.commit("does not call it")
    split.git("switch", "-q", "main")
    answer = split.answer("merge-check", "topic")
    assert answer["conflicts"] == ["notes.md"]
    assert split.gitindex("merge-check", "topic").returncode == 0


def test_what_was_broken_before_is_not_the_merge_s_fault(split: Repo) -> None:
    split.git("switch", "-q", "topic")
    split.write("core.py", CORE.replace("build", "make"))
    split.commit("broken by itself")
    split.git("switch", "-q", "main")
    assert breaks(split, "topic") == []


def test_the_upstream_is_the_default(split: Repo, tmp_path: Path) -> None:
    done = split.gitindex("merge-check")
    assert (done.returncode, "no upstream" in done.stderr) == (2, True)
    split.git("branch", "-q", "--set-upstream-to=topic")
    assert len(breaks(split)) == 2


def test_as_a_hook_before_the_merge_commit(split: Repo) -> None:
    """git has merged the index by then, and names the other side only to its hooks."""
    hook = split.path / ".git/hooks/pre-merge-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\nexec {sys.executable} -m gitindex gate merge\n")
    hook.chmod(0o755)
    done = split.try_git("merge", "--no-edit", "topic")
    assert done.returncode != 0
    assert "`build` is gone from core.py on our side" in done.stdout + done.stderr
    split.git("merge", "--abort", check=False)
    assert split.try_git("merge", "-q", "--no-edit", "topic", env={"GITINDEX": "0"}).returncode == 0


def test_a_clone_without_the_branch_is_not_blocked(split: Repo) -> None:
    done = split.gitindex("gate", "merge", "origin/nowhere")
    assert (done.returncode, done.stdout) == (0, "")
    assert "not checked: there is no origin/nowhere here" in done.stderr
    assert split.gitindex("gate", "merge", "--nonsense").returncode == 2


def test_an_old_git_says_so(split: Repo, tmp_path: Path) -> None:
    real = next(
        Path(folder, "git")
        for folder in os.environ["PATH"].split(":")
        if Path(folder, "git").exists()
    )
    fake = tmp_path / "bin/git"
    fake.parent.mkdir()
    fake.write_text(
        '#!/bin/sh\ncase "$*" in *" merge-tree "*) echo usage >&2; exit 129 ;; *version) '
        f'echo git version 2.30.2; exit 0 ;; esac\nexec {real} "$@"\n'
    )
    fake.chmod(0o755)
    done = split.gitindex(
        "merge-check", "topic", env={"PATH": f"{fake.parent}:{os.environ['PATH']}"}
    )
    assert done.returncode == 4
    assert done.stderr.startswith(
        "gitindex: git 2.30 cannot merge without a checkout: merge-check needs git 2.38\n"
    )
