"""Parse the text of an expression: what functions a value may be is asked of few of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from gitindex.base.pattern import compile_later
from gitindex.languages.scopes.model import LITERAL, Part

MAX_LOOK = 4_000
"""Bytes to search for a matching bracket, or for anything else."""

_BRACKETS = str.maketrans("([{<", ")]}>")


def closing(text: str, at: int) -> int:
    """Return the index of the bracket that closes the one at `at`, or the text's length."""
    opener = text[at]
    closer = opener.translate(_BRACKETS)
    depth = 0
    for here in range(at, min(len(text), at + MAX_LOOK)):
        char = text[here]
        depth += (char == opener) - (char == closer)
        if depth == 0:
            return here
    return len(text)


def split_top(text: str, separator: str) -> Iterator[str]:
    """Yield the parts between separators that are outside brackets and quotes."""
    depth = start = 0
    quote = ""
    for at, char in enumerate(text):
        if quote:
            quote = "" if char == quote else quote
        elif char in "\"'`":
            quote = char
        elif char in "([{<":
            depth += 1
        elif char in ")]}" or (char == ">" and text[at - 1 : at] not in ("=", "-")):
            depth -= 1
        elif char == separator and depth <= 0:
            yield text[start:at]
            start = at + 1
    yield text[start:]


MAX_TEXT = 2_000
_BEFORE_VALUE = compile_later(r"^(?:await|new|return)\s+")
_CHOICE = compile_later(r"^(.*?)\s+if\s.*?\selse\s+(.*)$", re.DOTALL)
_OPENERS = {")": "(", "]": "["}
_LITERALS = ('"', "'", "`", "[", "{")


class Expression(NamedTuple):
    """One interpretation of an expression."""

    kind: str  # name, member, call or item
    base: str = ""  # the text before the dot or the bracket
    name: str = ""  # the name, or the member's name
    inner: str = ""  # the arguments of a call, the key of an item


def read_expression(text: str) -> Iterator[Expression]:
    """Yield the interpretations of an expression that may give a function, if it is parsed."""
    text = text.strip().rstrip(";").strip()
    if not text or len(text) > MAX_TEXT:
        return
    inner = _inside(text)
    if inner is not None:
        for part in inner:
            yield from read_expression(part)
    elif text.replace("$", "_").isidentifier():
        yield Expression("name", name=text)
    elif text[-1] in _OPENERS:
        opened = _opening(text)
        if opened > 0:
            kind = "call" if text[-1] == ")" else "item"
            yield Expression(kind, text[:opened].rstrip("?."), inner=text[opened + 1 : -1])
    else:
        base, dot, name = text.rpartition(".")
        if dot and name.isidentifier() and base:
            yield Expression("member", base.rstrip("?"), name)


def read_chain(text: str) -> list[Part] | None:
    """Parse an expression that is one chain, the first where it is one of several; None for others."""
    if text.strip()[:1] in _LITERALS or text.strip()[:1].isdigit():
        return [Part(LITERAL, False)]
    one = next(read_expression(text), None)
    if one is None or one.kind == "item":
        return None
    if one.kind == "name":
        return [Part(one.name, False)]
    generic = one.kind == "call" and one.base.endswith(">")
    front = read_chain(one.base.partition("<")[0] if generic else one.base)
    if not front or one.kind == "member":
        return [*front, Part(one.name, False)] if front else None
    return _called(front, one.inner)


def _called(chain: list[Part], given: str) -> list[Part] | None:
    """Return the chain of a call; None where a result is called."""
    *before, last = chain
    load = given.strip().strip("\"'`") if last.name in ("require", "import") else ""
    return [*before, Part(last.name, True, load)] if not last.called else None


def _inside(text: str) -> list[str] | None:
    """Return the expressions that a text is one of; None if it is one itself."""
    if match := _BEFORE_VALUE.match(text):
        return [text[match.end() :]]
    if text[0] == "(" and closing(text, 0) == len(text) - 1:
        return [text[1:-1]]
    choice = _CHOICE.match(text)
    return list(choice.groups()) if choice else _either(text)


def _either(text: str) -> list[str] | None:
    """Split `a or b`, `a || b`, `a ?? b` and `c ? a : b`; None for any other text."""
    for word in (" or ", " || ", " ?? "):
        if word in text:
            parts = text.split(word)
            if all(part.count("(") == part.count(")") for part in parts):
                return parts
    if "?" in text and ":" in text and "?." not in text:
        condition, _, rest = text.partition("?")
        if condition.count("(") == condition.count(")"):
            return list(split_top(rest, ":"))
    return None


def _opening(text: str) -> int:
    """Return where the last bracket opens; -1 if it does not."""
    closer, opener = text[-1], _OPENERS[text[-1]]
    depth = 0
    for at in range(len(text) - 1, -1, -1):
        depth += (text[at] == closer) - (text[at] == opener)
        if depth == 0:
            return at
    return -1
