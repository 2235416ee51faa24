"""`gitindex read`: lines of one file, from disk or any commit, with an outline on request."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from gitindex.base.errors import Exit, GitIndexError
from gitindex.base.escape import path_fields, safe_text
from gitindex.base.pattern import compile_later
from gitindex.base.vocabulary import MAX_TEXT_BYTES, SkipReason
from gitindex.base.worktree import Worktree, normalize_rel_path
from gitindex.extract.policy import is_secret, skip_content
from gitindex.extract.terms import lines_of
from gitindex.query.symbols import missing_file, outline
from gitindex.view.tree import TreeView

if TYPE_CHECKING:
    from gitindex.base.answers import ReadAnswer

MAX_LINES = 2_000
MAX_CHARS = 200_000
"""Lines and characters of one answer: about what an agent can use of one file."""

_SPAN = compile_later(r"(?P<file>.+?):(?P<first>[0-9]{1,9})(?:-(?P<last>[0-9]{1,9})?)?", re.DOTALL)


class LineRange(NamedTuple):
    """A parsed `FILE[:A[-B]]`: lines from 1, both ends included; None: to the end."""

    file: str
    first: int = 1
    last: int | None = None


def parse_span(text: str) -> LineRange:
    """Parse `FILE[:A[-B]]`."""
    found = _SPAN.fullmatch(text)
    if found is None:
        return LineRange(text)
    first = int(found["first"])
    last = int(found["last"]) if found["last"] else None
    if "-" not in text[found.end("first") :]:
        last = first
    if first < 1 or (last is not None and last < first):
        raise GitIndexError(f"not FILE[:A[-B]]: {safe_text(text)}", code=Exit.USAGE)
    return LineRange(found["file"], first, last)


def read_lines(view: TreeView, span: LineRange, outlined: bool = False) -> ReadAnswer:
    """Return some lines of one file. Refuses secrets, links and files that are not text."""
    clean = normalize_rel_path(span.file)
    view.footprint.paths.add(clean)
    path = os.fsencode(clean)
    source = _allowed(view, path)
    data = view.read([path]).get(path)
    if data is None:
        raise GitIndexError(f"no content here: {safe_text(clean)}", code=Exit.NO)
    if skip_content(data) is SkipReason.BINARY or len(data) > MAX_TEXT_BYTES:
        raise GitIndexError(f"not a text of usable size: {safe_text(clean)}", code=Exit.NO)
    fields = _fields(path, data, span) | {"source": source}
    if fields["truncated"]:
        fields["continueAt"] = f"{safe_text(clean)}:{fields['endLine'] + 1}-"
    if outlined:
        fields["symbols"] = outline(view, clean)["symbols"]
    return cast("ReadAnswer", view.envelope(**fields) | {"receipt": view.receipt()})


def scan_lines(worktree: Worktree, span: LineRange, why: str) -> ReadAnswer:
    """Return lines of one file of the work tree, without an index."""
    from gitindex.view.live_scan import FALLBACK, fallback_envelope, live_files, live_paths

    clean = normalize_rel_path(span.file)
    path = os.fsencode(clean)
    contents = dict(live_files(worktree, live_paths(worktree, lambda one: one == path)))
    if path not in contents:
        raise GitIndexError(
            f"not in the tree: {safe_text(clean)}", "is it tracked? see `git ls-files`", Exit.NO
        )
    answer = fallback_envelope(worktree, why, **_fields(path, contents[path], span))
    return cast("ReadAnswer", {**answer, "source": FALLBACK})


def _fields(path: bytes, data: bytes, span: LineRange) -> dict[str, Any]:
    """Return the requested lines of a content, as far as an answer may have them."""
    lines = lines_of(data)
    if span.first > max(1, len(lines)):
        raise GitIndexError(f"no line {span.first}: the file has {len(lines)}", code=Exit.USAGE)
    chosen = lines[span.first - 1 : span.last]
    shown = _cut(chosen)
    return {
        **path_fields(path),
        "startLine": span.first,
        "endLine": span.first + len(shown) - 1,
        "totalLines": len(lines),
        "content": "\n".join(shown),
        "truncated": len(shown) < len(chosen),
    }


def _allowed(view: TreeView, path: bytes) -> str:
    """Return the source of a path's content; raises if it is not readable or not in the tree."""
    rows = view.rows("SELECT f.skip, f.source FROM {live} f WHERE f.path=?", path)
    if not rows:
        raise missing_file(view, path)
    skip, source = rows[0]
    if is_secret(path) or skip in (SkipReason.SECRET, SkipReason.SYMLINK, SkipReason.SUBMODULE):
        hint = "see `gitindex status --skipped`"
        raise GitIndexError(f"not readable: {safe_text(path)} ({skip})", hint, Exit.NO)
    return str(source)


def _cut(lines: list[str]) -> list[str]:
    shown: list[str] = []
    room = MAX_CHARS
    for line in lines[:MAX_LINES]:
        room -= len(line) + 1
        if room < 0 and shown:
            break
        shown.append(line[:MAX_CHARS])
    return shown
