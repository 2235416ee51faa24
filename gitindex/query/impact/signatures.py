"""Compare signatures for callers: does a call fit, is a new signature compatible? Pure."""

from __future__ import annotations

import ast
import io
import re
import tokenize
import warnings
from collections.abc import Iterator
from typing import NamedTuple

from gitindex.query.names.expressions import closing, split_top

_BLANKS = re.compile(r"\s+")
_DEF = re.compile(r"\s*(?:async\s+)?def\s+\w+\s*")
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


class Incompatibility(NamedTuple):
    """Why callers may not fit a new signature, and in Python the arguments of the shortest such call."""

    why: str
    call: str = ""


def read_parameters(signature: str) -> list[Parameter] | None:
    """Parse the parameters of a Python function; None if the text is incomplete, or too new."""
    opened = _opened(signature)
    tree = _parse(f"def f{bracket(signature, opened)}: pass")
    if tree is None or not isinstance(tree.body[0], ast.FunctionDef):
        return None
    given = tree.body[0].args
    placed = [*given.posonlyargs, *given.args]
    first_default = len(placed) - len(given.defaults)
    parameters = [
        Parameter(one.arg, at >= first_default, by_keyword=at >= len(given.posonlyargs))
        for at, one in enumerate(placed)
    ]
    if given.vararg:
        parameters.append(Parameter(given.vararg.arg, True, by_keyword=False, many=True))
    for one, default in zip(given.kwonlyargs, given.kw_defaults, strict=True):
        parameters.append(Parameter(one.arg, default is not None, by_position=False))
    if given.kwarg:
        parameters.append(Parameter(given.kwarg.arg, True, by_position=False, many=True))
    return parameters


def python_header(text: str) -> str:
    """Return the text of a Python function to the end of the line that closes its parameters."""
    opened = _opened(text)
    end = opened + len(bracket(text, opened))
    return text[:end] + text[end:].partition("\n")[0] if end > opened else text


def _opened(signature: str) -> int:
    """Return where the bracket of the parameters of a Python function opens."""
    start = _DEF.match(signature)
    opened = start.end() if start else len(signature)
    if signature[opened : opened + 1] == "[":  # type parameters
        opened += len(bracket(signature, opened) or signature)
    return opened


def read_call(text: str, opened: int) -> CallArguments | None:
    """Parse the arguments of a call; None if a star hides their number, or Python cannot parse it."""
    tree = _parse(f"f{bracket(text, opened)}")
    statement = tree.body[0] if tree else None
    call = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(call, ast.Call) or any(isinstance(a, ast.Starred) for a in call.args):
        return None
    keywords = [keyword.arg for keyword in call.keywords if keyword.arg is not None]
    if len(keywords) < len(call.keywords):
        return None
    return CallArguments(len(call.args), tuple(keywords))


def bracket(text: str, opened: int) -> str:
    """Return a bracket of Python with what is in it; empty if it is not there, or not closed."""
    if opened < 0 or text[opened : opened + 1] not in ("(", "["):
        return ""
    depth, lines = 0, list(io.StringIO(text[opened:]))
    try:
        for token in tokenize.generate_tokens(iter(lines).__next__):
            if token.type == tokenize.OP:
                depth += (token.string in ("(", "[", "{")) - (token.string in (")", "]", "}"))
            if depth == 0:
                break
        else:
            return ""
    except (tokenize.TokenError, SyntaxError):
        return ""
    row, column = token.end
    return "".join(lines[: row - 1]) + lines[row - 1][:column]


def _parse(text: str) -> ast.Module | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about the code of others
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def misfit(call: CallArguments, parameters: list[Parameter]) -> str:
    """Return why a call does not fit, or ""."""
    places, names = _places(parameters), _names(parameters)
    if call.positional > len(places) and not _takes_more(parameters, by_position=True):
        return f"takes {len(places)} positional arguments, given {call.positional}"
    unknown = [name for name in call.keywords if name not in names]
    if unknown and not _takes_more(parameters, by_position=False):
        return f"has no parameter `{unknown[0]}`"
    given = {*places[: call.positional], *names.intersection(call.keywords)}
    lacking = [name for name in _required(parameters) if name not in given]
    return f"lacks `{lacking[0]}`" if lacking else ""


