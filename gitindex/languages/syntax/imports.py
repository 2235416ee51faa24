"""Imports as written, with one small reader of the statement's tree per language. Resolves nothing."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from gitindex.base.pattern import compile_later
from gitindex.languages.facts import Import

if TYPE_CHECKING:
    from tree_sitter import Node

    from gitindex.languages.syntax.parser import Captures

Names = tuple[tuple[str, str], ...]
Pair = tuple[str, Names]  # module, names that it binds
Reader = Callable[["Node"], Iterator[Pair]]

ALL: Names = (("*", "*"),)

_CLAUSES = ("import_clause", "named_imports", "export_clause", "import_require_clause")
_ECMA = ("javascript", "typescript", "tsx")
_LAYOUT = compile_later(r"[\s/]")
"""Blanks, or the start of a comment: no name of a path contains them."""
_LITERALS = ("string_content", "interpreted_string_literal_content", "raw_string_literal_content")


def read_imports(captures: Captures, starts: list[int], language: str) -> tuple[Import, ...]:
    """Return the imports of a blob in file order."""
    statements = captures.get("import", ())
    if language == "python":
        imports = [item for node in statements for item in _python(node)]
    elif language in READERS:
        calls = (*captures.get("import.call", ()), *captures.get("import.module", ()))
        read = READERS[language]
        imports = [
            Import(module, names, 0, node.start_byte)
            for node in (*statements, *calls)
            for module, names in read(node)
            if module
        ]
    else:
        return ()
    # Readers give byte offsets: `start_point.row` of tree-sitter 0.26.0 crashes the process.
    ordered = sorted(imports, key=lambda item: item.line)
    return tuple(item._replace(line=bisect_right(starts, item.line) - 1) for item in ordered)


def _text(node: Node | None) -> str:
    """Return the text of a node; "" without one."""
    return (node.text or b"").decode("utf-8", "replace") if node is not None else ""


def _python(node: Node) -> list[Import]:
    """`import a.b` binds `a`, `import a.b as c` binds `c`; a relative import has a level."""
    pairs = [_aliased(item) for item in node.children_by_field_name("name")]
    kind = node.type  # a new string at each access
    if kind == "import_statement":
        return [_plain(module, alias, node.start_byte) for module, alias in pairs]
    names = [(name, alias or name) for name, alias in pairs]
    if not names and any(child.type == "wildcard_import" for child in node.named_children):
        names = [("*", "*")]
    module, level = ("__future__", 0) if kind[0] == "f" else _python_source(node)
    return [Import(module, tuple(names), level, node.start_byte)]


def _plain(module: str, alias: str, start: int) -> Import:
    return Import(module, ((module, alias or module.partition(".")[0]),), 0, start)


def _aliased(node: Node) -> tuple[str, str]:
    """Return an imported name with its alias, or ""."""
    if node.type == "aliased_import":
        return _dotted(node.child_by_field_name("name")), _dotted(node.child_by_field_name("alias"))
    return _dotted(node), ""


def _python_source(node: Node) -> tuple[str, int]:
    """Return the module of `from`, and its leading dots."""
    module = node.child_by_field_name("module_name")
    if module is None or module.type != "relative_import":
        return _dotted(module), 0
    dots, *name = module.named_children
    return _dotted(name[-1] if name else None), dots.child_count


def _dotted(node: Node | None) -> str:
    """Return a dotted name without the blanks and line ends that may stand in it."""
    if node is None or not node.text:
        return ""
    if node.child_count > 1:
        parts = [part.text or b"" for part in node.named_children if part.type == "identifier"]
        return b".".join(parts).decode("utf-8", "replace")
    return node.text.decode("utf-8", "replace")


def _ecma(node: Node) -> Iterator[Pair]:
    """`import`, `export … from`, `require`, `import()`; a module whose name is computed is none."""
    if node.type in ("import_statement", "export_statement"):
        names = [pair for child in node.named_children for pair in _names(child)]
        if node.type == "export_statement" and _has(node, "*"):
            names.append(("*", "*"))
        yield _unquoted(_source(node)), tuple(names)
        return
    arguments = node.child_by_field_name("arguments")
    first = arguments.named_children[0] if arguments and arguments.named_children else None
    yield _unquoted(first), _bound(node)


def _names(node: Node) -> list[tuple[str, str]]:
    kind = node.type  # a new string at each access
    if kind in _CLAUSES:
        return [pair for child in node.named_children for pair in _names(child)]
    if kind == "identifier":
        return [("default", _unquoted(node))]
    if kind in ("namespace_import", "namespace_export"):
        return [("*", _unquoted(node.children[-1]))]  # `default` is a keyword, not a named node
    if kind in ("import_specifier", "export_specifier"):
        name, alias = node.child_by_field_name("name"), node.child_by_field_name("alias")
        return [(_unquoted(name), _unquoted(alias or name))]
    return []


def _source(node: Node) -> Node | None:
    source = node.child_by_field_name("source")
    for child in [] if source else node.named_children:
        source = source or child.child_by_field_name("source")
    return source


def _bound(node: Node) -> tuple[tuple[str, str], ...]:
    """Return the names bound by `const x = require(…)` or `const {a, b: c} = require(…)`."""
    holder = node.parent
    if holder is not None and holder.type == "await_expression":
        holder = holder.parent
    if holder is None or holder.type != "variable_declarator":
        return ()
    target = holder.child_by_field_name("name")
    if target is None or target.type == "identifier":
        return (("*", _unquoted(target)),)
    return tuple(_pattern(child) for child in target.named_children if child.type != "comment")


def _pattern(node: Node) -> tuple[str, str]:
    if node.type == "pair_pattern":
        value = node.child_by_field_name("value")
        if value is not None and value.type == "assignment_pattern":  # with a default
            value = value.child_by_field_name("left")
        return _unquoted(node.child_by_field_name("key")), _unquoted(value)
    if node.type == "object_assignment_pattern":
        node = node.child_by_field_name("left") or node
    return _unquoted(node), _unquoted(node)


def _unquoted(node: Node | None) -> str:
    return _text(node).strip("\"'`")


def _path(node: Node | None, separator: str) -> str:
    """Return a path of names, without the blanks and comments that may stand in it."""
    text = _text(node)
    if node is None or not _LAYOUT.search(text):
        return text
    start = separator if text.startswith(separator) else ""
    return start + separator.join(_words(node))


def _words(node: Node) -> list[str]:
    """Return the names of a path in order, however they are nested."""
    parts = node.named_children
    if not parts:
        return [] if node.type.endswith("comment") else [_text(node)]
    return [word for part in parts for word in _words(part)]


def _parts(node: Node) -> list[Node]:
    """Return the named children without comments."""
    return [child for child in node.named_children if not child.type.endswith("comment")]


def _first(node: Node, *kinds: str) -> Node | None:
    """Return the first descendant of one of these kinds, in text order."""
    for child in node.named_children:
        match = child if child.type in kinds else _first(child, *kinds)
        if match is not None:
            return match
    return None


def _has(node: Node, *words: str) -> bool:
    """Is one of these keywords a direct part of the statement?"""
    return any(child.type in words for child in node.children)


def _go(node: Node) -> Iterator[Pair]:
    """`str "strings"` binds `str`; a dot import binds everything, a blank one nothing."""
    module = _text(_first(node, *_LITERALS))
    name = node.child_by_field_name("name")
    kind = name.type if name is not None else ""
    base = module.rsplit("/", 1)[-1]
    if kind == "dot":
        yield module, ALL
    else:
        yield module, () if kind == "blank_identifier" else ((base, _text(name) or base),)


def _rust(node: Node) -> Iterator[Pair]:
    """Return one import per leaf of a use tree; `extern crate` and `mod` name one module."""
    argument, inner = node.child_by_field_name("argument"), _inline_modules(node)
    if argument is not None:
        for path, names in _use_tree("", argument):
            yield _from_file(path, inner), names
        return
    name = _text(node.child_by_field_name("name"))
    if node.type == "mod_item":
        yield _from_file(f"self::{name}", inner), ((name, name),)
    else:
        yield name, ((name, _text(node.child_by_field_name("alias")) or name),)


def _inline_modules(node: Node) -> list[str]:
    """Return the names of the modules with a body around an item, the outermost first."""
    names: list[str] = []
    outer = node.parent
    while outer is not None:
        if outer.type == "mod_item":
            names.insert(0, _text(outer.child_by_field_name("name")))
        outer = outer.parent
    return names


def _from_file(path: str, inner: list[str]) -> str:
    """Return a path inside inline modules as seen from the file: `super` in `mod tests` is `self`."""
    parts = path.split("::")
    if not inner or parts[0] not in ("self", "super"):
        return path
    inner = list(inner)
    while inner and parts[:1] == ["super"]:
        inner, parts = inner[:-1], parts[1:]
    start = [] if parts[:1] == ["super"] else ["self"]
    return "::".join([*start, *inner, *(parts[1:] if parts[:1] == ["self"] else parts)])


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
        yield _use_leaf(prefix + _path(path, "::"), _text(alias))
    elif kind == "use_wildcard":
        path = tree.named_children[0] if tree.named_children else None
        yield (prefix + _path(path, "::")).removesuffix("::"), ALL
    elif not kind.endswith("comment"):
        yield _use_leaf(prefix + _path(tree, "::"), "")


def _use_leaf(path: str, alias: str) -> Pair:
    module, _, last = path.removesuffix("::self").rpartition("::")
    return module, ((last, alias or last),)


def _java(node: Node) -> Iterator[Pair]:
    """`import a.B` names a type; a static import names a member of one."""
    kinds = [child.type for child in node.children]
    path = _path(next(iter(_parts(node)), None), ".")
    module, _, last = path.rpartition(".")
    if "asterisk" in kinds:
        yield path, ALL
    else:
        yield module if "static" in kinds else path, ((last, last),)


def _kotlin(node: Node) -> Iterator[Pair]:
    """Like Java's, with `as`."""
    first, *alias = _parts(node)
    path = _path(first, ".")
    last = path.rpartition(".")[2]
    if _has(node, "*"):
        yield path, ALL
    else:
        yield path, ((last, _text(alias[0]) if alias else last),)


