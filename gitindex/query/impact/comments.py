"""The code of two versions of a file without the comments and docstrings that differ."""

from __future__ import annotations

import re
from difflib import SequenceMatcher

from gitindex.query.names.project import Project

MAX_LINES = 4_000
"""Lines of a file beyond which comments count as code: comparing is quadratic."""
_MARK = re.compile(rb"#|//|/\*|\*|--|\"|'|<!--|;|%|\{-|\(\*")
"""What may start a comment or a docstring, or a line inside of one."""
_DOCSTRING = re.compile(rb"""[rRuU]?(\"\"\"|'''|"|')""")
_GOES_ON = (b",", b")", b"]", b"}", b".", b"%", b"+")
_DIRECTIVES = (b"//go:", b"// +build", b"#!", b"# -*-")
"""Comments that change what is built."""


def code_of(before: Project, after: Project, path: str) -> tuple[bytes, bytes]:
    """Return both versions of a file, with spaces for comments and docstrings of differing lines."""
    texts = before.text(path), after.text(path)
    lines = [text.split(b"\n") for text in texts]
    if max(map(len, lines)) > MAX_LINES:
        return texts
    changed: tuple[set[int], set[int]] = set(), set()
    matcher = SequenceMatcher(None, lines[0], lines[1], False)
    for tag, first, last, start, end in matcher.get_opcodes():
        if tag != "equal":
            changed[0].update(range(first, last))
            changed[1].update(range(start, end))
    old, new = (
        _without_comments(project, path, text, numbers)
        for project, text, numbers in zip((before, after), texts, changed, strict=True)
    )
    return old, new


def is_same_code(before: Project, after: Project, path: str) -> bool:
    """Return whether two versions of a file differ only in comments, docstrings and blank lines."""
    old, new = code_of(before, after, path)
    return _code_lines(old) == _code_lines(new)


def _code_lines(text: bytes) -> list[bytes]:
    return [line.rstrip() for line in text.split(b"\n") if line.strip()]


def _without_comments(project: Project, path: str, text: bytes, lines: set[int]) -> bytes:
    marks = _marks(text, project.starts(path), lines)
    kinds = project.kinds({path: marks}).get(path, []) if marks else []
    python = path.endswith((".py", ".pyi"))
    blanked = bytearray(text)
    for kind, start, end in kinds:
        is_comment = kind == "comment" and not text.startswith(_DIRECTIVES, start)
        if is_comment or (kind == "string" and python and _is_docstring(text, start, end)):
            blanked[start:end] = re.sub(rb"[^\n]", b" ", text[start:end])
    return bytes(blanked)


def _marks(text: bytes, starts: list[int], lines: set[int]) -> list[int]:
    """Return the offsets in some lines where a comment or docstring may be."""
    found = []
    for number in sorted(lines):
        end = starts[number + 1] if number + 1 < len(starts) else len(text)
        line = text[starts[number] : end]
        marks = {len(line) - len(line.lstrip()), *(m.start() for m in _MARK.finditer(line))}
        found += [starts[number] + at for at in sorted(marks) if at < len(line)]
    return found


def _is_docstring(text: bytes, start: int, end: int) -> bool:
    """Return whether a string is the first statement of a function, a class or a module."""
    if not _DOCSTRING.match(text, start):
        return False
    head = re.sub(rb"(?m)#.*$", b"", text[max(0, start - 2_000) : start]).rstrip()
    rest = text[end : end + 200].lstrip()
    return (not head or head.endswith(b":")) and not rest.startswith(_GOES_ON)
