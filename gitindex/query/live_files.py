"""Symbols and lines without an index: read and parse the files on disk now. Writes nothing."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, cast

from gitindex.base.errors import Exit, GitIndexError
from gitindex.base.escape import path_fields, safe_text
from gitindex.base.worktree import Worktree, normalize_rel_path
from gitindex.extract.frames import WorkRequest
from gitindex.extract.policy import BINARY_PROBE, MAX_PARSE_BYTES
from gitindex.extract.pool import Extractor, Task
from gitindex.extract.terms import decode_text
from gitindex.languages.facts import FactsKey, decode_facts
from gitindex.languages.table import extractor_id, language_of
from gitindex.query.read import MAX_LINES, LineRange
from gitindex.query.symbols import SymbolQuery, rows_of_facts
from gitindex.view.live_scan import FALLBACK, fallback_envelope, live_files, live_paths

if TYPE_CHECKING:
    from gitindex.base.answers import ReadAnswer, SymbolRow, SymbolsAnswer

MAX_FILES = 200
"""Files with the name that are parsed for one answer."""


def scan_symbols(worktree: Worktree, wanted: SymbolQuery, why: str) -> SymbolsAnswer:
    """Return definitions of a name in the files that contain it."""
    name = wanted.name.replace("::", ".").rpartition(".")[2].encode()
    paths = live_paths(worktree, bool)
    texts = {}
    for path, data in live_files(worktree, paths):
        if name in data and len(data) <= MAX_PARSE_BYTES:
            texts[path] = data
        if len(texts) > MAX_FILES:
            break
    cut = len(texts) > MAX_FILES
    rows: list[SymbolRow] = []
    extractor = Extractor(workers=1)
    try:
        for path, data in list(texts.items())[:MAX_FILES]:
            language = language_of(path, data[:BINARY_PROBE])
            task = Task(FactsKey("", extractor_id(language)), WorkRequest(language, data))
            [(_, reply)] = extractor.extract([task])
            rows += rows_of_facts(path, data, decode_facts(reply.payload), wanted)
    finally:
        extractor.close()
    shown = rows[: wanted.limit]
    answer = fallback_envelope(
        worktree, why, symbols=shown, truncated=cut or len(shown) < len(rows)
    )
    return cast("SymbolsAnswer", answer)


def scan_lines(worktree: Worktree, span: LineRange, why: str) -> ReadAnswer:
    """Return lines of one file of the work tree."""
    clean = normalize_rel_path(span.file)
    path = os.fsencode(clean)
    found = dict(live_files(worktree, live_paths(worktree, lambda one: one == path)))
    if path not in found:
        raise GitIndexError(
            f"not in the tree: {safe_text(clean)}", "is it tracked? see `git ls-files`", Exit.NO
        )
    lines = decode_text(found[path]).splitlines()
    if span.first > max(1, len(lines)):
        raise GitIndexError(f"no line {span.first}: the file has {len(lines)}", code=Exit.USAGE)
    wanted = lines[span.first - 1 : span.last]
    shown = wanted[:MAX_LINES]
    answer = fallback_envelope(
        worktree,
        why,
        **path_fields(path),
        startLine=span.first,
        endLine=span.first + len(shown) - 1,
        totalLines=len(lines),
        content="\n".join(shown),
        truncated=len(shown) < len(wanted),
    )
    return cast("ReadAnswer", {**answer, "source": FALLBACK})
