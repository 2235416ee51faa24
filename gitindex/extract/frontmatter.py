"""Front matter of a document: topics, summary, date. Pure; None if it is missing or broken.

Reads YAML between `---` and TOML between `+++`; in reStructuredText and AsciiDoc also the fields at
the head. The result depends only on the text and its language.

PyYAML's C parser gives nodes, and texts are kept as written: no object or tag is constructed, no number or
date is guessed. Front matter is often invalid YAML (`title: a: b`): if the whole block
cannot be parsed, each key is parsed separately.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from datetime import date, datetime
from textwrap import dedent
from typing import Any, NamedTuple

from gitindex.base.pattern import compile_later

Fields = dict[str, str | list[str]]

MAX_ITEMS = 1_000  # of a list: hostile ones fill memory
MAX_BRACKETS = 500
"""Most opening brackets of a block: libyaml's time grows with the square of their depth."""

_KEY = compile_later(
    r"""(?:"([^"]*+)"|'([^']*+)'|([^\s#"'\[\]{},&*!|>%@`-][^:#]*+))[ \t]*+:(?:[ \t]+(.*))?$"""
)
_DEEP = compile_later(r"(?:[-?:][ \t]+){100}")
_NULLS = ("", "~", "null", "Null", "NULL")


def read_yaml(lines: list[str]) -> Fields:
    """Return the top-level keys that have a text or a list of texts; the last duplicate wins."""
    from yaml import YAMLError  # lazily: only front matter needs it, and it costs a query 20 ms

    block = dedent("\n".join(lines))
    if block.count("[") + block.count("{") > MAX_BRACKETS or _DEEP.search(block):
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
    """Return the fields of valid YAML: the nodes that its parser composes, without values."""
    import yaml

    root = yaml.compose(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    found: Fields = {}
    seen: set[int] = set()
    for key, value in root.value if isinstance(root, yaml.MappingNode) else ():
        name, texts = "".join(_scalars(key, seen)), list(_scalars(value, seen))
        is_list = isinstance(value, yaml.SequenceNode)
        found[name] = list(filter(None, texts))[:MAX_ITEMS] if is_list else "".join(texts)
    return found


def _scalars(node: Any, seen: set[int]) -> Iterator[str]:
    """Yield the texts of a scalar, or of a list; "" for YAML's null. An alias is a node seen before."""
    stack = [node]
    while stack:
        here = stack.pop()
        if id(here) in seen:
            continue
        seen.add(id(here))
        if here.id == "sequence":
            stack += reversed(here.value)
        elif here.id == "scalar":
            yield "" if not here.style and here.value in _NULLS else here.value


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


MAX_HEAD = 1 << 14
"""Most characters of a document that are searched for its front matter."""
MAX_TOPICS = 100  # of a document; the first ones count
MAX_TOPIC = 200  # characters; a longer text is no topic
MAX_SUMMARY = 1_000  # characters that are kept and shown
MAX_DOTS = 64
"""Most dots in a TOML key: the parser's time grows with their square."""

_TOPICS = ("topics", "tags", "keywords")
_SUMMARY = ("summary", "description", "abstract")
_CREATED = ("created_at", "created", "date", "revdate")
_KEPT = (*_TOPICS, *_SUMMARY, *_CREATED)

_DATE = compile_later(
    r"(\d{4})-(\d{1,2})-(\d{1,2})(?!\d)"
    r"(?:[Tt \t]+(\d{1,2})(:\d\d(?::\d\d(?:\.\d+)?)?)[ \t]*(Z|[+-]\d\d(?::?\d\d)?)?)?",
    re.ASCII,
)
_FIELD = compile_later(r":([A-Za-z][\w .-]*):(?:[ \t]+(.*))?$")
_RULE = compile_later(r"([^\w\s])\1*+\s*$")
_META = compile_later(r"\.\. meta::\s*$")


class FrontMatter(NamedTuple):
    """The metadata that a document declares."""

    topics: tuple[str, ...]
    summary: str
    created_at: str  # ISO date, optionally with a time; "" if there is none


def read_front_matter(text: str, language: str) -> FrontMatter | None:
    """Return the front matter of a text, or None if it has no field that is kept."""
    known = {} if _has_none_kept(text) else read_fields(text, language)
    if not known:
        return None  # most documents
    found = FrontMatter(_topics(known), _summary(known), _created(known))
    return found if any(found) else None


def read_fields(text: str, language: str) -> Fields:
    """Return every field of a text's front matter, by its name in lower case with underscores."""
    lines = _lines(text)
    end = _fenced(lines)
    if end:
        fields = _read_toml(lines[1:end]) if lines[0][0] == "+" else read_yaml(lines[1:end])
    else:
        fields = {} if language == "markdown" else _read_head(lines)
    return {field_name(name): value for name, value in fields.items()}


def _has_none_kept(text: str) -> bool:
    """Is this fenced front matter without the name of any field that is kept? No parser is loaded then.

    A name is in the text as it is, but for escapes.
    """
    if not text.startswith(("---", "+++")):
        return False
    lines = _lines(text)
    block = field_name("\n".join(lines[1 : _fenced(lines)]))
    return bool(block) and "\\" not in block and not any(name in block for name in _KEPT)


def field_name(name: str) -> str:
    """Return a field's name in normal form: `Session-ID` becomes `session_id`."""
    return name.strip().lower().replace("-", "_")


def has_field(fields: Fields, name: str, value: str) -> bool:
    """Is this a field's value, or an item of its list? Ignores case, blanks and a leading `#`."""
    stored = fields.get(field_name(name), [])
    items = stored if isinstance(stored, list) else [stored]
    return any(same_topic(item) == same_topic(value) for item in items)


def body_of(text: str) -> str:
    """Return a document without its fenced front matter."""
    end = _fenced(_lines(text))
    return "\n".join(text.split("\n")[end + 1 :]) if end else text


def same_topic(topic: str) -> str:
    """Return a topic in normal form, without case, extra blanks and a leading `#`."""
    bare = " ".join(topic.split())
    return unicodedata.normalize("NFC", (bare.lstrip("#").lstrip() or bare).casefold())


def parse_day(text: str) -> date | None:
    """Parse a day written as `YYYY-MM-DD`; no other form is accepted."""
    try:
        return (
            date.fromisoformat(text) if re.fullmatch(r"\d{4}-\d\d-\d\d", text, re.ASCII) else None
        )
    except ValueError:
        return None


def _lines(text: str) -> list[str]:
    head = text[:MAX_HEAD]
    lines = head.split("\n")
    return [line.rstrip("\r") for line in lines] if "\r" in head else lines


def _fenced(lines: list[str]) -> int:
    """Return the line that closes the fence opened by the first line; 0 if there is none."""
    fence = lines[0].rstrip()
    if fence not in ("---", "+++"):
        return 0
    ends = ("---", "...") if fence == "---" else ("+++",)
    return next((n for n, line in enumerate(lines) if n and line.rstrip() in ends), 0)


def _read_toml(lines: list[str]) -> Fields:
    if any(line.partition("=")[0].count(".") > MAX_DOTS for line in lines):
        return {}
    import tomllib  # lazily: rare, and it costs 8 ms

    try:
        table = tomllib.loads("\n".join(lines))
    except (ValueError, RecursionError):
        return {}
    nested = table.get("taxonomies")
    return _plain_values(nested if isinstance(nested, dict) else {}) | _plain_values(table)


def _plain_values(table: dict[str, Any]) -> Fields:
    found: Fields = {}
    for name, value in table.items():
        if isinstance(value, list):
            found[name] = [_toml_text(item) for item in value if not isinstance(item, (list, dict))]
        elif not isinstance(value, dict):
            found[name] = _toml_text(value)
    return found


def _toml_text(value: object) -> str:
    return value.isoformat() if isinstance(value, (date, datetime)) else str(value)


def _read_head(lines: list[str]) -> Fields:
    """Return the fields at the head of reStructuredText or AsciiDoc: after titles and comments."""
    found: Fields = {}
    at, start = 0, -1
    while start < at < len(lines):
        start, at = at, _read_head_line(found, lines, at)
    return found


def _read_head_line(found: Fields, lines: list[str], at: int) -> int:
    """Add the fields of a line and of what belongs to it; return the next line, or `at` at the text."""
    line = lines[at]
    if field := _FIELD.match(line):
        return _add_field(found, field, lines, at)
    if line.startswith(".."):
        below = at + 1
        while below < len(lines) and lines[below][:1] in (" ", "\t"):
            below += 1
        if _META.match(line):
            _add_meta(found, lines[at + 1 : below])
        return below
    if line.startswith("= "):
        return _skip_title(found, lines, at + 1)
    if not line.strip() or line.startswith("//") or _is_rule(line, "..."):
        return at + 1
    return at + 2 if at + 1 < len(lines) and _is_rule(lines[at + 1], line) else at


def _is_rule(line: str, title: str) -> bool:
    """Does a line underline the title above it?"""
    return _RULE.match(line) is not None and len(line.strip()) >= min(3, len(title.strip()))


def _add_field(found: Fields, field: re.Match[str], lines: list[str], at: int) -> int:
    """Add a field with its continuation, indented or after a backslash; return the next line."""
    parts = [(field[2] or "").strip()]
    at += 1
    while at < len(lines) and (lines[at][:1] in (" ", "\t") or parts[-1].endswith("\\")):
        parts[-1] = parts[-1].removesuffix("\\").rstrip()
        parts.append(lines[at].strip())
        at += 1
    texts = [part for part in parts if part]
    if texts and all(text.startswith("- ") for text in texts):
        found[field[1]] = [text[2:].strip() for text in texts]
    else:
        found[field[1]] = " ".join(texts)
    return at


def _add_meta(found: Fields, lines: list[str]) -> None:
    bare = [line.strip() for line in lines]
    for field in filter(None, map(_FIELD.match, bare)):
        found[field[1]] = (field[2] or "").strip()


def _skip_title(found: Fields, lines: list[str], at: int) -> int:
    """Skip AsciiDoc's author and revision lines under the title; keep the revision date."""
    for _ in range(2):
        if at < len(lines) and lines[at].strip() and not lines[at].startswith((":", "//")):
            dated = _DATE.search(lines[at])
            if dated:
                found["revdate"] = dated[0]
            at += 1
    return at


def _topics(fields: Fields) -> tuple[str, ...]:
    topics: dict[str, str] = {}
    for name in _TOPICS:
        for text in _texts(fields.get(name, "")):
            topic = _storable(" ".join(text.split()))
            if topic and len(topic) <= MAX_TOPIC:
                topics.setdefault(same_topic(topic), topic)
    return tuple(topics.values())[:MAX_TOPICS]


def _texts(value: str | list[str]) -> Iterator[str]:
    """Iterate over a list, or over the parts of a text between its commas."""
    return iter(value) if isinstance(value, list) else iter(value.split(","))


def _summary(fields: Fields) -> str:
    for name in _SUMMARY:
        value = fields.get(name, "")
        if isinstance(value, str) and value.strip():
            return _storable(" ".join(value.split())[:MAX_SUMMARY])
    return ""


def _created(fields: Fields) -> str:
    for name in _CREATED:
        value = fields.get(name, "")
        if isinstance(value, str) and (found := _iso(value.strip())):
            return found
    return ""


def _iso(text: str) -> str:
    """Return a day with its time as written; "" if it is not a valid date."""
    found = _DATE.match(text)
    if found is None:
        return ""
    year, month, day, hour, minutes, zone = found.groups()
    try:
        written = date(int(year), int(month), int(day)).isoformat()
    except ValueError:
        return ""
    return f"{written}T{hour:0>2}{minutes}{zone or ''}" if hour else written


def _storable(text: str) -> str:
    """Replace lone surrogates: no store can hold one."""
    return text.encode("utf-8", "replace").decode()
