"""YAML of front matter: top-level keys with a text or a list of texts. Never raises, builds no objects.

PyYAML's C parser gives events, and we keep the texts as written: no tag is constructed, no alias is
followed, no number or date is guessed. People write YAML that is none (`title: a: b`): where the
block as a whole cannot be parsed, each key is parsed by itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from textwrap import dedent

Fields = dict[str, str | list[str]]

MAX_ITEMS = 1_000
MAX_BRACKETS = 500
"""Opening brackets of a block: libyaml's time grows with the square of their depth."""

_KEY = re.compile(
    r"""(?:"([^"]*+)"|'([^']*+)'|([^\s#"'\[\]{},&*!|>%@`-][^:#]*+))[ \t]*+:(?:[ \t]+(.*))?$"""
)
_NULLS = ("", "~", "null", "Null", "NULL")


def read_yaml(lines: list[str]) -> Fields:
    """The top-level keys of a block that have a text or a list of texts; the last of a name wins."""
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
    """The fields of YAML that parses. Iterates over events: depth costs no stack."""
    import yaml

    found: Fields = {}
    name: str | None = None  # None: a key comes next
    items: list[str] | None = None  # of the list that is the value
    depth = mappings = 0
    for event in yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
        if isinstance(event, (yaml.MappingStartEvent, yaml.SequenceStartEvent)):
            depth += 1
            is_list = isinstance(event, yaml.SequenceStartEvent)
            if depth == 1 and is_list:
                return {}
            if depth == 2:
                items, mappings = [] if is_list else None, 0
            mappings += not is_list
        elif isinstance(event, (yaml.ScalarEvent, yaml.AliasEvent)):
            told = _told(event)
            if depth >= 2 and items is not None and not mappings and told:
                items.append(told)
            elif depth == 1:
                name = _kept(found, name, told)
        elif isinstance(event, (yaml.MappingEndEvent, yaml.SequenceEndEvent)):
            depth -= 1
            mappings -= isinstance(event, yaml.MappingEndEvent)
            if depth == 1:
                name = _kept(found, name, "" if items is None else items[:MAX_ITEMS])
    return found


def _kept(found: Fields, name: str | None, told: str | list[str]) -> str | None:
    """Take a key, or the value of the key before it; returns the key that waits for its value."""
    if name is None:
        return told if isinstance(told, str) else ""
    found[name] = told
    return None


def _told(event: object) -> str:
    """The text of a scalar; nothing for an alias and for what YAML calls null."""
    text = str(getattr(event, "value", ""))
    is_plain = not getattr(event, "style", None)
    return "" if is_plain and text in _NULLS else text


def _chunks(lines: list[str]) -> Iterator[list[str]]:
    """Each top-level key with the lines of its value."""
    chunk: list[str] = []
    for line in lines:
        if line and line[0] not in " \t#]}-" and chunk:
            yield chunk
            chunk = []
        chunk.append(line)
    yield chunk


def _one_line(line: str) -> Fields:
    """`key: any text`, as people write it who do not think of YAML."""
    key = _KEY.match(line)
    if key is None or not key[4] or key[4][0] in "[{*&!|>\"'":
        return {}
    name = next(part for part in key.groups()[:3] if part is not None)
    return {name.strip(): re.sub(r"(?:^|[ \t])#.*", "", key[4]).strip()}
