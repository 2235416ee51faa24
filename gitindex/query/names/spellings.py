"""Other spellings of a name: Python reads identifiers in their NFKC form, JavaScript reads escapes in
them."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator
from itertools import chain

from gitindex.base.pattern import compile_later
from gitindex.view.tree import TreeView

MAX_NAME = 200
"""Characters of a name that are compared; names in the store are not much longer."""
MANY = 40
"""Names of a tree after which all that are spelled otherwise are listed: that takes as long."""

_ESCAPE = compile_later(r"\\u+(?:([0-9a-fA-F]{4})|\{([0-9a-fA-F]{1,6})\})")
_LAST = "\U0010ffff"
_BETWEEN = (
    "WITH bounds(a, b) AS (VALUES {values})"
    " SELECT n.text FROM bounds CROSS JOIN {names} n ON n.text>=a AND n.text<b"
)
_ODD = (
    "SELECT text FROM {names} WHERE length(CAST(text AS BLOB))<>length(text) OR instr(text, '\\')"
)


def plain(text: str) -> str:
    """Return a name as compilers read it."""
    if "\\" in text:
        text = _ESCAPE.sub(lambda m: _character(m.group(1) or m.group(2)), text)
    return text if text.isascii() else unicodedata.normalize("NFKC", text)


def _character(digits: str) -> str:
    number = int(digits, 16)
    return chr(number) if number <= ord(_LAST) else ""


class Spellings:
    """The names of one tree that are spelled otherwise than compilers read them."""

    def __init__(self) -> None:
        self._asked: dict[str, list[str]] = {}
        self._all: dict[str, set[str]] | None = None  # by what they mean

    def others(self, view: TreeView, name: str) -> list[str]:
        """Return the names that mean the same as one. Many questions are answered by one list."""
        if name in self._asked:
            return self._asked[name]
        view.ensure_facts(words=[name])
        if self._all is None and len(self._asked) >= MANY:
            self._all = _by_meaning(text for (text,) in view.rows(_ODD))
        wanted = plain(name)
        found = self._all if self._all is not None else _by_meaning(_near(view, wanted))
        others = sorted({wanted, *found.get(wanted, ())} - {name})
        if self._all is None:
            self._asked[name] = others
        return others


def _near(view: TreeView, wanted: str) -> Iterator[str]:
    """Yield the names that begin like one up to a character that is no ASCII, or begins an escape."""
    wanted = wanted[:MAX_NAME]
    forms = {wanted} if wanted.isascii() else {wanted, unicodedata.normalize("NFD", wanted)}
    starts = {form[:end] for form in forms for end in range(len(form) + 1)}
    bounds = [(s + "\x80", s + _LAST) for s in starts] + [(s + "\\", s + "]") for s in starts]
    values = ",".join(["(?,?)"] * len(bounds))
    rows = view.rows(_BETWEEN.format(values=values, names="{names}"), *chain(*bounds))
    return (text for (text,) in rows)


def _by_meaning(names: Iterable[str]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for name in names:
        found.setdefault(plain(name), set()).add(name)
    return found
