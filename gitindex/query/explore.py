"""Answer a question within a budget: the best parts of the best files, who uses them, what they use."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from operator import attrgetter
from typing import Any, NamedTuple

from gitindex.base.escape import path_fields
from gitindex.base.path_kind import is_test
from gitindex.base.pattern import compile_later
from gitindex.extract.terms import decode_text
from gitindex.languages.syntax.kinds import DATA_KINDS
from gitindex.query.names.finder import Finder
from gitindex.query.names.memory import Memory
from gitindex.query.references import brief_references
from gitindex.query.search.definitions import TYPES, WEAK
from gitindex.query.search.features import needle_of
from gitindex.query.search.memory import SearchMemory
from gitindex.query.search.passages import Passage
from gitindex.query.search.query_text import Filters, Query
from gitindex.query.search.search import FileSearch, Ranked, whole
from gitindex.store.connection import marks
from gitindex.view.tree import TreeView

FILES, PER_FILE = 6, 16
"""Best files whose parts compete for the budget, and parts of one file that do."""
LEVEL, OF_LINES, OF_RANK, OF_TEXT, A_TYPE = 5.1, 0.6, 0.9, 1.55, 0.4
"""How likely a part is meant, from how likely its file is: the longer the file, the more parts share that,
the first most; more if its text matches as well as the best of all files, less for a type around its members.
Fitted to 602 questions about 17 repositories, each ranked without having seen it."""
MOST = 4.0
"""Worth of a definition that the question, a name alone, is the name of: before all other parts; less for
each better one of its file."""
LENGTH = 0.3
"""How much a long part counts less than a short one of the same chance: it takes the room of others."""
LITTLE = 0.021
"""Worth below which a part is not shown."""
LONGEST, SHORTEST = 140, 4
"""Lines of one part at most, and those that a window must have to be shown."""
AROUND = 3
"""Lines around a definition of one line."""
CLOSE = 3
"""Parts of a file with fewer lines between them are shown as one."""
FOLLOWED = 1
"""Definitions whose uses are looked up."""
USES, TESTS, CALLED, SIBLINGS, ALSO = 3, 2, 4, 4, 3
"""Most callers, tests, callees and further definitions that are named for a place; further places."""
BOUND_FILES = 20
"""Files in which the uses of one definition are bound, the nearest first; uses in others are possible."""
LOOKED_AT = 200
"""Uses of one definition that are read to tell tests from callers."""
MAX_LINE = 100
_CALL = compile_later(r"\b([A-Za-z_]\w{2,})\s*\(")
_PLACE = compile_later(r'([\w@./+-]*\w\.\w+)(?:(?:", line |:)(\d+))?')
"""A file with a line as tools print it, and as Python's tracebacks do; or without a line."""

START = attrgetter("start_line")
Row = dict[str, Any]


class ShownPart(NamedTuple):
    """A part of a file that competes for the budget."""

    worth: float
    row: Ranked
    passage: Passage
    at: int = -1  # a line of it that the question names


class PackBudget(NamedTuple):
    """How much an answer may take, counted as printed."""

    tokens: int
    lines: int  # 0: no limit
    fits: Callable[[Row], bool]


def explore(
    view: TreeView,
    question: str,
    budget: PackBudget,
    below: tuple[str, ...] = (),
    memories: tuple[SearchMemory | None, Memory | None] = (None, None),
) -> Row:
    """Return parts of files for a question with their code and uses, as much as the budget allows."""
    search = FileSearch(view, memories[0] or SearchMemory())
    rows = list(search.read(search.ranked(question, Filters(below=below))[:FILES]))
    parts = parts_of(search, rows, question)
    likely = [part for number, part in enumerate(parts) if not number or part.worth >= LITTLE]
    packer = _Packer(view, search, budget.fits)
    finder = Finder(view, memories[1], BOUND_FILES)  # one for all parts
    for part in likely:
        place = packer.add(part)
        named = part.passage.named
        is_code = named is not None and named.kind not in DATA_KINDS  # a heading is used nowhere
        if place is not None and is_code and len(packer.followed) < FOLLOWED:
            packer.follow(finder, place)
    packer.add_siblings(parts)
    packer.name_others(parts)
    fields: Row = {"warnings": search.warnings} if search.warnings else {}
    fields |= {"question": question, "tokens": budget.tokens, "lines": budget.lines}
    return view.envelope(**fields, **packer.shown(), truncated=packer.truncated)


