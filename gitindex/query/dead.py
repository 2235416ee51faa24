"""Find definitions that nobody uses, alone or in groups that only use each other, and write their removal.

A definition is reported only where every occurrence of its name is accounted for, none is possible
or unlikely, nothing calls it without its name, and all references are inside of other such ones.
"""

from __future__ import annotations

import ast
import difflib
import io
import os
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from gitindex.base.path_kind import file_kinds
from gitindex.base.vocabulary import Assumption, FactsStatus
from gitindex.languages.syntax.kinds import FUNCTIONS, TYPES
from gitindex.query.absence import Partition, partition
from gitindex.query.impact.standing import makes_names
from gitindex.query.names.finder import Finder
from gitindex.query.names.model import Definition, FileNames
from gitindex.query.names.project import Project
from gitindex.view.tree import BLOBS_NAMED, TreeView

MAX_FILES = 4
"""Files that may mention a name: one that more do is taken for used."""
MAX_EXAMINED = 4_000
"""Definitions to examine: each costs a partition of its name."""
_KINDS = FUNCTIONS | TYPES
_ENTRIES = frozenset({"main", "setup", "teardown", "conftest", "init", "Main"})
"""Names that a runner or a linker looks for."""
_BLOCKING = frozenset({Assumption.FRAMEWORK, Assumption.OUTSIDE})
_DYNAMIC = frozenset({"dynamic_attribute", "generated_member", "eval_exec", "macro_or_generated"})
_LANGUAGES = frozenset({"python", "javascript", "typescript", "tsx", "go", "rust", "java"})
_NAMED = (
    f"SELECT n.text, count(*) FROM {BLOBS_NAMED} CROSS JOIN {{live}} l ON l.blob_id=u.value"
    " GROUP BY n.text HAVING count(*)<=?"
)
_SYMBOLS = (
    "SELECT l.path, n.text FROM {symbols} s JOIN {names} n ON n.id=s.name_id"
    " JOIN {live} l ON l.blob_id=s.blob_id JOIN {blobs} b ON b.id=l.blob_id"
    " WHERE b.status='parsed'"
)
_NO_END = "\\ No newline at end of file\n"

Span = tuple[int, int]


class Dead(NamedTuple):
    """A definition that nobody uses; `group` numbers those that only use each other, from 1."""

    definition: Definition
    proof: Partition
    group: int  # 0: alone


class DeadQuery(NamedTuple):
    """The file or folder to examine, and whether names that others may import count as used."""

    below: str = ""
    public: bool = False  # report exported definitions, too
    strict: bool = False  # a broken assumption is a doubt


class DeadFindings(NamedTuple):
    """What was found, and how much was examined."""

    found: list[Dead]
    examined: int
    truncated: bool


def find_dead(view: TreeView, query: DeadQuery, finder: Finder) -> DeadFindings:
    """Return the definitions that nobody uses, by path and line."""
    view.ensure_facts()
    candidates = [d for d in _candidates(view, query, finder) if _may_be_dead(finder, d, query)]
    examined = candidates[:MAX_EXAMINED]
    proofs: dict[Definition, Partition] = {}
    for definition in examined:
        proof = partition(finder, [definition])
        if _is_proof(proof, query.strict):
            proofs[definition] = proof
    dead = _unreached(proofs)
    outer = [d for d in dead if not any(_is_inside(d, other) for other in dead)]
    groups = _groups({d: proofs[d] for d in dead})
    rows = [Dead(d, proofs[d], groups[d]) for d in sorted(outer, key=_order)]
    return DeadFindings(rows, len(examined), len(candidates) > len(examined))


def _candidates(view: TreeView, query: DeadQuery, finder: Finder) -> list[Definition]:
    """Return definitions whose names few files mention, outside of tests."""
    rare: Counter[str] = Counter()
    for name, count in view.rows(_NAMED, MAX_FILES):
        rare[name] += count
    paths: dict[str, set[str]] = {}
    for raw, name in view.rows(_SYMBOLS):
        path = os.fsdecode(raw)
        if (
            0 < rare[name] <= MAX_FILES
            and _is_below(path, query.below)
            and not _is_run_unnamed(path)
        ):
            paths.setdefault(path, set()).add(name)
    finder.project.load(paths)
    sources = filter(None, map(finder.project.source, sorted(paths)))
    return [d for s in sources for d in s.symbols if d.name in paths[s.path] and d.kind in _KINDS]


def _is_run_unnamed(path: str) -> bool:
    """Return whether runners find the definitions of a file by convention, or readers copy them."""
    kinds = file_kinds(path)
    return kinds.test or kinds.benchmark or kinds.example or kinds.docs


def _may_be_dead(finder: Finder, definition: Definition, query: DeadQuery) -> bool:
    """Return whether no rule makes a definition an entry point."""
    source = finder.project.source(definition.path)
    if source is None or source.language not in _LANGUAGES or _is_entry(definition, query):
        return False
    owner = source.symbol(definition.parent)
    if owner is not None and owner.kind in FUNCTIONS:
        return False  # a local function: a linter's work
    if _may_be_found_by_base(finder, definition, owner):
        return False
    # as `globals()[name]` may use any of them
    return owner is not None or not makes_names(finder.project, source)


def _is_entry(definition: Definition, query: DeadQuery) -> bool:
    """Return whether its name makes a definition one that others call."""
    if definition.exported and not query.public:
        return True
    special = definition.name.startswith("__") and definition.name.endswith("__")
    return special or definition.name in _ENTRIES or definition.name.startswith("test")


