"""The tools that ask: each opens the tree behind the gate and calls one use case."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from gitindex.base.errors import Exit, GitIndexError
from gitindex.base.vocabulary import GateStatus
from gitindex.base.worktree import Worktree, normalize_rel_path, safe_text
from gitindex.freshness.gate import add_debug_hint
from gitindex.freshness.observation import prove
from gitindex.mcp.dispatch import Answer, Arguments
from gitindex.mcp.server_state import Desk
from gitindex.view.snapshot import Gated
from gitindex.view.tree import Ask, Lens, answering

MAP_TOKENS = 20_000
GRAPH_NODES = 200


def search_codebase(desk: Desk, asked: Arguments) -> Answer:
    """Ranked places for a query, in the folder that was asked about."""
    from gitindex.query.search.query_text import Filters
    from gitindex.query.search.search import search

    with opened(desk, asked) as lens:
        wanted = asked["offset"] + asked["limit"]
        below = _folder(desk, lens, asked["path"])
        filters = Filters(below=below)
        answer = search(lens, asked["query"], wanted, filters, memory=desk.lexical)
    return answer | ({"within": safe_text(below[0])} if below else {})


def file_outline(desk: Desk, asked: Arguments) -> Answer:
    """Definitions of one file."""
    from gitindex.query.symbols import outline

    with opened(desk, asked) as lens:
        return outline(lens, asked["file"])


def read_file(desk: Desk, asked: Arguments) -> Answer:
    """Lines of one file."""
    from gitindex.query.read import Span, read_lines

    first, last = asked["startLine"], asked["endLine"] or asked["startLine"] + asked["limit"] - 1
    if last < first:
        raise GitIndexError("`endLine` is before `startLine`", code=Exit.USAGE)
    with opened(desk, asked) as lens:
        answer = read_lines(lens, Span(asked["file"], first, last))
    answer.pop("continueAt", None)
    end = asked["endLine"] or answer["totalLines"]
    answer["truncated"] = answer["endLine"] < min(end, answer["totalLines"])
    return _continued(answer)


def slice_(desk: Desk, asked: Arguments) -> Answer:
    """The lines that a line or a variable depends on, or that depend on it."""
    from gitindex.query.slice import Place, slice_file

    column = asked["column"] or None
    with opened(desk, asked) as lens:
        _check_live(lens, asked["file"])
        root = lens.worktree.root
    return slice_file(Place(asked["file"], asked["line"], column), root, asked["forward"])


def find_references(desk: Desk, asked: Arguments) -> Answer:
    """Where a symbol is used."""
    from gitindex.query.references import Wanted, find_references

    wanted = Wanted(
        asked["symbol"], asked["role"], asked["within"], asked["offset"] + asked["limit"]
    )
    with opened(desk, asked) as lens:
        return find_references(lens, wanted, desk.binding)


def call_graph(desk: Desk, asked: Arguments) -> Answer:
    """Who calls a symbol, and what it calls."""
    from gitindex.base.vocabulary import Direction
    from gitindex.query.callgraph.answer import Wanted, call_graph

    wanted = Wanted(
        asked["symbol"], Direction(asked["direction"]), asked["depth"], asked["limit"],
        asked["noteLimit"],
    )  # fmt: skip
    with opened(desk, asked) as lens:
        answer = call_graph(lens, wanted, desk.binding)
    more = min(2 * asked["limit"], GRAPH_NODES)
    goes_on = answer.get("truncated") and more > asked["limit"]
    return answer | ({"continuation": {"limit": more}} if goes_on else {})


def repo_map(desk: Desk, asked: Arguments) -> Answer:
    """The files that matter most and their signatures, as text: its fields would say it twice."""
    from gitindex.query.map.answer import Wanted, read_sections, repo_map

    include = read_sections([asked["include"]])
    with opened(desk, asked) as lens:
        focus = (asked["focus"],) if asked["focus"] else _folder(desk, lens, asked["path"])
        answer = repo_map(lens, Wanted(asked["tokens"], focus, include))
    told = {name: value for name, value in answer.items() if not isinstance(value, list)}
    more = min(2 * asked["tokens"], MAP_TOKENS)
    goes_on = answer["truncated"] and more > asked["tokens"]
    return told | ({"continuation": {"tokens": more}} if goes_on else {})


def check_mutation_gate(desk: Desk, asked: Arguments) -> Answer:
    """May a file, or a definition in it, be edited without asking?"""
    from gitindex.filestate.ambiguity import Target
    from gitindex.filestate.mutation_gate import check_mutation_gate

    with opened(desk, asked) as lens:
        _check_live(lens, asked["file"])
        return check_mutation_gate(lens, [Target(asked["file"], asked["symbol"], asked["line"])])


@contextmanager
def opened(desk: Desk, asked: Arguments) -> Iterator[Lens]:
    """The tree that is asked for, behind the gate; `file` becomes a path below its root."""
    path = asked["path"]
    file = asked.get("file", "")
    worktree = desk.locate(os.path.dirname(file) if not path and os.path.isabs(file) else path)
    if file:
        asked["file"] = inside(worktree, file)
    ask = Ask(strict=asked["strict"], at=asked.get("at", ""))
    try:
        with answering(worktree, path or worktree.root, ask, desk.memory) as lens:
            yield lens
    except Gated as closed:
        if asked["debug"] and closed.envelope["status"] == GateStatus.NOT_READY:
            add_debug_hint(closed.envelope, prove(worktree))
        raise


def _folder(desk: Desk, lens: Lens, path: str) -> tuple[str, ...]:
    """The folder that was asked about, below the root: nothing if that is all, or not in the tree."""
    root = lens.worktree.root
    here = desk.absolute(path) if path else root
    if here == root:
        return ()
    folder = here[len(root) + 1 :]
    raw = os.fsencode(folder)
    held = lens.rows(
        "SELECT 1 FROM {live} l WHERE l.path=? OR (l.path>? AND l.path<?) LIMIT 1",
        raw, raw + b"/", raw + b"0",
    )  # fmt: skip
    return (folder,) if held else ()


def inside(worktree: Worktree, file: str) -> str:
    """A file's path below the root, by its words alone: links are refused when it is read."""
    if os.path.isabs(file):
        folder, name = os.path.split(file)
        file = os.path.join(os.path.realpath(folder), name)
        if not file.startswith(worktree.root + "/"):
            raise GitIndexError("the file is outside the codebase", code=Exit.USAGE)
        file = file[len(worktree.root) + 1 :]
    return normalize_rel_path(file)


def _check_live(lens: Lens, file: str) -> None:
    """A file is only looked into if it is of the tree, and the policy lets its content be seen."""
    rows = lens.rows("SELECT f.skip FROM {live} f WHERE f.path=?", os.fsencode(file))
    if not rows or rows[0][0] is not None:
        raise GitIndexError(
            "not in the tree, or its content is left out", "see `gitindex status --skipped`",
            Exit.NO,
        )  # fmt: skip


MAX_CONTENT = 200_000
"""Bytes of a file's text in JSON, where each character may take up to twelve."""


def _continued(answer: Answer) -> Answer:
    """Cut the text to the cap by whole lines, and say at which line it goes on."""
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
