"""What the code of a class assigns to attributes of its instances. Read from its text."""

from __future__ import annotations

import re

from gitindex.languages.syntax.kinds import FUNCTIONS
from gitindex.query.names.chains import closing
from gitindex.query.names.meanings import STRICT
from gitindex.query.names.project import Project
from gitindex.query.names.signatures import Bound
from gitindex.query.names.source import Definition, FileNames
from gitindex.query.names.values import ExpressionPlace

MAX_VALUE = 2_000

_ASSIGNED = re.compile(
    r"\b(?:self|this)\.(\w{1,100})\s{0,20}(?::\s{0,20}([^=\n]{1,200}?))?\s{0,20}=(?!=)\s{0,20}([^\n;]{0,500})"
)


def assignments(
    project: Project, definition: Definition, name: str
) -> list[tuple[Bound, ExpressionPlace]]:
    """What a class assigns to an attribute of its instances."""
    source = project.source(definition.path)
    if source is None or source.language not in STRICT:
        return []
    key = ("attributes", definition.ordinal)
    if key not in source.notes:
        source.notes[key] = _read(project, source, definition)
    known: dict[str, list[tuple[Bound, int, int]]] = source.notes[key]
    return [(bound, ExpressionPlace(source, scope, at)) for bound, scope, at in known.get(name, ())]


def _read(
    project: Project, source: FileNames, definition: Definition
) -> dict[str, list[tuple[Bound, int, int]]]:
    found: dict[str, list[tuple[Bound, int, int]]] = {}
    text = project.span(source.path, definition.start_line, definition.end_line)
    line = seen = 0
    for match in _ASSIGNED.finditer(text):
        line += text.count("\n", seen, match.start())
        seen = match.start()
        value = match.group(3)
        if value.endswith("("):
            rest = text[match.start(3) : match.start(3) + MAX_VALUE]
            value = rest[: closing(rest, len(value) - 1) + 1]
        number = definition.start_line + line
        place = _function_at(source, number), project.offset(source.path, number, 0)
        found.setdefault(match.group(1), []).append((Bound(match.group(2) or "", value), *place))
    return found


def _function_at(source: FileNames, line: int) -> int:
    """The innermost function around a line."""
    found = -1
    for symbol in source.symbols:
        if symbol.kind in FUNCTIONS and symbol.start_line <= line <= symbol.end_line:
            found = symbol.ordinal
    return found
