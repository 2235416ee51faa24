"""Classes that code of Python makes when it runs: `type(name, bases, members)`."""

from __future__ import annotations

from collections.abc import Iterator

from gitindex.languages.facts import Use
from gitindex.query.names.chains import closing, read_chain, split_top
from gitindex.query.names.listings import in_python
from gitindex.query.names.places import Binder
from gitindex.query.names.project import Project
from gitindex.query.names.source import Definition, FileNames
from gitindex.query.names.values import ExpressionPlace, ValueKind

_MAKERS = ("type", "new_class", "make_dataclass")
MAX_CALL = 4_000

_Made = tuple[FileNames, int, int, str]  # the file, its symbol, the offset, the bases


def opened_classes(binder: Binder) -> list[Definition] | None:
    """Return the classes that such calls take as bases; None if they may take any."""
    notes = binder.project.tree.notes
    if "opened" not in notes:
        notes["opened"] = []  # while they are being found out
        notes["opened"] = _opened(binder)
    found: list[Definition] | None = notes["opened"]
    return found


def _opened(binder: Binder) -> list[Definition] | None:
    opened: list[Definition] = []
    for source, scope, at, text in _made(binder.project):
        text = text.strip()
        if text[:1] not in ("(", "[") or closing(text, 0) != len(text) - 1:
            return None
        for part in split_top(text[1:-1], ","):
            if not part.strip() or part.strip() == "object":
                continue
            chain = read_chain(part)
            if chain is None:
                return None
            value = binder.types.chain(chain, ExpressionPlace(source, scope, at))
            if value.kind is ValueKind.TYPE and value.definition is not None:
                opened.append(value.definition)
            elif value.kind is not ValueKind.OUTSIDE:
                return None
    return opened


def _made(project: Project) -> Iterator[_Made]:
    """Yield calls that make a class, with what they give as its bases."""
    names = list(_MAKERS)
    for name in names:  # grows during the loop
        by_path = {
            path: [place for place in found if place.use in (Use.CALL, Use.INHERIT)]
            for path, found in in_python(project, name).items()
        }
        project.load(path for path, found in by_path.items() if found)
        for path, places in by_path.items():
            source = project.source(path) if places else None
            for place in places if source is not None else ():
                assert source is not None
                at = project.offset(path, place.line, place.column)
                if place.use == Use.INHERIT and name not in _MAKERS[1:]:  # a metaclass
                    child = source.symbol(place.enclosing)
                    names += [child.name] if child and child.name not in names else []
                if place.use != Use.CALL:
                    continue
                after = at + len(name.encode())
                text = project.text(path)[after : after + MAX_CALL].decode("utf-8", "replace")
                bases = _bases(text.lstrip(), name)
                if bases:
                    yield source, place.enclosing, at, bases


def _bases(text: str, name: str) -> str:
    """Return what a call gives as the bases of a class; empty for a call that makes none."""
    if text[:1] != "(":
        return ""
    end = closing(text, 0)
    given = [part for part in split_top(text[1:end], ",") if part.strip()]
    if any(part.lstrip().startswith("*") for part in given):
        return "*"
    if name == "make_dataclass":
        told = (part.partition("=") for part in given)
        return next((value for key, _, value in told if key.strip() == "bases"), "")
    if name == "type" and len(given) == 1:  # `type(A)(…)`: a call of the metaclass
        return _bases(text[end + 1 :], "")
    makes = len(given) >= 2 if name == "new_class" else len(given) >= 3
    return given[1] if makes else ""
