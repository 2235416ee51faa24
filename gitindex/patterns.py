"""Git's wildcard patterns over paths as bytes: `.gitindexignore` files and `.gitattributes` lines."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

MAX_PATTERNS = 2_000
MAX_PATTERN_BYTES = 500
MAX_STARS = 8  # each one multiplies the time a match may take


class Rule(NamedTuple):
    """One pattern anchored at the folder of the file that holds it."""

    base: bytes  # folder with trailing slash, or empty
    regex: re.Pattern[bytes]
    negated: bool
    folder_only: bool


def parse_ignore(data: bytes, base: bytes = b"") -> list[Rule]:
    """The rules of a gitignore-style file, in order; hopeless patterns are left out."""
    rules = []
    for raw in data.splitlines()[:MAX_PATTERNS]:
        line = raw.rstrip()
        if not line or line.startswith(b"#"):
            continue
        negated = line.startswith(b"!")
        rule = make_rule(line[1:] if negated else line, base, negated)
        if rule is not None:
            rules.append(rule)
    return rules


def make_rule(pattern: bytes, base: bytes = b"", negated: bool = False) -> Rule | None:
    """Compile one pattern, or None when it is empty or absurd."""
    folder_only = pattern.endswith(b"/")
    body = pattern.rstrip(b"/")
    if not body or len(body) > MAX_PATTERN_BYTES or body.count(b"*") > MAX_STARS:
        return None
    anchored = b"/" in body
    regex = _translate(body.removeprefix(b"/"), anchored)
    return Rule(base, regex, negated, folder_only)


def ignores(rules: list[Rule], path: bytes) -> bool:
    """Does a gitignore-style list leave out `path`, or a folder above it?"""
    if not rules:
        return False
    at = path.find(b"/")
    while at != -1:
        if _last_verdict(rules, path[:at], folder=True):
            return True
        at = path.find(b"/", at + 1)
    return _last_verdict(rules, path, folder=False)


def rule_matches(rule: Rule, path: bytes, folder: bool = False) -> bool:
    """Does one rule name exactly this path?"""
    if rule.folder_only and not folder:
        return False
    if not path.startswith(rule.base):
        return False
    return rule.regex.fullmatch(path, len(rule.base)) is not None


def _last_verdict(rules: list[Rule], path: bytes, folder: bool) -> bool:
    for rule in reversed(rules):
        if rule_matches(rule, path, folder):
            return not rule.negated
    return False


@lru_cache(maxsize=4096)
def _translate(body: bytes, anchored: bool) -> re.Pattern[bytes]:
    out = b"" if anchored else b"(?:.*/)?"
    at = 0
    while at < len(body):
        if body.startswith(b"**/", at) and (at == 0 or body[at - 1 : at] == b"/"):
            out += b"(?:.*/)?"
            at += 3
        elif body.startswith(b"**", at) and at + 2 == len(body) and body[at - 1 : at] == b"/":
            out += b".+"
            at += 2
        else:
            piece, at = _translate_one(body, at)
            out += piece
    return re.compile(out, re.DOTALL)


def _translate_one(body: bytes, at: int) -> tuple[bytes, int]:
    char = body[at : at + 1]
    if char == b"*":
        end = at
        while body[end : end + 1] == b"*":
            end += 1
        return b"[^/]*", end
    if char == b"?":
        return b"[^/]", at + 1
    if char == b"[":
        return _translate_class(body, at)
    if char == b"\\" and at + 1 < len(body):
        return re.escape(body[at + 1 : at + 2]), at + 2
    return re.escape(char), at + 1


def _translate_class(body: bytes, at: int) -> tuple[bytes, int]:
    end = body.find(b"]", at + 2)
    if end == -1:
        return re.escape(b"["), at + 1
    inner = body[at + 1 : end]
    negated = inner[:1] in (b"!", b"^")
    chars = inner[1:] if negated else inner
    safe = re.sub(rb"([\\\[\]^&~|])", rb"\\\1", chars)
    piece = b"(?!/)[" + (b"^" if negated else b"") + safe + b"]"
    try:
        re.compile(piece)
    except re.error:
        return re.escape(b"["), at + 1
    return piece, end + 1
