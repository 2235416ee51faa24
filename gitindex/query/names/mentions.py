"""Find a name in the text of a tree, independent of facts: by the text index, then by search."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from gitindex.base.pattern import compile_later
from gitindex.extract.fragments import fragments_of
from gitindex.query.names.project import LISTED, Project, rows_of
from gitindex.store.text_index import candidates
from gitindex.view.tree import TreeView

MAX_FILES = 2_000
"""Files whose text one query reads."""

_FILE = "SELECT l.path, b.language, b.status, l.oid FROM "
_INDEXED = " WHERE b.status NOT IN ('skipped', 'quarantined')"
_ALL = f"{_FILE} {{live}} l JOIN {{blobs}} b ON b.id=l.blob_id {_INDEXED}"
_OF_PATHS = f"{_FILE} {LISTED} JOIN {{blobs}} b ON b.id=l.blob_id {_INDEXED}"
_OF_BLOBS = (  # from the values asked for to the tree, which may be large
    f"{_FILE} {{listed}} w CROSS JOIN {{blobs}} b ON b.id=w.column1"
    f" CROSS JOIN {{live}} l ON l.blob_id=b.id {_INDEXED}"
)
_ANNOTATES = compile_later(
    r"(?:->|\bTypeVar\([^()]*\bbound\s*=|[\w\])]\s*:|\b(?:[A-Z]\w*|list|dict|tuple|type|set|frozenset)\[(?:[^\]\"']*,)?)\s*$"
)
_QUOTED = compile_later(r"([\"'])([\w.\[\], |]*)$")
_WORDS = frozenset(
    char
    for char in map(bytes, zip(range(256)))
    if char.isalnum() or char in b"_$" or char >= b"\x80"
)
"""Bytes of which words are made."""


class MentioningFile(NamedTuple):
    """A file whose text may contain the name."""

    path: str
    language: str
    status: str  # words.FactsStatus, or the reason it is skipped
    oid: bytes


class TextMentions(NamedTuple):
    """Occurrences of a name in texts by file, and how many files were not read."""

    places: dict[MentioningFile, list[tuple[int, int, int]]]  # line, column, offset
    unread: int


def look(project: Project, name: str, within: Iterable[str] = ()) -> TextMentions:
    """Return every occurrence of a name in the indexed texts, or in the files `within`."""
    only = [os.fsencode(path) for path in within]
    if only:
        project.view.ensure_facts(words=[name], paths=only)
        rows = rows_of(project.view, _OF_PATHS, only)
        files = [MentioningFile(os.fsdecode(row[0]), *row[1:]) for row in rows]
        return look_in(project, files, name)
    key = ("text", name)
    held: TextMentions | None = project.notes.get(key)
    if held is None:
        held = project.tree.searched(key)
        if held is None:
            held = look_in(project, files_holding(project.view, name), name)
            project.tree.keep_search(key, held, sum(map(len, held.places.values())))
        for file in held.places:
            project.know(file.path, file.oid)
        project.notes[key] = held
    return held


def look_in(project: Project, files: list[MentioningFile], name: str) -> TextMentions:
    """Return every occurrence of a name in some texts."""
    some = files[:MAX_FILES]
    for file in some:
        project.know(file.path, file.oid)
    project.read(file.path for file in some)
    places = {file: list(places_of(project, file, name)) for file in some}
    return TextMentions(
        {file: found for file, found in places.items() if found}, len(files) - len(some)
    )


def files_holding(view: TreeView, name: str) -> list[MentioningFile]:
    """Return indexed files that may contain a name, from the text index; edited files always."""
    view.ensure_facts(words=[name])
    return files_with(view, f" {name} ")  # a whole word: what `places_of` finds


def files_with(view: TreeView, text: str) -> list[MentioningFile]:
    """Return the same for a text inside of words, or with blanks at the ends of a word."""
    fragments = fragments_of(text)
    blobs = candidates(view.served.database, [frozenset({fragments})] if fragments else [])
    if blobs is None:
        rows = view.rows(_ALL)
    else:
        changed = [path for path, laid in view.changed().items() if laid is not None]
        rows = rows_of(view, _OF_BLOBS, sorted(blobs))
        rows += rows_of(view, _OF_PATHS, changed)
    found = {row[0]: MentioningFile(os.fsdecode(row[0]), *row[1:]) for row in rows}
    return [found[path] for path in sorted(found)]


def places_of(project: Project, file: MentioningFile, name: str) -> Iterator[tuple[int, int, int]]:
    """Yield every occurrence of a name as a whole word: line, column and offset."""
    data = project.text(file.path)
    letters = _WORDS - {b"$"} if file.language == "python" else _WORDS
    needle = name.encode("utf-8", "surrogatepass")
    start = data.find(needle)
    line = seen = first = 0
    while start >= 0:
        end = start + len(needle)
        if data[start - 1 : start] not in letters and data[end : end + 1] not in letters:
            passed = data.count(b"\n", seen, start)
            if passed:
                line += passed
                first = data.rfind(b"\n", seen, start) + 1
            seen = start
            yield line, start - first, start
        start = data.find(needle, end)


def is_annotation(line: str, column: int, end: int) -> bool:
    """Return whether a word is part of a Python annotation that is written as a string."""
    opened = _QUOTED.search(line[:column])
    if opened is None or not re.match(rf"[\w.\[\], |]*{opened.group(1)}", line[end:]):
        return False
    return _ANNOTATES.search(line[: opened.start()]) is not None
