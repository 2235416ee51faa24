"""Definitions: by name, by file, or of a file outside any repository. Writes nothing."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from gitindex.base.atomic_file import read_start
from gitindex.base.errors import Exit, GitIndexError
from gitindex.base.escape import path_fields, safe_text, utf16_length
from gitindex.base.path_kind import file_kinds
from gitindex.base.vocabulary import BINARY_PROBE, MAX_PARSE_BYTES, Layer
from gitindex.base.worktree import Worktree, normalize_rel_path
from gitindex.extract.frames import WorkRequest
from gitindex.languages.facts import FactsKey, Symbol, decode_facts
from gitindex.languages.syntax.kinds import DATA_KINDS, TYPES, VALUES
from gitindex.languages.table import extractor_id, language_of
from gitindex.query.near_names import (
    INSIDE,
    MAX_QUERY,
    SAME_LETTERS,
    NameMemory,
    containing_names,
    escape_like,
    near_names,
)
from gitindex.semantic.coverage import layer_fields, read_coverage
from gitindex.semantic.scip.facts import qualified
from gitindex.store import semantic
from gitindex.view.tree import TreeView

if TYPE_CHECKING:
    from gitindex.base.answers import SymbolRow, SymbolsAnswer
    from gitindex.extract.pool import Extractor

MAX_LIMIT = 1_000
ALL = 1 << 40

MAX_SCANNED = 200
"""Files with the name that are parsed for one answer without an index: some seconds."""
_BELOW = {*VALUES, "field", "property", "enumerator", "prototype", "constructor"}
"""Kinds that are listed after the types and functions of their name."""
MAX_NEAR = 200
"""Similar names whose definitions are looked up."""
_COLUMNS = (
    'SELECT f.path, n.text, s.qualified_name, s.kind, s.line, s."column", s.start_line,'
    " s.end_line, s.signature, s.doc, s.parent, s.exported,"
    " coalesce((SELECT o.qualified_name FROM {{symbols}} o"
    "   WHERE o.blob_id=s.blob_id AND o.ordinal=s.parent), ''), f.source"
)
_WHERE = " WHERE {where} ORDER BY n.text<>?, s.exported=0, f.path, s.ordinal LIMIT ?"
_SELECT = (
    f"{_COLUMNS} FROM {{{{symbols}}}} s JOIN {{{{names}}}} n ON n.id=s.name_id"
    f" JOIN {{{{live}}}} f ON f.blob_id=s.blob_id{_WHERE}"
)
_SELECT_NAMED = (
    f"{_COLUMNS} FROM {{{{names}}}} n CROSS JOIN {{{{symbols}}}} s ON s.name_id=n.id"
    f" CROSS JOIN {{{{live}}}} f ON f.blob_id=s.blob_id{_WHERE}"
)
"""Names first: SQLite has no statistics and would begin with the files, 60,000 of them."""

_PARTS = frozenset({"module", "parameter", "type_parameter", "meta", "constructor"})
"""Kinds that indexers list as definitions, but that users do not search for."""


class SymbolQuery(NamedTuple):
    """Options of a symbol query; an empty field selects all."""

    name: str = ""
    path: str = ""
    kind: str = ""
    limit: int = 50
    exact: bool = True  # False: similar names follow the equal ones


class PlacedSymbol(NamedTuple):
    """A definition and its place; `parent` is the enclosing definition's qualified name."""

    path: bytes
    symbol: Symbol
    parent: str
    source: str = ""
    layer: Layer = Layer.SYNTACTIC


def list_symbols(
    view: TreeView, query: SymbolQuery, memory: NameMemory | None = None
) -> SymbolsAnswer:
    """Return definitions of the tree: exact names first, then other case, then similar ones.

    `memory`: kept by a process that answers many queries.
    """
    limit = min(query.limit, MAX_LIMIT)
    if query.name and query.exact:
        view.footprint.words.add(_last(query.name))
        view.ensure_facts(words=[_last(query.name)])
    else:
        view.ensure_facts()
    if query.exact and query.name:
        return _with_footprint(view, _answer(view, query, limit))
    if not query.name:
        return _answer(view, query, limit)
    return _near(view, query, limit, memory)


def all_symbols(view: TreeView) -> SymbolsAnswer:
    """Return every definition of the tree without a limit, for an export."""
    view.ensure_facts()
    return _answer(view, SymbolQuery(), ALL)


def suggestions(view: TreeView, name: str, limit: int = 5) -> list[str]:
    """Return names of live definitions that a mistyped `name` may mean."""
    names = [near.name for near in near_names(view, _last(name), MAX_NEAR)]
    definitions = _find_names(view, SymbolQuery(), names, MAX_NEAR) if names else []
    return list(dict.fromkeys(placed.symbol.name for placed in definitions))[:limit]


