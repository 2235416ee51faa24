"""Answers in random states of a repository, compared with git and the disk alone.

The oracle shares no code with the product: it lists paths with `git ls-files`, reads files with
`open`, and finds lines and definitions with `re`. In each state every name, every file and many ranges
of lines are asked for through one view, and a few more through the command, the server and the library.
"""

from __future__ import annotations

import io
import json
import os
import random
import re
import subprocess
from collections import defaultdict
from contextlib import chdir, redirect_stdout
from pathlib import Path
from typing import Any

from gitindex.base.errors import GitIndexError
from gitindex.cli.door import run_cli
from gitindex.coordinator import IndexCoordinator
from gitindex.freshness.report import show_status
from gitindex.git import status_cache
from gitindex.git.shadow_index import TRUSTED
from gitindex.query.grep.grep import GrepQuery, grep
from gitindex.query.grep.pattern import GrepPattern
from gitindex.query.read import LineRange, read_lines
from gitindex.query.references import ReferenceQuery, find_references
from gitindex.query.symbols import SymbolQuery, list_symbols, outline
from gitindex.view.tree import TreeView, open_tree
from tests.mcp_client import Inside
from tests.support import Repo
from tests.torture import Clock
from tests.torture.world import KINDS, NAMES, World

Place = tuple[str, int]
PATTERNS = (
    r"^def \w+",
    r"name_0\d\(",
    r"^# about",
    r"return name_(1|2)\d",
    r"import \w+$",
    "nothing",
)


RANGES = 40
"""Ranges of lines that are read of each file in each state."""


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
        self.raw: dict[str, list[str]] = {}
        """The lines with their carriage returns, which `$` does not overlook in a search."""
        self.words: dict[str, set[Place]] = defaultdict(set)
        for name in {os.fsdecode(name) for name in listed.split(b"\0") if name}:
            path = repo.path / name
            if path.suffix == ".py" and path.is_file() and not path.is_symlink():
                self.raw[name] = path.read_bytes().decode().split("\n")
                self.files[name] = [line.removesuffix("\r") for line in self.raw[name]]
        for name, lines in self.files.items():
            for number, line in enumerate(lines, 1):
                for word in re.findall(r"\w+", line):
                    self.words[word].add((name, number))
        self.tree = repo.tree()

    def lines(self, pattern: str) -> set[Place]:
        found = re.compile(pattern)
        return {
            (name, number)
            for name, lines in self.raw.items()
            for number, line in enumerate(lines, 1)
            if found.search(line)
        }

    def text(self, place: Place) -> str:
        return self.files[place[0]][place[1] - 1]

    def definitions(self, name: str) -> set[Place]:
        return {place for place in self.words[name] if self.text(place).startswith(f"def {name}(")}

    def calls(self, name: str) -> set[Place]:
        """Calls in files that define the name, or import it from a file that does."""
        homes = {path for path, _ in self.definitions(name)}
        bound = set(homes)
        for path, lines in self.files.items():
            found = re.match(rf"from lib\.(\w) import {name}$", lines[0])
            if found and f"lib/{found[1]}.py" in homes:
                bound.add(path)
        called = re.compile(rf"^[^#]*\b{name}\(")
        return {p for p in self.words[name] if p[0] in bound and called.search(self.text(p))}


