"""Python's `import` and `from … import`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gitindex.facts import Import

if TYPE_CHECKING:
    from tree_sitter import Node

    from gitindex.syntax.parser import Captures


def read(captures: Captures) -> list[Import]:
    """All import statements; `import a.b` binds `a`, `import a.b as c` binds `c`."""
    found: list[Import] = []
    for node in captures.get("import", ()):
        if node.type == "import_statement":
            found += _plain(node)
        else:
            found.append(_from(node))
    return found


def _plain(node: Node) -> list[Import]:
    start = node.start_byte
    found = []
    for child in node.children_by_field_name("name"):
        module, local = _alias(child)
        bound = local if child.type == "aliased_import" else module.partition(".")[0]
        found.append(Import(module, ((module, bound),), 0, start))
    return found


def _from(node: Node) -> Import:
    source = node.child_by_field_name("module_name")
    text = _text(source) if source else "__future__"
    module = text.lstrip(".")
    names = [_alias(child) for child in node.children_by_field_name("name")]
    if any(child.type == "wildcard_import" for child in node.children):
        names.append(("*", "*"))
    return Import(module, tuple(names), len(text) - len(module), node.start_byte)


def _alias(node: Node) -> tuple[str, str]:
    if node.type != "aliased_import":
        return _text(node), _text(node)
    name, alias = node.child_by_field_name("name"), node.child_by_field_name("alias")
    return _text(name), _text(alias)


def _text(node: Node | None) -> str:
    raw = node.text if node is not None else None
    return "".join(raw.decode("utf-8", "replace").split()) if raw else ""