def _may_be_found_by_base(finder: Finder, definition: Definition, owner: Definition | None) -> bool:
    """Return whether a class registers those below it, or reaches members by computed names."""
    home = owner or definition
    above = finder.binder.types.classes.ancestors(home)[0] if home.kind in TYPES else [home]
    sources = [finder.project.source(one.path) for one in above]
    if owner is not None:
        return any(s is None or not _DYNAMIC.isdisjoint(s.origin.flags) for s in sources)
    pairs = zip(sources, above, strict=True)
    return any("metaclass" in one.signature or _registers(source, one) for source, one in pairs)


def _registers(source: FileNames | None, owner: Definition) -> bool:
    return source is None or bool(source.children(owner.ordinal, "__init_subclass__"))


def _is_proof(proof: Partition, strict: bool) -> bool:
    """Return whether the references are all uses, and nothing uses it without its name."""
    if not proof.complete or proof.reasons:
        return False
    assumed = {one.assumption for one in proof.assumes}
    return not assumed if strict else _BLOCKING.isdisjoint(assumed)


def _unreached(proofs: dict[Definition, Partition]) -> set[Definition]:
    """Return the definitions whose references are all inside of such definitions."""
    left = set(proofs)
    while True:
        used = {
            d
            for d in left
            if any(_around(site.path, site.line, left) is None for site in proofs[d].references)
        }
        if not used:
            return left
        left -= used


def _around(path: str, line: int, dead: set[Definition]) -> Definition | None:
    """Return a dead definition that a place is in."""
    inside = (d for d in dead if d.path == path and d.start_line <= line <= d.end_line)
    return min(inside, key=lambda d: d.end_line - d.start_line, default=None)


def _groups(proofs: dict[Definition, Partition]) -> dict[Definition, int]:
    """Return a number for each group of definitions that use each other; 0 for those alone."""
    users = {
        d: {_around(site.path, site.line, set(proofs)) for site in proof.references} - {d, None}
        for d, proof in proofs.items()
    }
    numbers: dict[Definition, int] = dict.fromkeys(proofs, 0)
    count = 0
    for definition in sorted(proofs, key=_order):
        linked = users[definition]
        if not linked:
            continue
        known = {numbers[one] for one in (*linked, definition) if one is not None} - {0}
        number = min(known) if known else (count := count + 1)
        for one in (definition, *filter(None, linked)):
            numbers[one] = number
        for one, had in numbers.items():
            if had in known:
                numbers[one] = number
    return numbers


def _is_inside(one: Definition, other: Definition) -> bool:
    same = one.path == other.path and one is not other
    return same and other.start_line <= one.start_line and one.end_line <= other.end_line


def _is_below(path: str, below: str) -> bool:
    return not below or path == below or path.startswith(f"{below}/")


def _order(definition: Definition) -> tuple[bytes, int]:
    return os.fsencode(definition.path), definition.line


class RemovalPatch:
    """The diff that removes definitions, and those that it leaves: their files would not parse."""

    def __init__(self, project: Project, definitions: Iterable[Definition]) -> None:
        self._project = project
        self.left: list[Definition] = []
        by_path: dict[str, list[Definition]] = {}
        for definition in definitions:
            by_path.setdefault(definition.path, []).append(definition)
        self.text = "".join(self._file(path, found) for path, found in by_path.items())

    def _file(self, path: str, found: list[Definition]) -> str:
        """Return the diff of one file; definitions go one by one, and stay where that breaks it."""
        data = self._project.text(path)
        source = self._project.source(path)
        if source is None or b"\r" in data or not _is_plain(path):
            self.left += found
            return ""
        try:
            lines = list(io.StringIO(data.decode()))
        except UnicodeDecodeError:
            self.left += found
            return ""
        spans: list[Span] = []
        for definition in found:
            wider = [*spans, _span(lines, definition)]
            if self._parses("".join(_without(lines, wider)), source.language):
                spans = wider
            else:
                self.left.append(definition)
        new = _without(lines, spans)
        diff = difflib.unified_diff(lines, new, f"a/{path}", f"b/{path}")
        return "".join(line if line.endswith("\n") else f"{line}\n{_NO_END}" for line in diff)

    def _parses(self, text: str, language: str) -> bool:
        facts = self._project.view.parse(text.encode(), language)
        if facts is None or facts.status != FactsStatus.PARSED or "parse_error" in facts.flags:
            return False
        return language != "python" or _compiles(text)


def _is_plain(path: str) -> bool:
    raw = os.fsencode(path)
    return raw.isascii() and path.isprintable() and '"' not in path and "\\" not in path


def _span(lines: list[str], definition: Definition) -> Span:
    """Return the lines of a definition, with the blank lines that follow it."""
    first, last = definition.start_line, definition.end_line + 1
    while last < len(lines) and not lines[last].strip():
        last += 1
    if last == len(lines):  # the blank lines before the last definition go instead
        while first > 0 and not lines[first - 1].strip():
            first -= 1
    return first, last


def _without(lines: list[str], spans: list[Span]) -> list[str]:
    gone = {at for first, last in spans for at in range(first, last)}
    return [line for at, line in enumerate(lines) if at not in gone]


def _compiles(text: str) -> bool:
    """Return whether Python reads a text: no block of it became empty."""
    try:
        ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return False
    return True
