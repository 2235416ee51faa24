"""Parse a target (name, qualified name, place, or graph node id) into definitions."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import NamedTuple

from gitindex.base.errors import Exit, GitIndexError
from gitindex.base.escape import safe_text
from gitindex.base.path_kind import is_test
from gitindex.base.pattern import compile_later
from gitindex.languages.facts import Occurrence, Use
from gitindex.languages.scopes.model import MODELLED
from gitindex.languages.syntax.kinds import FUNCTIONS, TYPES
from gitindex.languages.syntax.source import count_lines
from gitindex.query.names.binder import LABEL, Binder
from gitindex.query.names.model import Definition, FileNames, Meaning, enclosing
from gitindex.query.names.project import Project
from gitindex.query.names.semantic import known_at

MAX_NAME = 1_000
_PLACE = compile_later(r"(?P<file>.+?):(?P<line>[0-9]{1,9})(?::(?P<column>[0-9]{1,9}))?", re.DOTALL)
NAME = compile_later(r"[\w$]+")
"""An identifier in nearly all languages: only for these a text search can prove absence."""
_IDENTIFIER = compile_later(r"(?!\d)[\w$]+")
"""A name that code can define: `NAME` matches numbers, too."""
_SEPARATORS = compile_later(r"::|[.#/\\]")
_MAIN = frozenset({"__init__", "index", "mod", "lib", "src"})


class DeclaredPlace(NamedTuple):
    """The declaration of a variable, a parameter, a label or an assigned field."""

    path: str
    name: str
    kind: str
    line: int
    column: int


class ReferenceTarget(NamedTuple):
    """The requested target, and the definitions it may mean, the likeliest first."""

    name: str
    definitions: tuple[Definition, ...]
    local: tuple[Occurrence, ...] = ()  # all places of a variable of one function
    path: str = ""  # the file of that function
    proven: bool = False  # the scopes of its language are modelled, and the file is complete
    declared: tuple[DeclaredPlace, ...] = ()  # declarations of a name that is not a symbol


def find_target(binder: Binder, text: str) -> ReferenceTarget:
    """Return the target for a text: NAME, A.NAME, PATH#NAME or FILE:LINE[:COL].

    A bare NAME may have no definition; anything else must have one.
    """
    place = _PLACE.fullmatch(text)
    if place is not None:
        return _at_place(binder, place["file"], int(place["line"]) - 1, place["column"])
    path, _, qualified = text.strip().removesuffix("()").rpartition("#")
    parts = list(filter(None, _SEPARATORS.split(qualified)))
    if not parts or len(text) > MAX_NAME:
        what = f"not a name: {safe_text(text[:80])}" if text.strip() else "give a name"
        raise GitIndexError(what, "give NAME, FILE#NAME or FILE:LINE:COL", Exit.USAGE)
    definitions = _of_file(binder, path, parts) if path else _named(binder, parts)
    bare = not path and qualified == parts[-1] and _IDENTIFIER.fullmatch(qualified)
    if not definitions and not bare:
        raise _no_symbol(binder, text, path, parts[-1])
    return ReferenceTarget(definitions[0].name if definitions else qualified, tuple(definitions))


def _at_place(binder: Binder, path: str, line: int, column: str | None) -> ReferenceTarget:
    """Return the symbol at a place; without a column, the one defined on the line or around it."""
    source = binder.project.source(path)
    if source is None:
        raise no_names(binder.project, path)
    if column:
        return _at(binder, source, line, int(column) - 1)
    near = next((s for s in source.symbols if s.line == line), None) or enclosing(source, line)
    if near is None:
        raise _nothing(binder.project, source.path, line)
    return ReferenceTarget(near.name, (near,))


def no_names(project: Project, path: str) -> GitIndexError:
    """Return the refusal of a file without facts; it is no valid request if the tree lacks it."""
    if project.has(path):
        return GitIndexError(f"no names in {safe_text(path)}", code=Exit.NO)
    hint = "give a file that `git ls-files` lists"
    return GitIndexError(f"not in the tree: {safe_text(path)}", hint, Exit.USAGE)


def _named(binder: Binder, parts: list[str]) -> list[Definition]:
    """Return the definitions whose full name ends in the parts, the likeliest first."""
    definitions = [d for d in binder.project.definitions(parts[-1]) if _fits(d, parts)]
    return sorted(definitions, key=rank)


def _of_file(binder: Binder, path: str, parts: list[str]) -> list[Definition]:
    """Return the definitions that PATH#NAME means; PATH#NAME~2 is the second of that name."""
    last, _, number = parts[-1].partition("~")
    parts = [*parts[:-1], last]
    definitions = [
        d for d in binder.project.definitions(last) if d.path == path and _fits(d, parts)
    ]
    same = [d for d in definitions if _SEPARATORS.split(d.qualified) == parts] or definitions
    at = int(number) if number.isdigit() else 1
    return same[at - 1 : at]


