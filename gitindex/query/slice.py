"""Slice a function on disk: what a line depends on, or influences."""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from gitindex.base.confined_read import read_text
from gitindex.base.errors import Exit, GitIndexError
from gitindex.base.escape import safe_text
from gitindex.base.pattern import compile_later
from gitindex.base.vocabulary import BINARY_PROBE, MAX_PARSE_BYTES
from gitindex.base.worktree import Worktree, find_worktree, inside_root
from gitindex.extract.frames import WorkRequest
from gitindex.extract.pool import SECONDS_PER_BLOB, ask_once
from gitindex.languages.slicing.wire import SliceQuestion, encode
from gitindex.languages.table import language_of
from gitindex.view.overlay import WORKTREE
from gitindex.view.snapshot import GateClosed
from gitindex.view.tree import open_tree

if TYPE_CHECKING:
    from gitindex.base.answers import SliceAnswer

_PLACE = compile_later(r"(?P<file>.+?):(?P<line>[0-9]{1,9})(?::(?P<column>[0-9]{1,9}))?", re.DOTALL)

EXITS = {
    "ok": Exit.OK,
    "not_found": Exit.NO,
    "invalid_request": Exit.USAGE,
    "unsupported": Exit.USAGE,
    "error": Exit.ERROR,
}


class SlicePoint(NamedTuple):
    """A parsed `FILE:LINE[:COL]`."""

    file: str
    line: int
    column: int | None


def parse_place(text: str) -> SlicePoint:
    """Parse `FILE:LINE[:COL]`."""
    match = _PLACE.fullmatch(text)
    if match is None:
        raise GitIndexError(f"not FILE:LINE[:COL]: {safe_text(text)}", code=Exit.USAGE)
    column = match["column"]
    return SlicePoint(match["file"], int(match["line"]), None if column is None else int(column))


def slice_file(
    place: SlicePoint, start: str = ".", forward: bool = False, seconds: float = SECONDS_PER_BLOB
) -> SliceAnswer:
    """Return the slice of a statement or variable; works without an index, with one adds proof."""
    worktree = find_worktree(start)
    path = inside_root(worktree.root, start, place.file)
    data = read_text(worktree.root, path, MAX_PARSE_BYTES)
    language = language_of(os.fsencode(path), data[:BINARY_PROBE])
    question = encode(SliceQuestion(place.line, place.column, forward))
    reply = ask_once(WorkRequest(language, data, question), seconds)
    fields = {"path": safe_text(path), "codebaseRoot": safe_text(worktree.root)}
    answer: dict[str, Any] = json.loads(reply.payload)
    if answer["status"] != "ok":
        return cast("SliceAnswer", answer | fields)
    position = {"line": place.line} if place.column is None else place._asdict()
    position.pop("file", None)
    answer |= fields | position | {"language": language} | _proof(worktree, start, path)
    return cast("SliceAnswer", answer)


def _proof(worktree: Worktree, start: str, path: str) -> dict[str, Any]:
    """Return the source of the text, and the freshness of the index if there is one."""
    name = os.fsencode(path)
    try:
        with open_tree(worktree, start) as view:
            rows = view.rows("SELECT f.source FROM {live} f WHERE f.path=?", name)
            source = rows[0][0] if rows else WORKTREE
            return {"source": source} | {k: view.envelope()[k] for k in ("freshness", "receipt")}
    except (GateClosed, GitIndexError):
        return {"source": WORKTREE}
