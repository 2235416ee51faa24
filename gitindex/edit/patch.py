"""Edits of files: the old bytes, the new ones, and the patch that shows them."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable
from typing import Any, NamedTuple

from gitindex.base.escape import path_fields, safe_text
from gitindex.base.vocabulary import Tier
from gitindex.git.interface import blob_id
from gitindex.query.names.project import Project


class FileEdit(NamedTuple):
    """One edited file: its expected old bytes, its new bytes, and its new path if it moves."""

    path: str
    old: bytes
    new: bytes
    moved: str = ""

    @property
    def target(self) -> str:
        """The path that the new bytes have."""
        return self.moved or self.path

    def fields(self) -> dict[str, Any]:
        """Return the edit as fields of an answer; the hash is git's blob id of the old bytes."""
        fields = {**path_fields(os.fsencode(self.path)), "blob": blob_id(self.old, 40)}
        return fields | ({"newPath": safe_text(self.moved)} if self.moved else {})


class RenamePlace(NamedTuple):
    """A place that spells the old name."""

    path: str
    line: int
    column: int
    tier: Tier


def spelled(project: Project, places: Iterable[RenamePlace], name: str) -> list[RenamePlace]:
    """Return the places where the text is the name: each once, in order."""
    raw = name.encode()
    kept: dict[tuple[str, int, int], RenamePlace] = {}
    for place in places:
        start = project.offset(place.path, place.line, place.column)
        data = project.text(place.path)
        longer = data[start + len(raw) : start + len(raw) + 1]
        if data[start : start + len(raw)] == raw and not (
            longer.isalnum() or longer in (b"_", b"$")
        ):
            kept.setdefault(place[:3], place)
    return sorted(kept.values())


def edits_of(project: Project, places: list[RenamePlace], old: str, new: str) -> list[FileEdit]:
    """Return one edit for each file, with the new name at all of its places."""
    by_path: dict[str, list[int]] = {}
    for place in places:
        offset = project.offset(place.path, place.line, place.column)
        by_path.setdefault(place.path, []).append(offset)
    edits = []
    for path, offsets in sorted(by_path.items()):
        data = project.text(path)
        changed = data
        for offset in sorted(offsets, reverse=True):
            changed = changed[:offset] + new.encode() + changed[offset + len(old.encode()) :]
        edits.append(FileEdit(path, data, changed))
    return edits


def diff(edit: FileEdit) -> str:
    """Return a patch that `git apply` accepts."""
    old, new = _lines(edit.old), _lines(edit.new)
    path, target = _quoted(f"a/{edit.path}"), _quoted(f"b/{edit.target}")
    lines = difflib.unified_diff(old, new, path, target)
    text = "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
    )
    if edit.moved:
        text = f"rename from {_quoted(edit.path)}\nrename to {_quoted(edit.moved)}\n{text}"
    return f"diff --git {path} {target}\n{text}" if text else ""


def _quoted(path: str) -> str:
    """Return a path as git writes it in a patch: in quotes if it has other than plain characters."""
    if path.isprintable() and not set(path) & {'"', "\\"}:
        return path
    plain = (
        chr(b) if 32 <= b < 127 and b not in b'"\\' else f"\\{b:03o}" for b in os.fsencode(path)
    )
    return f'"{"".join(plain)}"'


def _lines(data: bytes) -> list[str]:
    """Split as git does: a form feed or a lone carriage return ends no line."""
    parts = data.decode("utf-8", "surrogateescape").split("\n")
    return [f"{part}\n" for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])
