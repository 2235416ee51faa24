"""Split a long query, such as an issue text or a traceback, into title and body. Pure."""

from __future__ import annotations

import re

from gitindex.base.escape import counted
from gitindex.base.light_types import NamedTuple
from gitindex.base.pattern import compile_later
from gitindex.extract.terms import words_of
from gitindex.query.search.query_text import (
    MAX_QUERY,
    MAX_WORDS,
    Filters,
    Query,
    is_small,
    parse_query,
)

LONG = 300
"""A query is long if it has more characters than this, or several lines."""
MAX_TITLE = 200
_FRAME = compile_later(
    r'File "[^"\n]*?([^"/\n]+/)?([^"/\n]+)", line \d+, in (\w+)'
    r"|^\s*at ([\w.$<>]+) ?\(([^():\s]+)[:)]",
    re.MULTILINE,
)
_SUFFIXES = "py|js|ts|tsx|go|rs|rb|java|kt|cs|php|c|h|cpp|scala|ex|hs|lua|sh|swift"
_PATH = compile_later(rf"(?<![\w/.])(?:[\w.-]+/)+[\w-]+\.\w{{1,5}}\b|\b[\w-]+\.(?:{_SUFFIXES})\b")
_CODE = compile_later(r"`([^`\n]{2,80})`")
_NAME = compile_later(
    r"\b(?:\w+(?:\.|::|->|#))+\w+|\b[a-z]+(?:_[a-z0-9]+)+\b|\b[A-Za-z]+[a-z][A-Z]\w*\b"
)
_BLOB = compile_later(r"https?://\S+|\b[0-9a-f]{12,}\b|\b0x[0-9a-fA-F]+\b")


class SplitQuery(NamedTuple):
    """The queries made from one text, and warnings about it."""

    queries: list[Query]
    warnings: list[str]


def split_query(text: str, filters: Filters = Filters()) -> SplitQuery:  # noqa: B008 - a constant
    """Return one query for a short text; for a long one, queries for its title and its body."""
    whole = text.strip()
    warnings = []
    if len(whole) > MAX_QUERY:
        warnings.append(f"only the first {MAX_QUERY} characters of the query were used")
        whole = whole[:MAX_QUERY]
    title, _, body = whole.partition("\n")
    if len(whole) <= LONG and not body.strip():
        query = parse_query(whole, filters)
        if query.unused:
            warnings.append(f"not used: {counted(query.unused, 'words')} of the query")
        return SplitQuery([query], warnings)
    if not body.strip() or len(title) > MAX_TITLE:
        title, body = whole[:MAX_TITLE], whole
    asked = parse_query(title, filters)._replace(must_hold=False)
    chosen, unused = _telling(body)
    if unused:
        warnings.append(f"not used: {counted(unused, 'words')} of the query")
    queries = [asked._replace(phrases=())]
    if chosen:
        queries.append(parse_query(" ".join(chosen), filters)._replace(must_hold=False))
    return SplitQuery([query for query in queries if query.words] or [asked], warnings)


def _telling(body: str) -> tuple[list[str], int]:
    """Return the words of a body to search, code-like ones first, and how many are left over."""
    text = _BLOB.sub(" ", body)
    frames = [part for found in _FRAME.findall(text) for part in found[::-1] if part]
    coded = [
        *frames,
        *_PATH.findall(text),
        *(name for code in _CODE.findall(text) for name in [code]),
        *_NAME.findall(text),
    ]
    listed = [word for part in coded for word in words_of(part)] + words_of(text)
    words = [w for w in dict.fromkeys(listed) if not is_small(w) and len(w) > 1 and not w.isdigit()]
    return words[:MAX_WORDS], max(0, len(words) - MAX_WORDS)
