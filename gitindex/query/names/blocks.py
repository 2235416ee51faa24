"""Block scopes of JavaScript and TypeScript: which `{ … }` declares a name, read from the text."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import NamedTuple

from gitindex.query.names.chains import split_top
from gitindex.query.names.signatures import EACH, NOWHERE, Bound, read_parameters

MAX_BYTES = 1 << 18
"""Longer files are bundles: no scope is read from the rest of them."""
MAX_DEPTH = 200

# Every repetition has a bound: a file may be made to be slow.
_QUIET = re.compile(
    r"/\*.*?(?:\*/|\Z)|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*(?:`|\Z)",
    re.DOTALL,
)
_BRACES = re.compile(r"[{}]")
_LIST = r"([^(){}]{0,300}(?:\([^()]{0,100}\)[^(){}]{0,300}){0,4})"
_TYPE = r"(?::\s{0,20}[^=(){};]{1,200}?)?\s{0,20}"
_DECLARED = re.compile(
    r"\b(?:const|let|var)\s{1,20}([\w$]{1,100})\s{0,20}!?(?::\s{0,20}([^=;\n]{1,200}?))?"
    r"\s{0,20}(?:=(?!=|>)\s{0,20}([^;\n]{0,500})|;|\n|$)"
)
_EACH = re.compile(
    r"\b(?:const|let|var)\s{1,20}([\w$]{1,100})\s{1,20}(?:of|in)\s{1,20}([^\n]{0,200}?)\)\s{0,20}[{\n]"
)
_UNPACKED = re.compile(
    r"\b(?:const|let|var)\s{0,20}([{\[][^=;{}\[\]]{0,400}[}\]])\s{0,20}(?::[^=\n]{1,200})?(?:=|\bof\b)"
)
_NAMED = re.compile(r"\b(?:function\s{0,20}\*?|class|enum|namespace)\s{1,20}([\w$]{1,100})")
_TYPED = re.compile(r"\b(?:class|enum|interface|type)\s{1,20}([\w$]{1,100})")
_ARROW = re.compile(rf"\({_LIST}\)\s{{0,20}}{_TYPE}=>")
_BARE_ARROW = re.compile(  # not the result of `(…): T =>`
    r"(?:[=(,?\[]|(?<!\)):|\breturn\b|\basync\b)\s{0,20}([\w$]{1,100})\s{0,20}=>"
)
_HEADED = re.compile(
    r"(?<![\w$.])(?!(?:if|for|while|switch|catch|with|return)\b)[\w$#]{1,100}\s{0,20}"
    rf"(?:<[^>{{}}()]{{0,100}}>)?\({_LIST}\)\s{{0,20}}{_TYPE}\{{"
)
_ANONYMOUS = re.compile(r"\bfunction\s{0,20}\*?\s{0,20}\(([^()]{0,300})\)[^{]{0,200}\{")
_CAUGHT = re.compile(r"\bcatch\s{0,20}\(\s{0,20}([\w$]{1,100})[^)]{0,100}\)\s{0,20}\{")
_KEY = re.compile(r"[\w$]{1,100}\s{0,20}:")
_NAME = re.compile(r"[\w$]+")


class Declared(NamedTuple):
    """A name that a block declares, and where."""

    offset: int
    bound: Bound


class Blocks:
    """The blocks of one file and what they declare. Offsets count bytes."""

    def __init__(self, data: bytes) -> None:
        # A character per byte, so that offsets are those of the facts.
        text = data[:MAX_BYTES].decode("latin-1")
        self._plain = _QUIET.sub(_blanked, text)
        self._starts: list[int] = []
        self._ends: list[int] = []
        self._outer: list[int] = []
        self._find_blocks()
        self._declared: dict[str, dict[int, Declared]] = {}
        self._types: dict[str, dict[int, Declared]] = {}
        self._headed: dict[tuple[str, int], Declared] = {}
        for name, block, offset, bound in self._declarations(text):
            found = Declared(offset, bound)
            self._declared.setdefault(name, {}).setdefault(block, found)
            if block >= 0 and not self._starts[block] <= offset <= self._ends[block]:
                self._headed[name, offset] = found  # a parameter stands before its block
        for match in _TYPED.finditer(self._plain):
            found = Declared(match.start(1), NOWHERE)
            block = self._block(match.start(1))
            self._types.setdefault(match.group(1), {}).setdefault(block, found)
        self._plain = ""

    def find(self, name: str, at: int, of_type: bool = False) -> Declared | None:
        """The nearest declaration of a name around a place, inside any braces.

        Types and values have names of their own: one block may declare both.
        """
        if of_type:
            return self._around(self._types.get(name), at) or self.find(name, at)
        if (name, at) in self._headed:
            return self._headed[name, at]
        return self._around(self._declared.get(name), at) or self._around(self._types.get(name), at)

    def _around(self, known: dict[int, Declared] | None, at: int) -> Declared | None:
        if known is None:
            return None
        block = self._block(at)
        for _ in range(MAX_DEPTH):
            if block < 0:
                break
            if block in known:
                return known[block]
            block = self._outer[block]
        return None

    def is_top(self, at: int) -> bool:
        """Does a place stand in no braces?"""
        return self._block(at) < 0

    def _find_blocks(self) -> None:
        stack: list[int] = []
        for match in _BRACES.finditer(self._plain):
            if match.group() == "{":
                self._starts.append(match.start())
                self._ends.append(len(self._plain))
                self._outer.append(stack[-1] if stack else -1)
                stack.append(len(self._starts) - 1)
            elif stack:
                self._ends[stack.pop()] = match.start()

    def _block(self, at: int) -> int:
        """The innermost block around an offset."""
        block = bisect_right(self._starts, at) - 1
        for _ in range(MAX_DEPTH):
            if block < 0 or self._ends[block] >= at:
                break
            block = self._outer[block]
        return block

    def _declarations(self, text: str) -> Iterator[tuple[str, int, int, Bound]]:
        plain = self._plain
        for match in _EACH.finditer(plain):
            bound = Bound(value=match.group(2), pick=EACH)
            yield match.group(1), self._block(match.end()), match.start(1), bound
        for match in _DECLARED.finditer(plain):
            start, end = match.span(3)
            value = text[start:end] if start >= 0 else ""
            where = self._block(match.start(1))
            yield match.group(1), where, match.start(1), Bound(match.group(2) or "", value)
        for match in _UNPACKED.finditer(plain):
            inner = _KEY.sub(lambda m: " " * len(m.group()), match.group(1))
            where = self._block(match.start())
            for name in _NAME.finditer(inner):
                yield name.group(), where, match.start(1) + name.start(), NOWHERE
        for pattern in (_HEADED, _ANONYMOUS):
            for match in pattern.finditer(plain):
                yield from self._parameters(match.start(1), match.group(1), match.end())
        for match in _ARROW.finditer(plain):
            yield from self._parameters(match.start(1), match.group(1), self._body(match.end()))
        for match in _BARE_ARROW.finditer(plain):
            where = self._block(self._body(match.end()))
            yield match.group(1), where, match.start(1), NOWHERE
        for match in _CAUGHT.finditer(plain):
            yield match.group(1), self._block(match.end()), match.start(1), NOWHERE
        for match in _NAMED.finditer(plain):
            yield match.group(1), self._block(match.start(1)), match.start(1), NOWHERE

    def _body(self, end: int) -> int:
        """Inside the braces of an arrow function; without any, the block it stands in."""
        rest = end + len(self._plain[end : end + 80]) - len(self._plain[end : end + 80].lstrip())
        return rest + 1 if self._plain[rest : rest + 1] == "{" else end - 1

    def _parameters(
        self, start: int, text: str, inside: int
    ) -> Iterator[tuple[str, int, int, Bound]]:
        block = self._block(inside)
        at = start
        for part in split_top(text, ","):
            for name, bound in read_parameters(part):
                yield name, block, at + max(0, part.find(name)), bound
            at += len(part) + 1


def _blanked(match: re.Match[str]) -> str:
    text = match.group()
    if text[0] == "/":
        return _spaces(text)
    return text[0] + _spaces(text[1:-1]) + text[-1]


def _spaces(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)
