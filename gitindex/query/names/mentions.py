"""Every occurrence of a name in the texts of a tree, as `git grep -a -F -w -o` counts them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from gitindex.base.confined_read import ConfinedRoot
from gitindex.base.pattern import compile_later
from gitindex.base.vocabulary import SkipReason, Why
from gitindex.extract.fragments import fragments_of
from gitindex.extract.policy import BINARY_PROBE
from gitindex.languages.facts import Occurrence, Use
from gitindex.query.names.project import LISTED, Project, rows_of
from gitindex.query.names.source import Definition, FileNames, enclosing, is_python
from gitindex.store.text_index import candidates
from gitindex.view.overlay import WORKTREE
from gitindex.view.tree import TreeView

MAX_FILES = 20_000
"""Files whose text one query reads."""
MAX_LEFT_OUT, MAX_LEFT_OUT_BYTES = 5_000, 128 << 20
"""Files that the index leaves out, and their bytes, that one query searches."""

_FILE = "SELECT l.path, b.language, b.status, l.oid FROM "
_INDEXED = " WHERE b.status NOT IN ('skipped', 'quarantined')"
_ALL = f"{_FILE} {{live}} l JOIN {{blobs}} b ON b.id=l.blob_id {_INDEXED}"
_OF_PATHS = f"{_FILE} {LISTED} JOIN {{blobs}} b ON b.id=l.blob_id {_INDEXED}"
_OF_BLOBS = (  # from the values asked for to the tree, which may be large
    f"{_FILE} {{listed}} w CROSS JOIN {{blobs}} b ON b.id=w.column1"
    f" CROSS JOIN {{live}} l ON l.blob_id=b.id {_INDEXED}"
)
_LEFT_OUT = (
    "SELECT l.path, coalesce(l.skip, b.reason), l.oid FROM {live} l LEFT JOIN {blobs} b"
    " ON b.id=l.blob_id"
    " WHERE (l.skip IS NOT NULL OR b.id IS NULL OR b.status IN ('skipped', 'quarantined'))"
    " AND NOT (l.skip IS NULL AND b.reason IS 'binary' AND b.lines IS 0)"
)
"""Paths without facts, but for those that git takes as binary: it searches none of these."""
_ANNOTATES = compile_later(
    r"(?:->|\bTypeVar\([^()]*\bbound\s*=|[\w\])]\s*:|\b(?:[A-Z]\w*|list|dict|tuple|type|set|frozenset)\[(?:[^\]\"']*,)?)\s*$"
)
_QUOTED = compile_later(r"([\"'])([\w.\[\], |]*)$")
_WORD = compile_later(rb"\w+")
_NOT_GREPPED = (SkipReason.SYMLINK, SkipReason.SUBMODULE)


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
            project.view.ensure_facts(words=[name])
            held = look_in(project, files_with(project.view, name), name)
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


def files_with(view: TreeView, text: str) -> list[MentioningFile]:
    """Return indexed files that may contain a text, from the text index; edited files always."""
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


def look_left_out(project: Project, name: str) -> TextMentions:
    """Return every occurrence of a name in texts that the index leaves out: secrets, large files."""
    known: dict[str, frozenset[bytes]] = project.tree.table("left_out_words")
    words = frozenset(_WORD.findall(name.encode("utf-8", "surrogatepass")))
    places: dict[MentioningFile, list[tuple[int, int, int]]] = {}
    left, unread, room = MAX_LEFT_OUT, 0, MAX_LEFT_OUT_BYTES
    with ConfinedRoot(project.view.worktree.root) as disk:
        for file in left_out(project):
            if file.path in known and not words <= known[file.path]:
                continue
            left -= 1
            data = _read(project, disk, file, room) if left >= 0 else None
            if data is None:
                unread += 1
                continue
            room -= len(data)
            if b"\0" in data[:BINARY_PROBE]:
                data = b""  # git does not search it either
            project.hold(file.path, data)
            if os.fsencode(file.path) not in project.view.changed():
                known[file.path] = frozenset(_WORD.findall(data))
            if found := list(places_of(project, file, name)):
                places[file] = found
    return TextMentions(places, unread)


def left_out(project: Project) -> list[MentioningFile]:
    """Return the files without facts that git searches: skipped by the policy, or lost."""
    notes = project.tree.notes
    if "left_out" not in notes:
        rows = project.view.rows(_LEFT_OUT)
        notes["left_out"] = [
            MentioningFile(os.fsdecode(path), "", reason or Why.NOT_PARSED, oid)
            for path, reason, oid in rows
            if reason not in _NOT_GREPPED
        ]
    found: list[MentioningFile] = notes["left_out"]
    return found


def _read(project: Project, disk: ConfinedRoot, file: MentioningFile, room: int) -> bytes | None:
    """Return the bytes of a file that has no facts; None if it is too large, or cannot be read."""
    raw = os.fsencode(file.path)
    if project.view.overlay.source != WORKTREE:
        return project.view.read([raw]).get(raw)
    try:
        probe = BINARY_PROBE if file.status == SkipReason.BINARY else room
        found = disk.read(raw, probe)
        if found is not None and found.size > probe == BINARY_PROBE and b"\0" not in found.data:
            found = disk.read(raw, room)
    except OSError:
        return None
    if found is None or (found.size > room and file.status != SkipReason.BINARY):
        return None
    return found.data


def places_of(project: Project, file: MentioningFile, name: str) -> Iterator[tuple[int, int, int]]:
    """Yield every occurrence of a name as a whole word of git: line, column and offset."""
    data = project.text(file.path)
    needle = name.encode("utf-8", "surrogatepass")
    if needle not in data:
        return
    line = seen = first = 0
    for match in _pattern(needle).finditer(data):
        start = match.start()
        passed = data.count(b"\n", seen, start)
        if passed:
            line += passed
            first = data.rfind(b"\n", seen, start) + 1
        seen = start
        yield line, start - first, start


def _pattern(needle: bytes) -> re.Pattern[bytes]:
    """Return what `git grep -w` matches: a word is of letters of ASCII, digits and underscores."""
    return re.compile(rb"(?<![A-Za-z0-9_])%s(?![A-Za-z0-9_])" % re.escape(needle))


def is_annotation(line: str, column: int, end: int) -> bool:
    """Return whether a word is part of a Python annotation that is written as a string."""
    opened = _QUOTED.search(line[:column])
    if opened is None or not re.match(rf"[\w.\[\], |]*{opened.group(1)}", line[end:]):
        return False
    return _ANNOTATES.search(line[: opened.start()]) is not None


At = tuple[str, int, int]  # path, line, column


def _mentioned(
    project: Project, targets: Iterable[Definition], within: Iterable[str]
) -> Iterator[tuple[str, FileNames, list[tuple[int, int, int]]]]:
    """Yield where the texts of Python files have the names of targets of modules."""
    names = {t.name for t in targets if is_python(t.path) and t.parent < 0}
    for name in sorted(names):
        for file, places in look(project, name, within).places.items():
            source = project.source(file.path) if file.language == "python" else None
            if source is not None:
                yield name, source, places


def of_annotations(
    project: Project, targets: Iterable[Definition], within: Iterable[str], code: set[At]
) -> Iterator[tuple[FileNames, Occurrence]]:
    """Yield occurrences in Python annotations written as strings; `code` are known others."""
    for name, source, places in _mentioned(project, targets, within):
        for line, column, _ in places:
            if (source.path, line, column) in code:
                continue
            text = project.span(source.path, line, line)
            if is_annotation(text, column, column + len(name)):
                around = enclosing(source, line)
                scope = around.ordinal if around else -1
                yield source, Occurrence(name, line, column, Use.TYPE, scope)


def of_exports(
    project: Project, targets: Iterable[Definition], within: Iterable[str]
) -> Iterator[tuple[FileNames, Occurrence]]:
    """Yield items of Python's `__all__`: each refers to the module's binding of that name."""
    for name, source, places in _mentioned(project, targets, within):
        text, size = project.text(source.path), len(name.encode())
        if b"__all__" not in text:
            continue
        for line, column, start in places:
            end = text[start + size : start + size + 1]
            whole = text[start - 1 : start] in (b'"', b"'") and end in (b'"', b"'")
            scopes = project.scopes(source.path) if whole else None
            if scopes is not None and scopes.quiet(start) == "exported":
                yield source, Occurrence(name, line, column, Use.REFERENCE, -1)