def _scala(node: Node) -> Iterator[Pair]:
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
    return ".".join(map(_text, path)), tuple(map(_selected, selected))


def _selected(node: Node) -> tuple[str, str]:
    if node.type == "namespace_wildcard":
        return ALL[0]
    name, alias = node.child_by_field_name("name"), node.child_by_field_name("alias")
    return _text(name or node), _text(alias or name or node)


def _csharp(node: Node) -> Iterator[Pair]:
    """A namespace binds all its names; an alias binds one."""
    alias = node.child_by_field_name("name")
    module = " ".join(_text(next(reversed(_parts(node)), None)).split())
    yield module, ((module, _text(alias)),) if alias is not None else ALL


def _swift(node: Node) -> Iterator[Pair]:
    """A module, or one declaration of it."""
    path = _path(_first(node, "identifier"), ".")
    kinds = ("class", "struct", "enum", "protocol", "func", "var", "let", "typealias")
    module, _, last = path.rpartition(".")
    yield (module, ((last, last),)) if module and _has(node, *kinds) else (path, ALL)


def _php(node: Node) -> Iterator[Pair]:
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
            alias = _text(clause.child_by_field_name("alias"))
            yield path.lstrip("\\"), ((last, alias or last),)


def _literals(node: Node) -> Iterator[str]:
    if node.type == "string_content":
        yield _text(node)
    for child in node.named_children:
        yield from _literals(child)


