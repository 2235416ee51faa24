"""What is visible outside of a file: the names that it lists (`__all__`, `export`, `module.exports`), and
one rule per language for its other symbols.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from gitindex.languages.syntax.events import CapturedRange
from gitindex.languages.syntax.kinds import SPACES

if TYPE_CHECKING:
    from tree_sitter import Node

    from gitindex.languages.syntax.parser import Captures

_ECMA = frozenset({"javascript", "typescript", "tsx"})
_LISTS = ("list", "tuple", "set", "binary_operator", "parenthesized_expression", "argument_list")
_KEYS = ("property_identifier", "shorthand_property_identifier", "string")
_ASSIGNMENT = "assignment_expression"
_GROUPS = frozenset({"namespace", "package"})


class Surface(NamedTuple):
    """The exports that a file declares as a whole."""

    names: frozenset[str]  # exported by a list: `__all__`, `export {…}`, `module.exports`
    is_script: bool  # declares no exports, so its whole top level is visible


class Exports(NamedTuple):
    """Exported names, and the local names behind them."""

    listed: tuple[str, ...]
    surface: Surface
    complete: bool = False  # nothing else is exported


def read_exports(data: bytes, captures: Captures, language: str) -> Exports:
    """Return the exports that a file lists; empty for languages that mark each symbol instead."""
    if language == "python":
        return _python(data, captures)
    if language in _ECMA:
        return _ecma(data, captures)
    return Exports((), Surface(frozenset(), is_script=False))


def exported_names(
    exports: Exports, definitions: Iterable[CapturedRange], exported: list[bool]
) -> list[str]:
    """Return the file's exports: as listed, else its visible symbols at module level."""
    if exports.complete:
        return list(exports.listed)
    names = dict.fromkeys(exports.listed)
    for scope, seen in zip(definitions, exported, strict=True):
        if seen and _is_top(scope) and scope.name not in exports.surface.names:
            names.setdefault(scope.name)
    return list(names)


def _is_top(scope: CapturedRange) -> bool:
    """Is a symbol at module level? Enclosing namespaces are ignored."""
    if scope.kind in _GROUPS or (scope.prefix and scope.kind not in SPACES):
        return False
    outer = scope.outer
    while outer is not None and outer.kind in _GROUPS:
        outer = outer.outer
    return outer is None


def _python(data: bytes, captures: Captures) -> Exports:
    lists = filter(None, map(_given, _nodes_of(b"__all__", data, captures)))
    listed = [name for node in lists if not _is_inner(node) for name in _literals(node)]
    aliases = _in_order(captures.get("export.alias", ()))
    aliased = [_text(node.text) for node in aliases if not _is_inner(node)]
    surface = Surface(frozenset(listed), is_script=False)
    names = tuple(dict.fromkeys((*listed, *aliased)))
    return Exports(names, surface, complete=bool(listed))


def _in_order(nodes: Iterable[Node]) -> list[Node]:
    """Return captured nodes as in the text: tree-sitter lists them in an order that varies."""
    return sorted(nodes, key=lambda node: node.start_byte)


def _nodes_of(word: bytes, data: bytes, captures: Captures) -> Iterator[Node]:
    """Yield the leaves of the tree that are this word. A query for it would cost all files."""
    at = data.find(word)
    while at >= 0:
        node = captures["root"][0].descendant_for_byte_range(at, at + len(word))
        if node is not None and node.byte_range == (at, at + len(word)):
            yield node
        at = data.find(word, at + len(word))


def _given(name: Node) -> Node | None:
    """Return what is assigned to `__all__`, or the arguments of a method of it."""
    holder = name.parent if name.type == "identifier" else None
    if holder is not None and holder.type == "attribute":
        call = holder.parent
        return call.child_by_field_name("arguments") if call and call.type == "call" else None
    if holder is None or holder.child_by_field_name("left") != name:
        return None
    return holder.child_by_field_name("right")


def _is_inner(node: Node) -> bool:
    """Is a place inside a function or a class?"""
    outer = node.parent
    while outer is not None and outer.type not in ("function_definition", "class_definition"):
        outer = outer.parent
    return outer is not None


def _literals(node: Node) -> Iterator[str]:
    """Yield the strings of a list, a tuple or a sum of them."""
    if node.type == "string":
        yield "".join(
            _text(part.text) for part in node.named_children if part.type == "string_content"
        )
    elif node.type in _LISTS:
        for child in node.named_children:
            yield from _literals(child)


