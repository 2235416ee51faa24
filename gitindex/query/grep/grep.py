"""Grep: pattern → candidate files → matching lines. Same lines as ripgrep; writes nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from gitindex.base.escape import path_fields, utf16_length
from gitindex.base.vocabulary import GrepForm
from gitindex.base.worktree import Worktree
from gitindex.extract.fragments import plain_bytes
from gitindex.extract.policy import GREPPED, skip_content
from gitindex.git.wildmatch import Rule, rule_matches
from gitindex.languages.table import language_of
from gitindex.query.grep.engines import search_disk, search_texts
from gitindex.query.grep.pattern import FileHits, GrepPattern, LineLimits, LineMatch, understand
from gitindex.store.text_index import candidates
from gitindex.view.live_scan import fallback_envelope, live_files, live_paths
from gitindex.view.overlay import FIRST_ID, WORKTREE
from gitindex.view.tree import TreeView

if TYPE_CHECKING:
    from gitindex.base.answers import GrepAnswer

Read = Callable[[Iterable[bytes]], dict[bytes, bytes]]
MAX_SHOWN = 1_000
"""Characters of a line in an answer."""
READ_AT_ONCE = 400
"""Files whose contents are in memory together."""
_FILE = (
    "SELECT f.path, f.source FROM {live} f JOIN {blobs} b ON b.id=f.blob_id"
    " WHERE f.skip IS NULL AND b.status<>'skipped'"
)
_SKIPPED = (
    "SELECT f.path, f.source, coalesce(f.skip, b.reason) FROM {live} f"
    " LEFT JOIN {blobs} b ON b.id=f.blob_id WHERE f.skip IS NOT NULL OR b.status='skipped'"
)
_NAMED = f"{_FILE} AND f.blob_id IN (SELECT value FROM json_each(?))"
_NEW = (
    "SELECT path, source FROM {live} WHERE skip IS NULL"
    f" AND coalesce(blob_id, {FIRST_ID})>={FIRST_ID}"
)


class GrepQuery(NamedTuple):
    """Options of a grep."""

    needle: GrepPattern
    below: tuple[bytes, ...] = ()  # files and folders of the tree; empty: all
    form: GrepForm = GrepForm.LINES
    limit: int = 0  # lines, or files if files are listed; 0: all
    before: int = 0  # lines of context
    after: int = 0
    rules: tuple[Rule, ...] = ()  # globs, the last match decides; `!` excludes
    languages: frozenset[str] = frozenset()
    only: frozenset[bytes] | None = None  # paths that a filter selected; None: no filter

    def covers(self, path: bytes) -> bool:
        """Return whether the query includes this path."""
        if self.only is not None and path not in self.only:
            return False
        if self.below and not any(
            path == name or not name or path.startswith(name + b"/") for name in self.below
        ):
            return False
        if self.languages and language_of(path, b"") not in self.languages:
            return False
        return self._globbed(path)

    def _globbed(self, path: bytes) -> bool:
        """Match globs like ripgrep's `-g`: the last match decides, and `!glob` excludes."""
        is_included = all(rule.negated for rule in self.rules)
        for rule in self.rules:
            if rule_matches(rule, path):
                is_included = not rule.negated
        return is_included

    @property
    def narrows_paths(self) -> bool:
        return bool(self.below or self.rules or self.languages or self.only is not None)

    @property
    def want(self) -> LineLimits:
        most = self.limit + 1 if self.limit else 0
        per_file = {GrepForm.LINES: most, GrepForm.FILES: 1, GrepForm.COUNTS: 0}[self.form]
        return LineLimits(per_file, lines=self.form is GrepForm.LINES, enough=most)


def grep(view: TreeView, question: GrepQuery) -> GrepAnswer:
    """Return the matching lines of the tree, as an envelope."""
    parsed = understand(question.needle)
    ids = candidates(view.served.database, parsed.clauses)
    files = _files(view, ids, question)
    skipped = view.rows(_SKIPPED)
    if question.narrows_paths:
        skipped = [row for row in skipped if question.covers(row[0])]
    files |= {path: source for path, source, why in skipped if why in GREPPED}
    if view.overlay.source == WORKTREE:
        matches = search_disk(view.worktree.root, sorted(files), parsed, question.want)
    else:
        matches = search_texts(_texts(view, sorted(files)), parsed, question.want)
    fields = _fields(question, _judged(view, matches), files, view.read)
    left = Counter(why for _, _, why in skipped if why not in GREPPED)
    fields |= {"searchedFiles": len(files), "narrowed": ids is not None, "notSearched": dict(left)}
    return cast("GrepAnswer", view.envelope(**fields))