def _include(node: Node) -> Iterator[Pair]:
    """C's include, and C++'s `using`, which names something declared by an include."""
    path = node.child_by_field_name("path")
    if node.type == "preproc_include":
        if path is not None and path.type in ("string_literal", "system_lib_string"):
            yield _text(path)[1:-1], ()
        return
    used = _path(next(iter(_parts(node)), None), "::")
    module, _, last = used.rpartition("::")
    yield (used, ALL) if _has(node, "namespace", "enum") else (module, ((last, last),))


def _shell(node: Node) -> Iterator[Pair]:
    """`source file`, without quotes; variables in it stay as written."""
    argument = node.child_by_field_name("argument")
    if argument is not None:
        parts = argument.children if argument.type == "concatenation" else [argument]
        quoted = ("string", "raw_string")
        texts = [_text(part)[1:-1] if part.type in quoted else _text(part) for part in parts]
        yield "".join(texts), ()


def _quoted(node: Node) -> Iterator[Pair]:
    """The first string literal: `require "x"`, `@import "x"`; none that computes a part of it."""
    literal = _first(node, "string", "string_value", "string_literal", "plain_value")
    if literal is None:
        return
    parts = literal.named_children
    if not any(part.type in ("interpolation", "template_substitution") for part in parts):
        quotes = literal.type == "string_literal"  # Dart's, which has no parts
        text = _text(literal)[1:-1] if quotes else "".join(map(_text, parts or [literal]))
        yield text, ()


READERS: dict[str, Reader] = {
    **dict.fromkeys(_ECMA, _ecma),
    "go": _go,
    "rust": _rust,
    "java": _java,
    "kotlin": _kotlin,
    "scala": _scala,
    "csharp": _csharp,
    "swift": _swift,
    "php": _php,
    "c": _include,
    "cpp": _include,
    "bash": _shell,
    "ruby": _quoted,
    "lua": _quoted,
    "dart": _quoted,
    "css": _quoted,
    "zig": _quoted,
}
