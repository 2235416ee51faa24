"""`python -m bench.planted REPOSITORY… [--count N]`: plant breakages in indexed clones and ask the gates.

Six kinds: a definition is renamed or deleted where it is defined and nowhere else, a module is moved, an
import that passes a name on is removed, an exported value is removed, a base method is renamed. What to break
is chosen by the words of the tree (a name that one definition has and other code spells), not by what the
gates would find. Reads only: an edited file is overlaid as an editor's text is.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import subprocess
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from gitindex.base.path_kind import file_kinds
from gitindex.base.vocabulary import Tier
from gitindex.base.worktree import Worktree, worktree_at
from gitindex.languages.facts import Use
from gitindex.languages.syntax.kinds import FUNCTIONS, TYPES
from gitindex.query.impact.change import TreeChange
from gitindex.query.impact.dangling import find_dangling
from gitindex.query.impact.surface import find_surface
from gitindex.query.names.finder import Finder
from gitindex.query.names.model import Definition, FileNames
from gitindex.view.tree import TreeChoice, open_tree

SEED = 23
CODE = (".py", ".ts", ".tsx", ".js", ".mjs", ".go", ".rs", ".java")
VERDICTS = ("blocked", "printed", "silent")
_REEXPORTS = {
    "python": rb"(?m)^from \.[\w.]* import (\w+)(?: as \1)?[ \t]*(?:#.*)?\n",
    "javascript": rb"(?m)^export \{ (\w+) \} from .*\n",
    "typescript": rb"(?m)^export \{ (\w+) \} from .*\n",
    "rust": rb"(?m)^pub use [\w:]+::(\w+);\n",
}
_EXPORTS = rb"(?m)^(?:module\.)?exports\.(\w+) = [^{(\n]*[^{(,=\n]\n"


class Breakage(NamedTuple):
    """One edit that breaks something."""

    kind: str
    name: str
    path: str
    line: int  # 1-based
    data: bytes  # the file afterwards; empty for a moved module

    def __str__(self) -> str:
        return f"{self.kind} {self.name} at {self.path}:{self.line}"


class Planted(NamedTuple):
    """The verdict of each breakage."""

    verdicts: list[tuple[Breakage, str]]

    def count(self, verdict: str, kind: str = "") -> int:
        """Return how many breakages of a kind had this verdict."""
        return sum(v == verdict and kind in ("", b.kind) for b, v in self.verdicts)


def plant(worktree: Worktree, count: int, seed: int = SEED) -> Planted:
    """Plant as many breakages of every kind as there are, `count` in all, one at a time."""
    verdicts: list[tuple[Breakage, str]] = []
    chosen: Counter[str] = Counter()
    with open_tree(worktree, ".", TreeChoice(at="HEAD")) as before:
        finder = Finder(before)
        by_kind: dict[str, Iterator[Breakage]] = {
            kind: _of_kind(finder, kind, random.Random(f"{seed} {kind}")) for kind in KINDS
        }
        while by_kind and len(verdicts) < count:
            kind = min(by_kind, key=lambda k: chosen[k])
            breakage = next(by_kind[kind], None)
            if breakage is None:
                del by_kind[kind]
                continue
            chosen[kind] += 1
            verdicts.append((breakage, _verdict(worktree, finder, breakage)))
    return Planted(verdicts)


def _of_kind(finder: Finder, kind: str, chosen: random.Random) -> Iterator[Breakage]:
    rows = finder.view.rows("SELECT DISTINCT path FROM {live} WHERE skip IS NULL")
    paths = sorted(os.fsdecode(path) for (path,) in rows)
    paths = [p for p in paths if p.endswith(CODE) and not file_kinds(p).test]
    paths = [p for p in paths if not file_kinds(p).example]
    chosen.shuffle(paths)
    for path in paths:
        source = finder.project.source(path)
        if source is None or not source.symbols:
            continue
        made = list(KINDS[kind](finder, source))
        yield from chosen.sample(made, min(3, len(made)))


def _renames(finder: Finder, source: FileNames) -> Iterator[Breakage]:
    for symbol in source.symbols:
        if _is_broken_without(finder, symbol):
            yield _breakage("rename", finder, symbol, _renamed_text(finder, source, symbol))


def _deletions(finder: Finder, source: FileNames) -> Iterator[Breakage]:
    for symbol in source.symbols:
        if _is_broken_without(finder, symbol) and symbol.kind in FUNCTIONS | TYPES:
            data, starts = finder.project.text(source.path), finder.project.starts(source.path)
            end = starts[symbol.end_line + 1] if symbol.end_line + 1 < len(starts) else len(data)
            alone = b"pass\n" if source.language == "python" else b""
            start = starts[symbol.start_line]
            indent = re.match(rb"[ \t]*", data[start:end])
            alone = (indent.group() if indent else b"") + alone if alone else b""
            yield _breakage("delete", finder, symbol, data[:start] + alone + data[end:])


def _base_methods(finder: Finder, source: FileNames) -> Iterator[Breakage]:
    """Rename methods whose name other classes have, too, and that are surely called."""
    for symbol in source.symbols:
        if symbol.kind not in FUNCTIONS or not finder.binder.is_member(symbol):
            continue
        twins = finder.project.definitions(symbol.name)
        if not 2 <= len(twins) <= 12 or not re.fullmatch(r"[A-Za-z]\w{3,}", symbol.name):
            continue
        classes = finder.binder.types.classes
        owner = classes.class_of(symbol)
        if owner is None or classes.ancestors(owner)[1] or _has_base(finder, owner, symbol.name):
            continue  # what a base has takes its place, or may
        same = [d for d in twins if d.path == symbol.path and d.qualified == symbol.qualified]
        if len(same) > 1 or not _is_surely_called(finder, symbol):
            continue
        yield _breakage("base", finder, symbol, _renamed_text(finder, source, symbol))


def _is_surely_called(finder: Finder, symbol: Definition) -> bool:
    """Is there a call outside of the class whose only meaning is this method?"""
    sites = finder.sites([symbol])
    return any(
        s.tier in (Tier.EXACT, Tier.IMPORT) and s.use == Use.CALL and s.targets == (symbol,)
        for s in sites
    )


def _has_base(finder: Finder, owner: Definition, name: str) -> bool:
    return bool(finder.binder.types.classes.members(owner, name, True)[0])


def _moves(finder: Finder, source: FileNames) -> Iterator[Breakage]:
    stem = os.path.basename(source.path).partition(".")[0]
    if stem in ("__init__", "index", "mod", "lib", "main") or source.language in ("go", "java"):
        return
    for path in finder.project.importing(source.path):
        other = finder.project.source(path)
        for item in other.imports if other and path != source.path else ():
            assert other is not None
            if source.path in finder.project.resolve(other, item):
                yield Breakage("module", source.path, source.path, 1, b"")
                return


def _reexports(finder: Finder, source: FileNames) -> Iterator[Breakage]:
    pattern = _REEXPORTS.get(source.language)
    if source.language == "python" and not source.path.endswith("__init__.py"):
        return
    yield from _without_lines(finder, source, pattern, "reexport")


def _exports(finder: Finder, source: FileNames) -> Iterator[Breakage]:
    if source.language == "javascript":
        yield from _without_lines(finder, source, _EXPORTS, "export")


def _without_lines(
    finder: Finder, source: FileNames, pattern: bytes | None, kind: str
) -> Iterator[Breakage]:
    data = finder.project.text(source.path)
    for match in re.finditer(pattern, data) if pattern else ():
        line = data[: match.start()].count(b"\n") + 1
        name = match.group(1).decode()
        if not name.startswith("_"):
            rest = data[: match.start()] + data[match.end() :]
            yield Breakage(kind, name, source.path, line, rest)


KINDS = {
    "rename": _renames,
    "delete": _deletions,
    "base": _base_methods,
    "module": _moves,
    "reexport": _reexports,
    "export": _exports,
}


def _is_broken_without(finder: Finder, symbol: Definition) -> bool:
    """Does other code spell a name that only this definition has?"""
    name = symbol.name
    if not re.fullmatch(r"[A-Za-z]\w{5,}", name) or symbol.kind == "constructor":
        return False
    twins = finder.project.definitions(name)
    if any(d.qualified != f"{symbol.qualified}.{name}" and d != symbol for d in twins):
        return False  # another definition may be meant
    for path, places in finder.project.places(name).items():
        for place in places:
            inside = path == symbol.path and symbol.start_line <= place.line <= symbol.end_line
            if place.use == Use.CALL and not inside:
                return path.endswith(CODE)
    return False


def _renamed_text(finder: Finder, source: FileNames, symbol: Definition) -> bytes:
    """Return the file with the definition renamed, and a class's constructors with it."""
    data, name = finder.project.text(symbol.path), symbol.name.encode()
    new = f"Renamed{symbol.name}" if symbol.name[0].isupper() else f"renamed_{symbol.name}"
    own = source.children(symbol.ordinal, symbol.name)
    for one in sorted([symbol, *own], key=lambda s: (s.line, s.column), reverse=True):
        at = finder.project.offset(one.path, one.line, one.column)
        assert data[at : at + len(name)] == name
        data = data[:at] + new.encode() + data[at + len(name) :]
    return data


