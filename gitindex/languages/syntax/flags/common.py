"""Detectors that need no knowledge of one language."""

from __future__ import annotations

import re

from gitindex.languages.generated import is_generated
from gitindex.languages.syntax.flags.reading import Detector, Reading
from gitindex.languages.syntax.kinds import FUNCTIONS, TYPES

_MACROS = frozenset({"c", "cpp", "rust", "elixir", "julia"})
_WHOLESALE = frozenset({"csharp", "swift"})
"""Languages whose every import brings all names: a star there says nothing."""

_NO_NAME = re.compile(rb"[^\w$]")
_DEFINED = FUNCTIONS | TYPES
_OWN = frozenset({"self", "cls", "this", "super", "mcs", "mcls"})


def star_import(reading: Reading) -> bool:
    """An import that binds names it does not list."""
    if reading.language in _WHOLESALE:
        return False
    return any(pair == ("*", "*") for item in reading.imports for pair in item.names)


def macro_or_generated(reading: Reading) -> bool:
    """The file says that a tool wrote it, or defines macros."""
    if reading.language in _MACROS and any(s.kind == "macro" for s in reading.outline.found):
        return True
    return is_generated(reading.data)


def multiple_definitions(reading: Reading) -> bool:
    """One qualified name is defined more than once, and not as overloads or accessors."""
    repeated = _repeated(reading)
    if not repeated:
        return False
    overloaded = overloaded_names(reading)
    return any(name not in overloaded and not _is_accessor(reading, name) for name in repeated)


def overloaded_names(reading: Reading) -> set[str]:
    """Names with signatures that have no body, or that say they are overloads."""
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
    """Whether all definitions of a name but one are getters, setters or deleters of it."""
    plain = 0
    for scope in reading.outline.found:
        if scope.qualified == name:
            head = reading.data[scope.anchor : scope.name_start]
            marked = re.search(rb"\.(setter|getter|deleter)\b|\b(get|set|static)\s", head)
            plain += marked is None
    return plain <= 1


def conditional_definition(reading: Reading) -> bool:
    """A definition seen from outside that exists only if a condition holds."""
    found = reading.outline.found
    return any(scope.guarded and not scope.local for scope in found)


def unresolved_receiver(reading: Reading) -> bool:
    """A method is called on something that no import and no definition here explains."""
    # What `__init__` sets is known by name only: nothing says what it holds.
    own = {s.name for s in reading.outline.symbols if not s.signature.startswith("self.")}
    known = reading.imported() | _OWN | own
    for node in reading.captures.get("use.call", ()):
        at = node.start_byte
        if reading.data[at - 1 : at] in (b".", b"#") and not _is_known(reading, at, known):
            return True
    return False


def _is_known(reading: Reading, at: int, known: set[str]) -> bool:
    """Whether the word before the dot is one of `known`; a bracket there is none."""
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
