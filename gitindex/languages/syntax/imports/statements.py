"""Imports of languages other than Python and JavaScript: one small reader of the statement's tree each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from gitindex.base.pattern import compile_later

if TYPE_CHECKING:
    from tree_sitter import Node

Names = tuple[tuple[str, str], ...]
Pair = tuple[str, Names]  # module, names that it binds
Reader = Callable[["Node"], Iterator[Pair]]

ALL: Names = (("*", "*"),)

_LAYOUT = compile_later(r"[\s/]")
"""Blanks, or the start of a comment: no name of a path contains them."""
_LITERALS = ("string_content", "interpreted_string_literal_content", "raw_string_literal_content")


def text_of(node: Node | None) -> str:
    """Return the text of a node; "" without one."""
    return (node.text or b"").decode("utf-8", "replace") if node is not None else ""


def _path(node: Node | None, separator: str) -> str:
    """Return a path of names, without the blanks and comments that may stand in it."""
    text = text_of(node)
    if node is None or not _LAYOUT.search(text):
        return text
    start = separator if text.startswith(separator) else ""
    return start + separator.join(_words(node))


def _words(node: Node) -> list[str]:
    """Return the names of a path in order, however they are nested."""
    parts = node.named_children
    if not parts:
        return [] if node.type.endswith("comment") else [text_of(node)]
    return [word for part in parts for word in _words(part)]


def _parts(node: Node) -> list[Node]:
    """Return the named children without comments."""
    return [child for child in node.named_children if not child.type.endswith("comment")]


def _first(node: Node, *kinds: str) -> Node | None:
    """Return the first descendant of one of these kinds, in text order."""
    for child in node.named_children:
        found = child if child.type in kinds else _first(child, *kinds)
        if found is not None:
            return found
    return None


def _has(node: Node, *words: str) -> bool:
    """Is one of these keywords a direct part of the statement?"""
    return any(child.type in words for child in node.children)


def go(node: Node) -> Iterator[Pair]:
    """`str "strings"` binds `str`; a dot import binds everything, a blank one nothing."""
    module = text_of(_first(node, *_LITERALS))
    name = node.child_by_field_name("name")
    kind = name.type if name is not None else ""
    base = module.rsplit("/", 1)[-1]
    if kind == "dot":
        yield module, ALL
    else:
        yield module, () if kind == "blank_identifier" else ((base, text_of(name) or base),)


def rust(node: Node) -> Iterator[Pair]:
    """Return one import per leaf of a use tree; `extern crate` and `mod` name one module."""
    argument = node.child_by_field_name("argument")
    if argument is not None:
        yield from _use_tree("", argument)
        return
    name = text_of(node.child_by_field_name("name"))
    if node.type == "mod_item":
        yield f"self::{name}", ((name, name),)
    else:
        yield name, ((name, text_of(node.child_by_field_name("alias")) or name),)


def _use_tree(prefix: str, tree: Node) -> Iterator[Pair]:
    kind = tree.type
    if kind in ("scoped_use_list", "use_list"):
        path = tree.child_by_field_name("path")
        items = tree.child_by_field_name("list") if kind == "scoped_use_list" else tree
        if items is not tree:
            prefix += _path(path, "::") + "::"
        for item in items.named_children if items else ():
            yield from _use_tree(prefix, item)
    elif kind == "use_as_clause":
        path, alias = tree.child_by_field_name("path"), tree.child_by_field_name("alias")
        yield _use_leaf(prefix + _path(path, "::"), text_of(alias))
    elif kind == "use_wildcard":
        path = tree.named_children[0] if tree.named_children else None
        yield (prefix + _path(path, "::")).removesuffix("::"), ALL
    elif not kind.endswith("comment"):
        yield _use_leaf(prefix + _path(tree, "::"), "")


def _use_leaf(path: str, alias: str) -> Pair:
    module, _, last = path.removesuffix("::self").rpartition("::")
    return module, ((last, alias or last),)


def java(node: Node) -> Iterator[Pair]:
    """`import a.B` names a type; a static import names a member of one."""
    kinds = [child.type for child in node.children]
    path = _path(next(iter(_parts(node)), None), ".")
    module, _, last = path.rpartition(".")
    if "asterisk" in kinds:
        yield path, ALL
    else:
        yield module if "static" in kinds else path, ((last, last),)


def kotlin(node: Node) -> Iterator[Pair]:
    """Like Java's, with `as`."""
    first, *alias = _parts(node)
    path = _path(first, ".")
    last = path.rpartition(".")[2]
    if _has(node, "*"):
        yield path, ALL
    else:
        yield path, ((last, text_of(alias[0]) if alias else last),)


