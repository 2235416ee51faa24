"""Details of a symbol: signature on one line, doc comment; and the interface hash, which is made of the
exported surface without bodies, comments, layout and private names.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from gitindex.base.light_types import sha256
from gitindex.base.pattern import compile_later
from gitindex.languages.facts import Import, Symbol
from gitindex.languages.syntax.events import CapturedRange
from gitindex.languages.syntax.kinds import VALUES

MAX_SIGNATURE = 240
"""Most characters of a signature: two lines of a wide terminal; the rest is cut with an ellipsis."""
MAX_DOC = 300
"""Most characters of a doc that are kept: from its first paragraph."""
READ_AHEAD = 2000
"""Most bytes of a definition without a body that are read for its signature: a long literal is not."""
MAX_GAP = 200
"""Most bytes between a comment and the definition it documents: indentation and keywords."""

MAX_SURFACE = 20_000
"""Most bytes of one definition that count; a long list of names is read once per name."""

_STRING = r"\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`"
_TOKENS = compile_later(rf"{_STRING}|\w+|[^\w\s]", re.DOTALL)
_LAST_COMMA = compile_later(r" ,(?= [)\]}>])")
_ASSIGN = compile_later(r"(?<![=<>!:])=(?![=>])|:=")

_TAILS = ("=>", "->", " do", " then")
_LINE_MARKS = "/*#!;%"
_ENDS = ("*/", "*)", "-->", "-}", "]]")
_OPENING = compile_later(r"[a-zA-Z]{0,2}(\"\"\"|'''|\"|')")
_PARAGRAPH = compile_later(r"\n[^\S\n]*\n")
_WORDS = compile_later(rb"\s*(\w+\s+)*")
_BLANK = compile_later(rb"\s*")


class Comments(NamedTuple):
    """The comments of a file, in order."""

    starts: list[int]
    ends: list[int]


class Details:
    """Reads signatures and docs of one file."""

    def __init__(self, data: bytes, starts: list[int], comments: Comments) -> None:
        self.data = data
        self.starts = starts
        self.comments = comments

    def signature(self, scope: CapturedRange) -> str:
        """Return the definition up to its body, on one line, without comments."""
        text = self.text(scope.start, self.head_end(scope))
        if scope.kind == "section":
            text = text.strip().partition("\n")[0]
        text = " ".join(text.split())
        text = text.rstrip("; ") if scope.kind in VALUES else without_tail(text)
        return text if len(text) <= MAX_SIGNATURE else text[: MAX_SIGNATURE - 1] + "…"

    def head_end(self, scope: CapturedRange) -> int:
        """Return where the body starts; without a body, the definition's end or a limit."""
        return scope.body if scope.body >= 0 else min(scope.end, scope.start + READ_AHEAD)

    def text(self, start: int, end: int) -> str:
        """Return the text of a range without its comments."""
        starts, ends = self.comments
        at = bisect_left(starts, start)
        if at == len(starts) or starts[at] >= end:
            return self.data[start:end].decode("utf-8", "replace")
        parts = []
        while at < len(starts) and starts[at] < end:
            parts.append(self.data[start : starts[at]])
            start = min(ends[at], end)
            at += 1
        parts.append(self.data[start:end])
        return b" ".join(parts).decode("utf-8", "replace")

    def doc(self, scope: CapturedRange) -> str:
        """Return the docstring, or the comments right above the definition."""
        if scope.doc:
            return plain_string(self.data[scope.doc[0] : scope.doc[1]])
        last = bisect_right(self.comments.ends, scope.anchor) - 1
        if last < 0 or scope.anchor - self.comments.ends[last] > MAX_GAP:
            return ""
        return plain_comment(self._comment_above(self._first_word(scope.anchor), last))

    def _first_word(self, anchor: int) -> int:
        """Return the start of the line if only keywords (`const`, `export type`) come before."""
        line = self.starts[bisect_right(self.starts, anchor) - 1]
        before = self.data[line:anchor]
        return skip_blank(self.data, line) if _WORDS.fullmatch(before) else anchor

    def _comment_above(self, anchor: int, last: int) -> bytes:
        """Return the comments that end right above a place, from number `last` upwards."""
        starts, ends = self.comments
        start = anchor
        while last >= 0 and self._touches(starts[last], ends[last], start):
            start = starts[last]
            last -= 1
        return b"" if start == anchor else self.cut(start, anchor)

    def cut(self, start: int, anchor: int) -> bytes:
        """Return as much of comments above a place as a doc can need."""
        return self.data[start:anchor][: 2 * MAX_DOC].rstrip()

    def _touches(self, start: int, end: int, below: int) -> bool:
        """Does a comment on its own lines end right above a place?"""
        gap = self.data[end:below]
        newlines = gap.count(b"\n") + self.data[start:end].endswith(b"\n")
        if newlines > 1 or gap.strip():
            return False
        line = bisect_right(self.starts, start) - 1
        return not self.data[self.starts[line] : start].strip()


