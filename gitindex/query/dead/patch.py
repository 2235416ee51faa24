"""The removal of definitions as a diff. Never applied here; a file that no longer parses is left out."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable

from gitindex.base.vocabulary import FactsStatus
from gitindex.query.names.model import Definition
from gitindex.query.names.project import Project

Span = tuple[int, int]


class RemovalPatch:
    """The diff that removes definitions, and those that it leaves: their files would not parse."""

    def __init__(self, project: Project, definitions: Iterable[Definition]) -> None:
        self._project = project
        self.left: list[Definition] = []
        by_path: dict[str, list[Definition]] = {}
        for definition in definitions:
            by_path.setdefault(definition.path, []).append(definition)
        self.text = "".join(self._file(path, found) for path, found in by_path.items())

    def _file(self, path: str, found: list[Definition]) -> str:
        """Return the diff of one file; definitions go one by one, and stay where that breaks it."""
        data = self._project.text(path)
        source = self._project.source(path)
        if source is None or b"\r" in data or not _is_plain(path):
            self.left += found
            return ""
        try:
            lines = data.decode().splitlines(keepends=True)
        except UnicodeDecodeError:
            self.left += found
            return ""
        spans: list[Span] = []
        for definition in found:
            wider = [*spans, _span(lines, definition)]
            if self._parses("".join(_without(lines, wider)), source.language):
                spans = wider
            else:
                self.left.append(definition)
        new = _without(lines, spans)
        diff = difflib.unified_diff(lines, new, f"a/{path}", f"b/{path}")
        return "".join(line if line.endswith("\n") else f"{line}\n{_NO_END}" for line in diff)

    def _parses(self, text: str, language: str) -> bool:
        facts = self._project.view.parse(text.encode(), language)
        if facts is None or facts.status != FactsStatus.PARSED or "parse_error" in facts.flags:
            return False
        return language != "python" or not _has_empty_block(text)


_NO_END = "\\ No newline at end of file\n"


def _is_plain(path: str) -> bool:
    raw = os.fsencode(path)
    return raw.isascii() and path.isprintable() and '"' not in path and "\\" not in path


def _span(lines: list[str], definition: Definition) -> Span:
    """Return the lines of a definition, with the blank lines that follow it."""
    first, last = definition.start_line, definition.end_line + 1
    while last < len(lines) and not lines[last].strip():
        last += 1
    if last == len(lines):  # the blank lines before the last definition go instead
        while first > 0 and not lines[first - 1].strip():
            first -= 1
    return first, last


def _without(lines: list[str], spans: list[Span]) -> list[str]:
    gone = {at for first, last in spans for at in range(first, last)}
    return [line for at, line in enumerate(lines) if at not in gone]


def _has_empty_block(text: str) -> bool:
    """Return whether a line of Python that opens a block is followed by nothing that is indented."""
    code = [line for line in text.splitlines() if line.strip() and not line.strip().startswith("#")]
    for line, after in zip(code, [*code[1:], ""], strict=False):
        opens = line.rstrip().endswith(":") and line.lstrip().startswith(_OPENING)
        if opens and _indent(after) <= _indent(line):
            return True
    return False


_OPENING = ("class ", "if ", "else", "elif ", "try", "except", "finally", "with ", "for ", "while ")


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip()) if line.strip() else -1
