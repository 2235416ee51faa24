"""The small language of claims: `KIND(ARGUMENT, …)@REV`, one per line, or a JSON list.

A review or an agent's report makes claims by quoting, too: `FILE:LINE` and code beside it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from gitindex.base.errors import Exit, GitIndexError
from gitindex.base.escape import safe_text
from gitindex.base.pattern import compile_later

KINDS = {
    "calls": ("A", "B"),
    "no_callers": ("F",),
    "defines": ("FILE", "NAME"),
    "signature": ("F", '"TEXT"'),
    "line": ("FILE", "N", '"TEXT"'),
    "imports": ("FILE", "MODULE"),
    "only_called_from": ("F", "PATH"),
    "unused": ("NAME",),
    "tests": ("F", "TEST"),
}
"""Every kind of claim, with the names of its arguments."""
MAX_CLAIMS = 1_000
"""Claims of one question: more than a report makes."""
MAX_CLAIM = 4_000
"""Characters of one claim."""

_HEAD = compile_later(r"\s*([a-z_]{1,32})\s*\(")
_REV = compile_later(r"\s*(?:@\s*(\S{1,256}))?\s*")
_QUOTED = compile_later(r'\s*("(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\')\s*', re.DOTALL)
_LINES = compile_later(r"[0-9]{1,9}(?:-[0-9]{1,9})?")
_UNESCAPED = compile_later(r"\\(.)", re.DOTALL)
_LETTERS = {"n": "\n", "t": "\t"}

MAX_REPORT = 1 << 20
"""Bytes of a report that are read."""
_FILE = r"(?<![\w/.+-])(?P<file>(?:(?<!:)/)?[\w.@+-]+(?:/[\w.@+-]+)*\.\w{1,8})"
"""A path, but no part of an address: that shows another revision."""
_NUMBER = r"[1-9][0-9]{0,7}"
_PLACE = (
    rf"{_FILE}(?::|#L|`?,?\s+lines?\s+)(?P<line>{_NUMBER})"
    rf"(?:[-–]L?(?P<last>{_NUMBER})|:[0-9]+)?"
)
_CODE = r"`(?P<code>[^`\n]{1,300})`"
_VERB = r"(?:says|is|reads|contains|calls|has|defines|imports|raises)"
_AFTER = compile_later(rf"{_PLACE}[`)]?(?:\s*(?:[:—–]|-{{1,2}}|\b{_VERB}\b|(?=`))\s*{_CODE})?")
_KNOWN = r"(?:is\s+)?(?:defined|declared|called|used|imported|raised|set)\s+"
_BEFORE = compile_later(
    rf"{_CODE}\s*(?:{_KNOWN})?(?:\(|\bat\b|\bin\b|\bon\b|@|,)\s*(?:\[[^\]\n]{{1,200}}\]\()?`?{_PLACE}"
)
_DEFINED = compile_later(
    r"`(?P<name>[A-Za-z_][\w.]*)(?:\(\))?`\s+(?:is\s+)?(?:defined|declared)\s+in\s+"
    rf"`?{_FILE}`?(?![\w:#]|,?\s+lines?\s)"
)
_QUALIFIED = compile_later(r"[A-Za-z_]\w*(?:(?:\.|::|#)[A-Za-z_]\w*)+")
"""A name with its class or module, of which a definition spells only the last part."""
_OWN_CLAIM = compile_later(rf"\b(?:{'|'.join(KINDS)})\([^\n]{{1,{MAX_CLAIM}}}")


class Claim(NamedTuple):
    """One statement; `at` is a revision, or empty for the tree that the question is about."""

    kind: str
    args: tuple[str, ...]
    at: str = ""

    def __str__(self) -> str:
        texts = KINDS[self.kind]
        args = (
            json.dumps(arg, ensure_ascii=False) if name.startswith('"') else arg
            for name, arg in zip(texts, self.args, strict=True)
        )
        return f"{self.kind}({', '.join(args)})" + (f"@{self.at}" if self.at else "")


def parse_claims(texts: list[str]) -> list[Claim]:
    """Return the claims of some texts: JSON, or one claim per line. Refuses what is not a claim."""
    claims = [claim for text in texts for claim in _of_text(text)]
    if not claims:
        raise _malformed("no claim given")
    if len(claims) > MAX_CLAIMS:
        raise _malformed(f"{len(claims)} claims are too many: at most {MAX_CLAIMS}")
    return claims


def parse_claim(text: str) -> Claim:
    """Return one claim."""
    head = _HEAD.match(text)
    if head is None or len(text) > MAX_CLAIM:
        raise _malformed(f"not a claim: {_short(text)}")
    args, end = _arguments(text, head.end())
    rest = _REV.fullmatch(text, end)
    if rest is None:
        raise _malformed(f"not a claim: {_short(text)} (after the bracket only @REV may follow)")
    return _checked(head[1], args, rest[1] or "")


def _of_text(text: str) -> list[Claim]:
    stripped = text.strip()
    if stripped[:1] in ("[", "{"):
        return [_of_json(item) for item in _items(stripped)]
    lines = (line.strip() for line in stripped.splitlines())
    return [parse_claim(line) for line in lines if line and not line.startswith("#")]


def _items(text: str) -> list[Any]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        raise _malformed("not JSON: a list of claims is expected") from None
    if isinstance(found, dict) and isinstance(found.get("claims"), list):
        found = found["claims"]
    return found if isinstance(found, list) else [found]


def _of_json(item: Any) -> Claim:
    """Return the claim of a string, or of `{claim, args, at}`."""
    if isinstance(item, str):
        return parse_claim(item)
    if not isinstance(item, dict) or not isinstance(item.get("claim"), str):
        raise _malformed(f"not a claim: {_short(json.dumps(item))}")
    at, args = item.get("at") or "", item.get("args")
    if args is None:
        claim = parse_claim(item["claim"])
        return claim._replace(at=claim.at or _text(at))
    if not isinstance(args, list):
        raise _malformed(f"`args` of {_short(item['claim'])} is not a list")
    return _checked(item["claim"], [_text(arg) for arg in args], _text(at))


def _text(value: Any) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str) or len(value) > MAX_CLAIM:
        raise _malformed(f"not a text: {_short(json.dumps(value))}")
    return value


def _checked(kind: str, args: list[str], at: str) -> Claim:
    """Return a claim whose kind is known and whose arguments are as many as it takes."""
    if kind not in KINDS:
        raise _malformed(f"no kind of claim: {_short(kind)}")
    needed = KINDS[kind]
    form = f"{kind}({', '.join(needed)})"
    given = ", ".join(args)
    if len(args) != len(needed) or _is_empty(args, needed):
        raise _malformed(f"not {form}: {_short(f'{kind}({given})')}")
    if kind == "line" and not _LINES.fullmatch(args[1]):
        raise _malformed(f"not {form}: {_short(args[1])} is not a line number")
    if "\0" in f"{given}{at}":
        raise _malformed(f"not {form}: a NUL is in it")
    return Claim(kind, tuple(args), at)


def _is_empty(args: list[str], names: tuple[str, ...]) -> bool:
    """Return whether an argument that is no text is empty."""
    pairs = zip(args, names, strict=True)
    return any(not arg.strip() and not name.startswith('"') for arg, name in pairs)


def _arguments(text: str, at: int) -> tuple[list[str], int]:
    """Return the arguments from a place on, and where their closing bracket ends."""
    args: list[str] = []
    while True:
        quoted = _QUOTED.match(text, at)
        if quoted is not None:
            args.append(_unquoted(quoted[1]))
            at = quoted.end()
        else:
            arg, at = _bare(text, at)
            args.append(arg)
        if text[at : at + 1] == ")":
            return args, at + 1
        if text[at : at + 1] != ",":
            raise _malformed(f"not a claim: {_short(text)} (a bracket or a comma is missing)")
        at += 1


def _bare(text: str, at: int) -> tuple[str, int]:
    """Return an argument without quotes: up to a comma or a bracket that it has not opened."""
    depth, start = 0, at
    while at < len(text) and (depth or text[at] not in ",)"):
        depth += (text[at] in "([{") - (text[at] in ")]}")
        at += 1
    return text[start:at].strip(), at


def _unquoted(text: str) -> str:
    return _UNESCAPED.sub(lambda found: _LETTERS.get(found[1], found[1]), text[1:-1])


def _short(text: str) -> str:
    return safe_text(text if len(text) <= 80 else f"{text[:80]}…")


def _malformed(message: str) -> GitIndexError:
    kinds = ", ".join(KINDS)
    return GitIndexError(message, f"a claim is KIND(ARGUMENT, …)[@REV] with {kinds}", Exit.USAGE)


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
        if not re.search(_PLACE, match["code"]):
            quoted.add(match.start("file"))
            yield _line(match, resolve)
    for match in _AFTER.finditer(text):
        if match.start("file") not in quoted:
            yield _line(match, resolve)
    for match in _DEFINED.finditer(text):
        yield Claim("defines", (resolve(match["file"]), match["name"]))
    for match in _OWN_CLAIM.finditer(text):
        yield from _own(match[0])


def _line(match: re.Match[str], resolve: Callable[[str], str]) -> Claim:
    """Return the claim of a quote: of a name with its class the line has to have the last part."""
    code = (match["code"] or "").removesuffix("()")
    if _QUALIFIED.fullmatch(code):
        code = re.split(r"[.:#]", code)[-1]
    number = match["line"] + (f"-{match['last']}" if match["last"] else "")
    return Claim("line", (resolve(match["file"]), number, code))


def _own(text: str) -> Iterator[Claim]:
    """Yield a claim in our own grammar, if the text begins with one."""
    for end in (at for at, char in enumerate(text, 1) if char == ")"):
        try:
            yield parse_claim(text[:end])
        except GitIndexError:
            continue
        return