def named_symbols(
    view: TreeView, query: SymbolQuery, names: list[str], limit: int
) -> list[SymbolRow]:
    """Return definitions with exactly these names, in the order of the names."""
    definitions = _find_names(view, query, names, limit) if names else []
    return list(_fields(definitions, view.read({placed.path for placed in definitions})))


def _near(
    view: TreeView, query: SymbolQuery, limit: int, memory: NameMemory | None
) -> SymbolsAnswer:
    """Return the definitions of a name, followed by those of names that contain it.

    Without any, `near` suggests names that are similar.
    """
    found_near = containing_names(view, query.name, MAX_NEAR, memory)
    simple = _last(query.name) == query.name and len(query.name) <= MAX_QUERY
    same = [near.name for near in found_near if near.rank <= SAME_LETTERS]
    answer = _answer(view, query, limit, same if simple else None)
    room = limit - len(answer["symbols"])
    names = [near.name for near in found_near if SAME_LETTERS < near.rank <= INSIDE]
    if room > 0 and names:
        definitions = _find_names(view, query, names, room + 1)
        contents = view.read({placed.path for placed in definitions[:room]})
        answer["symbols"] += _fields(definitions[:room], contents)
        answer["truncated"] = len(definitions) > room
    if not answer["symbols"]:
        answer["near"] = suggestions(view, query.name)
    return answer


def missing_file(view: TreeView, path: bytes) -> GitIndexError:
    """Return an error that says why a path has no content: it is a folder, or not in the tree."""
    shown = safe_text(path)
    inside = "SELECT 1 FROM {live} f WHERE f.path>? AND f.path<? LIMIT 1"
    if view.rows(inside, path + b"/", path + b"0"):
        hint = f"give a file of it; `gitindex symbols --path {shown}` lists its definitions"
        return GitIndexError(f"{shown} is a folder", hint, Exit.NO)
    return GitIndexError(f"not in the tree: {shown}", "is it tracked? see `git ls-files`", Exit.NO)


def outline(view: TreeView, path: str) -> SymbolsAnswer:
    """Return all definitions of one file, in its order."""
    clean = normalize_rel_path(path)
    view.footprint.paths.add(clean)
    view.ensure_facts()
    rows = view.rows("SELECT f.skip FROM {live} f WHERE f.path=?", os.fsencode(clean))
    if not rows:
        raise missing_file(view, os.fsencode(clean))
    if rows[0][0] is not None:
        raise GitIndexError(
            f"not indexed: {safe_text(clean)} ({rows[0][0]})",
            "see `gitindex status --skipped`",
            Exit.NO,
        )
    return _with_footprint(view, _answer(view, SymbolQuery(path=clean), MAX_LIMIT))


def _with_footprint(view: TreeView, answer: SymbolsAnswer) -> SymbolsAnswer:
    """Return an answer that depends only on the words and files that were noted."""
    return {**answer, "receipt": view.receipt()}


def _file_rows(
    extractor: Extractor, path: bytes, data: bytes, query: SymbolQuery
) -> list[SymbolRow]:
    """Return the requested definitions of one file, extracted now in a child process."""
    from gitindex.extract.pool import Task  # lazily: the index needs no process

    language = language_of(path, data[:BINARY_PROBE])
    task = Task(FactsKey("", extractor_id(language)), WorkRequest(language, data))
    [(_, reply)] = extractor.extract([task])
    facts = decode_facts(reply.payload)
    symbols = facts.symbols if facts else ()
    placed = [PlacedSymbol(path, s, _parent(symbols, s)) for s in symbols]
    return list(_fields([one for one in placed if _matches(one, query)], {path: data}))


def scan_symbols(worktree: Worktree, query: SymbolQuery, why: str) -> SymbolsAnswer:
    """Return definitions of a name in the files on disk that contain it, without an index."""
    from gitindex.extract.pool import Extractor  # lazily: the index needs no process
    from gitindex.view.live_scan import fallback_envelope, live_files, live_paths

    name = _last(query.name).encode()
    paths = live_paths(worktree, bool)
    texts = {}
    for path, data in live_files(worktree, paths):
        if name in data and len(data) <= MAX_PARSE_BYTES:
            texts[path] = data
        if len(texts) > MAX_SCANNED:
            break
    cut = len(texts) > MAX_SCANNED
    rows: list[SymbolRow] = []
    extractor = Extractor(workers=1)
    try:
        for path, data in list(texts.items())[:MAX_SCANNED]:
            rows += _file_rows(extractor, path, data, query)
    finally:
        extractor.close()
    shown = rows[: query.limit]
    answer = fallback_envelope(
        worktree, why, symbols=shown, truncated=cut or len(shown) < len(rows)
    )
    return cast("SymbolsAnswer", answer)


