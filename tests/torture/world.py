"""A repository of one kind that git and a user move from state to state."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from pathlib import Path

from gitindex.coordinator import IndexCoordinator
from tests.gits import newer_git
from tests.support import Repo

PATHS = [f"{folder}{name}.py" for folder in ("", "lib/", "lib/deep/") for name in "abcdefghij"]
NAMES = [f"name_{number:02d}" for number in range(50)]
KINDS = (
    "plain",
    "sha256",
    "reftable",
    "shallow",
    "partial",
    "sparse",
    "split",
    "linked",
    "autocrlf",
    "seconds",
    "filtered",
)
"""`filtered`: by a driver that keeps sizes, whose attribute comes and goes; `linked`: asked from inside a
linked worktree; `seconds`: a disk that keeps whole seconds only."""


class World:
    """One repository of one kind, moved from state to state by git and by hand."""

    def __init__(self, rng: random.Random, folder: Path, kind: str) -> None:
        self.rng, self.kind = rng, kind
        if kind == "reftable":
            os.environ["PATH"] = newer_git().path  # whoever makes a world puts the old one back
        self.repo = self._make(folder)
        self.index()

    def _make(self, folder: Path) -> Repo:
        first = Repo(folder / "first")
        formats = {"sha256": "--object-format=sha256", "reftable": "--ref-format=reftable"}
        first.init(*([formats[self.kind]] if self.kind in formats else []))
        for number in range(3):
            for path in self.rng.sample(PATHS, 15):
                first.write(path, self._text())
            first.write("count.py", f"count = {number}\n")
            first.commit(f"commit {number}")
        first.git("branch", "side", "HEAD~1")
        if self.kind in ("shallow", "partial"):
            option = "--depth=2" if self.kind == "shallow" else "--filter=blob:limit=1g"
            first.git("config", "uploadpack.allowFilter", "true")
            url = f"file://{first.path}"
            first.git("clone", "-q", "--no-single-branch", option, url, str(folder / "second"))
            second = Repo(folder / "second")
            second.git("branch", "side", "origin/side")
            return second
        if self.kind == "linked":
            first.git("worktree", "add", "-q", "-b", "linked", str(folder / "second"))
            return Repo(folder / "second")
        settings = {
            "sparse": ["sparse-checkout", "set", "--no-cone", "/*", "!/lib/deep/"],
            "split": ["update-index", "--split-index"],
            "autocrlf": ["config", "core.autocrlf", "true"],
            "seconds": ["config", "core.checkStat", "minimal"],
            "filtered": ["config", "filter.swap.smudge", "tr 01 10"],
        }
        if self.kind in settings:
            first.git(*settings[self.kind])
        if self.kind == "filtered":
            first.git("config", "filter.swap.clean", "tr 01 10")
        return first

    def _text(self) -> str:
        names = self.rng.sample(NAMES, 3)
        lines = [f"from lib.{self.rng.choice('abcdefghij')} import {names[1]}", "", ""]
        lines += [f"def {names[0]}():", f"    return {names[1]}()", "", f"# about {names[2]}"]
        return "\n".join([*lines, f"value = {self.rng.random()}", ""])

    def step(self) -> None:
        """One random move; a git command that refuses is a move as well."""
        moves = self._moves()
        if self.kind == "filtered":
            moves += [self._filter, self._checkout, self._checkout]
        self.rng.choice(moves)()
        if self.kind == "seconds":
            for path in PATHS:
                self._floor(self.repo.path / path)

    def _floor(self, path: Path) -> None:
        if path.exists() and path.stat().st_mtime_ns % 10**9:
            os.utime(path, (int(path.stat().st_mtime),) * 2)

    def _moves(self) -> list[Callable[[], object]]:
        git = self.repo.try_git
        return [
            self._write,
            self._write,
            self._write,
            self._delete,
            self._rename,
            self._backdate,
            self._commit,
            self._commit,
            self.index,
            lambda: git("reset", "-q", "--hard", self.rng.choice(["HEAD", "HEAD~1", "side"])),
            lambda: git("reset", "-q", "--soft", "HEAD~1"),
            lambda: git("stash", "-q"),
            lambda: git("stash", "pop", "-q"),
            lambda: git("switch", "-q", "-f", self.rng.choice(["main", "side", "linked"])),
            lambda: git("commit", "-q", "--amend", "--allow-empty", "-m", "amended"),
            lambda: git("add", "-A"),
            lambda: git("rm", "-q", "-f", "--", self.rng.choice(PATHS)),
            lambda: git("merge", "-q", "-X", "ours", "side"),
            lambda: git("update-index", "--refresh"),
            lambda: git("gc", "-q", "--prune=now") if self.rng.random() < 0.05 else None,
        ]

    def _filter(self) -> None:
        """The attribute comes, or goes; what git wrote by it stays."""
        if (self.repo.path / ".gitattributes").exists():
            (self.repo.path / ".gitattributes").unlink()
        else:
            self.repo.write(".gitattributes", "*.py filter=swap\n")

    def _checkout(self) -> None:
        """Let git write some files anew, and forget that it has just written them."""
        for path in self.rng.sample(PATHS, 5):
            (self.repo.path / path).unlink(missing_ok=True)
            self.repo.try_git("checkout", "-q", "--", path)
            if (self.repo.path / path).exists():
                os.utime(self.repo.path / path, (1_600_000_000, 1_600_000_000))
        self.repo.try_git("update-index", "-q", "--refresh")

    def _write(self) -> None:
        path = self.rng.choice(PATHS)
        if not (self.kind == "sparse" and path.startswith("lib/deep")):
            self.repo.write(path, self._text())

    def _delete(self) -> None:
        (self.repo.path / self.rng.choice(PATHS)).unlink(missing_ok=True)

    def _rename(self) -> None:
        source = self.repo.path / self.rng.choice(PATHS)
        if source.exists():
            source.rename(source.with_name(self.rng.choice("abcdefghij") + ".py"))

    def _backdate(self) -> None:
        """Times of whole seconds, of the past and of the future: a clock that stepped."""
        path = self.repo.path / self.rng.choice(PATHS)
        if path.exists():
            second = int(path.stat().st_mtime) + self.rng.choice([0, 0, -86_400, 86_400])
            self._write()
            os.utime(path, (second, second))

    def _commit(self) -> None:
        self.repo.try_git("add", "-A")
        self.repo.try_git("commit", "-q", "-m", "more")

    def index(self) -> None:
        IndexCoordinator(str(self.repo.path)).reindex_incremental()