def parts_of(search: FileSearch, rows: list[Ranked], question: str = "") -> list[ShownPart]:
    """Return the parts of all files, those first that promise most for the room they take."""
    best = max((row.score for row in rows), default=0.0)
    shares = [math.exp(row.score - best) for row in rows]
    groups = [search.passages(row)[:PER_FILE] or search.shown(_query(row), row) for row in rows]
    most = max((part.text for parts in groups for part in parts), default=0.0) or 1.0
    parts = []
    for row, share, passages in zip(rows, shares, groups, strict=True):
        level = LEVEL * share / sum(shares) / (10 + row.candidate.lines) ** OF_LINES
        named = _meant(search, row, share, question)
        parts += named
        known = {part.passage.named for part in named} - {None}
        for rank, passage in enumerate(passages, 1):
            if passage.named not in known:
                worth = _worth(level / rank**OF_RANK, passage, passage.text / most)
                parts.append(ShownPart(worth, row, passage))
    return sorted(parts, key=lambda part: -part.worth)


def _meant(search: FileSearch, row: Ranked, share: float, question: str) -> list[ShownPart]:
    """Return the parts of a file that the question names, by a line or by their name."""
    said = _said(search, row, question)
    parts = [ShownPart(share + MOST / n, row, *pair) for n, pair in enumerate(said.items(), 1)]
    meant = {named: n for n, named in enumerate(search.meant(row), 1)}
    known = {part.named for part in said}
    for part in search.passages(row)[:PER_FILE]:
        if part.named in meant.keys() - known:
            parts.append(ShownPart(share + MOST / meant[part.named], row, part))
    return parts


def _said(search: FileSearch, row: Ranked, question: str) -> dict[Passage, int]:
    """Return the parts of a file at lines that the question names, with these; all of a file named alone."""
    name = row.candidate.name
    said: dict[Passage, int] = {}
    for match in _PLACE.finditer(question):
        path = match[1].lstrip("./")
        if f"/{name}".endswith(f"/{path}") or f"/{path}".endswith(f"/{name}"):
            at = int(match[2] or 0) - 1
            if 0 <= at <= row.text.data.count(b"\n"):
                said[search.around(row, at)] = at
            elif match[0] == question.strip():
                tops = [d for d in search.definitions(row) if d.is_top and d.kind not in WEAK]
                said |= dict.fromkeys(map(whole, sorted(tops, key=START)), -1)
    return said


def _worth(level: float, passage: Passage, text: float) -> float:
    """Return the chance that a part is meant, less for a long one: it takes the room of others."""
    odds = level * math.exp(OF_TEXT * text)
    odds *= A_TYPE if passage.named and passage.named.kind in TYPES else 1.0
    lines = min(LONGEST, passage.last - passage.first + 1)
    return float(odds / (1 + odds) / (4 + lines) ** LENGTH)


def _query(row: Ranked) -> Query:
    assert row.query is not None
    return row.query