def incompatibility(old: str, new: str, language: str) -> Incompatibility | None:
    """Return why callers of an old signature may not fit a new one; None if all fit, or if unknown."""
    if language == "python":
        before, after = read_parameters(old), read_parameters(new)
        if before is None or after is None:
            return None
        return _python_break(_unbound(before), _unbound(after))
    before_types, after_types = _types(old, language), _types(new, language)
    if before_types is None or after_types is None:
        return None
    why = _type_break(before_types, after_types, language)
    if not why and language in _TYPED and _result(old) != _result(new):
        why = "its result changed"
    return Incompatibility(why) if why else None


def _python_break(before: list[Parameter], after: list[Parameter]) -> Incompatibility | None:
    """Try calls that fit the old parameters, the shortest first."""
    for call in _fitting_calls(before, len(after)):
        if why := misfit(call, after):
            return Incompatibility(why, _written(call, before))
    for one in before:
        if one.many and not _takes_more(after, by_position=one.by_position):
            return Incompatibility(f"`*{one.name}` was removed")
    pairs = zip(_places(before), _places(after), strict=False)
    moved = [old for old, new in pairs if old != new]
    return Incompatibility(f"parameter `{moved[0]}` has moved") if moved else None


def _fitting_calls(parameters: list[Parameter], many: int) -> Iterator[CallArguments]:
    """Yield calls to try: what is required, one more by keyword, then ever more by position."""
    places, needed = _places(parameters), _required(parameters)
    required = tuple(name for name in needed if name not in places)
    least = len(needed) - len(required)
    yield CallArguments(least, required)
    for one in parameters:
        if one.by_keyword and one.optional and not one.many:
            yield CallArguments(least, (*required, one.name))
    unnamed = sum(not p.by_keyword and not p.optional for p in parameters)
    yield CallArguments(unnamed, tuple(needed[unnamed:]))
    for count in range(least + 1, len(places) + 1):
        yield CallArguments(count, required)
    if _takes_more(parameters, by_position=True):
        yield CallArguments(max(len(places), many) + 1, required)


def _written(call: CallArguments, parameters: list[Parameter]) -> str:
    names = _places(parameters)
    more = [str(number) for number in range(call.positional - len(names))]
    keywords = (f"{name}={name}" for name in call.keywords)
    return f"({', '.join([*names[: call.positional], *more, *keywords])})"


def _unbound(parameters: list[Parameter]) -> list[Parameter]:
    """Return the parameters of a method that its callers give."""
    return parameters[1:] if parameters and parameters[0].name in ("self", "cls") else parameters


def _places(parameters: list[Parameter]) -> list[str]:
    return [p.name for p in parameters if p.by_position and not p.many]


def _names(parameters: list[Parameter]) -> set[str]:
    return {p.name for p in parameters if p.by_keyword and not p.many}


def _required(parameters: list[Parameter]) -> list[str]:
    return [p.name for p in parameters if not p.optional]


def _takes_more(parameters: list[Parameter], by_position: bool) -> bool:
    return any(p.many and p.by_position == by_position for p in parameters)


def _type_break(
    before: list[tuple[str, bool]], after: list[tuple[str, bool]], language: str
) -> str:
    if [t for t, _ in after[: len(before)]] != [t for t, _ in before]:
        return "its parameters changed"
    more = after[len(before) :]
    if any(not optional for _, optional in more) or (more and language in _TYPED):
        return "it takes more arguments"
    return ""


def _types(signature: str, language: str) -> list[tuple[str, bool]] | None:
    """Return each parameter's type and whether it is optional; None if the text is cut."""
    opened = signature.find("(")
    if language == "go" and re.match(r"\s*func\s*\(", signature):
        opened = signature.find("(", closing(signature, opened))  # after the receiver
    items = _listed(signature, opened)
    if items is None or "…" in signature:
        return None
    plain = [_BLANKS.sub(" ", item) for item in items]
    return [(_type_of(item, language), _may_be_left_out(item)) for item in plain]


def _listed(text: str, opened: int) -> list[str] | None:
    """Return what a bracket holds between its commas; None if the text is cut."""
    end = closing(text, opened) if opened >= 0 else len(text)
    if end == len(text):
        return None
    parts = split_top(text[opened + 1 : end], ",")
    return [item for part in parts if (item := part.strip())]


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
    return _BLANKS.sub("", rest.partition("{")[0])
