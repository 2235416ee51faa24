"""Answers one slice question about one text: bytes in, fields out. Runs in a killable child."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from gitindex.base.escape import utf16_length
from gitindex.languages.scopes.model import FileScopes
from gitindex.languages.scopes.read import read_scopes
from gitindex.languages.slicing.analysis import Analysis, DefSite, UseSite, flatten, lines_of
from gitindex.languages.slicing.grammar import (
    TABLES,
    Grammar,
    field_of,
    grammar_of,
    span_of,
    text_of,
)
from gitindex.languages.slicing.graph import TooLarge
from gitindex.languages.slicing.ir import (
    Statement,
    StatementKind,
    Unit,
    VariableRead,
    VariableWrite,
)
from gitindex.languages.slicing.reader import Reader
from gitindex.languages.slicing.wire import SliceQuestion, decode
from gitindex.languages.syntax.extract import MAX_BYTES, MAX_NESTING, nesting
from gitindex.languages.syntax.parser import parse_tree
from gitindex.languages.syntax.source import read_source

if TYPE_CHECKING:
    from tree_sitter import Node

MAX_PLACES = 1_000
"""Most definitions and uses in one answer; the lines are never cut."""

_NAMELESS = "<anonymous>"


def answer(data: bytes, language: str, question: bytes) -> bytes:
    """Return a worker's reply to an encoded question."""
    return json.dumps(slice_text(data, language, decode(question))).encode()


def slice_text(data: bytes, language: str, question: SliceQuestion) -> dict[str, Any]:
    """Return the slice of a text, or the reason why there is none."""
    text = read_source(data).data
    lines = text.split(b"\n")
    if refusal := _refuse(lines, language, question):
        return refusal
    root = parse_tree(text, language)
    if root is None:
        return _no("unsupported", f"no grammar for {language} is installed")
    grammar, line = grammar_of(language), question.line - 1
    scopes = scopes_of(root, text, language)
    if question.column is None:
        query = find_line(root, grammar, scopes, line)
    else:
        query = find_name(root, grammar, scopes, line, question.column - 1)
    if query is None:
        what = "statement" if question.column is None else "variable"
        return _no("not_found", f"no {what} of a function or of the file {_where(question)}")
    try:
        return _fields(query, question, lines) | {"partial": root.has_error}
    except TooLarge:
        return _no("error", f"the function {_where(question)} is too large to slice")


def scopes_of(root: Node, text: bytes, language: str) -> FileScopes | None:
    """Return the scopes of a parsed text; None if it is too deeply nested."""
    if len(text) > MAX_BYTES or nesting(text) > MAX_NESTING:
        return None
    payload = read_scopes(root, text, language)
    return FileScopes(payload, language, text) if payload else None


def _refuse(lines: list[bytes], language: str, question: SliceQuestion) -> dict[str, Any] | None:
    if language not in TABLES:
        return _no(
            "unsupported", f"no slices for {language} files, only for {', '.join(sorted(TABLES))}"
        )
    count = len(lines) - (not lines[-1])
    if not 1 <= question.line <= count:
        return _no("invalid_request", f"no line {question.line}: the file has {count}")
    line = lines[question.line - 1]
    if not line.strip():
        return _no("not_found", f"line {question.line} is blank")
    if question.column is not None and not 1 <= question.column <= len(line):
        return _no("invalid_request", f"no column {question.column} on line {question.line}")
    return None


def _no(status: str, message: str) -> dict[str, Any]:
    return {"status": status, "message": message}


def _where(question: SliceQuestion) -> str:
    column = "" if question.column is None else f", column {question.column}"
    return f"on line {question.line}{column}"


def _fields(query: UnitQuery, question: SliceQuestion, lines: list[bytes]) -> dict[str, Any]:
    analysis = Analysis(query.unit)
    definitions, uses = _flow(analysis, query)
    chosen = _slice(analysis, query, question.forward)
    unit = query.unit
    fields: dict[str, Any] = {
        "status": "ok",
        "direction": "forward" if question.forward else "backward",
        "function": {
            "name": unit.name,
            "kind": unit.kind,
            "line": unit.span.line + 1,
            "endLine": unit.span.end_line + 1,
        },
        "definitions": _places({site.definition for site in definitions}, lines),
        "uses": _places({site.use for site in uses}, lines),
        "truncated": max(len(definitions), len(uses)) > MAX_PLACES,
        "lines": [
            {"line": at + 1, "text": _text(lines[at])}
            for at in lines_of(analysis.statements[id] for id in chosen)
        ],
    }
    if (name := query.definition or query.use) is not None:
        fields["variable"] = _place(name, lines) | {"role": _role(query)}
    return fields


def _slice(analysis: Analysis, query: UnitQuery, forward: bool) -> set[int]:
    ids = {statement.id for statement in query.statements}
    [first, *_] = ids
    if forward:
        if query.definition is not None:
            return analysis.forward_of_definition(first, query.definition)
        return analysis.forward(ids)
    if query.use is not None and query.definition is None:
        return analysis.backward_of_use(first, query.use)
    return analysis.backward(ids)


def _flow(analysis: Analysis, query: UnitQuery) -> tuple[set[DefSite], set[UseSite]]:
    """Return a variable's definitions and readers; for a statement, those of all its variables."""
    definitions: set[DefSite] = set()
    made: set[DefSite] = set()
    for statement in query.statements:
        uses, written = _names_of(query, statement)
        for use in uses:
            definitions |= analysis.definitions_of(statement.id, use)
        made |= {DefSite(statement.id, definition) for definition in written}
    if query.definition is not None and query.use is None:
        definitions = made
    sources = made if query.definition is not None or query.use is None else definitions
    read = (analysis.uses_of(site.statement, site.definition) for site in sources)
    return definitions, set().union(*read)