def file_symbols(path: str) -> SymbolsAnswer:
    """Return the definitions of any file on disk, extracted now in a child process."""
    from gitindex.extract.pool import Extractor  # lazily: the index needs no process

    try:
        data = read_start(path, MAX_PARSE_BYTES + 1)
    except OSError as error:
        raise GitIndexError(f"cannot read {safe_text(path)}: {error.strerror}") from error
    if data is None:
        raise GitIndexError(f"no such file: {safe_text(path)}", code=Exit.USAGE)
    extractor = Extractor(workers=1)
    try:
        rows = _file_rows(extractor, os.fsencode(path), data, SymbolQuery())
    finally:
        extractor.close()
    return cast("SymbolsAnswer", {"status": "ok", "symbols": rows})  # not part of a tree: no proof


def _parent(symbols: tuple[Symbol, ...], symbol: Symbol) -> str:
    return symbols[symbol.parent].qualified if symbol.parent >= 0 else ""


def _last(name: str) -> str:
    return name.replace("::", ".").rpartition(".")[2]


def _find_names(
    view: TreeView, query: SymbolQuery, names: list[str], limit: int
) -> list[PlacedSymbol]:
    """Return definitions with these names, in the order of the names."""
    place = {name: number for number, name in enumerate(names)}
    conditions, values = _limits(query)
    conditions.append(f"n.text IN ({','.join('?' * len(names))})")
    rows = view.rows(_SELECT_NAMED.format(where=" AND ".join(conditions)), *values, *names, "", -1)
    definitions = [_placed(row) for row in rows]
    ordered = sorted(definitions, key=lambda p: (place[p.symbol.name], *_rank(p, p.symbol.name)))
    return ordered[:limit]


def _find(
    view: TreeView, query: SymbolQuery, limit: int, same: list[str] | None = None
) -> list[PlacedSymbol]:
    """Return definitions; `same`: the names that equal the query's but for case, if known."""
    if same is not None:
        return _find_names(view, query, same, limit) if same else []
    conditions, values = _limits(query)
    last = _last(query.name)
    if query.name:
        conditions.append("n.text LIKE ? ESCAPE '\\'")  # no wildcard: only the case may differ
        values.append(escape_like(last))
        if last != query.name:
            conditions.append("('.' || replace(s.qualified_name, '::', '.')) LIKE ?")
            values.append(f"%.{query.name.replace('::', '.')}")
    select = _SELECT_NAMED if query.name else _SELECT
    rows = view.rows(
        select.format(where=" AND ".join(conditions)),
        *values,
        last,
        limit if query.name else -1,
    )
    definitions = [_placed(row) for row in rows]
    return sorted(definitions, key=lambda placed: _rank(placed, last, not query.path))[:limit]


def _limits(query: SymbolQuery) -> tuple[list[str], list[str | bytes | int]]:
    """Return SQL conditions for the requested path and kind, and their values."""
    conditions, values = ["1"], list[str | bytes | int]()
    if query.path:
        clean = os.fsencode(normalize_rel_path(query.path))
        conditions.append("(f.path=? OR substr(f.path, 1, ?)=?)")
        values += [clean, len(clean) + 1, clean + b"/"]
    if query.kind:
        conditions.append("s.kind=?")
        values.append(query.kind)
    return conditions, values


def _answer(
    view: TreeView, query: SymbolQuery, limit: int, same: list[str] | None = None
) -> SymbolsAnswer:
    definitions = _find(view, query, limit + 1, same)
    coverage = read_coverage(view)
    if coverage.current:
        definitions = list(_merged(definitions, _known(view, query, definitions), query))
        definitions.sort(key=lambda placed: _rank(placed, _last(query.name), not query.path))
    contents = view.read({placed.path for placed in definitions[:limit]})
    return cast(
        "SymbolsAnswer",
        view.envelope(
            symbols=list(_fields(definitions[:limit], contents)),
            truncated=len(definitions) > limit,
            **layer_fields(coverage, {placed.path for placed in definitions}),
        ),
    )