def _no_symbol(binder: Binder, text: str, path: str, last: str) -> GitIndexError:
    """Return the refusal of a text that means no symbol, with what may be meant."""
    if not _IDENTIFIER.fullmatch(last):
        hint = "give NAME, CLASS.NAME, FILE#NAME or FILE:LINE:COL"
        return GitIndexError(f"not a name: {safe_text(text)}", hint, Exit.USAGE)
    if path and not binder.project.has(path):
        return no_names(binder.project, path)
    others = dict.fromkeys(d.qualified for d in _named(binder, [last]))
    listed = f"{', '.join(list(others)[:5])}, or " if others else ""
    hint = f"give {listed}`{last}` alone for every place of that name"
    return GitIndexError(f"no symbol {safe_text(text)}", safe_text(hint), Exit.NO)


def rank(definition: Definition) -> tuple[bool, bool, int, int, bytes, int]:
    """Sort key: the likeliest meaning of a bare name first."""
    kind = 0 if definition.kind in TYPES | FUNCTIONS else 1
    depth = definition.qualified.count(".")
    path = os.fsencode(definition.path)
    return is_test(definition.path), not definition.exported, kind, depth, path, definition.line


def _fits(definition: Definition, parts: list[str]) -> bool:
    """Return whether the full name of a definition, module included, ends in the parts."""
    if len(parts) == 1:
        return True
    stem = definition.path.rpartition(".")[0] or definition.path
    folders = [part for part in stem.split("/") if part not in _MAIN]
    full = [*folders, *_SEPARATORS.split(definition.qualified)]
    return full[-len(parts) :] == parts


def _at(binder: Binder, source: FileNames, line: int, column: int) -> ReferenceTarget:
    """Return the symbol or the variable that is named at a place."""
    places = [p for p in binder.project.places_in(source.path) if p.line == line]
    here = [p for p in places if p.column <= column < p.column + len(p.name.encode())]
    here = here or list(_labels(binder, source, line, column))
    here = here or list(_annotation(binder, source, line, column))
    if not here:
        raise _nothing(binder.project, source.path, line)
    return _meant(binder, source, here[0])


def _labels(binder: Binder, source: FileNames, line: int, column: int) -> Iterator[Occurrence]:
    """Yield the label at a place: labels are not part of the facts."""
    scopes = binder.project.scopes(source.path)
    start, data = binder.project.offset(source.path, line, 0), binder.project.text(source.path)
    for at in sorted(scopes.labels) if scopes else ():
        word = NAME.match(data[at : at + MAX_NAME].decode("utf-8", "replace"))
        if word and at <= start + column < at + len(word.group().encode()):
            around = enclosing(source, line)
            scope = around.ordinal if around else -1
            yield Occurrence(word.group(), line, at - start, Use.REFERENCE, scope)


