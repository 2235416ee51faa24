"""Functions of ECMAScript that are arguments: what is called declares the types of their parameters."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gitindex.languages.scopes.bound import Part
from gitindex.languages.syntax.kinds import FUNCTIONS
from gitindex.query.names.chains import MAX_LOOK, closing, enclosing_call, receiver, split_top
from gitindex.query.names.meanings import is_type
from gitindex.query.names.source import Definition, FileNames
from gitindex.query.names.values import MAX_DEPTH, ExpressionPlace

if TYPE_CHECKING:
    from gitindex.query.names.types import Types

Told = tuple[str, ExpressionPlace]  # an annotation, and where it is written


def declared_type(types: Types, place: ExpressionPlace, scope: int, name: str) -> Told | None:
    """Return the type of a parameter of a function that is an argument; None without one."""
    scopes = types.project.scopes(place.source.path)
    if scopes is None or scope <= 0 or place.depth > MAX_DEPTH:
        return None
    names = [own for own, _ in scopes.parameters(scope)]
    start, data = scopes.ranges[scope].start, types.project.text(place.source.path)
    call = enclosing_call(data, start) if name in names else None
    if call is None:
        return None
    called, at, number = call
    chain = [*(receiver(data, at) or ()), Part(called, False)]
    for source, function in _called(types, chain, place.deeper()._replace(at=at)):
        header = types.names.header(source, function)
        beside = types.classes.beside(source, function, function.ordinal, place.depth + 1)
        told = _parameter(header[max(header.find("("), 0) :], number)
        inner = _function_type(types, told, beside)
        found = _parameter(inner[0], names.index(name)) if inner is not None else ""
        if inner is None or not found or types.classes.type_parameter(found, inner[1]) is not None:
            continue  # what a type parameter stands for, the call tells
        return found, inner[1]
    return None


def _called(
    types: Types, chain: list[Part], place: ExpressionPlace
) -> Iterator[tuple[FileNames, Definition]]:
    """Yield the functions that a chain names, and the constructors of a class."""
    *front, last = chain
    if front:
        meaning = types.member(types.chain(front, place), last.name, place.depth)
    else:
        meaning = types.names.lookup(place.source, last.name, place.scope, place.at)
    for definition in meaning.definitions:
        found = [definition] if definition.kind in FUNCTIONS else []
        if is_type(definition):
            found = types.classes.members(definition, "constructor", False)[0]
        for function in found:
            source = types.project.source(function.path)
            if source is not None:
                yield source, function


def _function_type(types: Types, text: str, place: ExpressionPlace) -> Told | None:
    """Return the type of a function as text, with its parameters first; an alias is followed."""
    for part in split_top(text[:MAX_LOOK], "|"):
        bare = part.strip()
        while bare[:1] == "(" and closing(bare, 0) == len(bare) - 1:
            bare = bare[1:-1].strip()
        if bare[:1] == "(" and bare[closing(bare, 0) + 1 :].lstrip()[:2] == "=>":
            return bare, place
        alias = types.annotation(bare, place.deeper()).definition if bare else None
        source = types.project.source(alias.path) if alias and alias.kind == "type" else None
        if alias is not None and source is not None and place.depth < MAX_DEPTH:
            beside = types.classes.beside(source, alias, alias.ordinal, place.depth + 1)
            return _function_type(
                types, types.names.header(source, alias).partition("=")[2], beside
            )
    return None


def _parameter(text: str, number: int) -> str:
    """Return the annotation of a parameter of a list in brackets; `this` does not count."""
    listed = split_top(text[1 : closing(text, 0)], ",") if text[:1] == "(" else ()
    own = [part.strip() for part in listed if not part.strip().startswith("this:")]
    name, _, told = own[number].partition(":") if number < len(own) else ("", "", "")
    return told.strip() if name.strip().rstrip("?").replace("_", "").isalnum() else ""
