"""Is a class of Python used as a value? Only then code can mix it into classes, or put it in a place.

A class that is only called, inherited from, annotated with or tested for reaches no function that
makes classes of what it gets (`type(name, bases, …)`, `class C(*bases)`), replaces another class
(`module.A = B`) or gives objects another class (`x.__class__ = B`).
"""

from __future__ import annotations

import re

from gitindex.base.pattern import compile_later
from gitindex.languages.facts import Occurrence, Use
from gitindex.languages.scopes.model import FileScopes
from gitindex.query.names.builtins import BUILTINS
from gitindex.query.names.dispatch import Dispatch
from gitindex.query.names.listings import in_python, member_listings, python_places
from gitindex.query.names.made_classes import opened_classes
from gitindex.query.names.meanings import is_type
from gitindex.query.names.mentions import is_annotation, look
from gitindex.query.names.places import Binder
from gitindex.query.names.source import Definition, FileNames

MAX_FAMILY = 60
"""Classes below one that are examined; with more, some is taken for a value."""
MAX_FILES = 300

_USED = (Use.REFERENCE, Use.ATTRIBUTE)
_TESTED = compile_later(
    rb"(?:\b(?:isinstance|issubclass)\s*\([^()]*(?:\([^()]*)?|\bexcept\s*\(?[\w\s.,]*|\braise\s+[\w.]*"
    rb"|\bsuper\s*\(\s*[\w.]*|\bis\s+(?:not\s+)?[\w.]*|[=!]=\s*[\w.]*)$"
)
"""What stands before a class that is only compared with, or that an exception is made of."""
_MODULES = compile_later(rb"\bmodules\s*\[[^\]\n]*\]\s*=(?!=)")
_CLASS_SET = compile_later(
    rb"__class__\s*[=,)\]:]|\bas\s[^\n]*__class__|[\"']__class__|__class__\s*in\b"
)
_CLASS_BY_TEXT = compile_later(rb"[\"']__class__[\"']")
_QUOTES = (b'"', b"'")
_NOT_READ = ("exported", "comment", "docstring")
_QUOTED = compile_later(rb"[\"'][\w.:]*$")
_HEADS = (
    "SELECT DISTINCT s.signature FROM {symbols} s JOIN {live} l ON l.blob_id=s.blob_id"
    " JOIN {blobs} b ON b.id=s.blob_id WHERE s.kind='class' AND b.language='python'"
    " AND s.signature LIKE '%(%'"
)
_BARE = compile_later(r"(?:^|,)\s*(\w+)\s*(?=[,)\[])")
_OF_OBJECT = {
    "type": compile_later(
        rb"(?<!isinstance\()(?<![\w.\"'])(?<!is )(?<!== )(?<!\{)"
        rb"type\((?:[^(),=]|\([^()]*\))+\)(?!\s*(?:[.(}]|is\b|[=!]=))"
    ),
    "__class__": compile_later(rb"\.__class__\b(?!\s*(?:[.(}]|is\b|[=!]=))"),
}
"""The class of an object as a value; compared, called or asked for its name it is none."""
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
        known: dict[tuple[str, int], bool] = self._project.tree.table("values")
        key = (owner.path, owner.ordinal)
        if key not in known:
            family = [owner, *self._dispatch.descendants(owner)]
            known[key] = len(family) > MAX_FAMILY or any(map(self._is_handed, family))
        return known[key]

    def may_mix(self, owner: Definition) -> bool:
        """Return whether code may make a class below one and another class that is a value."""
        return self.is_opened(owner) or self.is_value(owner)

    def is_opened(self, owner: Definition) -> bool:
        """Return whether code makes classes below one, or of what it gets, at run time."""
        opened = opened_classes(self._binder)
        if opened is None or self._has_odd_heads() or self._has_maker():
            return True
        return any(owner in self._classes.ancestors(one)[0] for one in opened)

    def has_others(self) -> bool:
        """Return whether code has classes that no name leads to: `type(x)`, what a module lists."""
        notes = self._project.tree.notes
        if "other_classes" not in notes:
            listed = member_listings(self._project, self._classes)
            notes["other_classes"] = (
                listed.unknown or listed.any_class or any(map(self._is_of_object, _OF_OBJECT))
            )
        return bool(notes["other_classes"])

    def _is_of_object(self, word: str) -> bool:
        places, text = python_places(self._project, word), self._project.text
        return places is None or any(
            _OF_OBJECT[word].search(text(path), max(0, at - 60), at + 200) for path, _, at in places
        )

    def may_be_replaced(self, owner: Definition) -> bool:
        """Return whether code may put another class in the place of one, or change its objects."""
        if self._changes_classes():
            return True
        known: dict[str, bool] = self._project.tree.table("replaced_by_name")
        if owner.name not in known:
            known[owner.name] = self._is_set(owner.name) or self._is_in_text(owner.name)
        return known[owner.name]

    def _is_handed(self, owner: Definition) -> bool:
        if not self._classes.is_tame(owner) or self._classes.ancestors(owner)[1]:
            return True  # a decorator or a metaclass gets it, or its bases are not known
        for name in self._dispatch.called(owner.name):
            by_path = in_python(self._project, name)
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
        for path, places in in_python(self._project, name).items():
            data = self._project.text(path)
            for place in places:
                at = self._project.offset(path, place.line, place.column)
                after = data[at + len(name.encode()) :][:80].lstrip()
                if after[:1] == b"=" and after[:2] != b"==" and place.use != Use.DEFINITION:
                    return not data[max(0, at - 5) : at].endswith(b"self.")
        return False

    def _changes_classes(self) -> bool:
        """Return whether some file gives objects another class."""
        notes = self._project.tree.notes
        if "changes_classes" not in notes:
            files = look(self._project, "__class__").places
            texts = {f.path: self._project.text(f.path) for f in files if f.language == "python"}
            texts = {path: data for path, data in texts.items() if _CLASS_SET.search(data)}
            self._project.load_scopes(texts)
            told = [(self._project.scopes(path), data) for path, data in texts.items()]
            notes["changes_classes"] = any(
                scopes is None or scopes.changes_classes or _CLASS_BY_TEXT.search(data)
                for scopes, data in told
            )
        return bool(notes["changes_classes"])

    def is_of_changed_module(self, owner: Definition) -> bool:
        """Return whether code puts something else in the place of a module."""
        notes = self._project.tree.notes
        if "replaced_modules" not in notes:
            notes["replaced_modules"] = any(
                _MODULES.search(self._project.text(path))
                for path in in_python(self._project, "modules")
            )
        folder, _, stem = owner.path.rpartition(".")[0].rpartition("/")
        package = folder.rpartition("/")[2]
        needle = re.compile(rf"\b{re.escape(package)}\.{re.escape(stem)}\s*=(?!=)".encode())
        paths = in_python(self._project, stem) if package else ()
        set_there = (path for path in paths if needle.search(self._project.text(path)))
        return bool(notes["replaced_modules"]) or any(set_there)

    def _has_maker(self) -> bool:
        """Return whether code has `type` itself as a value: what it calls then may make classes."""
        notes = self._project.tree.notes
        if "maker" not in notes:
            by_path = in_python(self._project, "type")
            by_path = {p: [x for x in f if x.use == Use.REFERENCE] for p, f in by_path.items()}
            by_path = {path: found for path, found in by_path.items() if found}
            notes["maker"] = len(by_path) > MAX_FILES or any(
                self._is_alone(path, place) and self._is_maker(path, place)
                for path, places in by_path.items()
                for place in places
            )
        return bool(notes["maker"])

    def _is_alone(self, path: str, place: Occurrence) -> bool:
        at = self._project.offset(path, place.line, place.column)
        data = self._project.text(path)
        called = data[at + 4 : at + 84].lstrip()[:1] in (b"(", b".", b"[", b"=", b":")
        return not called and _TESTED.search(data[max(0, at - 200) : at]) is None

    def _is_maker(self, path: str, place: Occurrence) -> bool:
        scopes, at = (
            self._project.scopes(path),
            self._project.offset(path, place.line, place.column),
        )
        if scopes is None:
            return True
        return scopes.receiver(at) is None and scopes.resolve("type", at) is None

    def _has_odd_heads(self) -> bool:
        """Return whether a class has bases that no name leads to: `class C(*bases)`."""
        notes = self._project.tree.notes
        if "odd_heads" not in notes:
            self._project.view.ensure_facts()
            heads = [signature for (signature,) in self._project.view.rows(_HEADS)]
            bases = {base for head in heads for base in _BARE.findall(head.partition("(")[2])}
            notes["odd_heads"] = any(map(_ODD.search, heads)) or any(map(self._is_variable, bases))
        return bool(notes["odd_heads"])

    def _is_variable(self, base: str) -> bool:
        """Return whether a bare base of a class is neither a class of the tree nor imported."""
        if base in BUILTINS["python"] or any(map(is_type, self._project.definitions(base))):
            return False
        return not self._project.importing_name(base)


def _is_base(scopes: FileScopes | None, at: int, name: str) -> bool:
    """Return whether a class has a base whose chain ends in a name."""
    told = scopes.bases.get(at, ()) if scopes is not None else ()
    return any(chain and chain[-1].name == name and not chain[-1].called for chain in told)