def _breakage(kind: str, finder: Finder, symbol: Definition, data: bytes) -> Breakage:
    member = "method" if finder.binder.is_member(symbol) else symbol.kind
    return Breakage(kind, f"{member} {symbol.qualified}", symbol.path, symbol.line + 1, data)


def _verdict(worktree: Worktree, before: Finder, breakage: Breakage) -> str:
    if breakage.data:
        with open_tree(worktree, ".", buffers={os.fsencode(breakage.path): breakage.data}) as after:
            return _judged(before, Finder(after), breakage)
    with (
        _moved(worktree, breakage.path) as tree,
        open_tree(worktree, ".", TreeChoice(at=tree)) as after,
    ):
        return _judged(before, Finder(after), breakage)


def _judged(before: Finder, after: Finder, breakage: Breakage) -> str:
    change = TreeChange.between(before, after)
    found = find_dangling(change)
    if found.sure:
        return "blocked"
    if found.possible:
        return "printed"
    if breakage.kind in ("reexport", "export"):  # often nothing in the tree uses it
        return "printed" if any(one.incompatible for one in find_surface(change)) else "silent"
    return "silent"


@contextmanager
def _moved(worktree: Worktree, path: str) -> Iterator[str]:
    """A tree in which one file has another name; git keeps it as an object that nothing refers to."""
    folder, base = os.path.split(path)
    new = os.path.join(folder, f"renamed_{base}")
    with TemporaryDirectory() as scratch:
        env = {**os.environ, "GIT_INDEX_FILE": os.path.join(scratch, "index")}
        _git(worktree, "read-tree", "HEAD", env=env)
        [line] = _git(worktree, "ls-files", "-s", "--", path, env=env)
        mode, oid, _ = line.split(maxsplit=2)
        _git(worktree, "update-index", "--force-remove", path, env=env)
        entry = f"{mode},{oid},{new}"
        _git(worktree, "update-index", "--add", "--cacheinfo", entry, env=env)
        yield _git(worktree, "write-tree", env=env)[0]


