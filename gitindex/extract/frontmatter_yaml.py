"""The part of YAML that front matter is written in, read with bounds. Pure; never raises, never guesses.

Top-level keys only; their values are texts or lists of texts. Whatever else YAML has is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

Fields = dict[str, str | list[str]]

MAX_ITEMS = 1_000
MAX_FLOW = 4_000
"""Characters of an inline list: its quotes cost the square of it, if somebody tries."""

_KEY = re.compile(
    r"""(?:"([^"]*+)"|'([^']*+)'|([^\s#"'\[\]{},&*!|>%@`-][^:#]*+))[ \t]*+:(?:[ \t]+(.*))?$"""
)
_COMMENT = re.compile(r"(?:^|[ \t])#.*")
_FLOW_COMMENT = re.compile(r"""("(?:[^"\\]|\\.)*+"|'[^']*+')|(?:^|[ \t])#.*""", re.MULTILINE)
_PROPERTY = re.compile(r"[!&]\S*[ \t]*")
_ESCAPE = re.compile(r"\\(x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|.|$)", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "e": "\x1b", "a": "\a", "b": "\b"}
_FLOW = re.compile(r"""[\[\]{},]|"(?:[^"\\]|\\.)*+"|'(?:[^']|'')*+'|[^\[\]{},"']++|.""", re.DOTALL)
_NULLS = ("", "~", "null", "Null", "NULL")


def read_yaml(lines: list[str]) -> Fields:
    """The top-level keys of a block that have a text or a list of texts; the last of a name wins."""
    found: Fields = {}
    at = 0
    while at < len(lines):
        key = _KEY.match(lines[at])
        end = at + 1
        while end < len(lines) and _belongs(lines[end]):
            end += 1
        if key is not None:
            name = next(part for part in key.groups()[:3] if part is not None)
            found[name.strip()] = _value(key[4] or "", lines[at + 1 : end])
        at = end
    return found


def _belongs(line: str) -> bool:
    """Is this a line of the value above it?"""
    return not line or line[0] in " \t#]}" or line == "-" or line.startswith("- ")


def _value(first: str, rest: list[str]) -> str | list[str]:
    first = _PROPERTY.sub("", first.strip()) if first[:1] in ("!", "&") else first.strip()
    if first[:1] in ("|", ">"):
        return _block_text(first[0], rest)
    if first[:1] == "[":
        return _flow_list(_FLOW_COMMENT.sub(_kept, "\n".join([first, *rest])[:MAX_FLOW]))
    if first[:1] in ("'", '"'):
        return _unquoted(" ".join([first, *(line.strip() for line in rest)]).strip())
    if first[:1] in ("{", "*"):
        return ""
    first = _plain(first)
    if not first:
        return _block(rest)
    return " ".join([first, *filter(None, map(_plain, rest))])


def _block(rest: list[str]) -> str | list[str]:
    """A value that begins on the line after its key: a list, or a text."""
    lines = [line for line in rest if _plain(line)]
    if not lines:
        return ""
    start = lines[0].strip()
    if start == "-" or start.startswith("- "):
        return list(_items(lines))[:MAX_ITEMS]
    return "" if _KEY.match(start) else _value(start, lines[1:])


def _items(lines: list[str]) -> Iterator[str]:
    indent = _indent(lines[0])
    item: list[str] = []
    for line in [*lines, " " * indent + "- "]:
        if _indent(line) <= indent and f"{line.strip()} ".startswith("- "):
            if item and (text := _item(item)) is not None:
                yield from text
            item = [line.strip()[1:].strip()]
        else:
            item.append(line)


def _item(lines: list[str]) -> list[str] | None:
    """The texts of one item; a mapping is none."""
    if _KEY.match(lines[0]):
        return None
    value = _value(lines[0], lines[1:])
    texts = value if isinstance(value, list) else [value]
    return [text for text in texts if text not in _NULLS]


def _block_text(style: str, rest: list[str]) -> str:
    lines = [line for line in rest if not line.startswith("#")]
    margin = min((_indent(line) for line in lines if line.strip()), default=0)
    text = "\n".join(line[margin:].rstrip() for line in lines).strip("\n")
    if style == "|":
        return text
    return "\n".join(part.replace("\n", " ") for part in re.split(r"\n{2,}", text))


def _flow_list(text: str) -> list[str]:
    """The texts of `[a, "b, c", [d]]`, flat; mappings inside are left out."""
    found: list[str] = []
    depth = braces = 0
    item = ""
    for token in _FLOW.findall(text):
        if token == "{":
            braces += 1
        elif token == "}":
            braces = max(0, braces - 1)
        elif braces:
            continue
        elif token in ("[", "]", ","):
            found.append(_scalar(item))
            item = ""
            depth += (token == "[") - (token == "]")
            if depth <= 0:
                break
        else:
            item += token
    return [text for text in found if text not in _NULLS][:MAX_ITEMS]


def _scalar(text: str) -> str:
    text = text.strip()
    return _unquoted(text) if text[:1] in ("'", '"') else text


def _unquoted(text: str) -> str:
    """A quoted text without its quotes and escapes; one that does not end is taken as it is."""
    if text[0] == "'":
        end = re.match(r"'((?:[^']|'')*)'", text)
        return end[1].replace("''", "'") if end else text[1:]
    end = re.match(r'"((?:[^"\\]|\\.)*)"', text)
    return _ESCAPE.sub(_unescape, end[1] if end else text[1:])


def _unescape(found: re.Match[str]) -> str:
    code = found[1]
    if code[:1] in ("x", "u", "U") and len(code) > 1:
        number = int(code[1:], 16)
        return chr(number) if number < 0x110000 and not 0xD800 <= number < 0xE000 else "\ufffd"
    return _ESCAPED.get(code, code)


def _plain(line: str) -> str:
    """A plain text on its line, without the comment after it."""
    text = _COMMENT.sub("", line).strip()
    return "" if text in _NULLS else text


def _kept(found: re.Match[str]) -> str:
    """A quoted text as it is, a comment not at all."""
    return found[1] or ""


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))
