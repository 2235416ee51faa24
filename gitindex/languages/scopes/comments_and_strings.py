"""Classifies places that no fact describes: a comment, a string, a keyword, or code. Runs in a worker."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from gitindex.languages.syntax.extract import MAX_BYTES, MAX_NESTING, nesting
from gitindex.languages.syntax.parser import parse_tree
from gitindex.languages.syntax.source import read_source

if TYPE_CHECKING:
    from tree_sitter import Node

_STRINGS = (
    *("string", "heredoc", "char_literal", "character", "quoted", "regex", "sigil", "atom"),
    *("symbol", "scalar"),
)
_TEXTS = frozenset(
    {"text", "jsx_text", "raw_text", "text_interpolation", "shebang", "hash_bang_line"}
)


def read_kinds(data: bytes, language: str, asked: bytes) -> bytes:
    """Return the kind and the extent of each requested offset; empty if nothing is known."""
    text = read_source(data).data
    if len(text) > MAX_BYTES or nesting(text) > MAX_NESTING:
        return b""
    root = parse_tree(text, language)
    if root is None:
        return b""
    rows = [_kind(root.descendant_for_byte_range(at, at + 1)) for at in json.loads(asked)]
    return json.dumps(rows).encode()


def _kind(node: Node | None) -> list[object]:
    """Return the kind of the innermost node that has one: a comment counts more than a string."""
    if node is None:
        return ["code", 0, 0]
    found: list[object] = ["code" if node.is_named else "token", *node.byte_range]
    while node is not None:
        name = node.type
        if ("interpolation" in name and name not in _TEXTS) or "asm" in name:
            return ["code", *node.byte_range] if found[0] != "token" else found
        if "comment" in name:
            return ["comment", *node.byte_range]
        if name in _TEXTS or any(word in name for word in _STRINGS):
            found = ["string", *node.byte_range]
        node = node.parent
    return found
