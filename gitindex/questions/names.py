"""Every name of a file that is bound: where it leads, and whether that is sure."""

from __future__ import annotations

import os

from gitindex.base.escape import path_fields, safe_text, utf16_length
from gitindex.base.light_types import TYPE_CHECKING
from gitindex.questions.table import Answer, Here, Params, Row, question

if TYPE_CHECKING:
    from gitindex.languages.facts import Occurrence
    from gitindex.query.names.binder import Binder
    from gitindex.query.names.model import FileNames

SECONDS = 1.5
"""Time for the names of one file; those after it have no link, but a hover still answers."""


def ask(here: Here, params: Params) -> Answer:
    """Return the bound names of some lines; `truncated` if time ran out."""
    import time

    from gitindex.query.names.finder import Finder

    first, last = params["first"] - 1, (params["last"] or 1 << 31) - 1
    rows: list[Row] = []
    with here.tree() as view:
        path = here.inside(params["file"])
        binder = Finder(view, here.memories.binding).binder
        project = binder.project
        source = project.source(path)
        places = [p for p in project.places_in(path) if first <= p.line <= last] if source else []
        end = time.monotonic() + SECONDS
        done = 0
        for place in places:
            if time.monotonic() > end:
                break
            done += 1
            target = _target(binder, source, place) if source else None
            if target is not None:
                start = project.offset(path, place.line, 0)
                before = project.text(path)[start : start + place.column]
                at = {"line": place.line + 1, "columnUtf16": utf16_length(before) + 1}
                rows.append({**at, "name": place.name, **target})
        return view.envelope(names=rows, truncated=done < len(places))


def _target(binder: Binder, source: FileNames, place: Occurrence) -> Row | None:
    """Return where a name leads: the likeliest definition, or the declaration of a variable."""
    from gitindex.languages.facts import Use
    from gitindex.query.names.semantic import known_at
    from gitindex.query.names.targets import declarations, rank

    known = known_at(binder.project, source.path, place.line, place.column)
    meaning = binder.meaning(source, place)
    if not known and meaning.bound is not None:
        for one in declarations(binder, source, place, meaning):
            itself = (one.line, one.column) == (place.line, place.column)
            to = {"path": safe_text(one.path), "line": one.line + 1}
            return None if itself else {"to": to, "sure": True, "definition": False}
        return None
    definitions = sorted(known or meaning.definitions, key=rank)
    if not definitions:
        return None
    best = definitions[0]
    symbol = f"{safe_text(best.path)}#{safe_text(best.qualified)}"
    to = {**path_fields(os.fsencode(best.path)), "line": best.line + 1, "symbol": symbol}
    itself = place.use is Use.DEFINITION
    single = len({(each.path, each.qualified) for each in definitions}) == 1  # overloads are one
    return {
        "to": to,
        "sure": itself or (single and (bool(known) or meaning.sure)),
        "definition": itself,
    }


TABLE = """
names | found=names
  Every name of a file that is bound, and where it leads.
    file
    first
    last
    at
"""
QUESTION = question(TABLE, ask)
