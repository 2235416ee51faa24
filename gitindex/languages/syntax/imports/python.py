"""Python's `import` and `from … import`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gitindex.languages.facts import Import

if TYPE_CHECKING:
    from tree_sitter import Node

    from gitindex.languages.syntax.parser import Captures


def read(captures: Captures) -> list[Import]:
    """Return all import statements; `import a.b` binds `a`, `import a.b as c` binds `c`."""
    found: list[Import] = []
    for node in captures.get("import", ()):
        pairs = [_pair(item) for item in node.children_by_field_name("name")]
        kind = node.type  # a new string at each access
        if kind == "import_statement":
            found += [_plain(module, alias, node.start_byte) for module, alias in pairs]
        else:
            names = [(name, alias or name) for name, alias in pairs]
            if not names and any(child.type == "wildcard_import" for child in node.named_children):
                names = [("*", "*")]
            module, level = ("__future__", 0) if kind[0] == "f" else _source(node)
            found.append(Import(module, tuple(names), level, node.start_byte))
    return found


def _plain(module: str, alias: str, start: int) -> Import:
    return Import(module, ((module, alias or module.partition(".")[0]),), 0, start)


def _pair(node: Node) -> tuple[str, str]:
    """Return an imported name with its alias, or ""."""
    if node.type == "aliased_import":
        return _name(node.child_by_field_name("name")), _name(node.child_by_field_name("alias"))
    return _name(node), ""


def _source(node: Node) -> tuple[str, int]:
    """Return the module of `from`, and its leading dots."""
    module = node.child_by_field_name("module_name")
    if module is None or module.type != "relative_import":
        return _name(module), 0
    dots, *name = module.named_children
    return _name(name[-1] if name else None), dots.child_count


def _name(node: Node | None) -> str:
    """Return a dotted name without the blanks and line ends that may stand in it."""
    if node is None or not node.text:
        return ""
    if node.child_count > 1:
        parts = [part.text or b"" for part in node.named_children if part.type == "identifier"]
        return b".".join(parts).decode("utf-8", "replace")
    return node.text.decode("utf-8", "replace")