def without_tail(text: str) -> str:
    """Return the text without the words and characters that open a body."""
    text = text.rstrip(" {:=;,")
    while text.endswith(_TAILS):
        text = text[:-2].rstrip(" {:=;,") if text[-1] in ">o" else text[:-5].rstrip()
    return text


def skip_blank(data: bytes, at: int) -> int:
    """Return the first place from `at` on that is not white space."""
    match = _BLANK.match(data, at)
    return match.end() if match else at


def plain_comment(raw: bytes) -> str:
    """Return the words of comment lines, without comment characters."""
    if not raw:
        return ""
    text = raw.decode("utf-8", "replace").strip()
    text = text.removeprefix("<!--").removeprefix("(*").removeprefix("{-")
    if text.endswith(_ENDS):
        text = text.rstrip("*/)>-}]")
    plain = "\n".join([_plain_line(line) for line in text.split("\n")]).strip()
    return plain.partition("\n\n")[0][:MAX_DOC].rstrip()


def _plain_line(line: str) -> str:
    line = line.strip().lstrip(_LINE_MARKS)
    return line.lstrip("-|^[").strip() if line.startswith("--") else line.strip()


def plain_string(raw: bytes) -> str:
    """Return the first paragraph of a docstring, without indentation."""
    text = raw[: 4 * MAX_DOC].decode("utf-8", "replace").strip()
    if opening := _OPENING.match(text):
        text = text[opening.end() :].removesuffix(opening.group(1)).strip()
    paragraph = _PARAGRAPH.split(text, maxsplit=1)[0]
    return "\n".join([line.strip() for line in paragraph.split("\n")])[:MAX_DOC].rstrip()


def interface_hash(lines: Iterable[str]) -> str:
    """Return a short digest of the surface's lines, in any order; "" without a surface."""
    ordered = sorted(set(lines))
    if not ordered:
        return ""
    return sha256("\n".join(ordered).encode()).hexdigest()[:32]


def surface_of(
    scopes: Iterable[CapturedRange], symbols: Sequence[Symbol], details: Details
) -> list[str]:
    """Return a line for each visible symbol: kind, name, and the signature as bare tokens."""
    seen = list(scopes)
    texts = [_head_of(scope, symbols[scope.ordinal], details) for scope in seen]
    pairs = zip(seen, map(tokens, texts), strict=True)
    return [f"{scope.kind} {scope.qualified} {line}" for scope, line in pairs]


def _head_of(scope: CapturedRange, symbol: Symbol, details: Details) -> str:
    if scope.kind in VALUES and scope.body < 0:
        return _ASSIGN.split(details.text(scope.anchor, details.head_end(scope)), maxsplit=1)[0]
    if scope.anchor == scope.start and _is_whole(symbol.signature):
        return symbol.signature
    end = scope.body if scope.body >= 0 else min(scope.end, scope.start + MAX_SURFACE)
    return without_tail(details.text(scope.anchor, end).rstrip())


def _is_whole(signature: str) -> bool:
    """Is a signature complete? It must not be cut, nor contain strings, whose spaces matter."""
    return "…" not in signature and '"' not in signature and "'" not in signature


def tokens(text: str) -> str:
    """Return the text as tokens separated by one space; ignores layout, quotes and last commas."""
    words = _TOKENS.findall(text)
    if "'" in text:
        words = [f'"{t[1:-1]}"' if t[0] == "'" and len(t) > 1 else t for t in words]
    line = " ".join(words)
    return (_LAST_COMMA.sub("", line) if " , " in line else line).rstrip(" :{;")


def reexports(imports: Iterable[Import], exports: Iterable[str], language: str) -> list[str]:
    """Return lines for the exported names and for the imports that re-export names."""
    listed = frozenset(exports)
    lines = [f"export {name}" for name in listed]
    for item in imports:
        where = "." * item.level + item.module
        lines += [
            f"reexport {where} {name} {local}"
            for name, local in item.names
            if local in listed or _passes_on(item, name, local, language)
        ]
    return lines


def _passes_on(item: Import, name: str, local: str, language: str) -> bool:
    """Does Python re-export a name by convention: a star, a relative import, or `import a as a`?"""
    if language != "python" or local.startswith("_"):
        return False
    return name == "*" or item.level > 0
