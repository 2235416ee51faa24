"""Detectors that work for every language."""

from __future__ import annotations

import re

from gitindex.base.pattern import compile_later
from gitindex.languages.generated import is_generated
from gitindex.languages.syntax.flags.reading import Detector, Reading
from gitindex.languages.syntax.kinds import FUNCTIONS, TYPES

_MACROS = frozenset({"c", "cpp", "rust", "elixir", "julia"})
_WHOLESALE = frozenset({"csharp", "swift"})
"""Languages in which every import binds all names, so a star has no special meaning."""

_NO_NAME = compile_later(rb"[^\w$]")
_DEFINED = FUNCTIONS | TYPES
_OWN = frozenset({"self", "cls", "this", "super", "mcs", "mcls"})


def star_import(reading: Reading) -> bool:
    """Does an import bind names that it does not list?"""
    if reading.language in _WHOLESALE:
        return False
    return any(pair == ("*", "*") for item in reading.imports for pair in item.names)


def macro_or_generated(reading: Reading) -> bool:
    """Is the file generated, or does it define macros?"""
    if reading.language in _MACROS and any(s.kind == "macro" for s in reading.outline.found):
        return True
    return is_generated(reading.data)


def multiple_definitions(reading: Reading) -> bool:
    """Is a qualified name defined more than once, other than by overloads or accessors?"""
    repeated = _repeated(reading)
    if not repeated:
        return False
    overloaded = overloaded_names(reading)
    return any(name not in overloaded and not _is_accessor(reading, name) for name in repeated)


def overloaded_names(reading: Reading) -> set[str]:
    """Return names with signatures that have no body, or that are marked as overloads."""
    found = reading.outline.found
    return {
        scope.qualified
        for scope in found
        if scope.kind in FUNCTIONS
        and (
            (scope.body < 0 and reading.language in ("typescript", "tsx"))
            or b"overload" in reading.data[scope.anchor : scope.start]
        )
    }


def _repeated(reading: Reading) -> set[str]:
    seen: set[str] = set()
    repeated = set()
    for scope in reading.outline.found:
        if scope.kind in _DEFINED:
            if scope.qualified in seen:
                repeated.add(scope.qualified)
            seen.add(scope.qualified)
    return repeated


def _is_accessor(reading: Reading, name: str) -> bool:
    """Are all definitions of a name but one its getters, setters or deleters?"""
    plain = 0
    for scope in reading.outline.found:
        if scope.qualified == name:
            head = reading.data[scope.anchor : scope.name_start]
            marked = re.search(rb"\.(setter|getter|deleter)\b|\b(get|set|static)\s", head)
            plain += marked is None
    return plain <= 1


def conditional_definition(reading: Reading) -> bool:
    """Does a visible definition exist only under a condition?"""
    found = reading.outline.found
    return any(scope.guarded and not scope.local for scope in found)


def unresolved_receiver(reading: Reading) -> bool:
    """Is a method called on something that is neither imported nor defined here?"""
    # Attributes that `__init__` sets are known by name only, not by type.
    own = {s.name for s in reading.outline.symbols if not s.signature.startswith("self.")}
    known = reading.imported() | _OWN | own
    for node in reading.captures.get("use.call", ()):
        at = node.start_byte
        if reading.data[at - 1 : at] in (b".", b"#") and not _is_known(reading, at, known):
            return True
    return False


def _is_known(reading: Reading, at: int, known: set[str]) -> bool:
    """Is the word before the dot one of `known`? False after a bracket."""
    before = reading.data[max(0, at - 80) : at].rstrip(b"#. \t\r\n?")
    return _NO_NAME.split(before)[-1].decode("utf-8", "replace") in known


DETECTORS: dict[str, Detector] = {
    "star_import": star_import,
    "macro_or_generated": macro_or_generated,
}

DYNAMIC: dict[str, Detector] = {
    "multiple_definitions": multiple_definitions,
    "conditional_definition": conditional_definition,
    "unresolved_receiver": unresolved_receiver,
}
