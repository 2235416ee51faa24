"""Export the index in other tools' formats: ctags for editors, SCIP and JSON for programs."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator

from gitindex.base.pattern import compile_later
from gitindex.base.version import __version__
from gitindex.languages.facts import BlobFacts, FactsKey, Symbol
from gitindex.view.tree import TreeView

_UTF8 = _DEFINITION = 1  # values of SCIP's enumerations


def export(view: TreeView, form: str, folder: str = "") -> Iterator[bytes]:
    """Yield the index as ctags, scip, json or sqlite, in pieces; `folder` is the output's."""
    if form == "ctags":
        return _ctags(view, folder or view.worktree.root)
    if form == "sqlite":
        from gitindex.query.export_sqlite import tables  # lazily: the other formats need no SQL

        return iter([tables(view, _files(view))])
    return _scip(view) if form == "scip" else _json(view)


def _files(view: TreeView) -> Iterator[tuple[bytes, str, BlobFacts]]:
    """Yield every path of the served tree that has facts, with its blob id."""
    view.ensure_facts()
    rows = view.rows(
        "SELECT f.path, b.oid, b.extractor FROM {live} f JOIN {blobs} b ON b.id=f.blob_id"
        " WHERE b.status<>'skipped'"
    )
    for path, oid, extractor in sorted(rows):
        facts = view.facts(FactsKey(oid.hex(), extractor))
        if facts is not None:
            yield path, oid.hex(), facts


def _ctags(view: TreeView, folder: str) -> Iterator[bytes]:
    """Yield extended tags, sorted by bytes and addressed by line, for binary search in editors.

    Paths are relative to the folder of the tags file.
    """
    up = os.path.relpath(view.worktree.root, os.path.realpath(folder))
    prefix = b"" if up == "." else os.fsencode(f"{up}/")
    yield b"!_TAG_FILE_FORMAT\t2\t/extended format/\n"
    yield b"!_TAG_FILE_SORTED\t1\t/0=unsorted, 1=sorted, 2=foldcase/\n"
    yield f"!_TAG_PROGRAM_NAME\tgitindex\t//\n!_TAG_PROGRAM_VERSION\t{__version__}\t//\n".encode()
    yield from sorted(
        _tag(prefix + path, symbol)
        for path, _, facts in _files(view)
        for symbol in facts.symbols
        if _fits_a_tag(prefix + path) and _fits_a_tag(symbol.name.encode())
    )


_CONTROL = compile_later(rb"[\x00-\x1f\x7f]|\xc2[\x80-\x9f]")


def _fits_a_tag(text: bytes) -> bool:
    """Return whether a text has no control characters: tags cannot quote, terminals obey them."""
    return bool(text) and _CONTROL.search(text) is None


def _tag(path: bytes, symbol: Symbol) -> bytes:
    outer = symbol.qualified.rpartition(".")[0]
    scope = f"\tscope:{outer}" if outer and _fits_a_tag(outer.encode()) else ""
    tail = f'{symbol.line + 1};"\tkind:{symbol.kind}\tline:{symbol.line + 1}{scope}\n'
    return symbol.name.encode() + b"\t" + path + b"\t" + tail.encode()


def _json(view: TreeView) -> Iterator[bytes]:
    """Yield one JSON object per line: the path and its facts."""
    for path, oid, facts in _files(view):
        fields = {
            "path": _utf8(path),
            "blob": oid,
            "language": facts.language,
            "status": facts.status,
            "symbols": [symbol._asdict() for symbol in facts.symbols],
            "imports": [item._asdict() for item in facts.imports],
            "exports": facts.exports,
            "interfaceHash": facts.interface_hash,
            "flags": facts.flags,
        }
        yield json.dumps(fields, ensure_ascii=True).encode() + b"\n"


def _scip(view: TreeView) -> Iterator[bytes]:
    """Yield a SCIP index as pieces of one message, which protobuf joins.

    Definitions only: references are not resolved here.
    """
    from gitindex.semantic.scip.schema import messages  # lazily: protobuf is optional

    known = messages()
    tool = {"name": "gitindex", "version": __version__}
    root = f"file://{_utf8(os.fsencode(view.worktree.root))}"
    metadata = {"tool_info": tool, "project_root": root, "text_document_encoding": _UTF8}
    yield known["Index"](metadata=metadata).SerializeToString()
    for path, _, facts in _files(view):
        document = known["Document"](
            relative_path=_utf8(path),
            language=facts.language,
            position_encoding=_UTF8,
            occurrences=[_occurrence(path, symbol) for symbol in facts.symbols],
        )
        yield known["Index"](documents=[document]).SerializeToString()


def _occurrence(path: bytes, symbol: Symbol) -> dict[str, object]:
    end = symbol.column + len(symbol.name.encode())
    outer = [part for part in symbol.qualified.split(".")[:-1] if part]
    owner = "".join(f"{_escape(part)}#" for part in outer)
    name = f"gitindex . . . {_descriptor(path)}/{owner}{_escape(symbol.name)}."
    return {
        "range": [symbol.line, symbol.column, end],
        "symbol": name,
        "symbol_roles": _DEFINITION,
    }


def _utf8(path: bytes) -> str:
    return path.decode("utf-8", "backslashreplace")


def _descriptor(path: bytes) -> str:
    return "/".join(_escape(part) for part in _utf8(path).split("/"))


def _escape(name: str) -> str:
    simple = all(c.isascii() and (c.isalnum() or c in "_+-$") for c in name)
    return name if simple and name else "`" + name.replace("`", "``") + "`"
