"""References that a change leaves behind: to names it removes, and to modules it deletes or moves."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from gitindex.languages.facts import Import, Use
from gitindex.query.impact.change import TreeChange
from gitindex.query.names.meanings import STRICT
from gitindex.query.names.source import FileNames


class Dangling(NamedTuple):
    """A reference in the new tree to something the change removes."""

    path: str
    line: int  # 0-based
    name: str
    missing_from: str


def find_dangling(change: TreeChange) -> list[Dangling]:
    """Every reference left behind, in order of path and line."""
    lost = _lost_names(change)
    gone = {path for path, what in change.paths.items() if what == "deleted"}
    after = change.after.project
    importers = {p for path in (*lost, *gone) for p in after.importing(path)}
    after.load(importers)
    found: set[Dangling] = set()
    for path in importers:
        source = after.source(path)
        for imported in source.imports if source else ():
            assert source is not None
            was = set(change.before.project.resolve(source, imported))
            now = after.resolve(source, imported)
            found.update(_lost_modules(change, source, imported, was & gone, now))
            for module in (was | set(now)) & lost.keys():
                found.update(_lost_uses(change, source, imported, module, lost[module]))
    return sorted(found)


def _lost_names(change: TreeChange) -> dict[str, set[str]]:
    lost = {}
    for path, what in change.paths.items():
        if what == "modified":
            names = _provided(change.before.project.source(path))
            names -= _provided(change.after.project.source(path))
            if names:
                lost[path] = names
    return lost


def _provided(source: FileNames | None) -> set[str]:
    """Names other files may take from this one: definitions, and what it imports itself."""
    if source is None:
        return set()
    names = {symbol.name for symbol in source.symbols if symbol.parent < 0}
    return names | {local for imported in source.imports for _, local in imported.names}


def _lost_modules(
    change: TreeChange, source: FileNames, imported: Import, gone: set[str], now: tuple[str, ...]
) -> Iterator[Dangling]:
    still = {name for module in now for name in _provided(change.after.project.source(module))}
    for module in sorted(gone):
        bound = [name for name, _ in imported.names if name in _stems(module)]
        if not now or (bound and not still.issuperset(bound)):
            name = imported.module or ", ".join(bound)
            yield Dangling(source.path, imported.line, name, module)


def _lost_uses(
    change: TreeChange, source: FileNames, imported: Import, module: str, lost: set[str]
) -> Iterator[Dangling]:
    if source.language not in STRICT:
        for name in lost:
            if not change.after.project.definitions(name):
                yield from _places(change, source, name, module)
        return
    for name, local in imported.names:
        if name in lost:
            yield Dangling(source.path, imported.line, name, module)
        elif (name, local) == ("*", "*"):
            for star in lost - {s.name for s in source.symbols}:
                yield from _places(change, source, star, module)
        else:
            yield from _member_uses(change, source, local, lost, module)


def _member_uses(
    change: TreeChange, source: FileNames, local: str, lost: set[str], module: str
) -> Iterator[Dangling]:
    """`module.name` in the text, where `module` is what an import bound."""
    names = "|".join(map(re.escape, sorted(lost)))
    pattern = re.compile(rf"(?<![\w.]){re.escape(local)}\s*\.\s*({names})\b")
    text = change.after.project.text(source.path).decode("utf-8", "replace")
    for match in pattern.finditer(text):
        line = text.count("\n", 0, match.start())
        yield Dangling(source.path, line, match.group(1), module)


def _places(change: TreeChange, source: FileNames, name: str, module: str) -> Iterator[Dangling]:
    for place in change.after.project.places(name, [source.path]).get(source.path, ()):
        if place.use != Use.DEFINITION:
            yield Dangling(source.path, place.line, name, module)


def _stems(path: str) -> set[str]:
    """What an import may call a file: its name, with and without suffix, and its folder's."""
    folder, _, name = path.rpartition("/")
    stems = {name, name.partition(".")[0], folder.rpartition("/")[2]}
    return stems - {"", "__init__", "index", "mod"}
