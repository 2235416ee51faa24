"""Parses SCIP symbol names: identity without the version, the name in the source, the kind."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

_ESCAPED_SPACE = "\0"
_KINDS = {
    "/": "module",
    "#": "class",
    ".": "variable",
    "().": "function",
    "()": "parameter",
    "[]": "type_parameter",
    "!": "macro",
    ":": "meta",
}
_NAMELESS_KINDS = ("module", "meta", "constructor", "")
_SUFFIXES = "/#.:!([])"


class ParsedSymbol(NamedTuple):
    """The parts of a symbol's text."""

    identity: str  # the same in every version of its package; `local N` within its file
    name: str
    kind: str
    is_local: bool
    name_bytes: bytes = b""  # the text at each occurrence; empty if that is not the name


class Descriptor(NamedTuple):
    """One step of a symbol's path: a name and the suffix that marks its kind."""

    name: str
    suffix: str


@lru_cache(maxsize=100_000)
def read_symbol(text: str) -> ParsedSymbol:
    """Return identity, name and kind of a symbol. A malformed symbol is its own identity."""
    if text.startswith("local "):
        return ParsedSymbol(text, text.removeprefix("local "), "variable", True)
    fields = text.replace("  ", _ESCAPED_SPACE).split(" ", 4)
    if len(fields) != 5:
        return ParsedSymbol(text, text, "", False)
    scheme, manager, package, _version, path = (
        field.replace(_ESCAPED_SPACE, "  ") for field in fields
    )
    steps = list(descriptors(path))
    name, kind = _called(steps)
    stands = b"" if kind in _NAMELESS_KINDS else name.encode("utf-8", "surrogatepass")
    return ParsedSymbol(f"{scheme} {manager} {package} . {path}", name or text, kind, False, stands)


def descriptors(path: str) -> Iterator[Descriptor]:
    """Return the steps of a symbol's path, outermost first."""
    at = 0
    while at < len(path):
        opener = path[at] if path[at] in "([" else ""
        name, at = _identifier(path, at + len(opener))
        if opener:
            yield Descriptor(name, "()" if opener == "(" else "[]")
            at += 1
        elif path[at : at + 1] == "(":
            at = path.find(")", at) + 2
            yield Descriptor(name, "().")
            if at == 1:  # unterminated
                return
        else:
            yield Descriptor(name, path[at : at + 1])
            at += 1


def qualified(identity: str) -> str:
    """Return the names from the outermost type or function down to a symbol; without its module."""
    path = identity.replace("  ", _ESCAPED_SPACE).split(" ", 4)[-1]
    found: list[str] = []
    for step in descriptors(path):
        if step.suffix == "/":
            found = []
        elif step.suffix != ":":
            found.append(step.name)
    return ".".join(found)


def is_twin(own: str, other: str) -> bool:
    """Are two identities the same Python symbol: `src.a.b` by file and `a.b` by import?"""
    mine, theirs = own.split(" ", 2)[:2], other.split(" ", 2)[:2]
    if mine != theirs or "python" not in mine:
        return False
    module, rest = _module(own)
    imported, same = _module(other)
    return rest == same and bool(imported) and module.endswith(f".{imported}")


def _module(identity: str) -> tuple[str, str]:
    """Return the module of an identity, and the rest."""
    path = identity.replace("  ", _ESCAPED_SPACE).split(" ", 4)[-1]
    module, at = _identifier(path, 0)
    return module, path[at:]


def _identifier(path: str, at: int) -> tuple[str, int]:
    if path[at : at + 1] != "`":
        end = at
        while end < len(path) and path[end] not in _SUFFIXES:
            end += 1
        return path[at:end], end
    end = at + 1
    while (end := path.find("`", end)) != -1 and path[end + 1 : end + 2] == "`":
        end += 2
    end = len(path) if end == -1 else end
    return path[at + 1 : end].replace("``", "`"), end + 1


def _called(steps: list[Descriptor]) -> tuple[str, str]:
    """Return the name in the source, and the kind. A constructor has its type's name."""
    if not steps:
        return "", ""
    last, outer = steps[-1], steps[-2] if len(steps) > 1 else Descriptor("", "")
    if last == Descriptor("__init__", ":") and outer.suffix == "/":
        return outer.name, "module"
    if last.name in ("<constructor>", "<init>") and outer.suffix == "#":
        return outer.name, "constructor"
    if last.name.startswith(("<get>", "<set>")):
        return last.name[5:], "method"
    kind = _KINDS.get(last.suffix, "")
    if outer.suffix == "#":
        kind = {"function": "method", "variable": "field"}.get(kind, kind)
    return last.name, kind