def scala(node: Node) -> Iterator[Pair]:
    """`import a.b.{C, D => E}`, `import a._`, and several of them separated by commas."""
    path: list[Node] = []
    for child in (*node.children, None):
        if child is None or child.type == ",":
            if path:
                yield _scala_import(path)
            path = []
        elif child.is_named and not child.type.endswith("comment"):
            path.append(child)


def _scala_import(parts: list[Node]) -> Pair:
    *path, last = parts
    selected = last.named_children if last.type == "namespace_selectors" else [last]
    return ".".join(map(text_of, path)), tuple(map(_selected, selected))


def _selected(node: Node) -> tuple[str, str]:
    if node.type == "namespace_wildcard":
        return ALL[0]
    name, alias = node.child_by_field_name("name"), node.child_by_field_name("alias")
    return text_of(name or node), text_of(alias or name or node)


def csharp(node: Node) -> Iterator[Pair]:
    """A namespace binds all its names; an alias binds one."""
    alias = node.child_by_field_name("name")
    module = " ".join(text_of(next(reversed(_parts(node)), None)).split())
    yield module, ((module, text_of(alias)),) if alias is not None else ALL


def swift(node: Node) -> Iterator[Pair]:
    """A module, or one declaration of it."""
    path = _path(_first(node, "identifier"), ".")
    kinds = ("class", "struct", "enum", "protocol", "func", "var", "let", "typealias")
    module, _, last = path.rpartition(".")
    yield (module, ((last, last),)) if module and _has(node, *kinds) else (path, ALL)


def php(node: Node) -> Iterator[Pair]:
    """`use` of namespaces, and files in `require` and `include` if a literal names them."""
    if node.type != "namespace_use_declaration":
        yield "".join(_literals(node)).lstrip("/"), ()
        return
    group = node.child_by_field_name("body")
    prefix = _path(_parts(node)[0], "\\") + "\\" if group is not None else ""
    for clause in (group or node).named_children:
        if clause.type == "namespace_use_clause":
            path = prefix + _path(_first(clause, "qualified_name", "name"), "\\")
            last = path.rpartition("\\")[2]
            alias = text_of(clause.child_by_field_name("alias"))
            yield path.lstrip("\\"), ((last, alias or last),)


def _literals(node: Node) -> Iterator[str]:
    if node.type == "string_content":
        yield text_of(node)
    for child in node.named_children:
        yield from _literals(child)


def include(node: Node) -> Iterator[Pair]:
    """C's include, and C++'s `using`, which names something declared by an include."""
    path = node.child_by_field_name("path")
    if node.type == "preproc_include":
        if path is not None and path.type in ("string_literal", "system_lib_string"):
            yield text_of(path)[1:-1], ()
        return
    used = _path(next(iter(_parts(node)), None), "::")
    module, _, last = used.rpartition("::")
    yield (used, ALL) if _has(node, "namespace", "enum") else (module, ((last, last),))


def shell(node: Node) -> Iterator[Pair]:
    """`source file`, without quotes; variables in it stay as written."""
    argument = node.child_by_field_name("argument")
    if argument is not None:
        parts = argument.children if argument.type == "concatenation" else [argument]
        quoted = ("string", "raw_string")
        texts = [text_of(part)[1:-1] if part.type in quoted else text_of(part) for part in parts]
        yield "".join(texts), ()


def quoted(node: Node) -> Iterator[Pair]:
    """The first string literal: `require "x"`, `@import "x"`; none that computes a part of it."""
    literal = _first(node, "string", "string_value", "string_literal", "plain_value")
    if literal is None:
        return
    parts = literal.named_children
    if not any(part.type in ("interpolation", "template_substitution") for part in parts):
        quotes = literal.type == "string_literal"  # Dart's, which has no parts
        text = text_of(literal)[1:-1] if quotes else "".join(map(text_of, parts or [literal]))
        yield text, ()


STATEMENTS: dict[str, Reader] = {
    "go": go,
    "rust": rust,
    "java": java,
    "kotlin": kotlin,
    "scala": scala,
    "csharp": csharp,
    "swift": swift,
    "php": php,
    "c": include,
    "cpp": include,
    "bash": shell,
    "ruby": quoted,
    "lua": quoted,
    "dart": quoted,
    "css": quoted,
    "zig": quoted,
}