def _annotation(binder: Binder, source: FileNames, line: int, column: int) -> Iterator[Occurrence]:
    """Yield the name at a place in a Python annotation that is written as a string."""
    scopes = binder.project.scopes(source.path)
    at = binder.project.offset(source.path, line, column)
    if source.language != "python" or scopes is None or scopes.quiet(at) != "annotation":
        return
    text = binder.project.span(source.path, line, line)
    for word in NAME.finditer(text) if text.isascii() else ():
        if word.start() <= column < word.end():
            around = enclosing(source, line)
            scope = around.ordinal if around else -1
            yield Occurrence(word.group(), line, word.start(), Use.TYPE, scope)


def _meant(binder: Binder, source: FileNames, place: Occurrence) -> ReferenceTarget:
    known = known_at(binder.project, source.path, place.line, place.column)
    if known:
        return ReferenceTarget(known[0].name, tuple(sorted(known, key=rank)))
    meaning = binder.meaning(source, place)
    if meaning.bound is not None or meaning is LABEL:
        places = binder.project.places(place.name, [source.path]).get(source.path, [])
        same = [p for p in places if _is_same(binder.meaning(source, p), meaning)] or [place]
        declared = tuple(declarations(binder, source, place, meaning))
        proven = meaning.sure and source.language in MODELLED
        return ReferenceTarget(place.name, (), tuple(same), source.path, proven, declared)
    definitions = meaning.definitions
    if definitions:
        return ReferenceTarget(place.name, tuple(sorted(definitions, key=rank)))
    fields = tuple(_fields(binder, source, place))
    if fields:
        return ReferenceTarget(place.name, (), declared=fields)
    definitions = tuple(binder.candidates(source, meaning, place.name))
    return ReferenceTarget(place.name, tuple(sorted(definitions, key=rank)))


def declarations(
    binder: Binder, source: FileNames, place: Occurrence, meaning: Meaning
) -> Iterator[DeclaredPlace]:
    """Yield the declaration of the variable or label at a place."""
    project = binder.project
    scopes = project.scopes(source.path)
    if scopes is None:
        return
    at = project.offset(source.path, place.line, place.column)
    if meaning is LABEL:
        offsets, kind = {scopes.label_of(place.name, at)}, "label"
    else:
        of_type = place.use in (Use.TYPE, Use.INHERIT)
        name = f"${place.name}" if source.language == "php" else place.name
        resolved = scopes.resolve(name, at, of_type) or scopes.resolve(name, at)
        declared = resolved.declarations if resolved else ()
        offsets = {d.offset for d in declared}
        kind = "parameter" if any(d.kind in ("param", "rest") for d in declared) else "variable"
    for offset in sorted(offsets)[:1]:
        line = project.line(source.path, offset)
        column = offset - project.offset(source.path, line, 0)
        yield DeclaredPlace(source.path, place.name, kind, line, column)


def _fields(binder: Binder, source: FileNames, place: Occurrence) -> Iterator[DeclaredPlace]:
    """Yield the first assignment to the member at a place, in its class or object literal."""
    project = binder.project
    for path, offset in binder.assigned(source, place)[:1]:
        line = project.line(path, offset)
        column = offset - project.offset(path, line, 0)
        yield DeclaredPlace(path, place.name, "field", line, column)


def _is_same(one: Meaning, other: Meaning) -> bool:
    """Return whether two local names are the same variable."""
    if one is LABEL:
        return other is LABEL
    if one.variable >= 0:
        return one.variable == other.variable and other.bound is not None
    return one.bound is not None and (one.within, one.at) == (other.within, other.at)


def _nothing(project: Project, path: str, line: int) -> GitIndexError:
    lines = count_lines(project.text(path))
    if not 0 <= line < lines:
        return GitIndexError(f"no line {line + 1}: the file has {lines}", code=Exit.USAGE)
    return GitIndexError(f"no name at {safe_text(path)}:{line + 1}", code=Exit.NO)
