"""Arguments of tools: parameters as MCP has them, the schema that clients see, the check of given values."""

from __future__ import annotations

import re
from typing import Any

from gitindex.base.errors import Exit, GitIndexError
from gitindex.base.escape import safe_text
from gitindex.questions.table import MAX_TEXT, SAME, Param, Wire

_TYPES: dict[str, tuple[str, type]] = {
    "text": ("string", str),
    "path": ("string", str),  # may name a file of any bytes, surrogate-escaped
    "integer": ("integer", int),
    "flag": ("boolean", bool),
    "texts": ("array", list),  # of strings
    "fields": ("object", dict),  # of strings by name
}
_PLAIN = {"words": "text", "number": "integer"}
MAX_ITEMS = 32
"""Of a list or map in an argument: a longer one is a mistake, or an attack on the server's memory."""


def as_argument(param: Param) -> Param:
    """Return a parameter as MCP has it: with its name, kind, default and bounds there."""
    wire = param.wire or SAME
    kind = wire.kind or param.kind
    default = param.default if wire.default is None else wire.default
    empty = "" if kind in ("texts", "fields", "text", "path") else default
    return param._replace(
        name=param.wire_name,
        kind=_PLAIN.get(kind, kind),
        help=param.help if wire.help is None else wire.help,
        default=None if default is None or default is ... else default or empty,
        least=int(_first(wire.least, param.least) or 0),
        most=int(_first(wire.most, param.most) or MAX_TEXT),
    )


def _first(one: float | None, other: float | None) -> float | None:
    return other if one is None else one


def input_schema(params: tuple[Param, ...]) -> dict[str, Any]:
    """Return the JSON Schema of a tool's arguments, kept short: clients pay for each token."""
    return {
        "type": "object",
        "properties": {param.name: _schema(param) for param in params if not _wire(param).hidden},
        "required": [param.name for param in params if param.default is None],
        "additionalProperties": False,
    }


def _schema(param: Param) -> dict[str, Any]:
    shown = _TYPES[param.kind][0]
    fields: dict[str, Any] = {"type": shown}
    if shown == "array":
        fields["items"] = {"type": "string"}
    if param.help:
        fields["description"] = param.help
    if param.choices:
        fields["enum"] = list(param.choices)
    if param.default:
        fields["default"] = param.default
    return fields


def check_arguments(params: tuple[Param, ...], given: object) -> dict[str, Any]:
    """Return every argument, checked, with defaults filled in; null is as good as left out."""
    if given is not None and not isinstance(given, dict):
        raise _wrong("the arguments must be an object")
    values = {name: value for name, value in (given or {}).items() if value is not None}
    _take_other_names(params, values)
    _refuse_unknown(params, values)
    for param in params:
        if param.name in values:
            _check(param, values[param.name])
        elif param.default is None:
            raise _wrong(f"`{param.name}` is required")
    return {param.name: values.get(param.name, param.empty) for param in params}


def _take_other_names(params: tuple[Param, ...], values: dict[Any, Any]) -> None:
    """Take `date_from` for `dateFrom`: the seeds write names so."""
    for param in params:
        other = re.sub("[A-Z]", lambda letter: f"_{letter[0].lower()}", param.name)
        if other in values and param.name not in values:
            values[param.name] = values.pop(other)


def _refuse_unknown(params: tuple[Param, ...], values: dict[Any, Any]) -> None:
    unknown = sorted(str(name)[:40] for name in values.keys() - {param.name for param in params})
    if unknown:
        names = ", ".join(param.name for param in params if not _wire(param).hidden)
        raise _wrong(f"unknown argument `{safe_text(unknown[0])}`; known: {names}")


def _wire(param: Param) -> Wire:
    return param.wire or SAME


def _check(param: Param, value: object) -> None:
    """Refuse a value that the schema does not allow."""
    shown, kind = _TYPES[param.kind]
    if type(value) is not kind:
        raise _wrong(f"`{param.name}` must be of type {shown}")
    if isinstance(value, str):
        _check_text(param, value)
    elif isinstance(value, list | dict):
        items = [*value, *value.values()] if isinstance(value, dict) else value
        if len(value) > MAX_ITEMS or not all(isinstance(item, str) for item in items):
            raise _wrong(f"`{param.name}` takes strings, at most {MAX_ITEMS}")
        for item in items:
            _check_text(param, item)
    elif param.kind == "integer" and not _fits(param, value):
        raise _wrong(f"`{param.name}` must be between {param.least} and {param.most}")


def _fits(param: Param, value: object) -> bool:
    return (param.least or 0) <= int(str(value)) <= (param.most or MAX_TEXT)


def _check_text(param: Param, value: str) -> None:
    if len(value) > (param.most or MAX_TEXT):
        raise _wrong(f"`{param.name}` is longer than {param.most} characters")
    if param.choices and value not in (*param.choices, param.default):
        raise _wrong(f"`{param.name}` must be one of {', '.join(param.choices)}")
    if param.default is None and not value.strip():
        raise _wrong(f"`{param.name}` is empty")
    try:
        value.encode("utf-8", "surrogateescape" if param.kind == "path" else "strict")
    except UnicodeEncodeError:
        value = "\0"
    if "\0" in value:
        raise _wrong(f"`{param.name}` holds characters that no text or path can have")


def _wrong(message: str) -> GitIndexError:
    return GitIndexError(message, code=Exit.USAGE)
