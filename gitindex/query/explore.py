"""Answer a question within a budget: the best places with code, their uses and their tests."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

from gitindex.base.path_kind import is_test
from gitindex.extract.terms import decode_text
from gitindex.query.names.finder import Finder
from gitindex.query.names.memory import Memory
from gitindex.query.references import brief_references
from gitindex.query.search.memory import SearchMemory
from gitindex.query.search.query_text import Filters
from gitindex.query.search.search import search
from gitindex.view.tree import TreeView

CHARS_PER_TOKEN = 4
PLACES = 8
"""Search results that are examined."""
FOLLOWED = 3
"""Results whose uses are looked up."""
CODE_LINES = 120
USES = 8
TESTS = 8
FRAME = 60
"""Characters for the last line of a text."""
FILES = 60
"""Files whose uses of one definition are bound, the nearest first: eight callers and tests are shown. The
uses in others are counted as possible."""
LOOKED_AT = 200
"""Uses of one definition that are read to tell tests from callers."""

Row = dict[str, Any]


def explore(
    view: TreeView,
    question: str,
    tokens: int,
    below: tuple[str, ...] = (),
    memories: tuple[SearchMemory | None, Memory | None] = (None, None),
) -> Row:
    """Return places for a question with their code and uses, within a budget of tokens."""
    lexical, finder = memories[0], Finder(view, memories[1], FILES)  # one for all places
    most = min(PLACES, 2 + tokens // 150)
    found = search(view, question, most, Filters(below=below), memory=lexical)["results"]
    texts = view.read({os.fsencode(row["path"]) for row in found})
    places: list[Row] = []
    room = tokens * CHARS_PER_TOKEN - FRAME - sum(map(_named, found))  # each is named, shown or not
    for row in found:
        data = texts.get(os.fsencode(row["path"]))
        if data is None:
            continue
        place = _place(row, decode_text(data).splitlines(), room)
        if place is None:
            break
        room -= len(place["code"])
        if "name" in place and len(places) < FOLLOWED:
            room -= _add_uses(finder, place, room)
        places.append(place)
    shown = {(place["path"], place["startLine"]) for place in places}
    also = [_also(row) for row in found if (row["path"], row["startLine"]) not in shown]
    return view.envelope(
        question=question, tokens=tokens, places=places, also=also, truncated=bool(also)
    )


def _place(row: Mapping[str, Any], lines: list[str], room: int) -> Row | None:
    """Return a result with its definition, cut to the available room; None without room."""
    first, last = row["startLine"], min(row["endLine"], row["startLine"] + CODE_LINES - 1)
    code: list[str] = []
    for line in lines[first - 1 : last]:
        room -= len(line) + 1
        if room < 0:
            break
        code.append(line)
    if not code:
        return None
    kept = {
        name: row[name] for name in ("path", "startLine", "endLine", "name", "kind") if name in row
    }
    place = kept | {"code": "\n".join(code), "source": row["source"]}
    return place | ({"codeTruncated": True} if first + len(code) <= row["endLine"] else {})


def _add_uses(finder: Finder, place: Row, room: int) -> int:
    """Add callers, tests and uncertain places; return the characters they take."""
    told = brief_references(finder, f"{place['path']}#{place['name']}", LOOKED_AT)
    uses = told.rows
    tests = list(dict.fromkeys(row["path"] for row in uses if is_test(row["path"])))
    callers = [row for row in uses if not is_test(row["path"])]
    room -= (spent := len(place["path"]) + len(place["name"]) + 120)  # counts, and where to ask
    shown = list(_within(_with_text(finder.view, callers[:USES]), room))
    room -= (taken := sum(map(_said, shown)))
    listed: list[str] = []
    for path in tests[:TESTS]:
        if (room := room - len(path) - 2) >= 0:
            listed.append(path)
    place |= {
        "callers": shown,
        "tests": listed,
        "complete": told.complete,
        "absent": told.absent,
    }
    if len(callers) > len(shown):
        place["moreCallers"] = len(callers) - len(shown)
    if told.possible:
        place["uncertain"] = told.possible
    if told.left:
        place["unexamined"] = told.left
    return spent + taken + sum(len(path) + 2 for path in listed)


def _named(row: Mapping[str, Any]) -> int:
    """Return the characters of the line that names a place."""
    return len(row["path"]) + len(row.get("name", "")) + len(row.get("kind", "")) + 24


def _said(row: Mapping[str, Any]) -> int:
    """Return the characters of the line that shows a use."""
    return len(row["text"]) + len(row["path"]) + len(row.get("enclosing", "")) + 32


def _with_text(view: TreeView, rows: list[Row]) -> Iterator[Row]:
    """Yield uses with their line of code."""
    texts = view.read({os.fsencode(row["path"]) for row in rows if "text" not in row})
    for row in rows:
        text = row.get("text")
        if text is None:
            lines = decode_text(texts.get(os.fsencode(row["path"]), b"")).splitlines()
            text = lines[row["line"] - 1] if row["line"] <= len(lines) else ""
        kept = {n: row[n] for n in ("path", "line", "enclosing", "tier") if n in row}
        yield kept | {"text": text.strip()[:240]}


def _within(rows: Iterator[Row], room: int) -> Iterator[Row]:
    for row in rows:
        room -= _said(row)
        if room < 0:
            return
        yield row


def _also(row: Mapping[str, Any]) -> Row:
    return {name: row[name] for name in ("path", "line", "name", "kind") if name in row}
