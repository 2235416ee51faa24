"""Answers in random states of a repository, compared with git and the disk alone.

The oracle shares no code with the product: it lists paths with `git ls-files`, reads files with
`open`, and finds lines and definitions with `re`.
"""

from __future__ import annotations

import io
import json
import os
import random
import re
import subprocess
from collections.abc import Callable
from contextlib import chdir, redirect_stdout
from pathlib import Path
from typing import Any

from gitindex.base.errors import GitIndexError
from gitindex.cli.args import run_cli
from gitindex.coordinator import IndexCoordinator
from gitindex.query.read import LineRange, read_lines
from gitindex.query.references import ReferenceQuery, find_references
from gitindex.query.symbols import SymbolQuery, list_symbols
from gitindex.view.tree import open_tree
from tests.mcp_client import Inside
from tests.support import Repo
from tests.torture import Clock

PATHS = [f"{folder}{name}.py" for folder in ("", "lib/", "lib/deep/") for name in "abcd"]
NAMES = [f"name_{number}" for number in range(12)]
KINDS = ("plain", "sha256", "shallow", "partial", "sparse", "split", "linked", "autocrlf")
Place = tuple[str, int]


class Truth:
    """What is on disk: every tracked or new regular file, read anew."""

    def __init__(self, repo: Repo) -> None:
        listed = subprocess.run(
            ["git", "-C", str(repo.path), "ls-files", "-z", "-c", "-o", "--exclude-standard"],
            capture_output=True,
            check=True,
            timeout=300,
        ).stdout
        self.files: dict[str, list[str]] = {}
        for name in {os.fsdecode(name) for name in listed.split(b"\0") if name}:
            path = repo.path / name
            if path.suffix == ".py" and path.is_file() and not path.is_symlink():
                self.files[name] = path.read_bytes().decode().replace("\r\n", "\n").split("\n")
        self.tree = repo.tree()

    def lines(self, pattern: str) -> set[Place]:
        found = re.compile(pattern)
        return {
            (name, number)
            for name, lines in self.files.items()
            for number, line in enumerate(lines, 1)
            if found.search(line)
        }

    def calls(self, name: str) -> set[Place]:
        """Calls in files that define the name, or import it from a file that does."""
        homes = {path for path, _ in self.lines(rf"^def {name}\b")}
        bound = set(homes)
        for path, lines in self.files.items():
            found = re.match(rf"from lib\.(\w) import {name}$", lines[0])
            if found and f"lib/{found[1]}.py" in homes:
                bound.add(path)
        return {place for place in self.lines(rf"^[^#]*\b{name}\(") if place[0] in bound}