def _ecma(data: bytes, captures: Captures) -> Exports:
    names: dict[str, str] = {}  # exported name -> local name
    for node in _in_order(captures.get("export.item", ())):
        name, alias = node.child_by_field_name("name"), node.child_by_field_name("alias")
        local = _text(name.text if name else None)
        names[_text(alias.text) if alias else local] = "" if _is_passed_on(node) else local
    if "export.anonymous" in captures:
        names["default"] = "default"
    for node in _in_order(captures.get("export.default", ())):
        names["default"] = _text(node.text)
    common = dict(_common_js(data, captures))
    names.update(common)
    modular = bool(names) or any(key in captures for key in ("export", "import"))
    surface = Surface(frozenset((*names.values(), *common)), is_script=not modular)
    return Exports(tuple(names), surface)


def _is_passed_on(specifier: Node) -> bool:
    """Does `export { a } from './b'` name another module's symbol, not one of this file?"""
    statement = specifier.parent.parent if specifier.parent else None
    return statement is not None and statement.child_by_field_name("source") is not None


class _Member(NamedTuple):
    """A name that a CommonJS module exports."""

    key: Node
    value: Node | None
    holder: Node  # the range of its definition
    name: Node  # what spells its name there
    capture: str  # of that name


def _common_js(data: bytes, captures: Captures) -> Iterator[tuple[str, str]]:
    """Yield what `exports.a = …` and `module.exports = { a, b: c }` export, with the local name.

    Adds them to the captures as definitions, whatever their values are.
    """
    members: list[_Member] = []
    for node in _nodes_of(b"exports", data, captures):
        target = _object(node)
        if target is None:
            continue
        whole = _assigned(target)
        if whole is not None and whole.type == "identifier":
            yield "default", _text(whole.text)
        members += _members(target, whole)
    for member in members:
        local = member.value if member.value and member.value.type == "identifier" else member.key
        yield _text(member.key.text), _text(local.text)
    # One that passes on what has its name defines nothing.
    _define([m for m in members if m.value is None or m.value.text != m.key.text], captures)


def _define(members: list[_Member], captures: Captures) -> None:
    for capture in sorted({member.capture for member in members}):
        names = captures.setdefault(capture, [])
        places = {node.start_byte for node in names}
        for member in members:
            if member.capture == capture and member.name.start_byte not in places:
                names.append(member.name)
    if members:
        captures.setdefault("def.variable", []).extend(member.holder for member in members)


def _members(target: Node, whole: Node | None) -> Iterator[_Member]:
    """Yield the names that the statement around `exports` gives to a module."""
    holder = target.parent
    kind = holder.type if holder is not None else ""
    if holder is not None and kind in ("member_expression", "subscript_expression"):
        yield from _assigned_member(holder)
    elif holder is not None and kind == "arguments":
        yield from _defined_property(holder)
    elif whole is not None and whole.type == "object":
        yield from filter(None, map(_entry, whole.named_children))


def _object(node: Node) -> Node | None:
    """Return `exports` or `module.exports` at the word; None if it is something else."""
    holder = node.parent
    if node.type == "property_identifier" and holder is not None:
        owner = holder.child_by_field_name("object")
        return holder if owner is not None and owner.text == b"module" else None
    return node if node.type == "identifier" else None


def _assigned(node: Node) -> Node | None:
    """Return the last value of `node = … = value`; None if nothing is assigned to it."""
    value = node.parent
    if value is None or value.type != _ASSIGNMENT or value.child_by_field_name("left") != node:
        return None
    while value is not None and value.type == _ASSIGNMENT:
        value = value.child_by_field_name("right")
    return value


def _assigned_member(member: Node) -> Iterator[_Member]:
    value = _assigned(member)
    index = member.child_by_field_name("index")
    key = member.child_by_field_name("property") or index
    if value is None or key is None or member.parent is None:
        return
    if index is None:
        yield _Member(key, value, member.parent, member, "name.path")
    elif index.type == "string":
        yield _Member(key, value, member.parent, index, "name.marked")


