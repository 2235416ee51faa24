"""YAML of front matter: top-level keys with a text or a list of texts. Never raises.

PyYAML's C parser gives events, and texts are kept as written: no object or tag is constructed, no
alias is followed, no number or date is guessed. Front matter is often invalid YAML (`title: a: b`):
if the whole block cannot be parsed, each key is parsed separately.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from textwrap import dedent

from gitindex.base.pattern import compile_later

Fields = dict[str, str | list[str]]

MAX_ITEMS = 1_000
MAX_BRACKETS = 500
"""Most opening brackets of a block: libyaml's time grows with the square of their depth."""

_KEY = compile_later(
    r"""(?:"([^"]*+)"|'([^']*+)'|([^\s#"'\[\]{},&*!|>%@`-][^:#]*+))[ \t]*+:(?:[ \t]+(.*))?$"""
)
_NULLS = ("", "~", "null", "Null", "NULL")


def read_yaml(lines: list[str]) -> Fields:
    """Return the top-level keys that have a text or a list of texts; the last duplicate wins."""
    from yaml import YAMLError  # lazily: only front matter needs it, and it costs a query 20 ms

    block = dedent("\n".join(lines))
    if block.count("[") + block.count("{") > MAX_BRACKETS:
        return {}
    try:
        return _fields(block)
    except (YAMLError, UnicodeError):
        pass
    found: Fields = {}
    for chunk in _chunks(block.split("\n")):
        try:
            found |= _fields("\n".join(chunk))
        except (YAMLError, UnicodeError):
            found |= _one_line(chunk[0])
    return found


def _fields(text: str) -> Fields:
    """Return the fields of valid YAML. Iterates over events, so depth costs no stack."""
    import yaml

    reading = _Reading()
    for event in yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
        if isinstance(event, (yaml.MappingStartEvent, yaml.SequenceStartEvent)):
            if not reading.open(is_list=isinstance(event, yaml.SequenceStartEvent)):
                return {}
        elif isinstance(event, (yaml.ScalarEvent, yaml.AliasEvent)):
            reading.take(_told(event))
        elif isinstance(event, (yaml.MappingEndEvent, yaml.SequenceEndEvent)):
            reading.close(is_list=isinstance(event, yaml.SequenceEndEvent))
    return reading.found


class _Reading:
    """The fields so far, and where in the mapping the events are."""

    def __init__(self) -> None:
        self.found: Fields = {}
        self.name: str | None = None  # None: a key comes next
        self.items: list[str] | None = None  # items of the list that is the value
        self.depth = self.mappings = 0

    def open(self, *, is_list: bool) -> bool:
        """Enter a mapping or a list; False if the whole text is a list."""
        self.depth += 1
        if self.depth == 2:
            self.items, self.mappings = [] if is_list else None, 0
        self.mappings += not is_list
        return self.depth > 1 or not is_list

    def take(self, text: str) -> None:
        """Take a scalar: an item of a list, a key or a value."""
        if self.depth >= 2 and self.items is not None and not self.mappings and text:
            self.items.append(text)
        elif self.depth == 1:
            self.name = _kept(self.found, self.name, text)

    def close(self, *, is_list: bool) -> None:
        """Leave a mapping or a list, which may be the value of a key."""
        self.depth -= 1
        self.mappings -= not is_list
        if self.depth == 1:
            value = "" if self.items is None else self.items[:MAX_ITEMS]
            self.name = _kept(self.found, self.name, value)


def _kept(found: Fields, name: str | None, told: str | list[str]) -> str | None:
    """Take a key, or the value of the previous key; return the key that still needs a value."""
    if name is None:
        return told if isinstance(told, str) else ""
    found[name] = told
    return None


def _told(event: object) -> str:
    """Return the text of a scalar; "" for an alias and for YAML's null."""
    text = str(getattr(event, "value", ""))
    is_plain = not getattr(event, "style", None)
    return "" if is_plain and text in _NULLS else text


def _chunks(lines: list[str]) -> Iterator[list[str]]:
    """Yield each top-level key with the lines of its value."""
    chunk: list[str] = []
    for line in lines:
        if line and line[0] not in " \t#]}-" and chunk:
            yield chunk
            chunk = []
        chunk.append(line)
    yield chunk


def _one_line(line: str) -> Fields:
    """Parse `key: any text`, which is often invalid as YAML."""
    key = _KEY.match(line)
    if key is None or not key[4] or key[4][0] in "[{*&!|>\"'":
        return {}
    name = next(part for part in key.groups()[:3] if part is not None)
    return {name.strip(): re.sub(r"(?:^|[ \t])#.*", "", key[4]).strip()}
