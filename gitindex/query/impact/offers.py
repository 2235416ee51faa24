"""What files offer to others, without loading all their facts: names they define or import."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterable

from gitindex.query.names.project import LISTED, Project, rows_of

Offer = tuple[str, str, str]
"""Name, qualified name and kind of a definition; for an import its names as stored, "" and ""."""

_SYMBOLS = (
    f"SELECT l.path, n.text, s.qualified_name, s.kind FROM {LISTED}"
    " JOIN {symbols} s ON s.blob_id=l.blob_id JOIN {names} n ON n.id=s.name_id"
    " WHERE n.text IN (SELECT value FROM json_each(?)) OR n.text GLOB '*[^A-Za-z0-9_]*'"
)
_IMPORTS = f"SELECT l.path, i.names, '', '' FROM {LISTED} JOIN {{imports}} i ON i.blob_id=l.blob_id"


def offers_of(
    project: Project, paths: Iterable[str], words: Collection[str]
) -> dict[str, set[Offer]]:
    """Return what each of these files imports, and what it defines with one of these words."""
    raw = [os.fsencode(path) for path in paths]
    if project.view.changed():
        project.view.ensure_facts(paths=raw)
    found: dict[bytes, set[Offer]] = {path: set() for path in raw}
    rows = rows_of(project.view, _SYMBOLS, raw, json.dumps(list(words)))
    rows += rows_of(project.view, _IMPORTS, raw)
    for row in rows:
        found[row[0]].add(row[1:])
    return {os.fsdecode(path): offers for path, offers in found.items()}


def names_of(offers: Iterable[Offer]) -> list[str]:
    """Return the names that other files can use."""
    names = []
    for name, _, kind in offers:
        names += [name] if kind else [local for _, local in json.loads(name)]
    return names


_EXPORTS = f"SELECT l.path, e.name FROM {LISTED} JOIN {{exports}} e ON e.blob_id=l.blob_id"


def exports_of(project: Project, path: str) -> frozenset[str]:
    """Return the names that a file lists as exports: `__all__`, `X as X`, `exports.x`, `export {x}`."""
    project.source(path)  # extracts the facts of an edited file
    return frozenset(name for _, name in rows_of(project.view, _EXPORTS, [os.fsencode(path)]))
