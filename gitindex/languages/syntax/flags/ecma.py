"""Detectors for JavaScript and TypeScript."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gitindex.languages.facts import Use
from gitindex.languages.syntax.flags.common import overloaded_names
from gitindex.languages.syntax.flags.reading import Detector, Reading, is_literal

if TYPE_CHECKING:
    from tree_sitter import Node

_CONTEXT = ("env", "platform", "browser", "version")
_HOSTS = ("window", "document", "process", "global", "globalThis", "Deno", "Bun")
_MAKERS = ("defineProperty", "defineProperties", "setPrototypeOf", "__decorate")
_REFLECTED = ("Proxy", "defineGetter", "__defineGetter__")


def dynamic_import(reading: Reading) -> bool:
    """Is a module loaded by a name computed at run time?"""
    if "flag.dynamic_import" in reading.captures:
        return True
    return any(
        not is_literal(next(iter(reading.arguments(at)), None))
        for at in reading.offsets("require", Use.CALL)
        if reading.data[at - 1 : at] != b"."
    )


def dynamic_attribute(reading: Reading) -> bool:
    """Is a member called by a computed name, or created by a proxy?"""
    if "flag.dynamic_attribute" in reading.captures:
        return True
    return any(reading.has(name, Use.CALL) for name in _REFLECTED)


def eval_exec(reading: Reading) -> bool:
    """Is text run as code?"""
    return reading.calls_bare("eval") or reading.calls_bare("Function")


def monkey_patch(reading: Reading) -> bool:
    """Is a member of something imported, or of a foreign prototype, assigned?"""
    if "flag.patched" not in reading.captures and "flag.prototype" not in reading.captures:
        return False
    imported = reading.imported()
    own = {symbol.name for symbol in reading.outline.symbols}
    return any(name in imported for name in _texts(reading, "flag.patched")) or any(
        name not in own for name in _texts(reading, "flag.prototype")
    )


def _texts(reading: Reading, capture: str) -> list[str]:
    nodes = reading.captures.get(capture, ())
    return [(node.text or b"").decode("utf-8", "replace") for node in nodes]


def generated_member(reading: Reading) -> bool:
    """Does an object get members that its own code does not define?"""
    if any(reading.has(name, Use.CALL) for name in _MAKERS):
        return True
    return any(
        _member_of(next(iter(reading.arguments(at)), None)) == b"prototype"
        for at in reading.offsets("assign", Use.CALL)
    )


def _member_of(node: Node | None) -> bytes:
    """Return the last name of a member access, or b""."""
    named = node.child_by_field_name("property") if node is not None else None
    return (named.text or b"") if named is not None else b""


def overload_set(reading: Reading) -> bool:
    """Does one name have several signatures?"""
    if reading.language == "javascript":
        return False
    names = overloaded_names(reading)
    symbols = [s.qualified for s in reading.outline.symbols if s.qualified in names]
    return len(symbols) > len(set(symbols))


def reexport_chain(reading: Reading) -> bool:
    """Is a name of another module exported from here?"""
    nodes = reading.captures.get("import", ())
    if any(node.type == "export_statement" for node in nodes):
        return True
    return bool(set(reading.outline.exports) & reading.imported())


def context_divergence(reading: Reading) -> bool:
    """Does the behaviour of the file depend on where it runs?"""
    return any(
        _is_context(reading, at) and reading.is_decided_at(at)
        for name in _HOSTS
        for at in reading.offsets(name)
    )


def _is_context(reading: Reading, at: int) -> bool:
    """Is it `process.env…`, or `typeof window`?"""
    node = reading.node_at(at)
    outer = node.parent if node is not None else None
    if outer is None or node is None:
        return False
    if outer.type == "unary_expression":
        return outer.children[0].type == "typeof"
    return node.text == b"process" and _member_of(outer).decode("utf-8", "replace") in _CONTEXT


DETECTORS: dict[str, Detector] = {
    "dynamic_import": dynamic_import,
    "dynamic_attribute": dynamic_attribute,
    "eval_exec": eval_exec,
    "monkey_patch": monkey_patch,
    "generated_member": generated_member,
    "overload_set": overload_set,
    "reexport_chain": reexport_chain,
    "context_divergence": context_divergence,
}