def _names_of(
    query: UnitQuery, statement: Statement
) -> tuple[Iterable[VariableRead], Iterable[VariableWrite]]:
    """Return what the question is about: its variable, else all of the statement."""
    if query.definition is None and query.use is None:
        return statement.uses, statement.definitions
    return (
        [query.use] if query.use is not None else [],
        [query.definition] if query.definition is not None else [],
    )


def _role(query: UnitQuery) -> str:
    if query.use is None:
        return "definition"
    return "use" if query.definition is None else "update"


def _places(
    names: Iterable[VariableWrite | VariableRead], lines: list[bytes]
) -> list[dict[str, Any]]:
    ordered = sorted(names, key=lambda name: (name.span, name))[:MAX_PLACES]
    return [_place(name, lines) for name in ordered]


def _place(name: VariableWrite | VariableRead, lines: list[bytes]) -> dict[str, Any]:
    span = name.span
    fields: dict[str, Any] = {
        "name": name.name,
        "line": span.line + 1,
        "column": span.column + 1,
        "columnUtf16": utf16_length(lines[span.line][: span.column]) + 1,
        "endColumn": span.end_column + 1,
    }
    if isinstance(name, VariableWrite):
        fields["weak"] = name.weak
    if name.captured:
        fields["captured"] = True
    return fields


def _text(line: bytes) -> str:
    return line.decode("utf-8", "replace").removesuffix("\r")


class UnitQuery(NamedTuple):
    """The unit of a question, and the statements or name that the question points at."""

    unit: Unit
    statements: list[Statement]
    definition: VariableWrite | None = None
    use: VariableRead | None = None


def find_line(
    root: Node, grammar: Grammar, scopes: FileScopes | None, line: int
) -> UnitQuery | None:
    """Return the statements that start on a line, or the one that contains it."""
    for node in _around(root, grammar, line):
        span = span_of(node)
        if span.line == line and node.type in grammar.functions - grammar.named:
            continue  # part of a statement of the enclosing function
        unit = _read(node, grammar, scopes)
        if statements := _statements_at(unit, line):
            return UnitQuery(unit, statements)
        inner = span.line < line < span.end_line
        if inner and node.type in grammar.functions:
            return None
    return None


def find_name(
    root: Node, grammar: Grammar, scopes: FileScopes | None, line: int, column: int
) -> UnitQuery | None:
    """Return the variable at a place, in the innermost unit that defines it."""
    first: UnitQuery | None = None
    for node in _around(root, grammar, line):
        if not _holds(node, line, column):
            continue
        unit = _read(node, grammar, scopes)
        for query in _names_at(unit, line, column):
            if _is_defined(query):
                return query
            first = first or query
    return first


def _around(root: Node, grammar: Grammar, line: int) -> list[Node]:
    """Yield the functions and classes that touch a line, the smallest first, then the file."""
    kinds = grammar.functions | grammar.classes
    nodes = []
    stack = [root]
    while stack:
        node = stack.pop()
        if node.type in kinds:
            nodes.append(node)
        stack += [
            child
            for child in node.named_children
            if child.start_point[0] <= line <= child.end_point[0]
        ]
    nodes.sort(key=lambda node: node.end_byte - node.start_byte)
    return [*nodes, root]


def _read(node: Node, grammar: Grammar, scopes: FileScopes | None) -> Unit:
    name = "<module>" if node.parent is None else _name(node, grammar)
    return Reader(grammar, scopes).unit(node, name)


def _name(node: Node, grammar: Grammar) -> str:
    """Return the qualified name of a unit; an anonymous function takes its variable's name."""
    parts: list[str] = []
    kinds = grammar.functions | grammar.classes
    here: Node | None = node
    while here is not None:
        if here.type in kinds:
            named = field_of(here, "name") or (here.parent and _variable(here.parent))
            parts.append(text_of(named) if named else _NAMELESS)
        here = here.parent
    return ".".join(reversed(parts))


def _variable(parent: Node) -> Node | None:
    return field_of(parent, "name") or field_of(parent, "left") or field_of(parent, "key")


def _statements_at(unit: Unit, line: int) -> list[Statement]:
    steps = [s for s in flatten(unit.body) if s.kind is not StatementKind.BLOCK]
    starting = [s for s in steps if s.span.line == line]
    covering = [s for s in steps if s.span.line <= line <= s.span.end_line]
    innermost = sorted(covering, key=lambda s: s.span.end_line - s.span.line)[:1]
    return starting or innermost


def _names_at(unit: Unit, line: int, column: int) -> Iterator[UnitQuery]:
    """Yield at most one query: a place that is both read and written is one update."""
    for statement in flatten(unit.body):
        made = [d for d in statement.definitions if d.span.holds(line, column)]
        read = [u for u in statement.uses if u.span.holds(line, column)]
        if made or read:
            definition = made[0] if made else None
            yield UnitQuery(unit, [statement], definition, read[0] if read else None)
            return


def _is_defined(query: UnitQuery) -> bool:
    name = query.definition or query.use
    assert name is not None
    return any(
        definition.variable == name.variable
        for statement in flatten(query.unit.body)
        for definition in statement.definitions
    )


def _holds(node: Node, line: int, column: int) -> bool:
    return node.parent is None or span_of(node).holds(line, column)
