"""What a line depends on, or influences, inside its function: of the file as it is on disk."""

from __future__ import annotations

import errno
import json
import os
import re
import stat
from typing import Any, NamedTuple

from gitindex.answer import Gated, Served, freshness_fields, receipt_fields, serve
from gitindex.errors import Exit, GitIndexError
from gitindex.extract.frames import Request
from gitindex.extract.pool import SECONDS_PER_BLOB, ask_once
from gitindex.git.command import read_blobs
from gitindex.languages import language_of
from gitindex.paths import Worktree, find_worktree, safe_text
from gitindex.policy import BINARY_PROBE, MAX_PARSE_BYTES
from gitindex.slicing.wire import Question, encode

_PLACE = re.compile(r"(?P<file>.+?):(?P<line>[0-9]{1,9})(?::(?P<column>[0-9]{1,9}))?", re.DOTALL)

EXITS = {
    "ok": Exit.OK,
    "not_found": Exit.NO,
    "invalid_request": Exit.USAGE,
    "unsupported": Exit.USAGE,
    "error": Exit.ERROR,
}


class Place(NamedTuple):
    """`FILE:LINE[:COL]`, as asked."""

    file: str
    line: int
    column: int | None


def parse_place(text: str) -> Place:
    """The place that `FILE:LINE[:COL]` names."""
    found = _PLACE.fullmatch(text)
    if found is None:
        raise GitIndexError(f"not FILE:LINE[:COL]: {safe_text(text)}", code=Exit.USAGE)
    column = found["column"]
    return Place(found["file"], int(found["line"]), None if column is None else int(column))


def slice_file(
    place: Place, start: str = ".", forward: bool = False, seconds: float = SECONDS_PER_BLOB
) -> dict[str, Any]:
    """The slice of a statement or variable, whatever is indexed; with proof where there is an index."""
    worktree = find_worktree(start)
    path = _inside(worktree.root, start, place.file)
    data = _read(worktree.root, path)
    language = language_of(os.fsencode(path), data[:BINARY_PROBE])
    question = encode(Question(place.line, place.column, forward))
    reply = ask_once(Request(language, data, question), seconds)
    fields = {"path": safe_text(path), "codebaseRoot": safe_text(worktree.root)}
    answer: dict[str, Any] = json.loads(reply.payload)
    if answer["status"] != "ok":
        return answer | fields
    asked = {"line": place.line} if place.column is None else place._asdict()
    asked.pop("file", None)
    return answer | fields | asked | {"language": language} | _proof(worktree, start, path, data)


def _proof(worktree: Worktree, start: str, path: str, data: bytes) -> dict[str, Any]:
    """Where the text is from; and how fresh the index is, if there is one to speak of."""
    try:
        with serve(worktree, start) as served:
            same = _indexed(served, path) == data
            return {
                "source": f"index@{served.published.tree}" if same else "worktree",
                "freshness": freshness_fields(served),
                "receipt": receipt_fields(served),
            }
    except (Gated, GitIndexError):
        return {"source": "worktree"}


def _indexed(served: Served, path: str) -> bytes | None:
    row = served.database.row(
        "SELECT f.oid FROM files f JOIN paths p ON p.id=f.path_id WHERE f.worktree_id=? AND p.path=?",
        served.published.worktree_id, os.fsencode(path),
    )  # fmt: skip
    if row is None:
        return None
    oid = row[0].hex()
    return read_blobs(served.worktree.root, [oid]).get(oid)


def _inside(root: str, start: str, file: str) -> str:
    """The path below the root, by its words alone: links are refused later, not followed."""
    named = os.path.normpath(os.path.join(os.path.realpath(start), file))
    above = named
    outermost = ""
    while above != os.path.dirname(above):
        above = os.path.dirname(above)
        if os.path.realpath(above) == root:
            outermost = above
    if not outermost:
        raise GitIndexError(f"outside the repository: {safe_text(file)}", code=Exit.USAGE)
    return os.path.relpath(named, outermost)


def _read(root: str, path: str) -> bytes:
    """A regular file below the root; no part of its path may be a link."""
    shown = safe_text(path)
    folders = os.O_RDONLY | os.O_NOFOLLOW | os.O_DIRECTORY | os.O_CLOEXEC
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    *above, name = path.split("/")
    here = os.open(root, folders)
    try:
        for part in above:
            here = _step(here, part, folders)
        here = _step(here, name, flags)
        status = os.fstat(here)
        if not stat.S_ISREG(status.st_mode):
            raise GitIndexError(f"not a regular file: {shown}", code=Exit.USAGE)
        if status.st_size > MAX_PARSE_BYTES:
            raise GitIndexError(f"larger than {MAX_PARSE_BYTES} bytes: {shown}")
        with os.fdopen(os.dup(here), "rb") as file:
            return file.read(MAX_PARSE_BYTES)
    except FileNotFoundError as error:
        raise GitIndexError(f"no such file: {shown}", code=Exit.USAGE) from error
    except (OSError, ValueError) as error:
        why = "a link, or not a folder" if _is_link(error) else str(error)
        raise GitIndexError(f"cannot read {shown}: {why}", code=Exit.USAGE) from error
    finally:
        os.close(here)


def _step(folder: int, name: str, flags: int) -> int:
    found = os.open(name, flags, dir_fd=folder)
    os.close(folder)
    return found


def _is_link(error: Exception) -> bool:
    return isinstance(error, OSError) and error.errno in (errno.ELOOP, errno.ENOTDIR)
