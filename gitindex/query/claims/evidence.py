"""What verdicts are made from: one tree, its symbols, the partition of a name, and texts."""

from __future__ import annotations

import os
import re
from functools import cached_property
from typing import Any, NamedTuple

from gitindex.base.errors import Exit, GitIndexError
from gitindex.base.escape import safe_text
from gitindex.base.vocabulary import MAX_TEXT_BYTES, Tier
from gitindex.extract.policy import is_secret, skip_content
from gitindex.extract.terms import lines_of
from gitindex.query.names.finder import Finder
from gitindex.query.names.memory import Memory
from gitindex.query.names.model import Definition
from gitindex.query.names.targets import find_target
from gitindex.query.references import MAX_LIMIT, ReferenceQuery, find_references
from gitindex.query.symbols import suggestions
from gitindex.view.footprint import Footprint
from gitindex.view.overlay import FactsMemory
from gitindex.view.tree import TreeView

CONFIRMED, REFUTED, UNVERIFIABLE = "confirmed", "refuted", "unverifiable"
SURE = frozenset({str(Tier.SEMANTIC), str(Tier.EXACT), str(Tier.IMPORT)})
"""Tiers of a call that refute `no_callers`."""
CALLS = frozenset({"call", "decorator"})
MAX_CANDIDATES = 8
"""Symbols of one name that are judged one by one."""
MAX_EVIDENCE = 5


class ClaimVerdict(NamedTuple):
    """The verdict on one claim."""

    verdict: str
    why: str
    evidence: tuple[dict[str, Any], ...] = ()
    assumes: tuple[dict[str, Any], ...] = ()
    found: bool = False  # decided by places that exist


class UnknownName(GitIndexError):
    """A claim is about a symbol that the tree does not have."""

    def __init__(self, name: str, near: list[str]) -> None:
        hint = f"did you mean {', '.join(map(safe_text, near))}?" if near else ""
        super().__init__(f"no symbol {safe_text(name)}", hint, Exit.USAGE)


class UnclearPath(UnknownName):
    """A report shortens a path to what several files of the tree end with."""

    def __init__(self, path: str, files: list[str]) -> None:
        message = f"{safe_text(path)} is {len(files)} files"
        GitIndexError.__init__(self, message, f"such as {safe_text(files[0])}", Exit.USAGE)


class ClaimTree:
    """One tree that claims are checked against. Answers about a name are kept."""

    def __init__(self, view: TreeView, facts: FactsMemory | None = None) -> None:
        self.view = view
        self._facts = facts or FactsMemory()
        self.memory = Memory(workers=self._facts.kept_workers())
        self._answers: dict[tuple[str, str], dict[str, Any]] = {}
        self._texts: dict[str, bytes | None] = {}

    def anew(self) -> ClaimTree:
        """Return the same tree with nothing read yet: the next receipt is of one claim alone."""
        self.view.footprint = Footprint()
        return ClaimTree(self.view, self._facts)

    @cached_property
    def finder(self) -> Finder:
        """The names of the tree."""
        return Finder(self.view, self.memory)

    def symbols(self, name: str) -> list[Definition]:
        """Return the symbols of NAME, CLASS.NAME, FILE#NAME, FILE::NAME or FILE:LINE.

        Raises UnknownName where there is none.
        """
        try:
            found = find_target(self.finder.binder, node_name(name)).definitions
        except GitIndexError as error:
            if error.code not in (Exit.NO, Exit.USAGE):
                raise
            found = ()
        if not found:
            raise UnknownName(name, suggestions(self.view, name))
        return list({(d.path, d.qualified, d.line): d for d in found}.values())

    def references(self, definition: Definition, below: str = "") -> dict[str, Any]:
        """Return the partition of a symbol's name; its lists may be limited to a file or folder."""
        place = f"{definition.path}:{definition.line + 1}:{definition.column + 1}"
        key = (place, below)
        if key not in self._answers:
            query = ReferenceQuery(place, "", below, MAX_LIMIT, False, True)
            self._answers[key] = dict(find_references(self.view, query, self.memory))
        return self._answers[key]

    def flags(self, path: str) -> tuple[str, set[str]]:
        """Return whether a file was parsed (its facts' status), and its ambiguity flags."""
        source = self.finder.project.source(path)
        return (source.origin.status, set(source.origin.flags)) if source else ("", set())

    def has(self, path: str) -> bool:
        """Return whether a path is a file of the tree."""
        return self.finder.project.has(path)

    def text(self, path: str) -> bytes | None:
        """Return the bytes of a file; None if it is secret, binary, too large or not in the tree."""
        if path not in self._texts:
            self.view.footprint.paths.add(path)
            raw = os.fsencode(path)
            data = None if is_secret(raw) else self.view.read([raw]).get(raw)
            usable = data is not None and len(data) <= MAX_TEXT_BYTES and not skip_content(data)
            self._texts[path] = data if usable else None
        return self._texts[path]

    def lines(self, path: str) -> list[str] | None:
        """Return the lines of a file, or None as `text` does."""
        data = self.text(path)
        return None if data is None else lines_of(data)

    def missing(self, path: str) -> ClaimVerdict | None:
        """Return the verdict on a claim about a file that cannot be read; None if it can."""
        shown = safe_text(path)
        if not self.has(path):
            on_disk = self.view.overlay.source == "worktree" and os.path.lexists(
                os.path.join(self.view.worktree.root, path)
            )
            if on_disk:
                return ClaimVerdict(UNVERIFIABLE, f"{shown} is on disk, but not part of the tree")
            return ClaimVerdict(REFUTED, f"{shown} is not in the tree")
        if self.text(path) is None:
            return ClaimVerdict(UNVERIFIABLE, f"the text of {shown} cannot be read")
        return None


def node_name(name: str) -> str:
    """Return the name of a symbol as the index writes it; `FILE::CLASS::NAME` is pytest's form."""
    path, mark, rest = name.partition("::")
    if mark and rest and ("/" in path or re.search(r"\.\w{1,5}$", path)):
        return f"{path}#{rest.replace('::', '.')}"
    return name


def rows_of(rows: list[dict[str, Any]]) -> tuple[dict[str, Any], ...]:
    """Return some places of an answer as evidence."""
    kept = ("path", "pathBytes", "line", "column", "text", "tier", "use", "why", "enclosing", "via")
    return tuple({k: row[k] for k in kept if k in row} for row in rows[:MAX_EVIDENCE])


def definition_row(definition: Definition) -> dict[str, Any]:
    """Return a definition as evidence."""
    return {
        "path": safe_text(definition.path),
        "line": definition.line + 1,
        "column": definition.column + 1,
        "text": definition.signature or definition.qualified,
        "use": "definition",
    }


def combined(name: str, found: list[tuple[Definition, ClaimVerdict]]) -> ClaimVerdict:
    """Return the verdict on a name that several symbols have: theirs if they agree."""
    verdicts = {one.verdict for _, one in found}
    if len(verdicts) == 1:
        return found[0][1]
    named = tuple(definition_row(definition) for definition, _ in found)
    some = ", ".join(f"{safe_text(d.path)}#{d.qualified}" for d, _ in found[:3])
    why = f"{safe_text(name)} is {len(found)} symbols: name one, such as {some}"
    return ClaimVerdict(UNVERIFIABLE, why, named[:MAX_EVIDENCE])