class Oracle:
    """Asks one world through several doors, and compares each answer with the disk."""

    def __init__(self, world: World, folder: Path) -> None:
        self._world, self._repo, self._rng = world, world.repo, world.rng
        self._inside = Inside(os.path.realpath(self._repo.path), folder / "state")
        self._facts, self._names = self._inside.server.memory, self._inside.server.binding

    def check(self, clock: Clock) -> None:
        """Ask everything of one view, and a few things through the other doors."""
        self._clock, self._truth = clock, Truth(self._repo)
        self._one_view()
        self._statuses()
        self._rng.choice((self._mcp, self._command, self._library))(self._rng.choice(NAMES))

    def _one_view(self) -> None:
        """Every name and every file, asked of one snapshot and its overlay."""
        with open_tree(self._repo.worktree, ".", memory=self._facts) as view:
            for name in NAMES:
                self._name(view, name)
            for pattern in self._rng.sample(PATTERNS, 2):
                self._grep(grep(view, GrepQuery(GrepPattern(pattern))), self._truth.lines(pattern))
            for path, lines in self._truth.files.items():
                self._file(view, path, lines)
                for _ in range(RANGES):
                    self._range(view, path, lines)

    def _name(self, view: TreeView, name: str) -> None:
        defined = self._truth.definitions(name)
        answer: Any = list_symbols(view, SymbolQuery(name, limit=200))
        found = _places([row for row in answer["symbols"] if row["name"] == name])
        self._compare("symbols", found, defined, answer)
        self._grep(grep(view, GrepQuery(GrepPattern(name, fixed=True))), self._truth.words[name])
        if defined:
            told: Any = find_references(view, ReferenceQuery(name, limit=1_000), self._names)
            self._references(told, name)

    def _file(self, view: TreeView, path: str, lines: list[str]) -> None:
        read: Any = read_lines(view, LineRange(path))
        told = read["content"].split("\n")
        assert told == lines[: len(told)], self._story("read", path, told)
        assert len(told) >= len(lines) - 1, self._story("read", path, told)
        self._answered("read", read)
        listed: Any = outline(view, path)
        real = {
            (found[1], number)
            for number, line in enumerate(lines, 1)
            if (found := re.match(r"def (\w+)\(", line))
        }
        found_all = {(row["name"], row["line"]) for row in listed["symbols"]}
        assert real <= found_all, self._story("outline", path, real - found_all)
        self._answered("outline", listed)

    def _range(self, view: TreeView, path: str, lines: list[str]) -> None:
        """A range of lines that the file has; the line after the last newline is none."""
        count = len(lines) - (lines[-1] == "")
        if not count:
            return
        first = self._rng.randint(1, count)
        last = self._rng.randint(first, count + 2)
        read: Any = read_lines(view, LineRange(path, first, last))
        told, real = read["content"].split("\n"), lines[first - 1 : min(last, count)]
        assert told in (real, [*real, ""]), self._story("range", path, first, last, told)
        self._answered("range", read)

    def _statuses(self) -> None:
        """`status`, as people, programs and prompts ask for it: all say the same."""
        said, words = self._printed(lambda: show_status("json")), []
        status = json.loads(said)
        self._answered("status", status)
        for form in ("short", "text"):
            words.append(self._printed(lambda form=form: show_status(form)).split(":")[0].strip())
            self._count("status")
        assert words == [status["state"]] * 2, self._story("status", status, words)

    def _printed(self, run: Any) -> str:
        said = io.StringIO()
        with chdir(self._repo.path), redirect_stdout(said):
            run()
        return said.getvalue()

    def _mcp(self, name: str) -> None:
        path = self._rng.choice(sorted(self._truth.files))
        answer = self._inside.ask("read_file", file=path)
        assert answer["content"].split("\n")[0] == self._truth.files[path][0], answer
        self._answered("mcp", answer)
        answer = self._inside.ask("grep_codebase", pattern=name)
        self._grep(answer, self._truth.words[name], "mcp")
        answer = self._inside.ask("find_references", symbol=name, limit=200)
        self._references(answer, name, "mcp")

    def _command(self, name: str) -> None:
        self._grep(self._cli("grep", name), self._truth.words[name], "command")
        answer = self._cli("symbols", name, "--limit", "200")
        found = _places([row for row in answer["symbols"] if row["name"] == name])
        self._compare("command", found, self._truth.definitions(name), answer)

    def _cli(self, *args: str) -> dict[str, Any]:
        answer = json.loads(self._printed(lambda: run_cli([*args, "--json"])))
        assert isinstance(answer, dict)
        return answer

    def _library(self, name: str) -> None:
        try:
            answer: Any = IndexCoordinator(str(self._repo.path)).get_references(name)
        except GitIndexError:
            return  # no such name in this state
        self._references(answer, name, "library")

    def _grep(self, answer: Any, real: set[Place], door: str = "grep") -> None:
        rows = [row for row in answer["results"] if row["path"].endswith(".py")]
        self._compare(door, _places(rows), real, answer)

    def _references(self, answer: Any, name: str, door: str = "refs") -> None:
        """Every place holds the name; a complete answer leaves no call out."""
        if answer["status"] == "ok":
            rows = answer["references"] + answer["definitions"]
            found, text = self._seen(_places(rows)), self._truth.words[name]
            assert found <= text, self._story("references that are gone", name, found - text)
            if answer["complete"] and not answer.get("truncated"):
                calls = self._truth.calls(name)
                assert calls <= found, self._story("complete, but missing", name, calls - found)
        self._answered(door, answer)

    def _compare(self, door: str, found: set[Place], real: set[Place], answer: Any) -> None:
        found, real = self._seen(found), self._seen(real)
        assert found == real, self._story(door, sorted(found ^ real), answer)
        self._answered(door, answer)

    def _seen(self, places: set[Place]) -> set[Place]:
        """Places that are on disk: a sparse checkout leaves files out that are no deletions."""
        if self._world.kind != "sparse":
            return places
        return {place for place in places if not place[0].startswith("lib/deep/")}

    def _answered(self, kind: str, answer: Any) -> None:
        """Fresh is said only of HEAD's tree."""
        freshness = answer.get("freshness") or {}
        tree = (answer.get("receipt") or answer).get("treeId")
        if freshness.get("state") == "fresh" and tree is not None:
            assert tree == self._truth.tree, self._story("false fresh", tree, self._truth.tree)
        self._count(kind)

    def _count(self, kind: str) -> None:
        self._clock.count("answers")
        self._clock.count(kind)

    def _story(self, *what: object) -> str:
        status = self._repo.git("status", "--porcelain", check=False)
        told = f"{self._world.kind} in {self._repo.path}: {what}\n{status}\n"
        return told + self._repo.log()[-2000:]


def _places(rows: list[dict[str, Any]]) -> set[Place]:
    return {(row["path"], row["line"]) for row in rows}


def answers(clock: Clock, rng: random.Random, folder: Path) -> None:
    """Worlds of every kind in turn, from a random one on; each is moved and asked twenty times."""
    number = rng.randrange(len(KINDS))
    path, kinds = os.environ["PATH"], status_cache.FILE_SYSTEMS
    status_cache.FILE_SYSTEMS = TRUSTED  # looks are remembered, also where the suite runs in memory
    try:
        while clock.goes_on():
            os.environ["PATH"] = path
            world = World(rng, folder / str(number), KINDS[number % len(KINDS)])
            oracle = Oracle(world, folder / str(number))
            number += 1
            for _ in range(20):
                world.step()
                oracle.check(clock)
                clock.count()
                if not clock.goes_on():
                    break
    finally:
        os.environ["PATH"], status_cache.FILE_SYSTEMS = path, kinds
