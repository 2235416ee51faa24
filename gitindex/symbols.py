"""Definitions: by name, by file, of a file outside any repository. Writes nothing."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from gitindex.answer import Served, freshness_fields, receipt_fields
from gitindex.atomic import read_small
from gitindex.errors import Exit, GitIndexError
from gitindex.extract.frames import Request
from gitindex.extract.pool import Extractor, Task
from gitindex.facts import FactsKey, Symbol, decode_facts
from gitindex.git.command import read_blobs
from gitindex.languages import extractor_id, language_of
from gitindex.paths import normalize_rel_path, safe_text
from gitindex.policy import BINARY_PROBE, MAX_PARSE_BYTES
from gitindex.words import Layer

MAX_LIMIT = 1_000


class Wanted(NamedTuple):
    """Which definitions are asked for; an empty field asks for all."""

    name: str = ""
    path: str = ""
    kind: str = ""
    limit: int = 50


class Placed(NamedTuple):
    """A definition and where it is; `parent` is the enclosing definition's qualified name."""

    path: bytes
    oid: str
    symbol: Symbol
    parent: str


def list_symbols(served: Served, wanted: Wanted) -> dict[str, Any]:
    """Definitions of the served tree: exact names first, then those that differ in case."""
    limit = min(wanted.limit, MAX_LIMIT)
    found = _find(served, wanted, limit + 1)
    return _envelope(served, found[:limit], truncated=len(found) > limit)


def outline(served: Served, path: str) -> dict[str, Any]:
    """All definitions of one file, in its order."""
    clean = normalize_rel_path(path)
    row = served.database.row(
        "SELECT f.skip FROM files f JOIN paths p ON p.id=f.path_id WHERE f.worktree_id=? AND p.path=?",
        served.published.worktree_id, os.fsencode(clean),
    )  # fmt: skip
    if row is None:
        raise GitIndexError(
            f"not in the index: {clean}", "is it tracked? see `git ls-files`", Exit.NO
        )
    if row[0] is not None:
        raise GitIndexError(
            f"not indexed: {clean} ({row[0]})", "see `gitindex status --skipped`", Exit.NO
        )
    return _envelope(served, _find(served, Wanted(path=clean), MAX_LIMIT), truncated=False)


def file_symbols(path: str) -> dict[str, Any]:
    """Definitions of any file on disk, extracted now in a child process."""
    try:
        data = read_small(path, MAX_PARSE_BYTES + 1)
    except OSError as error:
        raise GitIndexError(f"cannot read {safe_text(path)}: {error.strerror}") from error
    if data is None:
        raise GitIndexError(f"no such file: {safe_text(path)}", code=Exit.USAGE)
    language = language_of(os.fsencode(path), data[:BINARY_PROBE])
    task = Task(FactsKey("", extractor_id(language)), Request(language, data))
    extractor = Extractor(workers=1)
    try:
        [(_, reply)] = extractor.extract([task])
    finally:
        extractor.close()
    facts = decode_facts(reply.payload)
    symbols = facts.symbols if facts else ()
    placed = [Placed(os.fsencode(path), "", s, _parent(symbols, s)) for s in symbols]
    return {"status": "ok", "symbols": list(_fields(placed, {"": data}))}


def _parent(symbols: tuple[Symbol, ...], symbol: Symbol) -> str:
    return symbols[symbol.parent].qualified if symbol.parent >= 0 else ""


def _find(served: Served, wanted: Wanted, limit: int) -> list[Placed]:
    conditions = ["f.worktree_id=?"]
    values: list[int | str | bytes] = [served.published.worktree_id]
    order = "p.path, s.ordinal"
    if wanted.name:
        last = wanted.name.replace("::", ".").rpartition(".")[2]
        conditions.append("s.name_id IN (SELECT id FROM names WHERE lower(text)=lower(?))")
        values.append(last)
        if last != wanted.name:
            conditions.append("('.' || replace(s.qualified_name, '::', '.')) LIKE ?")
            values.append(f"%.{wanted.name.replace('::', '.')}")
        order = f"n.text<>?, s.exported=0, {order}"
    if wanted.path:
        clean = os.fsencode(normalize_rel_path(wanted.path))
        conditions.append("(p.path=? OR substr(p.path, 1, ?)=?)")
        values += [clean, len(clean) + 1, clean + b"/"]
    if wanted.kind:
        conditions.append("s.kind=?")
        values.append(wanted.kind)
    if wanted.name:
        values.append(last)
    rows = served.database.rows(
        'SELECT p.path, f.oid, n.text, s.qualified_name, s.kind, s.line, s."column", s.start_line,'
        " s.end_line, s.signature, s.doc, s.parent, s.exported,"
        " coalesce((SELECT o.qualified_name FROM symbols o"
        "   WHERE o.blob_id=s.blob_id AND o.ordinal=s.parent), '')"
        " FROM symbols s JOIN names n ON n.id=s.name_id JOIN files f ON f.blob_id=s.blob_id"
        f" JOIN paths p ON p.id=f.path_id WHERE {' AND '.join(conditions)} ORDER BY {order} LIMIT ?",
        *values, limit,
    )  # fmt: skip
    return [_placed(row) for row in rows]


def _placed(row: tuple[Any, ...]) -> Placed:
    path, oid, *fields, exported, parent = row
    return Placed(path, oid.hex(), Symbol._make((*fields, bool(exported))), parent)


def _envelope(served: Served, found: list[Placed], truncated: bool) -> dict[str, Any]:
    contents = read_blobs(served.worktree.root, [placed.oid for placed in found])
    return {
        "status": "ok",
        "codebaseRoot": safe_text(served.worktree.root),
        "symbols": list(_fields(found, contents)),
        "truncated": truncated,
        "freshness": freshness_fields(served),
        "receipt": receipt_fields(served),
    }


def _fields(found: Iterable[Placed], contents: dict[str, bytes]) -> Iterator[dict[str, Any]]:
    lines: dict[str, list[bytes]] = {oid: data.split(b"\n") for oid, data in contents.items()}
    for placed in found:
        symbol = placed.symbol
        fields: dict[str, Any] = {
            "name": symbol.name,
            "qualifiedName": symbol.qualified,
            "kind": symbol.kind,
            "path": safe_text(placed.path),
            "line": symbol.line + 1,
            "column": symbol.column + 1,
            "columnUtf16": _utf16(lines.get(placed.oid, []), symbol) + 1,
            "endLine": symbol.end_line + 1,
            "signature": symbol.signature,
            "exported": symbol.exported,
            "layer": str(Layer.SYNTACTIC),
        }
        if symbol.doc:
            fields["doc"] = symbol.doc
        if placed.parent:
            fields["parent"] = placed.parent
        yield fields


def _utf16(lines: list[bytes], symbol: Symbol) -> int:
    """The column in UTF-16 units, as editors count."""
    if symbol.line >= len(lines):
        return symbol.column
    before = lines[symbol.line][: symbol.column].decode("utf-8", "replace")
    return len(before.encode("utf-16-le")) // 2
