"""Claims that a review or an agent's report makes by quoting: `FILE:LINE` and code beside it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from gitindex.base.errors import GitIndexError
from gitindex.base.pattern import compile_later
from gitindex.query.claims.grammar import KINDS, MAX_CLAIM, MAX_CLAIMS, Claim, parse_claim

MAX_REPORT = 1 << 20
_PLACE = (
    r"(?P<file>[\w.@+-]+(?:/[\w.@+-]+)*\.\w{1,8}):(?P<line>[1-9][0-9]{0,7})(?:-[0-9]+|:[0-9]+)?"
)
_CODE = r"`(?P<code>[^`\n]{1,300})`"
_AFTER = compile_later(rf"`?{_PLACE}`?(?:\s*(?:[:—–]|-{{1,2}}|says|is|reads|contains)\s*{_CODE})?")
_BEFORE = compile_later(rf"{_CODE}\s*(?:\(|\bat\b|\bin\b|\bon\b|@|,)\s*`?{_PLACE}")
_DEFINED = compile_later(
    r"`(?P<name>[A-Za-z_][\w.]*)(?:\(\))?`\s+(?:is\s+)?(?:defined\s+)?in\s+"
    r"`?(?P<file>[\w.@+-]+(?:/[\w.@+-]+)*\.\w{1,8})`?(?![\w:])"
)
_CLAIM = compile_later(rf"\b(?:{'|'.join(KINDS)})\([^\n]{{1,{MAX_CLAIM}}}")


def claims_of_text(text: str, resolve: Callable[[str], str]) -> Iterator[Claim]:
    """Yield what a text says about files: lines, code beside them, definitions, claims of ours.

    `resolve` maps a path as people shorten it to a path of the tree.
    """
    seen: set[Claim] = set()
    for claim in _found(text[:MAX_REPORT], resolve):
        if claim not in seen:
            seen.add(claim)
            yield claim
        if len(seen) == MAX_CLAIMS:
            return


def _found(text: str, resolve: Callable[[str], str]) -> Iterator[Claim]:
    quoted: set[int] = set()
    for match in _BEFORE.finditer(text):
        code = match["code"].removesuffix("()")
        if not re.search(_PLACE, code):
            quoted.add(match.start("file"))
            yield Claim("line", (resolve(match["file"]), match["line"], code))
    for match in _AFTER.finditer(text):
        if match.start("file") not in quoted:
            code = (match["code"] or "").removesuffix("()")
            yield Claim("line", (resolve(match["file"]), match["line"], code))
    for match in _DEFINED.finditer(text):
        yield Claim("defines", (resolve(match["file"]), match["name"]))
    for match in _CLAIM.finditer(text):
        yield from _own(match[0])


def _own(text: str) -> Iterator[Claim]:
    """Yield a claim in our own grammar, if the text begins with one."""
    for end in (at for at, char in enumerate(text, 1) if char == ")"):
        try:
            yield parse_claim(text[:end])
        except GitIndexError:
            continue
        return
