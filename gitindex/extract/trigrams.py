"""What a text must contain for a pattern to match a line of it. Pure; may ask for less, never for more."""

from __future__ import annotations

import re._constants as op  # type: ignore[import-not-found]  # no stubs
import re._parser as sre  # type: ignore[import-not-found]  # no stubs
from collections.abc import Iterable
from itertools import chain, product
from typing import Any, NamedTuple

MAX_STRINGS = 64
"""Spellings that are followed side by side; beyond them a run is cut."""
MAX_LENGTH = 256
MAX_CLASS = 16
MAX_TRIGRAMS = 24
"""Of one literal: the rest would hardly narrow further."""
MAX_TERMS = 192
"""Trigrams of one clause, and twice as many of all together: each is a list to walk."""
MAX_REPEATS = 8

Strings = frozenset[str]
Clause = frozenset[frozenset[bytes]]
"""One of these sets of trigrams must be there, whole."""

_EMPTY: Strings = frozenset({""})
_BREAKS = bytes.maketrans(b"\r\0\t\v\f", b"\n\n\n\n\n")
_BLANK = 0x20


class _Spellings(NamedTuple):
    """What is known of a part: all its spellings, or None; and groups of which one must occur."""

    exact: Strings | None
    groups: tuple[Strings, ...] = ()


_ANYTHING = _Spellings(None)
_NOTHING = _Spellings(_EMPTY)


def fold(data: bytes) -> bytes:
    """Text without case: bytes that a search without regard to case takes for equal become equal.

    Character by character, so that what occurs in a text occurs in the folded text. The dot of a
    Turkish capital goes, because Python's `re` takes that letter for an `i`.
    """
    if data.isascii():
        return data.lower()
    text = data.decode("utf-8", "surrogateescape").casefold()
    return text.replace("\u0307", "").replace("ı", "i").encode("utf-8", "surrogateescape")


def plain_bytes(data: bytes) -> bytes:
    """A file's text as UTF-8, as ripgrep reads it: UTF-16 by its mark, no mark left."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", "replace").encode("utf-8", "surrogatepass")
    return data.removeprefix(b"\xef\xbb\xbf")


def required(tree: sre.SubPattern) -> tuple[Clause, ...]:
    """Trigrams of folded text that a match needs: every clause, each in one of its forms."""
    clauses = {_clause(group): None for group in _close(_sequence(tree))}
    telling = sorted(filter(None, clauses), key=_weakness)
    room = 2 * MAX_TERMS
    chosen: list[Clause] = []
    for clause in telling:
        room -= sum(map(len, clause))
        if room >= 0 or not chosen:
            chosen.append(clause)
    return tuple(chosen)


def trigrams_of(literal: str, most: int = MAX_TRIGRAMS) -> frozenset[bytes]:
    """The trigrams of a literal that are kept of every text with it: none across a blank.

    Line ends are git's to change, and other blanks than a space are not kept.
    """
    try:
        folded = fold(literal.encode("utf-8", "surrogateescape")).translate(_BREAKS)
    except UnicodeEncodeError:
        return frozenset()  # half a surrogate pair: no text has it
    found = [
        piece[at : at + 3]
        for piece in folded.split(b"\n")
        for at in range(len(piece) - 2)
        if piece[at + 1] != _BLANK
    ]
    return frozenset(found[:: max(1, -(-len(found) // most))])


def passes(clauses: Iterable[Clause], folded: bytes) -> bool:
    """May a folded text match?"""
    return all(
        any(all(trigram in folded for trigram in form) for form in clause) for clause in clauses
    )


def _clause(group: Strings) -> Clause:
    """Empty where one of the strings is too short to be looked up."""
    most = max(3, min(MAX_TRIGRAMS, MAX_TERMS // len(group)))
    forms = frozenset(trigrams_of(text, most) for text in group)
    return frozenset() if frozenset() in forms else forms


def _weakness(clause: Clause) -> tuple[int, int]:
    """Many forms narrow little, few trigrams too."""
    return len(clause), -min(map(len, clause))


def _close(found: _Spellings) -> tuple[Strings, ...]:
    return found.groups if found.exact is None else (*found.groups, found.exact)


def _sequence(items: Iterable[tuple[Any, Any]]) -> _Spellings:
    return _join(_part(kind, value) for kind, value in items)


def _join(parts: Iterable[_Spellings]) -> _Spellings:
    """What is known of parts that follow each other."""
    run, whole = _EMPTY, True
    groups: dict[Strings, None] = {}  # in their order, each once
    for part in parts:
        groups |= dict.fromkeys(part.groups)
        if part.exact is not None and _fits(run, part.exact):
            run = frozenset(a + b for a, b in product(run, part.exact))
            continue
        groups[run] = None
        run = _EMPTY if part.exact is None else part.exact
        whole = False
    return _Spellings(run, tuple(groups)) if whole else _Spellings(None, (*groups, run))


def _fits(run: Strings, more: Strings) -> bool:
    longest = max(map(len, run)) + max(map(len, more))
    return len(run) * len(more) <= MAX_STRINGS and longest <= MAX_LENGTH


def _part(kind: Any, value: Any) -> _Spellings:
    if kind is op.LITERAL:
        return _Spellings(frozenset({chr(value)}))
    if kind is op.IN:
        return _Spellings(_members(value))
    if kind is op.SUBPATTERN:
        return _sequence(value[3])
    if kind is op.ATOMIC_GROUP:
        return _sequence(value)
    if kind is op.BRANCH:
        return _branch([_sequence(branch) for branch in value[1]])
    if kind in (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT):
        return _repeat(*value)
    if kind in (op.AT, op.ASSERT, op.ASSERT_NOT):
        return _NOTHING
    return _ANYTHING


def _members(items: list[tuple[Any, Any]]) -> Strings | None:
    """The characters of a small class."""
    found: set[str] = set()
    for kind, value in items:
        if kind is op.LITERAL:
            found.add(chr(value))
        elif kind is op.RANGE and value[1] - value[0] < MAX_CLASS:
            found.update(map(chr, range(value[0], value[1] + 1)))
        else:
            return None
    return frozenset(found) if 0 < len(found) <= MAX_CLASS else None


def _branch(branches: list[_Spellings]) -> _Spellings:
    exacts = [branch.exact for branch in branches if branch.exact is not None]
    union = frozenset(chain.from_iterable(exacts))
    if len(exacts) == len(branches) and len(union) <= MAX_STRINGS:
        return _Spellings(union)
    best = [_best(_close(branch)) for branch in branches]
    group = frozenset(chain.from_iterable(best))
    return _Spellings(None, (group,) if all(best) and len(group) <= MAX_STRINGS else ())


def _best(groups: tuple[Strings, ...]) -> Strings:
    """The group that narrows most: the one whose shortest string is the longest."""
    return max(groups, key=lambda group: min(map(len, group)), default=frozenset())


def _repeat(least: int, most: Any, items: sre.SubPattern) -> _Spellings:
    part = _sequence(items)
    if least == 0:
        optional = most == 1 and part.exact is not None and not part.groups
        return _Spellings((part.exact or _EMPTY) | _EMPTY) if optional else _ANYTHING
    first = _join([part] * min(least, MAX_REPEATS))
    if least == most and least <= MAX_REPEATS:
        return first
    return _Spellings(None, _close(first))
