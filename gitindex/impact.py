"""What a staged change reaches: names and modules it leaves dangling, and the tests that depend on it."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from gitindex.facts import BlobFacts, Import, Use, unpack_places
from gitindex.git.command import read_blobs
from gitindex.paths import Worktree
from gitindex.resolve import Resolver
from gitindex.store.connection import Database
from gitindex.views import FactsSource, View, ViewFile, head_view, staged_view

_BY_NAME = frozenset({"python", "javascript", "typescript", "tsx"})
"""Here a name of another module is only in reach if an import binds it."""

_TEST = re.compile(
    r"(^|/)(tests?|specs?|__tests__|testing)/|(^|/)test_[^/]*$|_test\.\w+$|\.(test|spec)\.\w+$"
    r"|(^|/)[^/]*Tests?\.(java|kt|cs|scala|swift|php)$|_spec\.rb$"
)


class Dangling(NamedTuple):
    """A reference in the staged tree to something the staged change removes."""

    path: str
    line: int  # 0-based
    name: str
    missing_from: str


class StagedChange:
    """HEAD's tree against the staged one."""

    def __init__(self, worktree: Worktree, database: Database) -> None:
        self._root = worktree.root
        self._facts = FactsSource(worktree.root, database)
        self.before, self.after = head_view(worktree), staged_view(worktree)
        self.changed = sorted(
            path
            for path in self.before.files.keys() | self.after.files.keys()
            if self.before.files.get(path) != self.after.files.get(path)
        )

    def dangling(self) -> list[Dangling]:
        """Every reference left behind, in order of path and line."""
        lost = self._lost_names()
        gone = {path for path in self.changed if path not in self.after.files}
        if not lost and not gone:
            return []
        stems = {part for path in (*lost, *gone) for part in _stems(path)}
        old, new = self._resolver(self.before), self._resolver(self.after)
        imports = self._facts.imports(self.after.files.values())
        found: set[Dangling] = set()
        for path, file in self.after.files.items():
            for imported in imports.get(file, ()):
                if _mentions(imported, stems):
                    was = old.resolve(path, file.language, imported)
                    now = new.resolve(path, file.language, imported)
                    found.update(self._lost_modules(path, imported, set(was) & gone, now))
                    for module in (set(was) | set(now)) & lost.keys():
                        found.update(self._lost_uses(path, file, imported, module, lost[module]))
        return sorted(found)

    def affected_tests(self) -> list[str]:
        """Test files of the staged tree that reach a changed file through imports, or are one."""
        importers = self._importers()
        reached, todo = set(self.changed), list(self.changed)
        while todo:
            for path in importers.get(todo.pop(), ()):
                if path not in reached:
                    reached.add(path)
                    todo.append(path)
        return sorted(path for path in reached if path in self.after.files and is_test(path))

    def _importers(self) -> dict[str, set[str]]:
        """Who imports a file, in either tree: a deleted file is reached by its old importers."""
        found: dict[str, set[str]] = defaultdict(set)
        for view in (self.before, self.after):
            resolver = self._resolver(view)
            imports = self._facts.imports(view.files.values())
            for path, file in view.files.items():
                for imported in imports.get(file, ()):
                    for target in resolver.resolve(path, file.language, imported):
                        found[target].add(path)
        return found

    def _lost_names(self) -> dict[str, set[str]]:
        lost = {}
        for path in self.changed:
            if path in self.before.files and path in self.after.files:
                before = _provided(self._facts.of(self.before.files[path]))
                after = _provided(self._facts.of(self.after.files[path]))
                if before - after:
                    lost[path] = before - after
        return lost

    def _lost_modules(
        self, path: str, imported: Import, gone: set[str], now: tuple[str, ...]
    ) -> Iterator[Dangling]:
        still = {name for module in now for name in self._provided_by(module)}
        for module in sorted(gone):
            bound = [name for name, _ in imported.names if name in _stems(module)]
            if not now or (bound and not still.issuperset(bound)):
                yield Dangling(path, imported.line, imported.module or ", ".join(bound), module)

    def _lost_uses(
        self, path: str, file: ViewFile, imported: Import, module: str, lost: set[str]
    ) -> Iterator[Dangling]:
        facts = self._facts.of(file)
        if facts is None:
            return
        if file.language not in _BY_NAME:
            for name in lost - self._facts.defined(lost, self.after.files.values()):
                yield from _places(path, facts, name, module)
            return
        for name, local in imported.names:
            if name in lost:
                yield Dangling(path, imported.line, name, module)
            elif name == "*" and local == "*":
                for star in lost - {s.name for s in facts.symbols}:
                    yield from _places(path, facts, star, module)
            else:
                yield from self._member_uses(path, file, local, lost, module)

    def _member_uses(
        self, path: str, file: ViewFile, local: str, lost: set[str], module: str
    ) -> Iterator[Dangling]:
        """`module.name` in the text, where `module` is what an import bound."""
        names = "|".join(map(re.escape, sorted(lost)))
        pattern = re.compile(rf"(?<![\w.]){re.escape(local)}\s*\.\s*({names})\b")
        text = read_blobs(self._root, [file.oid]).get(file.oid, b"").decode("utf-8", "replace")
        for match in pattern.finditer(text):
            yield Dangling(path, text.count("\n", 0, match.start()), match.group(1), module)

    def _provided_by(self, path: str) -> set[str]:
        return (
            _provided(self._facts.of(self.after.files[path])) if path in self.after.files else set()
        )

    def _resolver(self, view: View) -> Resolver:
        def read(path: str) -> bytes | None:
            oid = view.files[path].oid
            return read_blobs(self._root, [oid]).get(oid)

        return Resolver(view.files, read)


def is_test(path: str) -> bool:
    """Does the name of a file say that it holds tests?"""
    return _TEST.search(path) is not None


def _provided(facts: BlobFacts | None) -> set[str]:
    """Names other files may take from this one: definitions, exports, and what it imports itself."""
    if facts is None:
        return set()
    names = {symbol.name for symbol in facts.symbols if symbol.parent < 0}
    names.update(facts.exports)
    names.update(local for imported in facts.imports for _, local in imported.names)
    return names


def _stems(path: str) -> set[str]:
    """What an import may call a file: its name, with and without suffix, and its folder's."""
    folder, _, name = path.rpartition("/")
    return {name, name.partition(".")[0], folder.rpartition("/")[2]} - {
        "",
        "__init__",
        "index",
        "mod",
    }


def _mentions(imported: Import, stems: set[str]) -> bool:
    words = re.split(r"[./:\\]+", imported.module)
    return (
        imported.level > 0
        or not stems.isdisjoint([*words, *(n for n, _ in imported.names)])
        or (imported.module.startswith(".") or imported.module.rpartition("/")[2] in stems)
    )


def _places(path: str, facts: BlobFacts, name: str, module: str) -> Iterator[Dangling]:
    for place in unpack_places(name, facts.postings.get(name, b"")):
        if place.use != Use.DEFINITION:
            yield Dangling(path, place.line, name, module)
