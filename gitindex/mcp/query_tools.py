"""The query tools: each opens the tree behind the gate and calls one use case."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from gitindex.base.errors import Exit, GitIndexError
from gitindex.base.escape import safe_text
from gitindex.base.vocabulary import GateStatus
from gitindex.base.worktree import Worktree, normalize_rel_path
from gitindex.freshness.gate import add_debug_hint
from gitindex.freshness.observation import prove
from gitindex.mcp.dispatch import Answer, Arguments
from gitindex.mcp.server_state import ServerState
from gitindex.view.snapshot import GateClosed
from gitindex.view.tree import TreeChoice, TreeView, open_tree

MAP_TOKENS = 20_000
GRAPH_NODES = 200
MAY_WRITE = "gitindex.mcp.write"
MAX_LINE = 240
"""Maximum number of characters of a line of code in an answer."""


def explore(server: ServerState, asked: Arguments) -> Answer:
    """Return the best places for a question, with their code, uses and tests."""
    from gitindex.query.explore import explore

    with opened(server, asked) as view:
        below = _folder(server, view, asked["path"])
        memories = (server.lexical, server.binding)
        return explore(view, asked["query"], asked["tokens"], below, memories)


def find_symbols(server: ServerState, asked: Arguments) -> Answer:
    """Return definitions by name, and by similar names."""
    from gitindex.query.symbols import SymbolQuery, list_symbols, suggestions

    wanted = asked["offset"] + asked["limit"]
    with opened(server, asked) as view:
        below = "".join(_folder(server, view, asked["path"]))
        query = SymbolQuery(asked["name"], below, asked["kind"], wanted, exact=asked["exact"])
        answer = dict(list_symbols(view, query))
        if not answer["symbols"]:
            answer["suggestions"] = suggestions(view, asked["name"])
    return answer


def grep_codebase(server: ServerState, asked: Arguments) -> Answer:
    """Return lines that match a pattern, with context."""
    from gitindex.query.grep.grep import GrepQuery, grep
    from gitindex.query.grep.pattern import GrepPattern

    pattern = GrepPattern(asked["pattern"], asked["ignoreCase"], asked["literal"])
    with opened(server, asked) as view:
        below = tuple(map(os.fsencode, _folder(server, view, asked["path"])))
        answer: Answer = dict(
            grep(view, GrepQuery(pattern, below, limit=asked["offset"] + asked["limit"]))
        )
        if asked["context"]:
            shown = answer["results"][asked["offset"] :]
            add_lines(view, shown, asked["context"])
    return answer


def impact(server: ServerState, asked: Arguments) -> Answer:
    """Return what a change reaches."""
    from gitindex.query.impact.change import TreePair, comparing, parse_range
    from gitindex.query.impact.reach import impact

    worktree = server.locate(asked["path"])
    before, after = parse_range(asked["range"], asked["staged"])
    strict = {"strict": asked["strict"]}
    between = TreePair(before._replace(**strict), after._replace(**strict))
    here = asked["path"] or worktree.root
    with _debugged(worktree, asked), comparing(worktree, here, between) as change:
        return dict(impact(change, asked["depth"]))


def rename_symbol(server: ServerState, asked: Arguments) -> Answer:
    """Return the patch that renames a symbol, with the proof of every place; or apply it.

    Only a user whose own configuration allows it lets an agent write.
    """
    from gitindex.edit.apply import apply_plan
    from gitindex.edit.rename import RenameRequest, plan_rename
    from gitindex.git.settings import user_allows

    with opened(server, asked) as view:
        wanted = RenameRequest(asked["symbol"], asked["newName"])
        plan = plan_rename(view, wanted, server.binding)
        if not asked["apply"]:
            return plan.answer
        if not user_allows(view.worktree, MAY_WRITE):
            why = f"the user has not set {MAY_WRITE}=true in their own git configuration"
            return plan.answer | {"applies": False, "blocked": [*plan.blocked, why]}
        return apply_plan(view, plan)


def search_documents(server: ServerState, asked: Arguments) -> Answer:
    """Return documents by text, topics, days and fields of their front matter."""
    from gitindex.query.documents import DocumentQuery, search_documents
    from gitindex.store.entities import Filter

    filters = Filter(tuple(asked["tags"]), asked["dateFrom"], asked["dateTo"])
    fields = tuple(asked["fields"].items())
    limit = asked["offset"] + asked["limit"]
    wanted = DocumentQuery(asked["query"], filters, limit, fields, asked["regex"])
    with opened(server, asked) as view:
        return dict(search_documents(view, wanted))


def search_codebase(server: ServerState, asked: Arguments) -> Answer:
    """Return ranked places for a query, in the given folder."""
    from gitindex.query.search.query_text import Filters
    from gitindex.query.search.search import search

    with opened(server, asked) as view:
        wanted = asked["offset"] + asked["limit"]
        below = _folder(server, view, asked["path"])
        filters = Filters(below=below)
        answer = search(view, asked["query"], wanted, filters, memory=server.lexical)
    return answer | ({"within": safe_text(below[0])} if below else {})


def file_outline(server: ServerState, asked: Arguments) -> Answer:
    """Return the definitions of one file."""
    from gitindex.query.symbols import outline

    with opened(server, asked) as view:
        return dict(outline(view, asked["file"]))


def read_file(server: ServerState, asked: Arguments) -> Answer:
    """Return lines of one file."""
    from gitindex.query.read import LineRange, read_lines

    first, last = asked["startLine"], asked["endLine"] or asked["startLine"] + asked["limit"] - 1
    if last < first:
        raise GitIndexError("`endLine` is before `startLine`", code=Exit.USAGE)
    with opened(server, asked) as view:
        answer: Answer = dict(read_lines(view, LineRange(asked["file"], first, last)))
    answer.pop("continueAt", None)
    end = asked["endLine"] or answer["totalLines"]
    answer["truncated"] = answer["endLine"] < min(end, answer["totalLines"])
    return _continued(answer)


def slice_(server: ServerState, asked: Arguments) -> Answer:
    """Return the lines that a line or a variable depends on, or that depend on it."""
    from gitindex.query.slice import SlicePoint, slice_file

    column = asked["column"] or None
    with opened(server, asked) as view:
        _check_live(view, asked["file"])
        root = view.worktree.root
    place = SlicePoint(asked["file"], asked["line"], column)
    return dict(slice_file(place, root, asked["forward"]))


def find_references(server: ServerState, asked: Arguments) -> Answer:
    """Return the uses of a symbol."""
    from gitindex.query.references import ReferenceQuery, find_references

    wanted = ReferenceQuery(
        asked["symbol"], asked["role"], asked["within"], asked["offset"] + asked["limit"]
    )
    with opened(server, asked) as view:
        answer: Answer = dict(find_references(view, wanted, server.binding))
        add_lines(view, answer["references"][asked["offset"] :])
    return answer


def call_graph(server: ServerState, asked: Arguments) -> Answer:
    """Return the callers and callees of a symbol."""
    from gitindex.base.vocabulary import Direction
    from gitindex.query.callgraph.answer import GraphQuery, call_graph

    wanted = GraphQuery(
        asked["symbol"],
        Direction(asked["direction"]),
        asked["depth"],
        asked["limit"],
        asked["noteLimit"],
    )
    with opened(server, asked) as view:
        answer = call_graph(view, wanted, server.binding)
        add_lines(view, [edge["site"] for edge in answer["edges"]])
    more = min(2 * asked["limit"], GRAPH_NODES)
    goes_on = answer.get("truncated") and more > asked["limit"]
    return answer | ({"continuation": {"limit": more}} if goes_on else {})


def repo_map(server: ServerState, asked: Arguments) -> Answer:
    """Return the most central files and their signatures as text; fields would only repeat it."""
    from gitindex.query.map.answer import MapQuery, read_sections, repo_map

    include = read_sections([asked["include"]])
    with opened(server, asked) as view:
        focus = (asked["focus"],) if asked["focus"] else _folder(server, view, asked["path"])
        answer = repo_map(view, MapQuery(asked["tokens"], focus, include))
    told = {name: value for name, value in answer.items() if not isinstance(value, list)}
    more = min(2 * asked["tokens"], MAP_TOKENS)
    goes_on = answer["truncated"] and more > asked["tokens"]
    return told | ({"continuation": {"tokens": more}} if goes_on else {})


def check_mutation_gate(server: ServerState, asked: Arguments) -> Answer:
    """Check whether a file, or a definition in it, is safe to edit without review."""
    from gitindex.filestate.ambiguity import EditTarget
    from gitindex.filestate.mutation_gate import check_mutation_gate

    with opened(server, asked) as view:
        _check_live(view, asked["file"])
        target = EditTarget(asked["file"], asked["symbol"], asked["line"])
        return dict(check_mutation_gate(view, [target]))


def add_lines(view: TreeView, rows: list[Answer], around: int = 0) -> None:
    """Add to each place its line of code, with context."""
    from gitindex.extract.terms import decode_text

    lacking = [row for row in rows if around or "text" not in row]
    texts = view.read({os.fsencode(row["path"]) for row in lacking})
    lines = {path: decode_text(data).splitlines() for path, data in texts.items()}
    for row in lacking:
        here, at = lines.get(os.fsencode(row["path"]), []), row["line"] - 1
        row.setdefault("text", here[at].strip()[:MAX_LINE] if at < len(here) else "")
        if around:
            row["before"] = [line[:MAX_LINE] for line in here[max(0, at - around) : at]]
            row["after"] = [line[:MAX_LINE] for line in here[at + 1 : at + 1 + around]]


@contextmanager
def opened(server: ServerState, asked: Arguments) -> Iterator[TreeView]:
    """Open the requested tree behind the gate; `file` becomes a path below its root."""
    path = asked["path"]
    file = asked.get("file", "")
    worktree = server.locate(os.path.dirname(file) if not path and os.path.isabs(file) else path)
    if file:
        asked["file"] = inside(worktree, file)
    ask = TreeChoice(strict=asked["strict"], at=asked.get("at", ""))
    here = path or worktree.root
    with _debugged(worktree, asked), open_tree(worktree, here, ask, server.memory) as view:
        yield view


@contextmanager
def _debugged(worktree: Worktree, asked: Arguments) -> Iterator[None]:
    """With `debug`, add the completion proof to a closed gate's answer."""
    try:
        yield
    except GateClosed as closed:
        if asked["debug"] and closed.envelope["status"] == GateStatus.NOT_READY:
            add_debug_hint(closed.envelope, prove(worktree))
        raise


