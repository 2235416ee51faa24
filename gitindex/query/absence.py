"""The absence certificate: is every textual occurrence of a name in the tree explained by its facts?"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator
from typing import Any, NamedTuple

from gitindex.base.escape import path_fields, safe_text, utf16_length
from gitindex.base.vocabulary import FactsStatus, SkipReason
from gitindex.query.names.meanings import ECMA
from gitindex.query.names.mentions import MentioningFile, look, look_in
from gitindex.query.names.project import Project
from gitindex.query.names.sites import Site
from gitindex.query.names.targets import NAME
from gitindex.view.tree import TreeView

MAX_LISTED = 50
MAX_LINE = 200
MAX_LEFT_OUT = 400
"""Texts outside of the index that are looked at."""

_DATA = frozenset({"json", "yaml", "toml", "html", "css", "hcl"})
"""Here a mention is a value, and a value may be read as a name by some program."""

_SPECIFIER = re.compile(rb"\b(?:from|import)\s*[\"'][\w.:/]*$")
"""`from 'x'` is nothing but an import or an export in a file that parses."""

_WORD = re.compile(rb"[\w$\x80-\xff]+")
_NOT_TEXT = frozenset(
    {SkipReason.SECRET, SkipReason.SYMLINK, SkipReason.SUBMODULE, SkipReason.BINARY}
)
"""Left out because they are no code, or nobody's business."""


class Mention(NamedTuple):
    """A textual occurrence that no fact explains."""

    path: str
    line: int
    column: int
    utf16: int  # the column as editors count
    reason: str
    text: str


class Certificate(NamedTuple):
    """What was looked at, and what is left open."""

    complete: bool
    unexplained: tuple[Mention, ...]
    total: int
    coverage: dict[str, int]

    def fields(self) -> dict[str, Any]:
        """The fields of an answer."""
        listed = [
            {
                **path_fields(os.fsencode(m.path)),
                "line": m.line + 1,
                "column": m.column + 1,
                "columnUtf16": m.utf16 + 1,
                "reason": m.reason,
                "text": safe_text(m.text),
            }
            for m in self.unexplained
        ]
        fields = {"complete": self.complete, "unexplained": listed, "coverage": self.coverage}
        return fields | ({"unexplainedCount": self.total} if self.total > len(listed) else {})


def certify(project: Project, name: str, sites: Collection[Site] = ()) -> Certificate:
    """Look for the name in every text of the tree, and at what the facts say of each place.

    `sites` are references found in places that are no identifiers.
    """
    coverage, left_out = _tree(project, name)
    explained: dict[str, set[tuple[int, int]]] = {}
    for path, places in project.places(name).items():
        explained[path] = {(place.line, place.column) for place in places}
    for site in sites:
        explained.setdefault(site.path, set()).add((site.line, site.column))
    found: list[Mention] = []
    prose = 0
    indexed, others = look(project, name), look_in(project, left_out, name)
    for file, found_there in (indexed.places | others.places).items():
        known = explained.get(file.path, set())
        for line, column, start in found_there:
            if (line, column) in known:
                continue
            mention = _mention(project, file, (line, column, start), name)
            found += [mention] if mention.reason else []
            prose += not mention.reason
    unread = indexed.unread + others.unread + len(project.view.overlay.left_out)
    coverage |= {"files": len(indexed.places), "prose": prose, "unchecked": unread}
    listed = sorted(found, key=lambda m: (os.fsencode(m.path), m.line, m.column))
    complete = not found and not unread and NAME.fullmatch(name) is not None
    return Certificate(complete, tuple(listed[:MAX_LISTED]), len(found), coverage)


def _tree(project: Project, name: str) -> tuple[dict[str, int], list[MentioningFile]]:
    """What holds for the whole tree, counted once; and which texts that are left out have the name."""
    notes = project.tree.notes
    if "coverage" not in notes:
        left_out = list(_left_out(project.view))
        for file in left_out:
            project.know(file.path, file.oid)
        project.read(file.path for file in left_out[:MAX_LEFT_OUT])
        words = [frozenset(_WORD.findall(project.text(f.path))) for f in left_out[:MAX_LEFT_OUT]]
        known = [*zip(left_out, words, strict=False)]
        notes["coverage"] = _coverage(project.view), known, left_out[MAX_LEFT_OUT:]
    counts, known, unread = notes["coverage"]
    return dict(counts), [f for f, words in known if name.encode() in words] + unread


