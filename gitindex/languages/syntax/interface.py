"""The interface hash: the exported surface without bodies, comments, layout and private names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from gitindex.base.digest import sha256
from gitindex.base.pattern import compile_later
from gitindex.languages.facts import Import, Symbol
from gitindex.languages.syntax.details import Details, without_tail
from gitindex.languages.syntax.events import CapturedRange
from gitindex.languages.syntax.kinds import VALUES

MAX_SURFACE = 20_000
"""Most bytes of one definition that count; a long list of names is read once per name."""

_STRING = r"\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`"
_TOKENS = compile_later(rf"{_STRING}|\w+|[^\w\s]", re.DOTALL)
_LAST_COMMA = compile_later(r" ,(?= [)\]}>])")
_ASSIGN = compile_later(r"(?<![=<>!:])=(?![=>])|:=")


def interface_hash(lines: Iterable[str]) -> str:
    """Return a short digest of the surface's lines, in any order; "" without a surface."""
    ordered = sorted(set(lines))
    if not ordered:
        return ""
    return sha256("\n".join(ordered).encode()).hexdigest()[:32]


def surface_of(
    scopes: Iterable[CapturedRange], symbols: Sequence[Symbol], details: Details
) -> list[str]:
    """Return a line for each visible symbol: kind, name, and the signature as bare tokens."""
    seen = list(scopes)
    texts = [_head_of(scope, symbols[scope.ordinal], details) for scope in seen]
    pairs = zip(seen, map(tokens, texts), strict=True)
    return [f"{scope.kind} {scope.qualified} {line}" for scope, line in pairs]


def _head_of(scope: CapturedRange, symbol: Symbol, details: Details) -> str:
    if scope.kind in VALUES and scope.body < 0:
        return _ASSIGN.split(details.text(scope.anchor, details.head_end(scope)), maxsplit=1)[0]
    if scope.anchor == scope.start and _is_whole(symbol.signature):
        return symbol.signature
    end = scope.body if scope.body >= 0 else min(scope.end, scope.start + MAX_SURFACE)
    return without_tail(details.text(scope.anchor, end).rstrip())


def _is_whole(signature: str) -> bool:
    """Is a signature complete? It must not be cut, nor contain strings, whose spaces matter."""
    return "…" not in signature and '"' not in signature and "'" not in signature


def tokens(text: str) -> str:
    """Return the text as tokens separated by one space; ignores layout, quotes and last commas."""
    found = _TOKENS.findall(text)
    if "'" in text:
        found = [f'"{t[1:-1]}"' if t[0] == "'" and len(t) > 1 else t for t in found]
    line = " ".join(found)
    return (_LAST_COMMA.sub("", line) if " , " in line else line).rstrip(" :{;")


def reexports(imports: Iterable[Import], exports: Iterable[str], language: str) -> list[str]:
    """Return lines for the exported names and for the imports that re-export names."""
    listed = frozenset(exports)
    lines = [f"export {name}" for name in listed]
    for item in imports:
        where = "." * item.level + item.module
        lines += [
            f"reexport {where} {name} {local}"
            for name, local in item.names
            if local in listed or _passes_on(item, name, local, language)
        ]
    return lines


def _passes_on(item: Import, name: str, local: str, language: str) -> bool:
    """Does Python re-export a name by convention: a star, a relative import, or `import a as a`?"""
    if language != "python" or local.startswith("_"):
        return False
    return name == "*" or item.level > 0