def _folder(server: ServerState, view: TreeView, path: str) -> tuple[str, ...]:
    """Return the requested folder below the root; empty for the root, or if not in the tree."""
    root = view.worktree.root
    here = server.absolute(path) if path else root
    if here == root:
        return ()
    folder = here[len(root) + 1 :]
    raw = os.fsencode(folder)
    held = view.rows(
        "SELECT 1 FROM {live} l WHERE l.path=? OR (l.path>? AND l.path<?) LIMIT 1",
        raw,
        raw + b"/",
        raw + b"0",
    )
    return (folder,) if held else ()


def inside(worktree: Worktree, file: str) -> str:
    """Return a file's path below the root, without following links: reading refuses those."""
    if os.path.isabs(file):
        folder, name = os.path.split(file)
        file = os.path.join(os.path.realpath(folder), name)
        if not file.startswith(worktree.root + "/"):
            raise GitIndexError("the file is outside the codebase", code=Exit.USAGE)
        file = file[len(worktree.root) + 1 :]
    return normalize_rel_path(file)


def _check_live(view: TreeView, file: str) -> None:
    """Refuse a file that is not in the tree, or whose content the policy excludes."""
    rows = view.rows("SELECT f.skip FROM {live} f WHERE f.path=?", os.fsencode(file))
    if not rows or rows[0][0] is not None:
        raise GitIndexError(
            "not in the tree, or its content is left out",
            "see `gitindex status --skipped`",
            Exit.NO,
        )


MAX_CONTENT = 200_000
"""Maximum size in bytes of a file's text as JSON, where a character may take up to twelve."""


def _continued(answer: Answer) -> Answer:
    """Cut the text to the cap at a line end, and add the line to continue from."""
    from gitindex.mcp.dispatch import render

    lines = answer["content"].split("\n")
    room = MAX_CONTENT
    for at, line in enumerate(lines):
        room -= len(render(line))
        if room < 0 and at:
            kept = lines[:at]
            last = answer["startLine"] + at - 1
            answer |= {"content": "\n".join(kept), "endLine": last, "truncated": True}
            break
    if answer["truncated"]:
        answer["continuation"] = {"startLine": answer["endLine"] + 1}
    return answer