def _known(
    view: TreeView, query: SymbolQuery, symbols: list[PlacedSymbol]
) -> dict[tuple[bytes, int, int], semantic.SemanticDefinition]:
    """Return the semantic definitions by place: of the requested name, else of the same files."""
    if query.name:
        named = semantic.find_identities(view.rows, _last(query.name))
        definitions = semantic.definitions(view.rows, named)
    else:
        definitions = semantic.file_definitions(view.rows, {placed.path for placed in symbols})
    shared = (one for one in definitions if not one.identity.startswith("local "))
    return {(one.path, one.line, one.column): one for one in shared}


def _merged(
    symbols: list[PlacedSymbol],
    known: dict[tuple[bytes, int, int], semantic.SemanticDefinition],
    query: SymbolQuery,
) -> Iterator[PlacedSymbol]:
    """Yield each definition once, preferring the layer; then those only the layer has."""
    for placed in symbols:
        definition = known.pop((placed.path, placed.symbol.line, placed.symbol.column), None)
        yield placed if definition is None else _typed(placed, definition)
    for definition in known.values():
        placed = _seen_only_there(definition)
        if definition.kind not in _PARTS and _matches(placed, query):
            yield placed


def _typed(placed: PlacedSymbol, definition: semantic.SemanticDefinition) -> PlacedSymbol:
    """Prefer the layer's signature for values; for types the source has more detail."""
    symbol = placed.symbol
    if symbol.kind not in TYPES and symbol.name in definition.signature:
        symbol = symbol._replace(signature=definition.signature)
    return placed._replace(
        symbol=symbol._replace(doc=symbol.doc or definition.doc), layer=Layer.SEMANTIC
    )


def _seen_only_there(definition: semantic.SemanticDefinition) -> PlacedSymbol:
    full = qualified(definition.identity)
    symbol = Symbol(
        definition.name,
        full,
        definition.kind,
        definition.line,
        definition.column,
        definition.start_line,
        definition.end_line,
        definition.signature,
        definition.doc,
        -1,
        definition.exported,
    )
    return PlacedSymbol(
        definition.path, symbol, full.rpartition(".")[0], definition.source, Layer.SEMANTIC
    )


def _matches(placed: PlacedSymbol, query: SymbolQuery) -> bool:
    """Return whether a definition meets the query."""
    clean = os.fsencode(normalize_rel_path(query.path)) if query.path else b""
    name = query.name.replace("::", ".")
    return (
        (not clean or placed.path == clean or placed.path.startswith(clean + b"/"))
        and (not query.kind or placed.symbol.kind == query.kind)
        and f".{placed.symbol.qualified}".endswith(f".{name}" if name else "")
    )


def _rank(
    placed: PlacedSymbol, name: str, code_first: bool = True
) -> tuple[bool | int | bytes, ...]:
    """Return the sort key of a definition; in an outline of one file, data keeps its place.

    Of one name: code of the project before its tests and examples, types and functions before values.
    """
    symbol = placed.symbol
    named = bool(name)
    return (
        named and symbol.name != name,
        code_first and symbol.kind in DATA_KINDS,
        named and code_first and any(file_kinds(os.fsdecode(placed.path))),
        named and code_first and symbol.kind in _BELOW,
        named and not symbol.exported,
        placed.path,
        symbol.start_line,
        symbol.line,
    )


def _placed(row: tuple[Any, ...]) -> PlacedSymbol:
    path, *fields, exported, parent, source = row
    return PlacedSymbol(path, Symbol._make((*fields, bool(exported))), parent, source)


def _fields(symbols: Iterable[PlacedSymbol], contents: dict[bytes, bytes]) -> Iterator[SymbolRow]:
    lines = {path: data.split(b"\n") for path, data in contents.items()}
    for placed in symbols:
        symbol, shown = placed.symbol, path_fields(placed.path)
        fields: SymbolRow = {
            "name": symbol.name,
            "qualifiedName": symbol.qualified,
            "kind": symbol.kind,
            "path": shown["path"],
            "line": symbol.line + 1,
            "column": symbol.column + 1,
            "columnUtf16": _utf16_column(lines.get(placed.path, []), symbol) + 1,
            "endLine": symbol.end_line + 1,
            "signature": symbol.signature,
            "exported": symbol.exported,
            "layer": str(placed.layer),
        }
        if "pathBytes" in shown:
            fields["pathBytes"] = shown["pathBytes"]
        if symbol.doc:
            fields["doc"] = symbol.doc
        if placed.parent:
            fields["parent"] = placed.parent
        if placed.source:
            fields["source"] = placed.source
        yield fields


def _utf16_column(lines: list[bytes], symbol: Symbol) -> int:
    if symbol.line >= len(lines):
        return symbol.column
    return utf16_length(lines[symbol.line][: symbol.column])
