"""Answers one slice question about one text: bytes in, fields out. Runs in a killable child."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from gitindex.base.escape import utf16_length
from gitindex.languages.scopes.model import FileScopes
from gitindex.languages.scopes.read import read_scopes
from gitindex.languages.slicing import ecma, go, java, python
from gitindex.languages.slicing.analysis import Analysis, lines_of
from gitindex.languages.slicing.flow import DefSite, UseSite
from gitindex.languages.slicing.graph import TooLarge
from gitindex.languages.slicing.ir import Statement, VariableRead, VariableWrite
from gitindex.languages.slicing.units import UnitQuery, find_line, find_name
from gitindex.languages.slicing.wire import SliceQuestion, decode
from gitindex.languages.syntax.extract import MAX_BYTES, MAX_NESTING, nesting
from gitindex.languages.syntax.parser import parse_tree
from gitindex.languages.syntax.source import read_source

if TYPE_CHECKING:
    from tree_sitter import Node

GRAMMARS = {
    "python": python.GRAMMAR,
    "javascript": ecma.GRAMMAR,
    "typescript": ecma.GRAMMAR,
    "tsx": ecma.GRAMMAR,
    "go": go.GRAMMAR,
    "java": java.GRAMMAR,
}

MAX_PLACES = 1_000
"""Most definitions and uses in one answer; the lines are never cut."""


def answer(data: bytes, language: str, asked: bytes) -> bytes:
    """Return a worker's reply to an encoded question."""
    return json.dumps(slice_text(data, language, decode(asked))).encode()


def slice_text(data: bytes, language: str, question: SliceQuestion) -> dict[str, Any]:
    """Return the slice of a text, or the reason why there is none."""
    text = read_source(data).data
    lines = text.split(b"\n")
    if refusal := _refuse(lines, language, question):
        return refusal
    root = parse_tree(text, language)
    if root is None:
        return _no("unsupported", f"no grammar for {language} is installed")
    grammar, line = GRAMMARS[language], question.line - 1
    scopes = scopes_of(root, text, language)
    if question.column is None:
        found = find_line(root, grammar, scopes, line)
    else:
        found = find_name(root, grammar, scopes, line, question.column - 1)
    if found is None:
        what = "statement" if question.column is None else "variable"
        return _no("not_found", f"no {what} of a function or of the file {_where(question)}")
    try:
        return _fields(found, question, lines) | {"partial": root.has_error}
    except TooLarge:
        return _no("error", f"the function {_where(question)} is too large to slice")


def scopes_of(root: Node, text: bytes, language: str) -> FileScopes | None:
    """Return the scopes of a parsed text; None if it is too deeply nested."""
    if len(text) > MAX_BYTES or nesting(text) > MAX_NESTING:
        return None
    payload = read_scopes(root, text, language)
    return FileScopes(payload, language, text) if payload else None


def _refuse(lines: list[bytes], language: str, question: SliceQuestion) -> dict[str, Any] | None:
    if language not in GRAMMARS:
        return _no(
            "unsupported", f"no slices for {language} files, only for {', '.join(sorted(GRAMMARS))}"
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


def _fields(asked: UnitQuery, question: SliceQuestion, lines: list[bytes]) -> dict[str, Any]:
    analysis = Analysis(asked.unit)
    definitions, uses = _flow(analysis, asked)
    chosen = _slice(analysis, asked, question.forward)
    unit = asked.unit
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
    if (name := asked.definition or asked.use) is not None:
        fields["variable"] = _place(name, lines) | {"role": _role(asked)}
    return fields


def _slice(analysis: Analysis, asked: UnitQuery, forward: bool) -> set[int]:
    ids = {statement.id for statement in asked.statements}
    [first, *_] = ids
    if forward:
        if asked.definition is not None:
            return analysis.forward_of_definition(first, asked.definition)
        return analysis.forward(ids)
    if asked.use is not None and asked.definition is None:
        return analysis.backward_of_use(first, asked.use)
    return analysis.backward(ids)


def _flow(analysis: Analysis, asked: UnitQuery) -> tuple[set[DefSite], set[UseSite]]:
    """Return a variable's definitions and readers; for a statement, those of all its variables."""
    definitions: set[DefSite] = set()
    made: set[DefSite] = set()
    for statement in asked.statements:
        uses, written = _names_of(asked, statement)
        for use in uses:
            definitions |= analysis.definitions_of(statement.id, use)
        made |= {DefSite(statement.id, definition) for definition in written}
    if asked.definition is not None and asked.use is None:
        definitions = made
    sources = made if asked.definition is not None or asked.use is None else definitions
    read = (analysis.uses_of(site.statement, site.definition) for site in sources)
    return definitions, set().union(*read)


def _names_of(
    asked: UnitQuery, statement: Statement
) -> tuple[Iterable[VariableRead], Iterable[VariableWrite]]:
    """Return what the question is about: its variable, else all of the statement."""
    if asked.definition is None and asked.use is None:
        return statement.uses, statement.definitions
    return (
        [asked.use] if asked.use is not None else [],
        [asked.definition] if asked.definition is not None else [],
    )


def _role(asked: UnitQuery) -> str:
    if asked.use is None:
        return "definition"
    return "use" if asked.definition is None else "update"


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
