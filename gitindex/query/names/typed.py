"""Read declared types from text: fields, results, and variables in languages without scopes."""

from __future__ import annotations

from collections.abc import Iterator

from gitindex.base.pattern import compile_later
from gitindex.languages.scopes.bound import Bound
from gitindex.query.names.signatures import returned

MAX_TEXT = 1 << 18
Locals = dict[str, Bound]

_BEFORE = frozenset({"csharp", "cpp", "dart", "php"})
"""Languages with `Type name`."""
_AFTER = frozenset({"kotlin", "scala", "swift", "rust"})
"""Languages with `name: Type`."""

# Every repetition is bounded: a file may be crafted to be slow.
_TYPE_NAME = compile_later(
    r"(?<![\w.])([A-Z]\w{0,100})(?:<[^<>\n]{0,100}>)?[&*]{0,2}\s{1,5}[&*$]{0,2}(\w{1,100})\s{0,5}[=;,):]"
)
_NAME_TYPE = compile_later(
    r"\b(\w{1,100})\s{0,5}:\s{0,5}&?(?:mut\s{1,5})?((?:\w{1,60}(?:\.|::)){0,4}[A-Z]\w{0,100})"
)
_MADE = compile_later(
    r"\b(\w{1,100})\s{0,5}=\s{0,5}(?:new\s{1,5})?((?:\w{1,60}(?:\.|::)){0,3}[A-Z]\w{0,100})\s{0,5}[({]"
)
_RESULT = compile_later(r"([A-Z]\w{0,100})(?:<[^<>]{0,100}>)?[&*]?\s{1,5}(\w{1,100})\s{0,5}\(")


def typed_names(text: str, language: str) -> Locals:
    """Return the variables of a function with a declared type; the first declaration counts."""
    names: Locals = {}
    for name, bound in _read(text[:MAX_TEXT], language):
        names.setdefault(name, bound)
    return names


def result_of(signature: str, name: str, language: str) -> str:
    """Return the result annotation of a function; empty without one."""
    if language in _BEFORE:
        match = next((m for m in _RESULT.finditer(signature) if m.group(2) == name), None)
        return match.group(1) if match else ""
    return returned(signature)


def field_type(signature: str, name: str, language: str) -> str:
    """Return the declared type of a field."""
    found = _TYPE_NAME.findall(f"{signature};") if language in _BEFORE else ()
    return next((kind for kind, called in found if called == name), "")


def _read(text: str, language: str) -> Iterator[tuple[str, Bound]]:
    if language in _BEFORE:
        yield from ((name, Bound(kind)) for kind, name in _TYPE_NAME.findall(text))
        yield from ((name, Bound(kind)) for name, kind in _MADE.findall(text))
    elif language in _AFTER:
        for name, kind in (*_NAME_TYPE.findall(text), *_MADE.findall(text)):
            yield name, Bound(kind.replace("::", "."))
