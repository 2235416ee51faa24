"""Notes of a call graph: uncertainties in its files, filtered, ordered and truncated."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from gitindex.base.escape import path_fields, safe_text
from gitindex.query.names.project import Project

TRUNCATED = "CALL_GRAPH_NOTES_TRUNCATED"

_TOLD = {
    "multiple_definitions": "a name is defined more than once",
    "conditional_definition": "a definition depends on a condition",
    "star_import": "an import binds names it does not list",
    "dynamic_import": "a module is imported by a computed name",
    "dynamic_attribute": "an attribute is reached by a computed name",
    "eval_exec": "text is run as code",
    "monkey_patch": "an attribute is set from outside",
    "generated_member": "a class has members no line defines",
    "overload_set": "a name stands for several signatures",
    "unresolved_receiver": "a method is called on something of unknown type",
    "reexport_chain": "an imported name is exported again",
    "context_divergence": "the code depends on the platform",
    "macro_or_generated": "a tool wrote it, or macros change it",
    "parse_error": "part of it could not be parsed",
    "encoding_lossy": "some bytes are no text",
}


class GraphNote(NamedTuple):
    """One note about a file or a symbol of the graph."""

    file: str
    type: str  # an ambiguity flag
    symbol: str | None
    line: int | None  # 1-based
    detail: str

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.detail.encode("utf-8", "surrogateescape")).hexdigest()[:16]


def file_notes(project: Project, paths: Iterable[str]) -> Iterator[GraphNote]:
    """Yield notes for the flags of some files."""
    for path in paths:
        source = project.source(path)
        for flag in source.origin.flags if source else ():
            yield GraphNote(path, flag, None, None, _TOLD.get(flag, flag))


def note_fields(
    notes: Iterable[GraphNote], files: set[str], symbols: set[str], limit: int
) -> dict[str, Any]:
    """Return the notes of shown files and symbols, ordered by bytes and truncated, with counts."""
    kept = [n for n in notes if n.file in files and (n.symbol is None or n.symbol in symbols)]
    ordered = sorted(dict.fromkeys(kept), key=note_order)
    shown = ordered[: max(0, limit)]
    cut = len(shown) < len(ordered)
    return {
        "notes": [_fields(note) for note in shown],
        "notesTruncated": cut,
        "totalNoteCount": len(ordered),
        "returnedNoteCount": len(shown),
        "warnings": [TRUNCATED] if cut else [],
    }


def note_order(note: GraphNote) -> tuple[bytes, bytes, bool, bytes, bool, int, bytes]:
    """Sort key: file, type, symbol (nulls last), line (nulls last), digest; as UTF-8 bytes."""
    return (
        os.fsencode(note.file),
        note.type.encode(),
        note.symbol is None,
        (note.symbol or "").encode("utf-8", "surrogateescape"),
        note.line is None,
        note.line or 0,
        note.digest.encode(),
    )


def _fields(note: GraphNote) -> dict[str, Any]:
    shown = path_fields(os.fsencode(note.file))
    fields: dict[str, Any] = {"file": shown["path"], "type": note.type}
    if "pathBytes" in shown:
        fields["fileBytes"] = shown["pathBytes"]
    fields["symbolId"] = safe_text(note.symbol) if note.symbol is not None else None
    return fields | {
        "startLine": note.line,
        "detail": safe_text(note.detail),
        "detailHash": note.digest,
    }
