"""`gitindex lsp`: the Language Server Protocol over stdio. The only importer of pygls."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial
from typing import Any
from urllib.parse import unquote, urlsplit

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer
from pygls.uris import from_fs_path

from gitindex.base.errors import GitIndexError
from gitindex.base.escape import counted
from gitindex.base.version import __version__
from gitindex.base.vocabulary import Direction
from gitindex.base.worktree import Worktree, find_worktree
from gitindex.edit.patch import FileEdit
from gitindex.lsp.session import EditorFile, EditorSession

_IN_CODE = ("receiver", "unbound", "key")
"""Possible uses that an editor lists after the references."""
KINDS = {
    "accessor": lsp.SymbolKind.Property,
    "enumerator": lsp.SymbolKind.EnumMember,
    "heading": lsp.SymbolKind.String,
    "macro": lsp.SymbolKind.Function,
    "protocol": lsp.SymbolKind.Interface,
    "prototype": lsp.SymbolKind.Function,
    "trait": lsp.SymbolKind.Interface,
    "type": lsp.SymbolKind.Class,
    "union": lsp.SymbolKind.Struct,
}
"""Kinds of definitions that the protocol calls otherwise; one that it has not is a variable."""
MAX_HOVERED = 3
"""Definitions that a hover shows: more would hide the code below it."""


def make_server() -> LanguageServer:
    """Return a server with all features registered; `start_io()` serves."""
    server = LanguageServer(
        "gitindex", __version__, text_document_sync_kind=lsp.TextDocumentSyncKind.Incremental
    )
    session = EditorSession()
    _register_texts(server, session)
    _register_questions(server, session)
    _register_calls(server, session)
    _register_rename(server, session)
    _register_code_lens(server, session)
    _register_commands(server, session)
    return server


def _register_texts(server: LanguageServer, session: EditorSession) -> None:
    def keep(uri: str) -> None:
        file = _path(uri)
        if file is not None:
            session.buffers[file] = server.workspace.get_text_document(uri).source.encode()

    @server.feature(lsp.TEXT_DOCUMENT_DID_OPEN)
    def opened(params: lsp.DidOpenTextDocumentParams) -> None:
        keep(params.text_document.uri)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CHANGE)
    def changed(params: lsp.DidChangeTextDocumentParams) -> None:
        keep(params.text_document.uri)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CLOSE)
    def closed(params: lsp.DidCloseTextDocumentParams) -> None:
        session.buffers.pop(_path(params.text_document.uri) or "", None)


def _at_place(server: LanguageServer, session: EditorSession, ask: Any, params: Any) -> Any:
    """Return the file and what is known of the name at a position; None where there is no name."""
    file = _file(session, params.text_document.uri)
    try:
        return file, ask(file, *_place(server, params)) if file else None
    except GitIndexError:
        return file, None


def _register_questions(server: LanguageServer, session: EditorSession) -> None:
    here = partial(_at_place, server, session)

    @server.feature(lsp.WORKSPACE_SYMBOL)
    def workspace_symbol(params: lsp.WorkspaceSymbolParams) -> list[lsp.SymbolInformation]:
        found = []
        for root in _roots(server):
            for symbol in session.symbols(root, params.query) if params.query else ():
                found.append(_symbol_information(root, symbol))
        return found

    @server.feature(lsp.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    def document_symbol(params: lsp.DocumentSymbolParams) -> list[lsp.DocumentSymbol]:
        file = _file(session, params.text_document.uri)
        try:
            return _nested(session.outline(file)) if file else []
        except GitIndexError:
            return []  # a file without facts has no definitions to show

    def locations(ask: Any, params: Any) -> list[lsp.Location]:
        file, found = here(ask, params)
        return [_location(file.worktree.root, one) for one in found or ()]

    @server.feature(lsp.TEXT_DOCUMENT_DEFINITION)
    def definition(params: lsp.DefinitionParams) -> list[lsp.Location]:
        return locations(session.definitions, params)

    @server.feature(lsp.TEXT_DOCUMENT_IMPLEMENTATION)
    def implementation(params: lsp.ImplementationParams) -> list[lsp.Location]:
        return locations(partial(session.definitions, implementations=True), params)

    @server.feature(lsp.TEXT_DOCUMENT_REFERENCES)
    def references(params: lsp.ReferenceParams) -> list[lsp.Location]:
        file, answer = here(session.references, params)
        if answer is None:
            return []
        listed = list(answer["references"])
        listed += [row for row in answer.get("possible", ()) if row["why"] in _IN_CODE]
        if params.context.include_declaration:
            listed = [*answer["definitions"], *listed]
        return [_location(file.worktree.root, one) for one in listed]

    @server.feature(lsp.TEXT_DOCUMENT_HOVER)
    def hover(params: lsp.HoverParams) -> lsp.Hover | None:
        _, found = here(session.definitions, params)
        lines = [
            f"`{one['signature'] or one['name']}` — {one['path']}:{one['line']}"
            for one in found or ()
        ]
        text = lsp.MarkupContent(lsp.MarkupKind.Markdown, "\n\n".join(lines[:MAX_HOVERED]))
        return lsp.Hover(text) if lines else None

    @server.feature(lsp.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT)
    def highlight(params: lsp.DocumentHighlightParams) -> list[lsp.DocumentHighlight]:
        file, answer = here(session.references, params)
        listed = [*answer["definitions"], *answer["references"]] if answer else []
        own = [one for one in listed if one["path"] == file.path]
        return [lsp.DocumentHighlight(_location("/", one).range) for one in own]


def _register_rename(server: LanguageServer, session: EditorSession) -> None:
    @server.feature(lsp.TEXT_DOCUMENT_RENAME)
    def rename(params: lsp.RenameParams) -> lsp.WorkspaceEdit | None:
        file = _file(session, params.text_document.uri)
        try:
            edits = session.rename(file, *_place(server, params), params.new_name) if file else []
        except GitIndexError as error:
            raise JsonRpcException(error.message, lsp.LSPErrorCodes.RequestFailed) from None
        changes = {_uri(file.worktree.root, one.path): _line_edits(one) for one in edits if file}
        return lsp.WorkspaceEdit(changes=changes) if changes else None


def _line_edits(edit: FileEdit) -> list[lsp.TextEdit]:
    """Return the lines that differ: a rename of a symbol adds and removes none."""
    old, new = (text.decode(errors="replace").split("\n") for text in (edit.old, edit.new))
    return [
        lsp.TextEdit(
            lsp.Range(
                lsp.Position(number, 0),
                lsp.Position(number, len(before.encode("utf-16-le")) // 2),
            ),
            after,
        )
        for number, (before, after) in enumerate(zip(old, new, strict=True))
        if before != after
    ]


def _register_code_lens(server: LanguageServer, session: EditorSession) -> None:
    shows_lenses = False

    @server.feature(lsp.INITIALIZE)
    def begin(params: lsp.InitializeParams) -> None:
        nonlocal shows_lenses
        options = params.initialization_options
        shows_lenses = isinstance(options, dict) and options.get("codeLens") is True

    @server.feature(lsp.TEXT_DOCUMENT_CODE_LENS)
    def code_lens(params: lsp.CodeLensParams) -> list[lsp.CodeLens]:
        file = _file(session, params.text_document.uri) if shows_lenses else None
        try:
            rows = session.outline(file, callers=True) if file else []
        except GitIndexError:
            return []  # a file without facts
        return [
            lsp.CodeLens(_name_range(row), lsp.Command(counted(row["callers"], "callers"), ""))
            for row in rows
            if row["callers"] is not None
        ]


def _register_commands(server: LanguageServer, session: EditorSession) -> None:
    """Whatever the protocol has no request for: an editor asks any question of the table."""

    def worktree(uri: str) -> Worktree:
        path = _path(uri) or ""
        return find_worktree(path if os.path.isdir(path) else os.path.dirname(path))

    @server.command("gitindex.ask")
    def ask(name: str, params: dict[str, Any], uri: str) -> dict[str, Any]:
        try:
            return session.ask(worktree(uri), name, params)
        except GitIndexError as error:
            return {"status": "error", "message": error.message, "text": [error.message]}

    @server.command("gitindex.status")
    def state(uri: str) -> dict[str, str]:
        try:
            return session.state(worktree(uri))
        except GitIndexError as error:
            return {"state": "none", "line": error.message}


def _register_calls(server: LanguageServer, session: EditorSession) -> None:
    def callees(file: EditorFile, line: int, column: int) -> dict[str, Any]:
        place = f"{file.path}:{line}:{column}"
        return session.calls(file.worktree, place, Direction.CALLEES)

    @server.feature(lsp.TEXT_DOCUMENT_PREPARE_CALL_HIERARCHY)
    def prepare(params: lsp.CallHierarchyPrepareParams) -> list[lsp.CallHierarchyItem]:
        file, answer = _at_place(server, session, callees, params)
        if answer is None:
            return []
        roots = [node for node in answer["nodes"] if node["id"] == answer.get("root")]
        return [_item(file.worktree.root, node) for node in roots or answer.get("candidates", [])]

    @server.feature(lsp.CALL_HIERARCHY_INCOMING_CALLS)
    def incoming(
        params: lsp.CallHierarchyIncomingCallsParams,
    ) -> list[lsp.CallHierarchyIncomingCall]:
        return [
            lsp.CallHierarchyIncomingCall(from_=item, from_ranges=ranges)
            for item, ranges in _around(session, params.item, Direction.CALLERS)
        ]

    @server.feature(lsp.CALL_HIERARCHY_OUTGOING_CALLS)
    def outgoing(
        params: lsp.CallHierarchyOutgoingCallsParams,
    ) -> list[lsp.CallHierarchyOutgoingCall]:
        return [
            lsp.CallHierarchyOutgoingCall(to=item, from_ranges=ranges)
            for item, ranges in _around(session, params.item, Direction.CALLEES)
        ]


def _around(
    session: EditorSession, item: lsp.CallHierarchyItem, direction: Direction
) -> Iterator[tuple[lsp.CallHierarchyItem, list[lsp.Range]]]:
    file = _file(session, item.uri)
    if file is None or not isinstance(item.data, str):
        return
    answer = session.calls(file.worktree, item.data, direction)
    nodes = {node["id"]: node for node in answer["nodes"]}
    sites: dict[str, list[lsp.Range]] = {}
    for edge in answer["edges"]:
        other = edge["from"] if direction is Direction.CALLERS else edge["to"]
        sites.setdefault(other, []).append(_line_range(edge["site"]["line"]))
    for other, ranges in sites.items():
        if other in nodes:
            yield _item(file.worktree.root, nodes[other]), ranges


def _nested(symbols: list[dict[str, Any]]) -> list[lsp.DocumentSymbol]:
    """Return definitions as a tree, nested by qualified name."""
    made: dict[str, lsp.DocumentSymbol] = {}
    top: list[lsp.DocumentSymbol] = []
    for symbol in symbols:
        one = _document_symbol(symbol)
        made.setdefault(symbol["qualifiedName"], one)
        around = made.get(symbol.get("parent", ""))
        if around is None or around is one:
            top.append(one)
        else:
            around.children = [*(around.children or ()), one]
    return top


def _document_symbol(symbol: dict[str, Any]) -> lsp.DocumentSymbol:
    name = _name_range(symbol)
    whole = lsp.Range(start=name.start, end=lsp.Position(symbol["endLine"], 0))
    return lsp.DocumentSymbol(
        name=symbol["name"] or "(anonymous)",
        kind=_kind(symbol["kind"]),
        range=whole,
        selection_range=name,
        detail=symbol["signature"] or None,
    )


def _symbol_information(root: str, symbol: dict[str, Any]) -> lsp.SymbolInformation:
    return lsp.SymbolInformation(
        name=symbol["name"],
        kind=_kind(symbol["kind"]),
        location=lsp.Location(uri=_uri(root, symbol["path"]), range=_name_range(symbol)),
        container_name=symbol.get("parent"),
    )


def _item(root: str, node: dict[str, Any]) -> lsp.CallHierarchyItem:
    here = _line_range(node["line"])
    return lsp.CallHierarchyItem(
        name=node["name"],
        kind=_kind(node["kind"]),
        uri=_uri(root, node["path"]),
        range=here,
        selection_range=here,
        detail=node["path"],
        data=node["id"],
    )


def _location(root: str, found: dict[str, Any]) -> lsp.Location:
    line = found["line"] - 1
    return lsp.Location(
        uri=_uri(root, found["path"]),
        range=lsp.Range(
            start=lsp.Position(line, found["columnUtf16"] - 1),
            end=lsp.Position(line, found["endColumnUtf16"] - 1),
        ),
    )


def _name_range(symbol: dict[str, Any]) -> lsp.Range:
    line, start = symbol["line"] - 1, symbol["columnUtf16"] - 1
    width = len(symbol["name"].encode("utf-16-le")) // 2
    return lsp.Range(start=lsp.Position(line, start), end=lsp.Position(line, start + width))


def _line_range(line: int) -> lsp.Range:
    return lsp.Range(start=lsp.Position(line - 1, 0), end=lsp.Position(line, 0))


def _kind(kind: str) -> lsp.SymbolKind:
    same = lsp.SymbolKind.__members__.get(kind.capitalize(), lsp.SymbolKind.Variable)
    return KINDS.get(kind, same)


def _place(server: LanguageServer, params: Any) -> tuple[int, int]:
    """Return the requested position, 1-based, with the column in bytes of UTF-8."""
    lines = server.workspace.get_text_document(params.text_document.uri).lines
    line = params.position.line
    text = lines[line] if line < len(lines) else ""
    before = text.encode("utf-16-le")[: 2 * params.position.character]
    return line + 1, len(before.decode("utf-16-le", "replace").encode()) + 1


def _file(session: EditorSession, uri: str) -> EditorFile | None:
    file = _path(uri)
    return session.locate(file) if file else None


def _path(uri: str) -> str | None:
    parts = urlsplit(uri)
    return unquote(parts.path, errors="surrogateescape") if parts.scheme == "file" else None


def _uri(root: str, path: str) -> str:
    return str(from_fs_path(os.path.join(root, path)))


def _roots(server: LanguageServer) -> list[str]:
    folders = [_path(uri) for uri in server.workspace.folders]
    return [folder for folder in folders if folder] or (
        [server.workspace.root_path] if server.workspace.root_path else []
    )
