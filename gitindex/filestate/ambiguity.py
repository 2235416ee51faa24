"""Open questions about a file or one of its names, each with a stable signature."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from typing import NamedTuple

from gitindex.base.errors import Exit, GitIndexError
from gitindex.base.escape import safe_text
from gitindex.filestate.symbol_flags import FlagQuestion, flags_of_symbol
from gitindex.filestate.world import World
from gitindex.languages.implicit_calls import called_without_name, is_constructor

REPEATED = frozenset({"multiple_definitions", "overload_set"})
"""Flags that concern some names of a file; all other flags concern the whole file."""


class EditTarget(NamedTuple):
    """The target of an edit: a file, a definition in it, or the definition around a line."""

    path: str
    symbol: str = ""
    line: int = 0  # 1-based; 0: none


class Interpretation(NamedTuple):
    """One possible answer to a question. Lines are 1-based."""

    id: str  # stable while the definition keeps its name, kind and signature
    path: str
    name: str
    qualified: str
    kind: str
    line: int
    end_line: int
    signature: str


class Ambiguity(NamedTuple):
    """An open question with all its possible answers."""

    target: EditTarget
    flags: tuple[str, ...]
    definitions: tuple[Interpretation, ...]  # the definitions that the target may mean

    @property
    def signature(self) -> str:
        """Return a hash of the question; it does not change when lines move."""
        text = json.dumps(
            [
                self.target.path,
                self.target.symbol,
                self.flags,
                [(d.id, d.kind, d.signature) for d in self.definitions],
            ]
        )
        return hashlib.sha256(text.encode()).hexdigest()[:32]

    @property
    def choices(self) -> list[str]:
        """Return everything a decision may select: definitions, and flags to accept as they are."""
        return [d.id for d in self.definitions] + [f"flag:{name}" for name in self._bare_flags()]

    def is_answered_by(self, selected: list[str]) -> bool:
        """Does a selection answer the question? It needs all flags and at least one definition."""
        chosen = set(selected)
        meant = chosen & {d.id for d in self.definitions}
        rest = chosen - meant
        all_flags = rest == {f"flag:{name}" for name in self._bare_flags()}
        return all_flags and bool(meant) == bool(self.definitions) and len(chosen) == len(selected)

    def _bare_flags(self) -> list[str]:
        """Return the flags that no definition represents."""
        return [f for f in self.flags if not (self.definitions and f in REPEATED)]


def parse_target(text: str, is_path: Callable[[str], bool]) -> EditTarget:
    """Parse `FILE`, `FILE:LINE` or `FILE:SYMBOL`; an existing path is taken whole."""
    path, colon, place = text.rpartition(":")
    if not colon or not path or not place or "/" in place or is_path(text):
        return EditTarget(text)
    if place.isascii() and place.isdecimal() and len(place) < 10:
        return EditTarget(path, line=int(place))
    return EditTarget(path, place)


def definitions(world: World, path: str) -> list[Interpretation]:
    """Return all definitions of a file as it is on disk, in its order."""
    facts = world.facts(path)
    seen: dict[str, int] = {}
    found = []
    for symbol in facts.symbols if facts else ():
        number = seen[symbol.qualified] = seen.get(symbol.qualified, 0) + 1
        unique = f"{safe_text(path)}#{symbol.qualified}" + (f"~{number}" if number > 1 else "")
        lines = (symbol.start_line + 1, symbol.end_line + 1)
        shown = (symbol.name, symbol.qualified, symbol.kind)
        found.append(Interpretation(unique, path, *shown, *lines, symbol.signature))
    return found


def meant(target: EditTarget, found: list[Interpretation]) -> list[Interpretation]:
    """Return the definitions that a target names; none for a whole file."""
    if target.symbol:
        return [d for d in found if target.symbol in (d.name, d.qualified)]
    around = [d for d in found if d.line <= target.line <= d.end_line]
    return sorted(around, key=lambda d: (-d.line, d.end_line))[:1]


def find_ambiguity(world: World, target: EditTarget) -> Ambiguity | None:
    """Return the open question about a target in a file with facts; None if there is none."""
    found = definitions(world, target.path)
    named = meant(target, found)
    flags = world.flags(target.path)
    if target.symbol or target.line:
        if not named and target.symbol:
            raise GitIndexError(
                f"no `{safe_text(target.symbol)}` in {safe_text(target.path)}",
                "see `gitindex outline`",
                Exit.NO,
            )
        several = len(named) > 1
        if not several and named and flags:
            flags = _of_definition(world, named[0], flags)
        flags = tuple(flag for flag in flags if several or flag not in REPEATED)
        if named and _calls_are_unseen(world, named[0]):
            flags = tuple(dict.fromkeys((*flags, "unresolved_receiver")))
        open_ones = tuple(named) if several else ()
    else:
        twice = {d.qualified for d in found if "~" in d.id}
        repeated = not REPEATED.isdisjoint(flags)
        open_ones = tuple(d for d in found if repeated and d.qualified in twice)
    if not flags and not open_ones:
        return None
    return Ambiguity(target, flags, open_ones)


def _calls_are_unseen(world: World, meant: Interpretation) -> bool:
    """Is it called through operators or statements, on objects whose types are not resolved?"""
    facts = world.facts(meant.path)
    language = facts.language if facts else ""
    return called_without_name(language, meant.name) and not is_constructor(meant.name)


def _of_definition(world: World, meant: Interpretation, flags: tuple[str, ...]) -> tuple[str, ...]:
    """Return the flags of a file that concern one of its definitions."""
    facts, data = world.facts(meant.path), world.read(meant.path)
    symbols = facts.symbols if facts else ()
    lines = (meant.line - 1, meant.end_line - 1)
    same = [s for s in symbols if (s.start_line, s.end_line) == lines and s.name == meant.name]
    if facts is None or data is None or not same:
        return flags
    found = flags_of_symbol(FlagQuestion(facts.language, data, facts, same[0]))
    return tuple(flag for flag in flags if flag in found.open)
