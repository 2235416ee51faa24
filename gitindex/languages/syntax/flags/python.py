"""Detectors for Python."""

from __future__ import annotations

from gitindex.languages.facts import Use
from gitindex.languages.syntax.flags.reading import Detector, Reading, is_literal

_BY_NAME = ("getattr", "setattr", "delattr")
_NAMESPACES = (b"globals", b"modules", b"__dict__", b"vars")
_HOOKS = ("__getattr__", "__getattribute__", "__setattr__")
_MAKERS = ("namedtuple", "make_dataclass", "new_class", "create_model")
_DECORATORS = ("dataclass", "attrs", "define", "frozen", "mutable", "total_ordering")
_CONTEXT = ("platform", "version_info", "TYPE_CHECKING", "PY2", "PY3", "implementation")


def dynamic_import(reading: Reading) -> bool:
    """Is a module imported by a name computed at run time?"""
    if any(reading.has(name, Use.CALL) for name in ("exec_module", "spec_from_file_location")):
        return True
    return any(
        not is_literal(next(iter(reading.arguments(at)), None))
        for name in ("__import__", "import_module")
        for at in reading.offsets(name, Use.CALL)
    )


def dynamic_attribute(reading: Reading) -> bool:
    """Is an attribute accessed by a computed name, or by a hook?"""
    if any(reading.has(name, Use.DEFINITION) for name in _HOOKS):
        return True
    if reading.has("__dict__", Use.ATTRIBUTE) or reading.calls_bare("globals"):
        return True
    return any(
        not any(map(is_literal, reading.arguments(at)[1:2]))
        for name in _BY_NAME
        for at in reading.offsets(name, Use.CALL)
    )


def eval_exec(reading: Reading) -> bool:
    """Is text run as code?"""
    return reading.calls_bare("eval") or reading.calls_bare("exec")


def monkey_patch(reading: Reading) -> bool:
    """Is an attribute of something imported, or of a class, assigned from outside, or a global by name?"""
    if any(node.text in _NAMESPACES for node in reading.captures.get("flag.stored", ())):
        return True
    nodes = (*reading.captures.get("flag.patched", ()), *reading.captures.get("flag.below", ()))
    heads = {(node.text or b"").partition(b".")[0] for node in nodes} - {b"self", b"cls"}
    if not heads:
        return False
    classes = {s.name for s in reading.outline.symbols if s.kind == "class"}
    targets = reading.imported() | classes
    return any(head.decode("utf-8", "replace") in targets for head in heads)


def generated_member(reading: Reading) -> bool:
    """Does a class get members that its own code does not define?"""
    if any(reading.has(name, Use.CALL) for name in _MAKERS):
        return True
    if any(reading.has(name, Use.DECORATOR) for name in _DECORATORS):
        return True
    return reading.has("metaclass", Use.REFERENCE) or reading.has("NamedTuple", Use.INHERIT)


def overload_set(reading: Reading) -> bool:
    """Does one name have several signatures?"""
    names = ("overload", "singledispatch", "singledispatchmethod")
    return any(reading.has(name, Use.DECORATOR) for name in names)


def reexport_chain(reading: Reading) -> bool:
    """Is an imported name exported from here?"""
    listed = set(reading.outline.exports)
    return bool(listed & reading.imported()) or any(
        item.level and pair == ("*", "*") for item in reading.imports for pair in item.names
    )


def context_divergence(reading: Reading) -> bool:
    """Does the file depend on the platform, the interpreter or the type checker?"""
    return any(
        reading.is_decided_at(at)
        for name in _CONTEXT
        for at in reading.offsets(name, Use.ATTRIBUTE, Use.REFERENCE)
    )


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
