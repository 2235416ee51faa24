"""Fragments that a text must contain for a pattern to match one of its lines. Pure.

May demand fewer fragments than needed, never more. The only user of `re._parser`, which is private to
CPython: the standard library has no public parser of this syntax. tests/unit/extract/test_regex_tree.py
checks the behaviour that this module relies on, on every Python version.
"""

from __future__ import annotations

import re._constants as op  # type: ignore[import-not-found]  # no stubs
from collections.abc import Iterable
from itertools import chain, product
from re._parser import SubPattern, parse  # type: ignore[import-not-found]  # no stubs
from typing import Any, NamedTuple

from gitindex.base.pattern import compile_later
from gitindex.extract.terms import fold_text

__all__ = ["Clause", "SubPattern", "fold", "fragments_of", "op", "parse", "plain_bytes", "required"]

MAX_STRINGS = 64
"""Most alternative spellings that are tracked at once; a run with more is cut."""
MAX_LENGTH = 256  # characters of a run that is tracked
MAX_CLASS = 16  # characters of a class that are tried one by one
MAX_FRAGMENTS = 3
"""Most fragments of one literal: the longest ones. More would hardly narrow the search."""
MIN_FRAGMENT = 3
"""Bytes of a fragment: shorter ones are in so many words that they narrow nothing."""
MAX_LOOKUPS = 24
"""Most fragments of all clauses together: each one costs a scan of the word list."""
MAX_REPEATS = 8  # of a part that are written out: more make a run too long

Strings = frozenset[str]
Clause = frozenset[frozenset[bytes]]
"""A text matches if it contains every fragment of at least one of these sets."""

_EMPTY: Strings = frozenset({""})
_BLANK, _UNKNOWN = " ", "\0"
_RUN = compile_later("[^ \0]+")


class _Spellings(NamedTuple):
    """All spellings of a part, or None; and groups of strings of which one must occur."""

    exact: Strings | None
    groups: tuple[Strings, ...] = ()


_ANYTHING = _Spellings(None)
_NOTHING = _Spellings(_EMPTY)


def fold(data: bytes) -> bytes:
    """Return text without case: bytes that a case-insensitive search treats as equal become equal.

    Folds character by character, so a substring of a text stays a substring after folding.
    """
    if data.isascii():
        return data.lower()
    return fold_text(data.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")


def plain_bytes(data: bytes) -> bytes:
    """Return a file's text as UTF-8, as ripgrep reads it: UTF-16 if it has a BOM; without a BOM."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", "replace").encode("utf-8", "surrogatepass")
    return data.removeprefix(b"\xef\xbb\xbf")


def required(tree: SubPattern) -> tuple[Clause, ...]:
    """Return the clauses of word fragments that a match needs; each holds in one of its forms."""
    clauses = {_clause(group): None for group in spellings(tree)}
    telling = sorted(filter(None, clauses), key=_weakness)
    room = MAX_LOOKUPS
    chosen: list[Clause] = []
    for clause in telling:
        room -= sum(map(len, clause))
        if room >= 0:
            chosen.append(clause)
    return tuple(chosen)


def spellings(tree: SubPattern) -> tuple[Strings, ...]:
    """Return groups of strings, as they are spelled: a match contains one of each group."""
    return _close(_sequence(tree))


def fragments_of(literal: str) -> frozenset[bytes]:
    """Return word parts that every text with this literal has; a blank marks a certain word end."""
    text = "".join(map(_indexed, literal))
    found: set[bytes] = set()
    for run in _RUN.finditer(text):
        before, after = text[: run.start()][-1:], text[run.end() :][:1]
        part = before.strip(_UNKNOWN) + run[0] + after.strip(_UNKNOWN)
        found.add(part.encode())
    telling = {part for part in found if len(part) >= MIN_FRAGMENT}
    return frozenset(sorted(telling, key=lambda part: (-len(part), part))[:MAX_FRAGMENTS])


def _indexed(letter: str) -> str:
    """Return a letter as the terms of a text have it: a blank between words, or `_UNKNOWN`.

    Unknown: it does not fold to one letter, or may be matched by a mark that ends a word (U+0345).
    """
    if letter.isascii():
        return letter.lower() if letter.isalnum() or letter == "_" else _BLANK
    folded = fold_text(letter)
    known = len(folded) == 1 and letter.isalnum() and folded.isalnum() and folded != "\u03b9"
    return folded if known else _UNKNOWN


def _clause(group: Strings) -> Clause:
    """Return the clause of a group; empty if one of its strings is too short to look up."""
    forms = frozenset(fragments_of(text) for text in group)
    return frozenset() if frozenset() in forms else forms


def _weakness(clause: Clause) -> tuple[int, int]:
    """Return a sort key: clauses with many forms or short fragments narrow the search little."""
    return len(clause), -min(max(map(len, form)) for form in clause)


def _close(found: _Spellings) -> tuple[Strings, ...]:
    return found.groups if found.exact is None else (*found.groups, found.exact)


def _sequence(items: Iterable[tuple[Any, Any]]) -> _Spellings:
    return _join(_part(kind, value) for kind, value in items)


def _join(parts: Iterable[_Spellings]) -> _Spellings:
    """Return the spellings of consecutive parts."""
    run, whole = _EMPTY, True
    groups: dict[Strings, None] = {}  # ordered set
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
    """Return the characters of a small class."""
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
    """Return the group that narrows the search most: its shortest string is the longest."""
    return max(groups, key=lambda group: min(map(len, group)), default=frozenset())


def _repeat(least: int, most: Any, items: SubPattern) -> _Spellings:
    part = _sequence(items)
    if least == 0:
        optional = most == 1 and part.exact is not None and not part.groups
        return _Spellings((part.exact or _EMPTY) | _EMPTY) if optional else _ANYTHING
    first = _join([part] * min(least, MAX_REPEATS))
    if least == most and least <= MAX_REPEATS:
        return first
    return _Spellings(None, _close(first))