def scan(worktree: Worktree, question: GrepQuery, why: str) -> GrepAnswer:
    """Return the same without an index: every file on disk is searched."""
    parsed = understand(question.needle)
    paths = live_paths(worktree, question.covers, also=GREPPED)
    matches = search_disk(worktree.root, paths, parsed, question.want)
    texts = (hits for hits in matches if _is_text(worktree, hits.path))
    sources = dict.fromkeys(paths, WORKTREE)
    fields = _fields(
        question, texts, sources, lambda names: dict(live_files(worktree, names, also=GREPPED))
    )
    fields |= {"searchedFiles": len(paths), "narrowed": False}
    return cast("GrepAnswer", fallback_envelope(worktree, why, **fields))


def _files(view: TreeView, ids: set[int] | None, question: GrepQuery) -> dict[bytes, str]:
    """Return the paths to search, with the source of each."""
    rows = view.rows(_FILE) if ids is None else view.rows(_NAMED, str(sorted(ids)))
    if view.changed():
        rows += view.rows(_NEW)  # bytes that no store has: any of them may match
    if not question.narrows_paths:
        return dict(rows)
    return {path: source for path, source in rows if question.covers(path)}


def _texts(view: TreeView, paths: list[bytes]) -> Iterator[tuple[bytes, bytes]]:
    for at in range(0, len(paths), READ_AT_ONCE):
        part = paths[at : at + READ_AT_ONCE]
        contents = view.read(part)
        yield from ((path, contents[path]) for path in part if path in contents)


def _judged(view: TreeView, matches: Iterable[FileHits]) -> Iterator[FileHits]:
    """Drop files whose content the policy skips; unread overlay files are checked here."""
    for hits in matches:
        edited = view.changed().get(hits.path)
        unread = edited is not None and edited.data is None
        if not unread or _is_searched(view.read([hits.path]).get(hits.path, b"")):
            yield hits


def _is_searched(data: bytes) -> bool:
    """Return whether the content is searched; generated and minified text is."""
    reason = skip_content(data)
    return reason is None or reason in GREPPED


def _is_text(worktree: Worktree, path: bytes) -> bool:
    return any(True for _ in live_files(worktree, [path], also=GREPPED))


def _fields(
    question: GrepQuery, matches: Iterable[FileHits], sources: dict[bytes, str], read: Read
) -> dict[str, Any]:
    """Return the fields of the results, truncated at the limit."""
    rows = _rows(question, matches, sources, read)
    results = list(islice(rows, question.limit or None))
    cut = bool(question.limit) and next(rows, None) is not None
    pattern = question.needle.text.encode("utf-8", "replace").decode()
    return {"pattern": pattern, "results": results, "truncated": cut}


def _rows(
    question: GrepQuery, matches: Iterable[FileHits], sources: dict[bytes, str], read: Read
) -> Iterator[dict[str, Any]]:
    for hits in matches:
        base = path_fields(hits.path) | {"source": sources[hits.path]}
        if question.form is GrepForm.LINES:
            around = _context(question, hits.path, read)
            yield from (base | _line(hit) | around(hit.line) for hit in hits.hits)
        else:
            yield base | ({"count": hits.lines} if question.form is GrepForm.COUNTS else {})


def _context(question: GrepQuery, path: bytes, read: Read) -> Callable[[int], dict[str, Any]]:
    """Return a function from a line number to the lines before and after it."""
    before, after = question.before, question.after
    if not (before or after):
        return lambda _line: {}
    data = plain_bytes(read([path]).get(path, b""))
    lines = [text.decode("utf-8", "replace")[:MAX_SHOWN] for text in data.split(b"\n")]
    if not lines[-1]:
        lines.pop()
    return lambda line: {
        "before": lines[max(0, line - 1 - before) : line - 1],
        "after": lines[line : line + after],
    }


def _line(hit: LineMatch) -> dict[str, Any]:
    utf16 = utf16_length(hit.text[: hit.column - 1])
    text = hit.text.decode("utf-8", "replace").removesuffix("\r")
    row = {
        "line": hit.line,
        "column": hit.column,
        "columnUtf16": utf16 + 1,
        "text": text[:MAX_SHOWN],
    }
    return row | ({"textTruncated": True} if len(text) > MAX_SHOWN else {})
