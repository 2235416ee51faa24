"""Whether git tracks `.llmc/` is read from the beginning of git's index; else git is asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitindex.git.command import try_git
from gitindex.git.index_file import spells_out
from gitindex.refresh.public_files import is_tracked
from tests.support import Repo

NEAR = (
    ".llmb/z",
    ".llmc-x",
    ".llmc.old",
    ".llmc+/a",
    ".llmc0",
    ".llm",
    "a.py",
    "!first",
    "sub/.llmc/x",
)
FORMATS = {
    "sha1": ((), ()),
    "sha256": (("--object-format=sha256",), ()),
    "extended": ((), ("update-index", "--skip-worktree", "a.py")),
    "intent": ((), ("add", "-N", "new.py")),
}


def _asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The questions that git was asked."""
    asked: list[str] = []

    def noted(root: str, *args: str) -> object:
        asked.append(args[0])
        return try_git(root, *args)

    monkeypatch.setattr("gitindex.refresh.public_files.try_git", noted)
    return asked


@pytest.mark.parametrize("kind", FORMATS)
def test_names_near_it_and_below_it(tmp_path: Path, kind: str) -> None:
    options, change = FORMATS[kind]
    repo = Repo(tmp_path / "r")
    repo.init(*options)
    for name in NEAR:
        repo.write(name, "x\n")
    repo.commit()
    repo.write("new.py", "y\n")
    if change:
        repo.git(*change)
    assert not is_tracked(repo.worktree)
    repo.write(".llmc/sub/x", "y\n")
    repo.git("add", "-f", ".llmc/sub/x")
    assert is_tracked(repo.worktree)
    repo.git("rm", "-q", "-r", "--cached", ".llmc")
    assert not is_tracked(repo.worktree)
    (repo.path / ".llmc/sub/x").unlink()
    (repo.path / ".llmc/sub").rmdir()
    (repo.path / ".llmc").rmdir()
    repo.write(".llmc", "a file\n")
    repo.git("add", "-f", ".llmc")
    assert is_tracked(repo.worktree)


def test_long_names_and_many_files_before_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = Repo(tmp_path / "r")
    repo.init()
    for number in range(1_500):
        repo.write(f"!{'x' * 50}{number}/{'y' * 100}", "")
    blob = repo.git("hash-object", "-w", "/dev/null").strip()
    repo.git("add", "-A")
    long = "+" + "/".join(["z" * 200] * 21)  # longer than the flags of its entry can say
    repo.git("update-index", "--add", "--cacheinfo", f"100644,{blob},{long}")
    asked = _asked(monkeypatch)
    assert not is_tracked(repo.worktree)
    assert asked == []
    repo.write(".llmc/x", "y\n")
    repo.git("add", "-f", ".llmc/x")
    assert is_tracked(repo.worktree)


@pytest.mark.parametrize("change", ["--split-index", "--index-version=4"])
def test_other_formats_are_left_to_git(
    repo: Repo, change: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo.write(".llmc/x", "y\n")
    repo.write("a.py", "x = 1\n")
    repo.git("add", "-f", ".llmc/x", "a.py")
    repo.git("update-index", change)
    assert is_tracked(repo.worktree)
    repo.git("rm", "-q", "-r", "--cached", ".llmc")
    asked = _asked(monkeypatch)
    assert not is_tracked(repo.worktree)
    assert asked


def test_what_is_no_index_says_nothing() -> None:
    assert not spells_out(b"")
    assert not spells_out(b"x" * 2_000)


def test_a_tracked_name_with_further_flags(repo: Repo) -> None:
    repo.write(".llmc/x", "y\n")
    repo.git("add", "-N", "-f", ".llmc/x")
    assert is_tracked(repo.worktree)