class World:
    """One repository of one kind, moved from state to state by git and by hand."""

    def __init__(self, rng: random.Random, folder: Path, kind: str) -> None:
        self._rng, self.kind = rng, kind
        self._folder = folder
        self.repo = self._make(folder)
        self._state = folder / "state"
        self.index()

    def _make(self, folder: Path) -> Repo:
        first = Repo(folder / "first")
        first.init(*(["--object-format=sha256"] if self.kind == "sha256" else []))
        for number in range(3):
            for path in self._rng.sample(PATHS, 5):
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
        }
        if self.kind in settings:
            first.git(*settings[self.kind])
        return first

    def _text(self) -> str:
        names = self._rng.sample(NAMES, 3)
        lines = [f"from lib.{self._rng.choice('abcd')} import {names[1]}", "", ""]
        lines += [f"def {names[0]}():", f"    return {names[1]}()", "", f"# about {names[2]}"]
        return "\n".join([*lines, f"value = {self._rng.random()}", ""])

    def step(self) -> None:
        """One random move; a git command that refuses is a move as well."""
        self._rng.choice(self._moves())()

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
            lambda: git("reset", "-q", "--hard", self._rng.choice(["HEAD", "HEAD~1", "side"])),
            lambda: git("reset", "-q", "--soft", "HEAD~1"),
            lambda: git("stash", "-q"),
            lambda: git("stash", "pop", "-q"),
            lambda: git("switch", "-q", "-f", self._rng.choice(["main", "side", "linked"])),
            lambda: git("commit", "-q", "--amend", "--allow-empty", "-m", "amended"),
            lambda: git("add", "-A"),
            lambda: git("rm", "-q", "-f", "--", self._rng.choice(PATHS)),
            lambda: git("merge", "-q", "-X", "ours", "side"),
            lambda: git("update-index", "--refresh"),
            lambda: git("gc", "-q", "--prune=now") if self._rng.random() < 0.05 else None,
        ]

    def _write(self) -> None:
        path = self._rng.choice(PATHS)
        if not (self.kind == "sparse" and path.startswith("lib/deep")):
            self.repo.write(path, self._text())

    def _delete(self) -> None:
        (self.repo.path / self._rng.choice(PATHS)).unlink(missing_ok=True)

    def _rename(self) -> None:
        source = self.repo.path / self._rng.choice(PATHS)
        if source.exists():
            source.rename(source.with_name(self._rng.choice("abcd") + ".py"))

    def _backdate(self) -> None:
        """Times of whole seconds, of the past and of the future: a clock that stepped."""
        path = self.repo.path / self._rng.choice(PATHS)
        if path.exists():
            second = int(path.stat().st_mtime) + self._rng.choice([0, 0, -86_400, 86_400])
            self._write()
            os.utime(path, (second, second))

    def _commit(self) -> None:
        self.repo.try_git("add", "-A")
        self.repo.try_git("commit", "-q", "-m", "more")

    def index(self) -> None:
        IndexCoordinator(str(self.repo.path)).reindex_incremental()

    def check(self, clock: Clock) -> None:
        """Ask many things through several doors and compare each answer with the disk."""
        truth = Truth(self.repo)
        inside = Inside(os.path.realpath(self.repo.path), self._state)
        for name in self._rng.sample(NAMES, 2):
            self._mcp(clock, inside, truth, name)
        self._mcp_read(clock, inside, truth)
        self._command(clock, truth, self._rng.choice(NAMES))
        self._library(clock, truth, self._rng.choice(NAMES))
        self._one_view(clock, truth)

    def _mcp(self, clock: Clock, inside: Inside, truth: Truth, name: str) -> None:
        path = self._rng.choice(sorted(truth.files))
        answer = inside.ask("file_outline", file=path)
        found = {(path, row["line"]) for row in answer["symbols"] if row["name"] == name}
        real = {place for place in truth.lines(rf"^def {name}\b") if place[0] == path}
        self._lines(clock, answer, "outline", found, real, truth)
        self._references(clock, inside.ask("find_references", symbol=name, limit=200), truth, name)

    def _mcp_read(self, clock: Clock, inside: Inside, truth: Truth) -> None:
        for path in self._rng.sample(sorted(truth.files), min(4, len(truth.files))):
            answer = inside.ask("read_file", file=path)
            text = answer["content"] if "content" in answer else json.dumps(answer)
            assert text.split("\n")[0] == truth.files[path][0], self._story("read", path, answer)
            self._fresh(answer, truth)
            clock.count("answers")

    def _command(self, clock: Clock, truth: Truth, name: str) -> None:
        answer = self._cli("grep", name)
        self._lines(clock, answer, "grep", _places(answer["results"]), truth.lines(name), truth)
        answer = self._cli("symbols", name, "--limit", "200")
        found = _places([row for row in answer["symbols"] if row["name"] == name])
        real = truth.lines(rf"^def {name}\b")
        self._lines(clock, answer, "symbols", found, real, truth)
        status = self._cli("status")
        self._fresh(status, truth)
        clock.count("answers")

    def _cli(self, *args: str) -> dict[str, Any]:
        said = io.StringIO()
        with chdir(self.repo.path), redirect_stdout(said):
            run_cli([*args, "--json"])
        answer = json.loads(said.getvalue())
        assert isinstance(answer, dict)
        return answer

    def _library(self, clock: Clock, truth: Truth, name: str) -> None:
        try:
            answer = IndexCoordinator(str(self.repo.path)).get_references(name)
        except GitIndexError:
            return  # no such name in this state
        self._references(clock, dict(answer), truth, name)

    def _one_view(self, clock: Clock, truth: Truth) -> None:
        """Every name and every file, asked of one snapshot and its overlay."""
        with open_tree(self.repo.worktree, ".") as view:
            for name in NAMES:
                answer: Any = list_symbols(view, SymbolQuery(name, limit=200))
                found = _places([row for row in answer["symbols"] if row["name"] == name])
                real = truth.lines(rf"^def {name}\b")
                self._lines(clock, answer, "view symbols", found, real, truth)
                if real:
                    found_all: Any = find_references(view, ReferenceQuery(name, limit=1_000))
                    self._references(clock, dict(found_all), truth, name)
            for path, lines in truth.files.items():
                read: Any = read_lines(view, LineRange(path))
                told = read["content"].split("\n")
                assert told == lines[: len(told)], self._story("view read", path, told)
                assert len(told) >= len(lines) - 1, self._story("view read", path, told)
                self._fresh(dict(read), truth)
                clock.count("answers")

    def _references(self, clock: Clock, answer: dict[str, Any], truth: Truth, name: str) -> None:
        """Every place holds the name; a complete answer leaves no call out."""
        if answer["status"] == "ok":
            rows = answer["references"] + answer["definitions"]
            found = self._seen(_places(rows))
            text = truth.lines(rf"\b{name}\b")
            assert found <= text, self._story("references that are gone", name, found - text)
            if answer["complete"] and not answer.get("truncated"):
                calls = truth.calls(name)
                assert calls <= found, self._story("complete, but missing", name, calls - found)
        self._fresh(answer, truth)
        clock.count("answers")

    def _lines(
        self,
        clock: Clock,
        answer: dict[str, Any],
        door: str,
        found: set[Place],
        real: set[Place],
        truth: Truth,
    ) -> None:
        found, real = self._seen(found), self._seen(real)
        assert found == real, self._story(door, sorted(found ^ real), answer)
        self._fresh(answer, truth)
        clock.count("answers")

    def _seen(self, places: set[Place]) -> set[Place]:
        """Places that are on disk: a sparse checkout leaves files out that are no deletions."""
        return {p for p in places if self.kind != "sparse" or not p[0].startswith("lib/deep/")}

    def _fresh(self, answer: dict[str, Any], truth: Truth) -> None:
        """Fresh is said only of HEAD's tree."""
        freshness = answer.get("freshness") or {}
        tree = (answer.get("receipt") or answer).get("treeId")
        if freshness.get("state") == "fresh" and tree is not None:
            assert tree == truth.tree, self._story("false fresh", tree, truth.tree)

    def _story(self, *what: object) -> str:
        status = self.repo.git("status", "--porcelain", check=False)
        return f"{self.kind} in {self.repo.path}: {what}\n{status}\n{self.repo.log()[-2000:]}"


def _places(rows: list[dict[str, Any]]) -> set[Place]:
    return {(row["path"], row["line"]) for row in rows}


def answers(clock: Clock, rng: random.Random, folder: Path) -> None:
    """Worlds of every kind in turn; each is moved forty times and asked after every move."""
    number = 0
    while clock.goes_on():
        kind = KINDS[number % len(KINDS)]
        world = World(rng, folder / str(number), kind)
        number += 1
        for _ in range(40):
            world.step()
            world.check(clock)
            clock.count()
            if not clock.goes_on():
                break
