"""Classifies places that no fact describes: a comment, a string, or code. Runs in a worker."""

from __future__ import annotations

import json

from gitindex.languages.syntax.extract import MAX_BYTES, MAX_NESTING, nesting
from gitindex.languages.syntax.parser import parse_tree
from gitindex.languages.syntax.source import read_source

_STRINGS = ("string", "heredoc", "char_literal", "character", "quoted", "regex", "sigil", "atom")
_TEXTS = frozenset({"text", "raw_text", "text_interpolation", "shebang", "hash_bang_line"})


def read_kinds(data: bytes, language: str, asked: bytes) -> bytes:
    """Return `comment`, `string` or `code` for each requested offset; empty if nothing is known."""
    text = read_source(data).data
    if len(text) > MAX_BYTES or nesting(text) > MAX_NESTING:
        return b""
    root = parse_tree(text, language)
    if root is None:
        return b""
    kinds = []
    for offset in json.loads(asked):
        node = root.descendant_for_byte_range(offset, offset + 1)
        kind = "code"
        while node is not None and kind != "comment":
            name = node.type
            if ("interpolation" in name and name not in _TEXTS) or "asm" in name:
                kind = "code"
                break
            if "comment" in name:
                kind = "comment"
            elif name in _TEXTS or any(word in name for word in _STRINGS):
                kind = "string"
            node = node.parent
        kinds.append(kind)
    return json.dumps(kinds).encode()
