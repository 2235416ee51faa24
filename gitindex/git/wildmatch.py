"""Git's wildcard patterns over paths as bytes: `.gitindexignore` files and `.gitattributes` lines.

Not `pathspec` 1.1: of 466 patterns 35 mean something else than in git, 14 raise, and `*a*a…b` takes
more than 10 s (docs/internals.md, "Libraries").
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from functools import cache, lru_cache

from gitindex.base.light_types import NamedTuple
from gitindex.base.pattern import compile_later

MAX_PATTERNS = 2_000  # of one file: each is tried on each path
MAX_PATTERN_BYTES = 500  # longer ones match nothing, so that compiling is bounded


class Rule(NamedTuple):
    """One pattern anchored at the folder of the file that holds it."""

    base: bytes  # folder with trailing slash, or empty
    regex: re.Pattern[bytes]
    negated: bool
    folder_only: bool


def parse_ignore(data: bytes) -> list[Rule]:
    """Return the rules of a gitignore-style file, in order; invalid patterns are left out."""
    rules = []
    for raw in data.removeprefix(codecs.BOM_UTF8).split(b"\n")[:MAX_PATTERNS]:
        line = _without_trailing_spaces(raw.removesuffix(b"\r"))
        if line.startswith(b"#"):
            continue
        negated = line.startswith(b"!")
        rule = make_rule(line[1:] if negated else line, negated=negated)
        if rule is not None:
            rules.append(rule)
    return rules


def make_rule(pattern: bytes, base: bytes = b"", negated: bool = False) -> Rule | None:
    """Compile one pattern; None if it is empty or absurd."""
    folder_only = pattern.endswith(b"/")
    body = pattern.removesuffix(b"/")
    if not body or len(body) > MAX_PATTERN_BYTES:
        return None
    regex = _translate(body.removeprefix(b"/"), b"/" in body)
    return Rule(base, regex, negated, folder_only) if regex else None


def ignores(rules: list[Rule], path: bytes) -> bool:
    """Does a gitignore-style list exclude `path`, or a folder above it?"""
    if not rules:
        return False
    at = path.find(b"/")
    while at != -1:
        if _last_verdict(rules, path[:at], folder=True):
            return True
        at = path.find(b"/", at + 1)
    return _last_verdict(rules, path, folder=False)


def rule_matches(rule: Rule, path: bytes, folder: bool = False) -> bool:
    """Does one rule match exactly this path?"""
    if rule.folder_only and not folder:
        return False
    if not path.startswith(rule.base):
        return False
    return rule.regex.fullmatch(path, len(rule.base)) is not None


def _without_trailing_spaces(line: bytes) -> bytes:
    kept = line.rstrip(b" ")
    slashes = len(kept) - len(kept.rstrip(b"\\"))
    return kept + b" " if slashes % 2 and kept != line else kept


def _last_verdict(rules: list[Rule], path: bytes, folder: bool) -> bool:
    for rule in reversed(rules):
        if rule_matches(rule, path, folder):
            return not rule.negated
    return False


@lru_cache(maxsize=4096)
def _translate(body: bytes, anchored: bool) -> re.Pattern[bytes] | None:
    """Return a regex that no path makes slow; None for a pattern that matches nothing.

    Every star but the last of its path component, and every `**/` but the last, takes the first
    place that fits and never backtracks: no later one could match the rest better.
    """
    try:
        tokens = list(_tokens(body, anchored))
    except IndexError:  # an unclosed bracket, or a trailing backslash
        return None
    parts = [_components(part) for part in _split(tokens, _FOLDERS)]
    committed = b"".join(b"(?>%s%s)" % (_FOLDERS, part) for part in parts[1:-1])
    last = _FOLDERS + parts[-1] if len(parts) > 1 else b""
    start = b"" if anchored else b"(?:[^/]*+/)*+"
    return re.compile(start + parts[0] + committed + last, re.DOTALL)


def _components(tokens: list[bytes]) -> bytes:
    return b"/".join(_component(part) for part in _split(tokens, b"/"))


def _component(tokens: list[bytes]) -> bytes:
    first, *rest = (b"".join(part) for part in _split(tokens, _STAR))
    if not rest:
        return first
    committed = b"".join(b"(?>[^/]*?%s)" % part for part in rest[:-1])
    return first + committed + _STAR + rest[-1]


def _split(tokens: list[bytes], at: bytes) -> list[list[bytes]]:
    parts: list[list[bytes]] = [[]]
    for token in tokens:
        if token == at:
            parts.append([])
        else:
            parts[-1].append(token)
    return parts


def _tokens(body: bytes, anchored: bool) -> Iterator[bytes]:
    """Yield pieces of regex, one per byte or kind of star; IndexError if the pattern ends early."""
    at = 0
    while at < len(body):
        char = body[at : at + 1]
        if char == b"*":
            end = len(body) - len(body[at:].lstrip(b"*"))
            tokens, at = _stars(body, at, end) if anchored else ((_STAR,), end)
            yield from tokens
        elif char == b"[":
            token, at = _bracket(body, at)
            yield token
        elif char == b"\\":
            yield re.escape(bytes([body[at + 1]]))
            at += 2
        else:
            yield b"[^/]" if char == b"?" else re.escape(char)
            at += 1


def _stars(body: bytes, at: int, end: int) -> tuple[tuple[bytes, ...], int]:
    """Two stars that fill a path component cross slashes; also after a plain prefix."""
    opens = body[at - 1 : at] == b"/" or not _SPECIAL.search(body, 0, at)
    if end - at > 1 and opens:
        if end == len(body):
            return (b".*",), end
        if body[end : end + 1] == b"/":
            return (_FOLDERS,), end + 1
        if body.startswith(b"\\/", end):  # the slash is quoted, so it must be there
            return (_STAR, b"/", _FOLDERS), end + 2
    return (_STAR,), end


def _bracket(body: bytes, at: int) -> tuple[bytes, int]:
    """Parse `[…]` as git does: a bracket may come first, a backslash quotes, classes have names."""
    at += 1
    negated = body[at] in b"!^"
    at += negated
    members: set[int] = set()
    last: int | None = None
    first = True
    while first or body[at] != _CLOSE:
        first = False
        if body[at] == _DASH and last is not None and body[at + 1] != _CLOSE:
            high, at = _member(body, at + 1)
            members.update(range(last, high + 1))
            last = None
        elif named := _NAMED.match(body, at):
            members.update(_classes().get(named[1]) or _nothing())
            last, at = None, named.end()
        else:
            last, at = _member(body, at)
            members.add(last)
    chosen = (set(range(256)) - members if negated else members) - {_SLASH}
    listed = b"".join(b"\\x%02x" % byte for byte in sorted(chosen))
    return (b"[%s]" % listed if listed else b"(?!)"), at + 1


def _member(body: bytes, at: int) -> tuple[int, int]:
    at += body[at] == _BACKSLASH
    return body[at], at + 1


def _nothing() -> set[int]:
    raise IndexError("a class without a meaning matches nothing")


_STAR = b"[^/]*"
_FOLDERS = b"(?:[^/]*+/)*?"
_SPECIAL = compile_later(rb"[*?\[\\]")
_NAMED = compile_later(rb"\[:([^\]]*):\]")
_SLASH, _CLOSE, _DASH, _BACKSLASH = b"/]-\\"


@cache
def _classes() -> dict[bytes, set[int]]:
    """Return the bytes of each named class, as in the C locale."""
    import string  # lazily, like the table: few patterns name a class

    named = {
        "alnum": string.ascii_letters + string.digits,
        "alpha": string.ascii_letters,
        "blank": " \t",
        "cntrl": "".join(map(chr, (*range(0x20), 0x7F))),
        "digit": string.digits,
        "graph": string.ascii_letters + string.digits + string.punctuation,
        "lower": string.ascii_lowercase,
        "print": string.ascii_letters + string.digits + string.punctuation + " ",
        "punct": string.punctuation,
        "space": " \t\n\r",
        "upper": string.ascii_uppercase,
        "xdigit": string.hexdigits,
    }
    return {name.encode(): set(members.encode()) for name, members in named.items()}
