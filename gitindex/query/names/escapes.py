"""Is a class of Python used as a value? Only then code can mix it into classes, or put it in a place.

A class that is only called, inherited from, annotated with or tested for reaches no function that
makes classes of what it gets (`type(name, bases, …)`, `class C(*bases)`), replaces another class
(`module.A = B`) or gives objects another class (`x.__class__ = B`).
"""

from __future__ import annotations

from gitindex.base.pattern import compile_later
from gitindex.languages.facts import Occurrence, Use
from gitindex.languages.scopes.model import FileScopes
from gitindex.query.names.dispatch import Dispatch
from gitindex.query.names.made_classes import opened_classes
from gitindex.query.names.mentions import is_annotation, look
from gitindex.query.names.places import Binder
from gitindex.query.names.source import Definition, FileNames

MAX_FAMILY = 60
"""Classes below one that are examined; with more, some is taken for a value."""
MAX_FILES = 300

_PYTHON = (".py", ".pyi")
_USED = (Use.REFERENCE, Use.ATTRIBUTE)
_TESTED = compile_later(
    rb"(?:\b(?:isinstance|issubclass)\s*\([^()]*(?:\([^()]*)?|\bexcept\s*\(?[\w\s.,]*|\braise\s+[\w.]*"
    rb"|\bsuper\s*\(\s*[\w.]*|\bis\s+(?:not\s+)?[\w.]*|[=!]=\s*[\w.]*)$"
)
"""What stands before a class that is only compared with, or that an exception is made of."""
_CLASS_BY_TEXT = compile_later(rb"[\"']__class__[\"']")
_QUOTES = (b'"', b"'")
_NOT_READ = ("exported", "comment", "docstring")
_QUOTED = compile_later(rb"[\"'][\w.:]*$")
_HEADS = (
    "SELECT DISTINCT s.signature FROM {symbols} s JOIN {live} l ON l.blob_id=s.blob_id"
    " JOIN {blobs} b ON b.id=s.blob_id WHERE s.kind='class' AND b.language='python'"
    " AND s.signature LIKE '%(%'"
)
_ODD = compile_later(r"\(\s*(?:.*,\s*)?(?:\*|cls\b|type\(|[\w.]*__class__)")


class Escapes:
    """Which classes of one tree are values; what was found is kept for the tree."""

    def __init__(self, binder: Binder, dispatch: Dispatch) -> None:
        self._binder = binder
        self._project = binder.project
        self._classes = binder.types.classes
        self._dispatch = dispatch

    def is_value(self, owner: Definition) -> bool:
        """Return whether code may have a class, or one below it, as a value."""
        known: dict[tuple[str, int], bool] = self._project.tree.notes.setdefault("values", {})
        key = (owner.path, owner.ordinal)
        if key not in known:
            family = [owner, *self._dispatch.descendants(owner)]
            known[key] = len(family) > MAX_FAMILY or any(map(self._is_handed, family))
        return known[key]

    def may_mix(self, owner: Definition) -> bool:
        """Return whether code may make a class below one and another class that is a value."""
        opened = opened_classes(self._binder)
        if opened is None or self._has_odd_heads() or self.is_value(owner):
            return True
        return any(owner in self._classes.ancestors(one)[0] for one in opened)

    def may_be_replaced(self, owner: Definition) -> bool:
        """Return whether code may put another class in the place of one, or change its objects."""
        if self._changes_classes():
            return True
        known: dict[str, bool] = self._project.tree.notes.setdefault("replaced_by_name", {})
        if owner.name not in known:
            known[owner.name] = self._is_set(owner.name) or self._is_in_text(owner.name)
        return known[owner.name]

    def _is_handed(self, owner: Definition) -> bool:
        if not self._classes.is_tame(owner) or self._classes.ancestors(owner)[1]:
            return True  # a decorator or a metaclass gets it, or its bases are not known
        for name in self._dispatch.called(owner.name):
            by_path = {p: f for p, f in self._project.places(name).items() if p.endswith(_PYTHON)}
            if len(by_path) > MAX_FILES:
                return True
            self._project.load(by_path)
            for path, places in by_path.items():
                source = self._project.source(path)
                if source is None or any(self._is_use(source, place) for place in places):
                    return True
        return self._is_in_text(owner.name)

    def _is_use(self, source: FileNames, place: Occurrence) -> bool:
        """Return whether a place has the class as a value."""
        at = self._project.offset(source.path, place.line, place.column)
        if place.use == Use.INHERIT:
            scopes, child = self._project.scopes(source.path), source.symbol(place.enclosing)
            return child is None or not _is_base(scopes, self._at(child), place.name)
        if place.use not in _USED:
            return False
        data = self._project.text(source.path)
        if data[at + len(place.name.encode()) :][:80].lstrip()[:1] == b".":
            return False
        return _TESTED.search(data[max(0, at - 200) : at]) is None

    def _at(self, definition: Definition) -> int:
        return self._project.offset(definition.path, definition.line, definition.column)

    def _is_in_text(self, name: str) -> bool:
        """Return whether a string of Python is a name, or a path that ends in it."""
        raw = name.encode()
        for file, places in look(self._project, name).places.items():
            if file.language != "python":
                continue
            data, scopes = self._project.text(file.path), self._project.scopes(file.path)
            for line, column, at in places:
                before, end = data[max(0, at - 200) : at], at + len(raw)
                if data[end : end + 1] not in _QUOTES or not _QUOTED.search(before):
                    continue
                quiet = scopes is not None and scopes.quiet(at) in _NOT_READ
                text = self._project.span(file.path, line, line)
                if not quiet and not is_annotation(text, column, column + len(name)):
                    return True
        return False

    def _is_set(self, name: str) -> bool:
        """Return whether code assigns to an attribute of a name, or passes a keyword of it."""
        for path, places in self._project.places(name).items():
            data = self._project.text(path) if path.endswith(_PYTHON) else b""
            for place in places if data else ():
                at = self._project.offset(path, place.line, place.column)
                after = data[at + len(name.encode()) :][:80].lstrip()
                if after[:1] == b"=" and after[:2] != b"==" and place.use != Use.DEFINITION:
                    return not data[max(0, at - 5) : at].endswith(b"self.")
        return False

    def _changes_classes(self) -> bool:
        """Return whether some file gives objects another class."""
        notes = self._project.tree.notes
        if "changes_classes" not in notes:
            found = look(self._project, "__class__").places
            paths = [file.path for file in found if file.language == "python"]
            self._project.load_scopes(paths)
            told = [(self._project.scopes(path), self._project.text(path)) for path in paths]
            notes["changes_classes"] = any(
                scopes is None or scopes.changes_classes or _CLASS_BY_TEXT.search(data)
                for scopes, data in told
            )
        return bool(notes["changes_classes"])

    def _has_odd_heads(self) -> bool:
        """Return whether a class has bases that no name leads to: `class C(*bases)`."""
        notes = self._project.tree.notes
        if "odd_heads" not in notes:
            rows = self._project.view.rows(_HEADS)
            notes["odd_heads"] = any(_ODD.search(signature) for (signature,) in rows)
        return bool(notes["odd_heads"])


def _is_base(scopes: FileScopes | None, at: int, name: str) -> bool:
    """Return whether a class has a base whose chain ends in a name."""
    told = scopes.bases.get(at, ()) if scopes is not None else ()
    return any(chain and chain[-1].name == name and not chain[-1].called for chain in told)