class _Packer:
    """Collects the places of one answer, each only if the answer still fits."""

    def __init__(self, view: TreeView, search: FileSearch, fits: Callable[[Row], bool]) -> None:
        self._view, self._search, self._fits = view, search, fits
        self._texts: dict[bytes, list[str]] = {}
        self._places: list[Row] = []  # in the order of worth
        self._also: list[Row] = []
        self._left = False
        self.followed: set[str] = set()

    @property
    def truncated(self) -> bool:
        return self._left or bool(self._also)

    def add(self, part: ShownPart) -> Row | None:
        """Add a part, or the lines of it with most of the query; return None if none fits."""
        lines = self._lines(part.row)
        passage = part.passage
        room = min(LONGEST, passage.last - passage.first + 1)
        while room >= min(SHORTEST, passage.last - passage.first + 1):
            spans = self._spans(part, room)
            made = [place for span in spans for place in self._new(part, lines, *span)]
            if not made:
                return None  # it is shown already
            self._places += made
            if self._fits(self.shown()):
                return made[0]
            del self._places[-len(made) :]
            self._left = True
            room = room * 2 // 3
        return None

    def _spans(self, part: ShownPart, room: int) -> list[tuple[int, int]]:
        """Return the lines to show of a part: all, or its first line and the best window of it."""
        passage, named = part.passage, part.passage.named
        if named and named.kind in TYPES and part.at < 0:
            inner = self._members(part)
            passage = passage._replace(last=min([passage.last, *inner]))
        if passage.first == passage.last:
            return [(max(0, passage.first - AROUND), passage.last + AROUND)]
        if named and passage.last - passage.first >= room:
            passage = passage._replace(first=named.start_line)  # the code comes before its comment
        if passage.last - passage.first < room:
            return [(passage.first, passage.last)]
        first, last = self._window(part, passage, room)
        start = named.line if named else first
        if first <= start + CLOSE:
            return [(min(first, start), min(first, start) + room - 1)]
        return [(start, start), (first, last)]

    def _window(self, part: ShownPart, passage: Passage, room: int) -> tuple[int, int]:
        """Return the lines of a long part to show: around a line, its head, or the best."""
        first = passage.first
        if part.at >= 0:
            first = max(first, min(part.at - room // 2, passage.last - room + 1))
        elif not passage.named or passage.named not in self._search.meant(part.row):
            return self._search.ranker(part.row).best_lines(part.row.text.data, passage, room)
        return first, first + room - 1

    def _members(self, part: ShownPart) -> list[int]:
        """Return the first lines of the functions and types inside of a definition."""
        named = part.passage.named
        assert named is not None
        return [
            d.line
            for d in self._search.definitions(part.row)
            if d.kind not in WEAK and named.start_line < d.start_line <= named.end_line
        ]

    def _new(self, part: ShownPart, lines: list[str], first: int, last: int) -> Iterator[Row]:
        """Yield the lines of a span that no place shows yet, as places."""
        path = part.row.candidate.path
        taken = [(p["startLine"] - 1, p["lastLine"] - 1) for p in self._places if p["key"] == path]
        at = first
        for start, stop in sorted(taken):
            if start > at:
                yield from self._place(part, lines, at, min(last, start - 1))
            at = max(at, stop + 1)
        yield from self._place(part, lines, at, last)

    def _place(self, part: ShownPart, lines: list[str], first: int, last: int) -> Iterator[Row]:
        code = lines[first : last + 1]
        while code and not code[0].strip():
            del code[0]
            first += 1
        while code and not code[-1].strip():
            del code[-1]
        if not code:
            return
        passage, candidate = part.passage, part.row.candidate
        text = "\n".join(code)
        place: Row = {**path_fields(candidate.path), "startLine": first + 1}
        place |= {"endLine": max(passage.last + 1, first + len(code))}
        if passage.named:
            place |= {"name": passage.named.name, "kind": passage.named.kind}
            place |= {"symbol": f"{place['path']}#{passage.named.qualified}"}
        place |= {
            "why": _why(_query(part.row), text, place.get("name", "")),
            "code": text,
            "source": candidate.source,
        }
        place |= {"key": candidate.path, "lastLine": first + len(code), "worth": part.worth}
        yield place

    def _lines(self, row: Ranked) -> list[str]:
        path = row.candidate.path
        if path not in self._texts:
            self._texts[path] = decode_text(row.text.data).replace("\r\n", "\n").split("\n")
        return self._texts[path]

    def shown(self) -> Row:
        """Return the fields of the answer: places by file, neighbours joined."""
        order = {key: n for n, key in enumerate(dict.fromkeys(p["key"] for p in self._places))}
        ordered = sorted(self._places, key=lambda p: (order[p["key"]], p["startLine"]))
        merged: list[Row] = []
        for place in ordered:
            last = merged[-1] if merged else None
            if last and last["key"] == place["key"]:
                between = self._texts[place["key"]][last["lastLine"] : place["startLine"] - 1]
                if len(between) < CLOSE:
                    merged[-1] = _joined(last, place, between)
                    continue
            merged.append(place)
        places = [
            {name: value for name, value in place.items() if name not in _INNER} | _cut(place)
            for place in merged
        ]
        return {"places": places, "also": list(self._also)}

    def follow(self, finder: Finder, place: Row) -> None:
        """Add callers, callees and tests of a definition, as far as they fit."""
        if place["symbol"] in self.followed:
            return
        self.followed.add(place["symbol"])
        uses = brief_references(finder, place["symbol"], LOOKED_AT)
        tests = list(dict.fromkeys(row["path"] for row in uses.rows if is_test(row["path"])))
        callers = [row for row in uses.rows if not is_test(row["path"])]
        place |= {"callers": [], "tests": []}
        counts = {"moreCallers": len(callers), "uncertain": uses.possible, "unexamined": uses.left}
        if not self._put(place, {name: n for name, n in counts.items() if n}):
            return
        self._extend(place, "callers", [_caller(row) for row in callers[:USES]])
        more = len(callers) - len(place["callers"])
        place |= {"moreCallers": more}
        if not more:
            del place["moreCallers"]
        self._extend(place, "callees", self._called(place))
        self._extend(place, "tests", tests[:TESTS])

    def _put(self, place: Row, fields: Row) -> bool:
        place |= fields
        if self._fits(self.shown()):
            return True
        for name in fields:
            del place[name]
        return False

    def _extend(self, place: Row, field: str, values: list[Any]) -> bool:
        """Add values to a list, as many as fit; return whether all do."""
        for value in values:
            place.setdefault(field, []).append(value)
            if not self._fits(self.shown()):
                place[field].pop()
                return False
        return True

    def _called(self, place: Row) -> list[Row]:
        """Return what a definition calls: names that the tree defines once."""
        names = [n for n in dict.fromkeys(_CALL.findall(place["code"])) if n != place["name"]]
        rows = self._view.rows(
            "SELECT n.text, min(l.path), min(s.line), count(*) FROM {names} n CROSS JOIN {symbols} s"
            " ON s.name_id=n.id CROSS JOIN {live} l ON l.blob_id=s.blob_id"
            f" WHERE n.text IN ({marks(names[: CALLED * 4])}) GROUP BY n.text HAVING count(*)=1",
            *names[: CALLED * 4],
        )
        known = {
            name: {"name": name, **path_fields(path), "line": line + 1}
            for name, path, line, _ in rows
        }
        shown = self._numbers()
        callees = [known[name] for name in names if name in known]
        return [row for row in callees if (row["path"], row["line"]) not in shown][:CALLED]

    def add_siblings(self, parts: Iterable[ShownPart]) -> None:
        """Add names of further definitions of the best file."""
        best = self._places[0] if self._places else {}
        row = next((p.row for p in parts if p.row.candidate.path == best.get("key")), None)
        if row is None:
            return
        shown = self._numbers()
        names = [
            {"name": d.name, "line": d.line + 1}
            for d in self._search.definitions(row)
            if d.is_top and d.kind not in WEAK and (best["path"], d.line + 1) not in shown
        ]
        self._extend(best, "siblings", names[:SIBLINGS])

    def _numbers(self) -> set[tuple[str, int]]:
        """Return the lines that are shown."""
        places = self._places
        return {(p["path"], n) for p in places for n in range(p["startLine"], p["lastLine"] + 1)}

    def name_others(self, parts: Iterable[ShownPart]) -> None:
        """Name the next best parts that are not shown."""
        shown = {place["key"] for place in self._places}
        others = {p.row.candidate.path: p for p in parts if p.row.candidate.path not in shown}
        for part in list(others.values())[:ALSO]:
            passage = part.passage
            line = passage.named.line if passage.named else passage.first
            row = {**path_fields(part.row.candidate.path), "line": line + 1}
            if passage.named:
                row |= {"name": passage.named.name, "kind": passage.named.kind}
            self._also.append(row)
            if not self._fits(self.shown()):
                self._also.pop()
                self._left = True
                return


def _caller(row: Mapping[str, Any]) -> Row:
    fields = {n: row[n] for n in ("path", "line", "enclosing", "tier") if n in row}
    return fields | {"text": row["text"].strip()[:MAX_LINE]}


_INNER = ("key", "lastLine", "worth", "symbol")


def _why(query: Query, text: str, name: str) -> list[str]:
    """Return the words of the query that a text has in any form, those of its name left out."""
    lowered, named = text.lower(), name.lower()
    needles = {needle_of(w.terms[0]): w.text for w in query.words}
    return [word for n, word in needles.items() if n in lowered and n not in named]


def _joined(one: Row, two: Row, between: list[str]) -> Row:
    """Return two places that follow each other as one, named like the better of them."""
    better, other = (one, two) if one["worth"] >= two["worth"] else (two, one)
    code = "\n".join([one["code"], *between, two["code"]])
    why = list(dict.fromkeys([*better["why"], *other["why"]]))
    lines = {"startLine": one["startLine"], "endLine": max(one["endLine"], two["endLine"])}
    return other | better | lines | {"code": code, "why": why, "lastLine": two["lastLine"]}


def _cut(place: Mapping[str, Any]) -> Row:
    return {"codeTruncated": True} if place["lastLine"] < place["endLine"] else {}
