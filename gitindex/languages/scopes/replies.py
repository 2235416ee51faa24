"""What a worker replies about one text: how values flow in it, and what some places are."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from gitindex.languages.scopes.read import MAX_VALUE
from gitindex.languages.syntax.extract import MAX_BYTES, MAX_NESTING, nesting
from gitindex.languages.syntax.parser import parse_tree, query_matches
from gitindex.languages.syntax.source import read_source

if TYPE_CHECKING:
    from tree_sitter import Node


def read_flow(data: bytes, language: str) -> bytes:
    """Return the payload of a text; empty if the language has no flow query."""
    text = read_source(data).data
    if len(text) > MAX_BYTES or nesting(text) > MAX_NESTING:
        return b""
    root = parse_tree(text, language)
    matches = query_matches(root, language, "flow") if root is not None else None
    if matches is None:
        return b""
    kinds = ("returns", "calls", "implicit", "decorated", "items")
    flow: dict[str, list[Any]] = {kind: [] for kind in kinds}
    for _, captures in matches:
        _read_match(flow, captures)
    return json.dumps(flow, separators=(",", ":")).encode()


def _read_match(flow: dict[str, list[Any]], captures: dict[str, list[Node]]) -> None:
    for capture, nodes in captures.items():
        kind, *methods = capture.split(".")
        if kind == "implicit":
            flow["implicit"] += [[methods, *_span(node)] for node in nodes]
        elif kind in ("return", "call"):
            flow[f"{kind}s"] += map(_span, nodes)
    if "decorated" in captures:
        at = captures["decorated"][0].start_byte
        flow["decorated"] += [[at, *_span(node)] for node in captures["decorator"]]
    if "container" in captures:
        container, key, item = (captures[c][0] for c in ("container", "key", "item"))
        flow["items"].append([container.start_byte, _text(container), _text(key), *_span(item)])


def _span(node: Node) -> list[int]:
    start, end = node.start_byte, node.end_byte
    return [start, end] if end - start <= MAX_VALUE else [start, start]


def _text(node: Node) -> str:
    return (node.text or b"")[:200].decode("utf-8", "replace")


_STRINGS = (
    *("string", "heredoc", "char_literal", "character", "quoted", "regex", "sigil", "atom"),
    *("symbol", "scalar"),
)
_TEXTS = frozenset(
    {"text", "jsx_text", "raw_text", "text_interpolation", "shebang", "hash_bang_line"}
)


def read_kinds(data: bytes, language: str, offsets: bytes) -> bytes:
    """Return the kind and the extent of each requested offset; empty if nothing is known."""
    text = read_source(data).data
    if len(text) > MAX_BYTES or nesting(text) > MAX_NESTING:
        return b""
    root = parse_tree(text, language)
    if root is None:
        return b""
    rows = [_kind(root.descendant_for_byte_range(at, at + 1)) for at in json.loads(offsets)]
    return json.dumps(rows).encode()


def _is_text(name: str) -> bool:
    """Return whether a node is a string or a text; each item of Ruby's `%w(…)` is one."""
    return name in _TEXTS or (name != "string_array" and any(word in name for word in _STRINGS))


def _kind(node: Node | None) -> list[object]:
    """Return the kind of the innermost node that has one: a comment counts more than a string."""
    if node is None:
        return ["code", 0, 0]
    kind: list[object] = ["code" if node.is_named else "token", *node.byte_range]
    while node is not None:
        name = node.type
        if ("interpolation" in name and name not in _TEXTS) or "asm" in name:
            return ["code", *node.byte_range] if kind[0] != "token" else kind
        if "comment" in name:
            return ["comment", *node.byte_range]
        if _is_text(name):
            kind = ["string", *node.byte_range]
        node = node.parent
    return kind
