"""Compare signatures for callers: does a call fit, is a new signature compatible? Pure."""

from __future__ import annotations

import re
from typing import NamedTuple

from gitindex.query.names.expressions import closing, split_top

_PLAIN = re.compile(r"\s+")
_WORD = re.compile(r"^[\w$]+$")
_TYPED = frozenset({"go", "rust", "java", "kotlin", "csharp", "scala", "swift", "c", "cpp"})
_AFTER_COLON = frozenset({"rust", "kotlin", "scala", "swift", "typescript", "tsx"})


class Parameter(NamedTuple):
    """One parameter of a function."""

    name: str
    optional: bool = False
    by_position: bool = True
    by_keyword: bool = True
    many: bool = False  # `*args` or `**kwargs`


class CallArguments(NamedTuple):
    """The arguments of a call."""

    positional: int
    keywords: tuple[str, ...]


def read_parameters(signature: str) -> list[Parameter] | None:
    """Parse Python parameters; None if the text is incomplete."""
    opened = signature.find("(")
    if opened < 0 or "…" in signature:
        return None
    end = closing(signature, opened)
    if end >= len(signature):
        return None
    found: list[Parameter] = []
    keyword_only = False
    for part in split_top(signature[opened + 1 : end], ","):
        item = part.strip()
        if not item:
            continue
        if item == "/":
            found = [p._replace(by_keyword=False) for p in found]
        elif item == "*":
            keyword_only = True
        elif item.startswith("**"):
            found.append(Parameter(_name(item), True, by_position=False, many=True))
        elif item.startswith("*"):
            found.append(Parameter(_name(item), True, by_keyword=False, many=True))
            keyword_only = True
        else:
            found.append(Parameter(_name(item), _has_default(item), not keyword_only))
    return found


def read_call(text: str, opened: int) -> CallArguments | None:
    """Parse the arguments of a call; None if a star or a comprehension hides their number."""
    end = closing(text, opened)
    if end >= len(text):
        return None
    positional, keywords = 0, []
    for part in split_top(text[opened + 1 : end], ","):
        item = part.strip()
        if not item:
            continue
        if item.startswith(("*", "#")) or "\n#" in item:
            return None
        name, equals, rest = item.partition("=")
        if equals and not rest.startswith("=") and _WORD.match(name.strip()):
            keywords.append(name.strip())
        elif keywords:
            return None
        else:
            positional += 1
    return CallArguments(positional, tuple(keywords))


def misfit(call: CallArguments, parameters: list[Parameter], bound: bool) -> str:
    """Return why a call does not fit, or "". `bound`: the first parameter is the receiver."""
    rest = parameters[1:] if bound else parameters
    places = [p for p in rest if p.by_position and not p.many]
    if call.positional > len(places) and not any(p.many and p.by_position for p in rest):
        return f"takes {len(places)} positional arguments, given {call.positional}"
    given = {p.name for p in places[: call.positional]}
    open_ended = any(p.many and not p.by_position for p in rest)
    for name in call.keywords:
        known = any(p.name == name and p.by_keyword and not p.many for p in rest)
        if not known and not open_ended:
            return f"has no parameter `{name}`"
        given.add(name)
    lacking = [p.name for p in rest if not p.optional and not p.many and p.name not in given]
    return f"lacks `{lacking[0]}`" if lacking else ""


def incompatibility(old: str, new: str, language: str) -> str:
    """Return why callers of an old signature may not fit a new one; empty if all fit."""
    if language == "python":
        before, after = read_parameters(old), read_parameters(new)
        if before is None or after is None:
            return ""
        return _python_change(before, after)
    before_types, after_types = _types(old, language), _types(new, language)
    if before_types is None or after_types is None:
        return ""
    shared = after_types[: len(before_types)]
    if [t for t, _ in shared] != [t for t, _ in before_types]:
        return "its parameters changed"
    if any(not optional for _, optional in after_types[len(before_types) :]):
        return "it takes more arguments"
    if language in _TYPED and len(after_types) != len(before_types):
        return "it takes more arguments"
    if language in _TYPED and _result(old) != _result(new):
        return "its result changed"
    return ""


def _python_change(before: list[Parameter], after: list[Parameter]) -> str:
    kept = {p.name: p for p in after}
    places = [p.name for p in after if p.by_position and not p.many]
    takes_any = any(p.many and p.by_position for p in after)
    takes_named = any(p.many and not p.by_position for p in after)
    position = 0
    for parameter in before:
        name, now = parameter.name, kept.get(parameter.name)
        if parameter.many:
            if now is None and not any(
                p.many and p.by_position == parameter.by_position for p in after
            ):
                return f"`*{name}` was removed"
            continue
        if now is None and not (takes_named if not parameter.by_position else takes_any):
            return f"parameter `{name}` was removed"
        if now is not None and parameter.optional and not now.optional:
            return f"parameter `{name}` is required now"
        if now is not None and parameter.by_keyword and not now.by_keyword and not takes_named:
            return f"parameter `{name}` is positional only now"
        if parameter.by_position and not (takes_any and now is None):
            if position >= len(places) or places[position] != name:
                return f"parameter `{name}` has moved"
            position += 1
    known = {p.name for p in before}
    for parameter in after:
        if parameter.name not in known and not parameter.optional and not parameter.many:
            return f"parameter `{parameter.name}` is new and required"
    return ""


def _types(signature: str, language: str) -> list[tuple[str, bool]] | None:
    """Return each parameter's type and whether it is optional; None if the text is cut."""
    opened = _list_start(signature, language)
    if opened < 0 or "…" in signature:
        return None
    end = closing(signature, opened)
    if end >= len(signature):
        return None
    found = []
    for part in split_top(signature[opened + 1 : end], ","):
        item = _PLAIN.sub(" ", part.strip())
        if item:
            found.append((_type_of(item, language), _may_be_left_out(item)))
    return found


def _list_start(signature: str, language: str) -> int:
    """Return where the parameters start: in Go, after the receiver."""
    opened = signature.find("(")
    if language == "go" and re.match(r"\s*func\s*\(", signature):
        opened = signature.find("(", closing(signature, opened))
    return opened


def _type_of(item: str, language: str) -> str:
    item = item.partition("=")[0].strip()
    if language in _AFTER_COLON:
        return item.partition(":")[2].strip()
    if language == "go":
        return item.rpartition(" ")[2]
    if language in _TYPED:
        return item.rpartition(" ")[0] or item
    return ""


def _may_be_left_out(item: str) -> bool:
    return "=" in item or item.startswith("...") or bool(re.match(r"[\w$]+\s*\?", item))


def _result(signature: str) -> str:
    opened = signature.find("(")
    rest = signature[closing(signature, opened) + 1 :] if opened >= 0 else ""
    return _PLAIN.sub("", rest.partition("{")[0])


def _name(item: str) -> str:
    return re.split(r"[:=]", item.lstrip("*"), maxsplit=1)[0].strip()


def _has_default(item: str) -> bool:
    return "=" in re.sub(r"[=!<>]=", "", item)