def _git(worktree: Worktree, *args: str, env: dict[str, str] | None = None) -> list[str]:
    done = subprocess.run(
        ["git", "-C", worktree.root, *args], capture_output=True, text=True, check=True, env=env
    )
    return done.stdout.splitlines()


def main() -> int:
    """Print a line per repository and kind, every silent breakage, and the sums."""
    parser = argparse.ArgumentParser(prog="python -m bench.planted", description=__doc__)
    parser.add_argument("repositories", nargs="+", type=Path)
    parser.add_argument("--count", type=int, default=30)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--all", action="store_true", help="print what was blocked or printed, too")
    asked = parser.parse_args()
    sums: Counter[str] = Counter()
    for path in asked.repositories:
        planted = plant(worktree_at(os.path.realpath(path)), asked.count, asked.seed)
        print(f"{path.name}: {_told(planted)}")
        for kind in KINDS:
            print(f"  {kind}: {_told(planted, kind)}")
        for breakage, verdict in planted.verdicts:
            sums[verdict] += 1
            if asked.all or verdict != "blocked":
                print(f"  {verdict} {breakage}", flush=True)
    print(f"{sums.total()} planted: " + ", ".join(f"{sums[v]} {v}" for v in VERDICTS))
    return 0


def _told(planted: Planted, kind: str = "") -> str:
    return ", ".join(f"{planted.count(verdict, kind)} {verdict}" for verdict in VERDICTS)


if __name__ == "__main__":
    raise SystemExit(main())