def _defined_property(arguments: Node) -> Iterator[_Member]:
    """`Object.defineProperty(exports, "name", …)`."""
    call, parts = arguments.parent, arguments.named_children
    function = call.child_by_field_name("function") if call is not None else None
    property_of = function.child_by_field_name("property") if function is not None else None
    if call is None or property_of is None or property_of.text != b"defineProperty":
        return
    if len(parts) > 1 and parts[1].type == "string":
        yield _Member(parts[1], None, call, parts[1], "name.marked")


def _entry(node: Node) -> _Member | None:
    """Return an entry of `{ a, b: c, d() {} }`; None if its name is computed."""
    key = node.child_by_field_name("key") or node.child_by_field_name("name") or node
    if key.type not in _KEYS:
        return None
    value = node if key is node else node.child_by_field_name("value")
    return _Member(key, value, node, key, "name.marked" if key.type == "string" else "name")


def _text(raw: bytes | None) -> str:
    return raw.decode("utf-8", "replace").strip("\"'") if raw else ""


Rule = Callable[[CapturedRange, Sequence[str], Surface], bool]
"""Takes a symbol, the words before its name, and the file's surface; is the symbol visible?"""


def _is_python_name(scope: CapturedRange, _words: Sequence[str], surface: Surface) -> bool:
    name = scope.name
    dunder = name.startswith("__") and name.endswith("__")
    return dunder or not name.startswith("_") or (scope.parent < 0 and name in surface.names)


def _is_ecma_name(scope: CapturedRange, words: Sequence[str], surface: Surface) -> bool:
    if scope.parent >= 0:
        return not scope.name.startswith("#") and "private" not in words
    if scope.exported or surface.is_script or scope.name in surface.names:
        return True
    root = scope.qualified.partition(".")[0]
    return root in ("exports", "module") or root in surface.names


def _go(scope: CapturedRange, _words: Sequence[str], _surface: Surface) -> bool:
    return scope.name[:1].isupper() or scope.kind == "package"


def _rust(scope: CapturedRange, words: Sequence[str], _surface: Surface) -> bool:
    if any(word.startswith("pub") for word in words) or "#[macro_export]" in words:
        return True
    outer = scope.outer
    return outer is not None and outer.kind in ("trait", "impl.trait", "enum")


def _c(scope: CapturedRange, words: Sequence[str], _surface: Surface) -> bool:
    if scope.outer is not None and scope.outer.kind == "class":
        return bool(scope.label) and scope.label != "private"
    return "static" not in words or (scope.parent >= 0 and scope.label != "private")


def _unless(*hidden: str) -> Rule:
    """Return a rule: visible unless one of these words precedes the name, or labels it above."""

    def rule(scope: CapturedRange, words: Sequence[str], _surface: Surface) -> bool:
        return scope.label not in hidden and not any(word in words for word in hidden)

    return rule


def _pub(scope: CapturedRange, words: Sequence[str], _surface: Surface) -> bool:
    return "pub" in words or (scope.kind == "field" and scope.parent >= 0)


def _nothing(_scope: CapturedRange, _words: Sequence[str], _surface: Surface) -> bool:
    """Data keys are never part of an interface."""
    return False


def _csharp(scope: CapturedRange, words: Sequence[str], _surface: Surface) -> bool:
    if any(word in words for word in ("public", "protected", "internal")):
        return True
    outer = scope.outer
    member = outer is not None and outer.kind in ("class", "struct")
    return not member and "private" not in words and "file" not in words


def _everything(_scope: CapturedRange, _words: Sequence[str], _surface: Surface) -> bool:
    return True


_RULES: dict[str, Rule] = {
    "python": _is_python_name,
    "javascript": _is_ecma_name,
    "typescript": _is_ecma_name,
    "tsx": _is_ecma_name,
    "go": _go,
    "rust": _rust,
    "java": _unless("private"),
    "c": _c,
    "cpp": _c,
    "csharp": _csharp,
    "ruby": _unless("private"),
    "php": _unless("private"),
    "kotlin": _unless("private"),
    "scala": _unless("private"),
    "swift": _unless("private", "fileprivate"),
    "lua": _unless("local"),
    "zig": _pub,
    "json": _nothing,
    "yaml": _nothing,
    "toml": _nothing,
    "elixir": _unless("defp", "defmacrop", "defguardp"),
}


WORDLESS: frozenset[Rule] = frozenset({_is_python_name, _go, _everything, _nothing})
"""Rules that ignore the words."""


def rule_for(language: str) -> Rule:
    """Return the rule of a language; without one, everything is visible."""
    return _RULES.get(language, _everything)
