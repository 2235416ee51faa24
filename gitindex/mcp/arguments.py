"""Arguments of tools: the schema that clients see, and the check of given values."""

from __future__ import annotations

from typing import Any, NamedTuple

from gitindex.base.errors import Exit, GitIndexError
from gitindex.base.escape import safe_text

MAX_TEXT = 4_096
_TYPES: dict[str, tuple[str, type]] = {
    "text": ("string", str),
    "path": ("string", str),  # may name a file of any bytes, surrogate-escaped
    "integer": ("integer", int),
    "boolean": ("boolean", bool),
    "texts": ("array", list),  # of strings
    "fields": ("object", dict),  # of strings by name
}
MAX_ITEMS = 32


class ToolField(NamedTuple):
    """One argument; required if its default is None."""

    name: str
    kind: str  # of _TYPES
    about: str
    default: str | int | bool | None = None
    choices: tuple[str, ...] = ()
    least: int = 0
    most: int = MAX_TEXT  # of a number; of a text, characters
    hidden: bool = False  # accepted, but not in the schema: few callers want it
    also: tuple[str, ...] = ()  # other names that are accepted

    def schema(self) -> dict[str, Any]:
        """Return this argument as JSON Schema, kept short: clients pay for each token."""
        shown = _TYPES[self.kind][0]
        fields: dict[str, Any] = {"type": shown}
        if shown == "array":
            fields["items"] = {"type": "string"}
        if self.about:
            fields["description"] = self.about
        if self.choices:
            fields["enum"] = list(self.choices)
        if self.default:
            fields["default"] = self.default
        return fields

    def check(self, value: object) -> None:
        """Refuse a value that the schema does not allow."""
        shown, kind = _TYPES[self.kind]
        if type(value) is not kind:
            raise _wrong(f"`{self.name}` must be of type {shown}")
        if isinstance(value, str):
            self._check_text(value)
        elif isinstance(value, list | dict):
            self._check_items(value)
        elif self.kind == "integer" and not self.least <= int(str(value)) <= self.most:
            raise _wrong(f"`{self.name}` must be between {self.least} and {self.most}")

    def _check_items(self, value: list[Any] | dict[Any, Any]) -> None:
        items = [*value, *value.values()] if isinstance(value, dict) else value
        if len(value) > MAX_ITEMS or not all(isinstance(item, str) for item in items):
            raise _wrong(f"`{self.name}` takes at most {MAX_ITEMS} strings")
        for item in items:
            self._check_text(item)

    def _check_text(self, value: str) -> None:
        if len(value) > self.most:
            raise _wrong(f"`{self.name}` is longer than {self.most} characters")
        if self.choices and value not in (*self.choices, self.default):
            raise _wrong(f"`{self.name}` must be one of {', '.join(self.choices)}")
        if self.default is None and not value.strip():
            raise _wrong(f"`{self.name}` is empty")
        if "\0" in value or not _encodable(value, self.kind == "path"):
            raise _wrong(f"`{self.name}` holds characters that no text or path can have")


def input_schema(params: tuple[ToolField, ...]) -> dict[str, Any]:
    """Return the JSON Schema of a tool's arguments."""
    return {
        "type": "object",
        "properties": {param.name: param.schema() for param in params if not param.hidden},
        "required": [param.name for param in params if param.default is None],
        "additionalProperties": False,
    }


def check_arguments(params: tuple[ToolField, ...], given: object) -> dict[str, Any]:
    """Return every argument, checked, with defaults filled in; null is as good as left out."""
    if given is not None and not isinstance(given, dict):
        raise _wrong("the arguments must be an object")
    values = {name: value for name, value in (given or {}).items() if value is not None}
    values = _own_names(params, values)
    _refuse_unknown(params, values)
    for param in params:
        if param.name in values:
            param.check(values[param.name])
        elif param.default is None:
            raise _wrong(f"`{param.name}` is required")
    return {param.name: values.get(param.name, _default(param)) for param in params}


def _refuse_unknown(params: tuple[ToolField, ...], values: dict[Any, Any]) -> None:
    unknown = sorted(str(name)[:40] for name in values.keys() - {param.name for param in params})
    if unknown:
        names = ", ".join(param.name for param in params if not param.hidden)
        raise _wrong(f"unknown argument `{safe_text(unknown[0])}`; known: {names}")


def _own_names(params: tuple[ToolField, ...], given: dict[Any, Any]) -> dict[Any, Any]:
    """Return the arguments under our names; the seeds have others for some."""
    for param in params:
        for other in param.also:
            if other in given and param.name not in given:
                given[param.name] = given.pop(other)
    return given


def _default(param: ToolField) -> Any:
    empty: dict[str, Any] = {"texts": [], "fields": {}}
    return empty.get(param.kind, param.default)


def _encodable(value: str, as_path: bool) -> bool:
    try:
        value.encode("utf-8", "surrogateescape" if as_path else "strict")
    except UnicodeEncodeError:
        return False
    return True


def _wrong(message: str) -> GitIndexError:
    return GitIndexError(message, code=Exit.USAGE)
