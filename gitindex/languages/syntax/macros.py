"""Macros that hide definitions: those of C and C++ that no grammar can parse are blanked out, byte for
byte, to keep all offsets; in the text of Rust's, which a grammar reads as tokens, items are looked for.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from gitindex.base.pattern import compile_later

if TYPE_CHECKING:
    from tree_sitter import Node

    from gitindex.languages.syntax.parser import Captures

_MACRO = rb"([A-Z][A-Z0-9_]{2,}(?:\([^()\n]*\))?)"
_TYPES = (
    rb"template|class|struct|enum|union|auto|inline|static|void|bool|char|int|long|short|unsigned"
    rb"|signed|float|double|const|constexpr|virtual|friend|typename|explicit|extern|typedef"
    rb"|namespace|using|operator|size_t|ssize_t|u?int\d+_t"
)
_STORAGE = rb"(?:(?:static|inline|extern|constexpr|virtual|friend)[ \t]+)*"
_RESERVED = rb"__\w+__(?:\(\w*\))?"
_BEFORE_NAME = (
    rb"\b(?:class|struct|union)[ \t]+("
    + _RESERVED
    + rb"(?:[ \t]+"
    + _RESERVED
    + rb")*|"
    + _MACRO[1:]
    + rb"(?=[ \t]+\w+\s*(?:final\b)?\s*[:{<;])"
)
_CUDA = rb"(__(?:device|global|host|constant|shared|managed)__(?:[ \t]+__\w+__)*)(?=[ \t])"
_BEFORE_TYPE = rb"^[ \t]*" + _STORAGE + _MACRO + rb"(?=[ \t]+(?:" + _TYPES + rb")\b)"
_BEFORE_DECLARATION = rb"^[ \t]*" + _STORAGE + _MACRO + rb"(?=[ \t]+\w+[ \t*&]+\w+\s*[;=(\[{])"
# With an underscore it is unlikely to be a type: a constructor follows.
_BEFORE_CONSTRUCTOR = (
    rb"^[ \t]+" + _STORAGE + rb"([A-Z][A-Z0-9]*_[A-Z0-9_]+)(?=[ \t]+(?:explicit[ \t]+)?~?\w+\()"
)
# An enumerator can be alone on a line too, but is indented.
_ALONE = rb"^([A-Z][A-Z0-9_]{2,})(?=[ \t\r]*$)"
_AT_START = compile_later(
    b"|".join((_BEFORE_TYPE, _BEFORE_DECLARATION, _BEFORE_CONSTRUCTOR, _ALONE, _CUDA)), re.MULTILINE
)
"""Each alternative has one group: the macro."""
# `AP_DECLARE(int) f(void);`: the type is kept, the macro's name and brackets are not.
_AROUND_TYPE = compile_later(
    rb"[ \t]*"
    + _STORAGE
    + rb"([A-Z][A-Z0-9_]{2,}\()[\w \t*]+(\))(?=[ \t*]+[a-z_]\w*[ \t]*\([^()]*\)\s*[;{])"
)
_IN_LINE = compile_later(_BEFORE_NAME)
# Begins with a plain newline, so the regex engine searches for one byte.
_CANDIDATE = compile_later(
    rb"\n(?=[ \t]*"
    + _STORAGE
    + rb"[A-Z][A-Z0-9_]{2}|__(?:device|global|host|constant|shared|managed)__)"
)
_WORD = compile_later(rb"\w+")

Span = tuple[int, int]


class Masked(NamedTuple):
    """A text with macros blanked out, and their places."""

    data: bytes
    spans: list[Span]  # of the macros' names


def mask_macros(data: bytes, language: str) -> Masked:
    """Return the text to parse; unchanged for languages other than C and C++."""
    if language not in ("c", "cpp"):
        return Masked(data, [])
    spans = _macro_spans(data)
    if not spans:
        return Masked(data, [])
    masked = bytearray(data)
    for start, end in spans:
        masked[start:end] = b" " * (end - start)
    names = [_name_of(data, start) for start, _ in spans if data[start : start + 1] != b")"]
    return Masked(bytes(masked), names)


def _macro_spans(data: bytes) -> list[Span]:
    spans: list[Span] = []
    for start in (0, *(match.end() for match in _CANDIDATE.finditer(data))):
        if match := _AT_START.match(data, start):
            spans.append(match.span(match.lastindex or 0))
        elif match := _AROUND_TYPE.match(data, start):
            spans += [match.span(1), match.span(2)]
    for word in (b"class ", b"struct "):
        at = data.find(word)
        while at >= 0:
            if match := _IN_LINE.match(data, at):
                spans.append(match.span(1))
            at = data.find(word, at + 1)
    return sorted(set(spans))


def _name_of(data: bytes, start: int) -> Span:
    match = _WORD.match(data, start)
    return match.span() if match else (start, start)


_ITEMS = {
    "const": "constant",
    "enum": "enum",
    "fn": "function",
    "mod": "module",
    "static": "variable",
    "struct": "struct",
    "trait": "trait",
    "type": "type",
    "union": "union",
}
_FOLLOWS = {"fn": ("token_tree", "<"), "static": (":",), "const": (":", "=")}
"""What tells an item from a type: `*const T`, `fn(u8)`."""
_MODIFIERS = (b"ref", b"mut")
MAX_ITEM_DEPTH = 3
"""Most brackets around an item: the macro's own, and those of a condition or a module in it."""


def define_macro_items(captures: Captures) -> None:
    """Add the items in the text of item macros (`cfg_if!`, `lazy_static!`, `bitflags!`) to the captures."""
    trees = [(macro.children[-1], 1) for macro in captures.pop("macro.items", ())]
    while trees:
        tree, depth = trees.pop()
        tokens = [token for token in tree.children if token.text not in _MODIFIERS]
        in_function = False
        for at, token in enumerate(tokens):
            if token.type == "token_tree" and token.children[0].type == "{":
                if depth < MAX_ITEM_DEPTH and not in_function:
                    trees.append((token, depth + 1))
                in_function = False
            elif _is_item(*tokens[at : at + 3]):
                for capture in (f"def.{_ITEMS[token.type]}", "name"):
                    captures.setdefault(capture, []).append(tokens[at + 1])
                in_function = token.type == "fn"


def _is_item(token: Node, name: Node | None = None, following: Node | None = None) -> bool:
    kind = token.type
    if kind not in _ITEMS or name is None or following is None or name.type != "identifier":
        return False
    return kind not in _FOLLOWS or following.type in _FOLLOWS[kind]
