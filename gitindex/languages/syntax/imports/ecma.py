"""Imports of JavaScript and TypeScript: `import`, `export … from`, `require`, `import()`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gitindex.languages.facts import Import

if TYPE_CHECKING:
    from tree_sitter import Node

    from gitindex.languages.syntax.parser import Captures

_CLAUSES = ("import_clause", "named_imports", "export_clause", "import_require_clause")


def read(captures: Captures) -> list[Import]:
    """Return every module named by a literal; a computed name is a flag, not an import."""
    found = [_statement(node) for node in captures.get("import", ())]
    found += [_call(node) for node in captures.get("import.call", ())]
    return [item for item in found if item.module]


def _statement(node: Node) -> Import:
    names: list[tuple[str, str]] = []
    for child in node.named_children:
        names += _names(child)
    if node.type == "export_statement" and any(child.type == "*" for child in node.children):
        names.append(("*", "*"))
    return Import(_source(node), tuple(names), 0, node.start_byte)


def _names(node: Node) -> list[tuple[str, str]]:
    kind = node.type  # a new string at each access
    if kind in _CLAUSES:
        return [pair for child in node.named_children for pair in _names(child)]
    if kind == "identifier":
        return [("default", _text(node))]
    if kind in ("namespace_import", "namespace_export"):
        return [("*", _text(node.children[-1]))]  # `default` is a keyword, not a named node
    if kind in ("import_specifier", "export_specifier"):
        name, alias = node.child_by_field_name("name"), node.child_by_field_name("alias")
        return [(_text(name), _text(alias or name))]
    return []


def _source(node: Node) -> str:
    source = node.child_by_field_name("source")
    if source is None:
        for child in node.named_children:
            source = source or child.child_by_field_name("source")
    return _text(source)


def _call(node: Node) -> Import:
    arguments = node.child_by_field_name("arguments")
    first = arguments.named_children[0] if arguments and arguments.named_children else None
    return Import(_text(first), _bound(node), 0, node.start_byte)


def _bound(node: Node) -> tuple[tuple[str, str], ...]:
    """Return the names bound by `const x = require(…)` or `const {a, b: c} = require(…)`."""
    holder = node.parent
    if holder is not None and holder.type == "await_expression":
        holder = holder.parent
    if holder is None or holder.type != "variable_declarator":
        return ()
    target = holder.child_by_field_name("name")
    if target is None or target.type == "identifier":
        return (("*", _text(target)),)
    return tuple(_pattern(child) for child in target.named_children if child.type != "comment")


def _pattern(node: Node) -> tuple[str, str]:
    if node.type == "pair_pattern":
        value = node.child_by_field_name("value")
        if value is not None and value.type == "assignment_pattern":  # with a default
            value = value.child_by_field_name("left")
        return _text(node.child_by_field_name("key")), _text(value)
    if node.type == "object_assignment_pattern":
        node = node.child_by_field_name("left") or node
    return _text(node), _text(node)


def _text(node: Node | None) -> str:
    raw = node.text if node is not None else None
    return raw.decode("utf-8", "replace").strip("\"'`") if raw else ""
