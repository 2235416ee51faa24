"""Compare two trees: the paths and symbols that differ in code, not only in comments and docstrings."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from difflib import SequenceMatcher
from enum import StrEnum
from functools import cached_property
from typing import NamedTuple

from gitindex.base.errors import Exit, GitIndexError
from gitindex.base.path_kind import file_kinds
from gitindex.base.vocabulary import FactsStatus, SkipReason
from gitindex.base.worktree import Worktree
from gitindex.git.command import is_shallow, missing_commit_hint, try_git
from gitindex.languages.table import TEXT
from gitindex.query.names.finder import Finder
from gitindex.query.names.memory import Memory
from gitindex.query.names.model import Definition, FileNames
from gitindex.query.names.project import LISTED, Project, rows_of
from gitindex.view.overlay import FactsMemory
from gitindex.view.tree import NOW, TreeChoice, TreeView, open_tree

NO_CODE = frozenset({TEXT, "json", "yaml", "toml", "markdown", "html", "css", "rst", "xml"})
"""Languages whose names nobody refers to as code."""
MAX_COMPARED = 4_000_000
"""Pairs of lines that are compared: the cost is quadratic. Beyond, all lines between equal ends differ."""
_MARK = re.compile(rb"#|//|/\*|\*|--|\"|'|<!--|;|%|\{-|\(\*")
"""What may start a comment or a docstring, or a line inside of one."""
_DOCSTRING = re.compile(rb"""[rRuU]?(\"\"\"|'''|"|')""")
_GOES_ON = (b",", b")", b"]", b"}", b".", b"%", b"+")
_DIRECTIVES = (b"//go:", b"// +build", b"#!", b"# -*-")
"""Comments that change what is built."""


class TreePair(NamedTuple):
    """The two trees to compare: commits, the index, or the files on disk (an empty name)."""

    before: TreeChoice
    after: TreeChoice


def parse_range(text: str, staged: bool) -> TreePair:
    """Parse `A..B`, `A` (to the files on disk), or nothing (HEAD to the files on disk)."""
    if staged:
        if text:
            raise GitIndexError("give a range or --staged, not both", code=Exit.USAGE)
        return TreePair(TreeChoice(at="HEAD"), TreeChoice(staged=True))
    old, dots, new = text.partition("..")
    if new.startswith("."):
        raise GitIndexError(
            "three dots are not understood", "`$(git merge-base A B)..B`, or A..B", Exit.USAGE
        )
    if dots and not (old and new):
        raise GitIndexError("give both ends of a range: A..B", code=Exit.USAGE)
    after = TreeChoice(at=new) if dots else NOW
    return TreePair(TreeChoice(at=old or "HEAD"), after)


class Difference(StrEnum):
    """How a symbol differs."""

    ADDED = "added"
    REMOVED = "removed"
    INTERFACE = "interface"  # its signature
    BODY = "body"


class ChangedSymbol(NamedTuple):
    """A symbol that differs, from the new tree, or from the old one if it was removed."""

    definition: Definition
    difference: Difference


class TreeChange:
    """The difference between two trees."""

    def __init__(self, before: TreeView, after: TreeView, facts: FactsMemory | None = None) -> None:
        memory = Memory(workers=facts.kept_workers() if facts else None)
        self.before, self.after = Finder(before, memory), Finder(after, memory)

    @classmethod
    def between(cls, before: Finder, after: Finder) -> TreeChange:
        """Return the difference between two trees whose finders are shared with other queries."""
        change = cls.__new__(cls)
        change.before, change.after = before, after
        return change

    @classmethod
    def of_bodies(cls, finder: Finder, definitions: Collection[Definition]) -> TreeChange:
        """Return the change that would be, if these definitions of a tree got other bodies."""
        change = cls.between(finder, finder)
        paths = {definition.path: "modified" for definition in definitions}
        symbols = [ChangedSymbol(definition, Difference.BODY) for definition in definitions]
        vars(change).update(paths=paths, felt=paths, symbols=symbols)
        return change

    @cached_property
    def paths(self) -> dict[str, str]:
        """Paths that differ and may have facts, as `added`, `deleted` or `modified`."""
        old, new = (self._ids(finder.view) for finder in (self.before, self.after))
        found = {}
        for path in sorted(old.keys() | new.keys(), key=os.fsencode):
            if old.get(path) != new.get(path):
                found[path] = (
                    "added" if path not in old else "deleted" if path not in new else "modified"
                )
        return found

    @cached_property
    def felt(self) -> dict[str, str]:
        """The paths that differ in code: not only in comments, docstrings or blank lines."""
        return {p: how for p, how in self.paths.items() if how != "modified" or self._differs(p)}

    def _differs(self, path: str) -> bool:
        source = self.after.project.source(path)
        if source is None or source.origin.status != FactsStatus.PARSED:
            return True
        old, new = map(_code_lines, self._code(path))
        return old != new

    @cached_property
    def symbols(self) -> list[ChangedSymbol]:
        """Symbols that differ, ordered by path and line."""
        for finder in (self.before, self.after):
            finder.project.load(self.paths)
            finder.project.read(self.paths)
        return [found for path in self.paths for found in self._symbols(path)]

    @cached_property
    def unread(self) -> dict[str, str]:
        """Changed files of the new tree that could not be examined, and why."""
        found = {
            os.fsdecode(raw): "is too large"
            for raw, file in self.after.view.changed().items()
            if file is not None and file.skip is SkipReason.OVERSIZE
        }
        for finder in (self.before, self.after):
            finder.project.load(self.paths)
        for path in self.paths:
            why = _why_unread(self.before.project.source(path), self.after.project.source(path))
            if why:
                found[path] = why
        return found

    def _ids(self, view: TreeView) -> dict[str, bytes]:
        """Return the blob ids in one tree of the paths that may differ."""
        candidates = list({*self.before.view.changed(), *self.after.view.changed()})
        rows = rows_of(view, f"SELECT l.path, l.oid FROM {LISTED} WHERE l.skip IS NULL", candidates)
        return {os.fsdecode(path): oid for path, oid in rows}

    def _symbols(self, path: str) -> Iterator[ChangedSymbol]:
        old, new = (
            _own_texts(text, finder.project.source(path))
            for text, finder in zip(self._code(path), (self.before, self.after), strict=True)
        )
        for name, (definition, text) in new.items():
            if name not in old:
                yield ChangedSymbol(definition, Difference.ADDED)
            elif old[name][0].signature != definition.signature:
                yield ChangedSymbol(definition, Difference.INTERFACE)
            elif old[name][1] != text:
                yield ChangedSymbol(definition, Difference.BODY)
        for name, (definition, _) in old.items():
            if name not in new:
                yield ChangedSymbol(definition, Difference.REMOVED)

    def _code(self, path: str) -> tuple[bytes, bytes]:
        """Return both versions of a file, with spaces for comments and docstrings of differing lines."""
        projects = self.before.project, self.after.project
        texts = projects[0].text(path), projects[1].text(path)
        changed: tuple[set[int], set[int]] = set(), set()
        for first, last, start, end in hunks(*(text.split(b"\n") for text in texts)):
            changed[0].update(range(first, last))
            changed[1].update(range(start, end))
        old, new = map(_without_comments, projects, (path, path), changed)
        return old, new


def hunks(old: list[bytes], new: list[bytes]) -> Iterator[tuple[int, int, int, int]]:
    """Yield where the lines of two texts differ: first and end in the old one, then in the new one."""
    start = _equal_start(old, new)
    end = _equal_start(old[start:][::-1], new[start:][::-1])
    mine, theirs = old[start : len(old) - end], new[start : len(new) - end]
    if len(mine) * len(theirs) > MAX_COMPARED:
        yield start, len(old) - end, start, len(new) - end
        return
    for kind, *edges in SequenceMatcher(None, mine, theirs, False).get_opcodes():
        if kind != "equal":
            first, last, begin, stop = (edge + start for edge in edges)
            yield first, last, begin, stop


def _equal_start(old: list[bytes], new: list[bytes]) -> int:
    pairs = enumerate(zip(old, new, strict=False))
    return next((at for at, (one, other) in pairs if one != other), min(len(old), len(new)))


def counterparts(project: Project, definition: Definition) -> list[Definition]:
    """Return the symbols of another tree that have the place and the qualified name of this one."""
    source = project.source(definition.path)
    same = source.named(definition.name) if source else ()
    return [symbol for symbol in same if symbol.qualified == definition.qualified]


def branch_range(worktree: Worktree, tip: str = "HEAD") -> str:
    """Return what a branch changes: from its merge base with the default branch to its last commit.

    On the default branch itself: the last commit. Empty if there is no commit before it.
    """
    branch = default_branch(worktree)
    base = _output(worktree, "merge-base", branch, tip) if branch else ""
    lacks_base = bool(branch) and not base
    if not base or base == _output(worktree, "rev-parse", f"{tip}^{{commit}}"):
        base = _output(worktree, "rev-parse", "-q", "--verify", f"{tip}^")
    if lacks_base or (not base and is_shallow(worktree.root)):
        raise GitIndexError(
            f"the history of this clone does not reach {branch or 'another commit'}",
            missing_commit_hint(worktree.root, "name two commits: A..B"),
        )
    return f"{base}..{tip}" if base else ""


def default_branch(worktree: Worktree) -> str:
    """Return the branch that changes are merged into, as CI or the remote names it; else empty."""
    named = [os.environ.get(name, "") for name in _TARGETS]
    heads = _output(worktree, "symbolic-ref", "-q", "--short", "refs/remotes/origin/HEAD")
    common = ("origin/main", "origin/master", "main", "master")
    for name in (*(f"origin/{one}" for one in named if one), *filter(None, named), heads, *common):
        if name and _output(worktree, "rev-parse", "-q", "--verify", f"{name}^{{commit}}"):
            return name
    return ""


def _output(worktree: Worktree, *args: str) -> str:
    return os.fsdecode(try_git(worktree.root, *args).output.strip())


_TARGETS = ("GITHUB_BASE_REF", "CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "CHANGE_TARGET")
"""Variables in which GitHub, GitLab and Jenkins name the branch that a change is for."""


@contextmanager
def comparing(worktree: Worktree, path: str, between: TreePair) -> Iterator[TreeChange]:
    """Open the two trees of a comparison."""
    before = between.before
    if (
        before.at == "HEAD"
        and not try_git(worktree.root, "rev-parse", "-q", "--verify", "HEAD").output
    ):
        before = before._replace(at=_EMPTY_TREE)  # before the first commit
    facts = FactsMemory()  # one child parses for both trees
    with (
        open_tree(worktree, path, before, facts) as old,
        open_tree(worktree, path, between.after, facts) as new,
    ):
        yield TreeChange(old, new, facts)


def _why_unread(old: FileNames | None, new: FileNames | None) -> str:
    """Return why a file is not examined; empty if it is, with doubt where it never parsed as a whole."""
    status = new.origin.status if new else FactsStatus.PARSED
    if new is None or status == FactsStatus.PARSED:
        return ""
    if status == FactsStatus.LEXICAL:
        return "is of a language without a grammar" if _may_be_code(new.path) else ""
    if status == FactsStatus.SKIPPED:  # binary, minified, or kept elsewhere
        return "" if new.language in NO_CODE else "has content that is not indexed"
    if status == FactsStatus.PARTIAL and old and old.origin.status == FactsStatus.PARTIAL:
        return ""
    return "does not parse"


def _may_be_code(path: str) -> bool:
    kinds = file_kinds(path)
    other = (kinds.docs, kinds.data, kinds.hidden, kinds.foreign, kinds.news)
    return not any(other) and "." in os.path.basename(path)


_EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def _own_texts(
    text: bytes, source: FileNames | None
) -> dict[tuple[str, str, int], tuple[Definition, str]]:
    """Return each symbol's own text, without nested symbols and blanks; indentation counts in Python."""
    if source is None:
        return {}
    lines = text.decode("utf-8", "replace").split("\n")
    indented = source.language == "python"
    inner: dict[int, list[Definition]] = {}
    for symbol in source.symbols:
        inner.setdefault(symbol.parent, []).append(symbol)
    found: dict[tuple[str, str, int], tuple[Definition, str]] = {}
    seen: Counter[tuple[str, str]] = Counter()
    for symbol in source.symbols:
        own = lines[symbol.start_line : symbol.end_line + 1]
        for child in inner.get(symbol.ordinal, ()):
            first = child.start_line - symbol.start_line
            last = child.end_line - symbol.start_line
            own[first : last + 1] = [""] * (last - first + 1)
        name = (symbol.qualified, symbol.kind)
        kept = [line for line in own if line.strip()]
        if indented:
            flat = "\n".join(_indent(line) + " ".join(line.split()) for line in kept)
        else:
            flat = " ".join(" ".join(kept).split())
        found[*name, seen[name]] = symbol, flat
        seen[name] += 1
    return found


def _code_lines(text: bytes) -> list[bytes]:
    return [line.rstrip() for line in text.split(b"\n") if line.strip()]


def _without_comments(project: Project, path: str, lines: set[int]) -> bytes:
    text = project.text(path)
    marks = _marks(text, project.starts(path), lines)
    kinds = project.kinds({path: marks}).get(path, []) if marks else []
    python = path.endswith((".py", ".pyi"))
    blanked = bytearray(text)
    for kind, start, end in kinds:
        is_comment = kind == "comment" and not text.startswith(_DIRECTIVES, start)
        if is_comment or (kind == "string" and python and _is_docstring(text, start, end)):
            blanked[start:end] = re.sub(rb"[^\n]", b" ", text[start:end])
    return bytes(blanked)


def _marks(text: bytes, starts: list[int], lines: set[int]) -> list[int]:
    """Return the offsets in some lines where a comment or docstring may be."""
    found = []
    for number in sorted(lines):
        end = starts[number + 1] if number + 1 < len(starts) else len(text)
        line = text[starts[number] : end]
        marks = {len(line) - len(line.lstrip()), *(m.start() for m in _MARK.finditer(line))}
        found += [starts[number] + at for at in sorted(marks) if at < len(line)]
    return found


def _is_docstring(text: bytes, start: int, end: int) -> bool:
    """Return whether a string is the first statement of a function, a class or a module."""
    if not _DOCSTRING.match(text, start):
        return False
    head = re.sub(rb"(?m)#.*$", b"", text[max(0, start - 2_000) : start]).rstrip()
    rest = text[end : end + 200].lstrip()
    return (not head or head.endswith(b":")) and not rest.startswith(_GOES_ON)