def _coverage(view: TreeView) -> dict[str, int]:
    """How many files of the tree were understood how well."""
    view.ensure_facts()
    counts = dict.fromkeys(("parsed", "partial", "noGrammar", "skipped"), 0)
    keys = {FactsStatus.PARSED: "parsed", FactsStatus.PARTIAL: "partial"}
    keys |= {FactsStatus.LEXICAL: "noGrammar"}
    for status, count in view.rows(
        "SELECT b.status, count(*) FROM {live} l LEFT JOIN {blobs} b ON b.id=l.blob_id GROUP BY 1"
    ):
        counts[keys.get(status, "skipped") if status else "skipped"] += count
    return counts


def _left_out(view: TreeView) -> Iterator[MentioningFile]:
    """Text that the policy keeps out of the index."""
    rows = view.rows(
        "SELECT l.path, coalesce(l.skip, b.reason), l.oid FROM {live} l LEFT JOIN {blobs} b ON b.id=l.blob_id"
        " WHERE l.skip IS NOT NULL OR b.status IN ('skipped', 'quarantined')"
    )
    for path, reason, oid in rows:
        if reason not in _NOT_TEXT:
            yield MentioningFile(os.fsdecode(path), "", reason or "skipped", oid)


def _mention(
    project: Project, file: MentioningFile, place: tuple[int, int, int], name: str
) -> Mention:
    line, column, start = place
    data = project.text(file.path)
    reason = _reason(file, data, start, start + len(name.encode()))
    utf16 = utf16_length(data[start - column : start])
    return Mention(file.path, line, column, utf16, reason, _line(data, start - column))


def _line(data: bytes, start: int) -> str:
    end = data.find(b"\n", start)
    text = data[start : end if end >= 0 else len(data)]
    return text.decode("utf-8", "replace").strip()[:MAX_LINE]


def _reason(file: MentioningFile, data: bytes, start: int, end: int) -> str:
    """Why a place is not explained; empty where it is shown to be no code.

    A file that parsed without an error has all its identifiers in its postings, so what is not
    among them is a comment or a string; only a string that is nothing but the name can be a use.
    """
    if file.status == FactsStatus.PARTIAL:
        return "partial"
    if file.status == FactsStatus.LEXICAL:
        return "no_grammar"
    if file.status != FactsStatus.PARSED:
        return file.status
    if file.language in _DATA:
        return "data"
    quotes = b"\"'`" if file.language in ECMA else b"\"'"
    if not _is_quoted(data, start, end, quotes) or _is_comment(file, data, start):
        return ""
    if file.language in ECMA and _SPECIFIER.search(data[max(0, start - 200) : start]):
        return ""  # the module of an import, which the graph has as an edge
    return "string"


def _is_quoted(data: bytes, start: int, end: int, quotes: bytes) -> bool:
    """Is it a whole string, or the last part of a dotted one?"""
    if not data[end : end + 1] or data[end : end + 1] not in quotes:
        return False
    before = re.search(rb"([\"'`])[\w.:/]*$", data[max(0, start - 200) : start])
    return before is not None and before.group(1) == data[end : end + 1]


def _is_comment(file: MentioningFile, data: bytes, start: int) -> bool:
    """Does its line start as a comment? If that is inside a longer string, it is no use either.

    A brace may open an expression in such a string, so there nothing is concluded.
    """
    head = data[data.rfind(b"\n", 0, start) + 1 : start].lstrip()
    if b"{" in head:
        return False
    if file.language == "python":
        return head.startswith(b"#")
    if file.language not in ECMA:
        return False
    within = data.rfind(b"/*", 0, start) > data.rfind(b"*/", 0, start)
    return head.startswith(b"//") or (within and head.startswith((b"*", b"/*")))
