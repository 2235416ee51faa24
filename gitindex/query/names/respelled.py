"""Places that have a target's name, but not as the grammar reads it: Java with escapes, PHP and SQL with
other capital letters. Nothing is proven about them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gitindex.base.pattern import compile_later
from gitindex.query.names.mentions import files_with
from gitindex.query.names.project import Project
from gitindex.query.names.source import Definition
from gitindex.query.names.spellings import plain

_CASE_BLIND = frozenset({"php", "sql"})
_LIKE = "SELECT text FROM {names} WHERE text LIKE ? ESCAPE '\\' AND text<>?"
_ESCAPED = compile_later(rb"[\w$\\]*\\u[\w$\\]+")
_WORD = compile_later(r"[\w$]+")
_SPECIAL = compile_later(r"([\\_%])")

Place = tuple[str, int, int]  # path, line, column


def respelled(project: Project, targets: Iterable[Definition]) -> Iterator[Place]:
    """Yield the places."""
    told = ((project.source(target.path), target.name) for target in targets)
    for language, name in dict.fromkeys((s.language, name) for s, name in told if s is not None):
        if language == "java":
            yield from _escaped(project, name)
        elif language in _CASE_BLIND:
            yield from _in_other_letters(project, name, language)


def _escaped(project: Project, name: str) -> Iterator[Place]:
    """Yield words of Java that are the name, written with escapes. The grammar reads none of them."""
    needles = {"u00", *(f"u{ord(c):04x}" for c in name if ord(c) > 0xFF)}
    known: dict[str, list[tuple[Place, frozenset[str]]]] = project.tree.table("escaped_words")
    for needle in sorted(needles):
        if needle not in known:
            known[needle] = list(_escaped_words(project, needle))
        yield from (place for place, words in known[needle] if name in words)


def _escaped_words(project: Project, needle: str) -> Iterator[tuple[Place, frozenset[str]]]:
    """Yield the places with escapes in files that may have a text, and the words that are read there."""
    files = [f for f in files_with(project.view, needle) if f.language == "java"]
    for file in files:
        project.know(file.path, file.oid)
    project.read(file.path for file in files)
    for file in files:
        for found in _ESCAPED.finditer(project.text(file.path)):
            line = project.line(file.path, found.start())
            column = found.start() - project.offset(file.path, line, 0)
            read = plain(found.group().decode("utf-8", "replace"))
            yield (file.path, line, column), frozenset(_WORD.findall(read))


def _in_other_letters(project: Project, name: str, language: str) -> Iterator[Place]:
    for (other,) in project.view.rows(_LIKE, _SPECIAL.sub(r"\\\1", name), name):
        for path, places in project.plain_places(other).items():
            there = project.source(path)
            if there is not None and there.language == language:
                yield from ((path, place.line, place.column) for place in places)
