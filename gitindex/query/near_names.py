"""Find names of definitions near a text: exact, then prefix, then sub-words, then similar."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from gitindex.base.pattern import compile_later

if TYPE_CHECKING:
    from gitindex.view.tree import TreeView

MAX_QUERY = 100
"""Maximum characters of a text to compare with names."""
SIMILAR = 0.7
"""Minimum similarity of two names of similar length, as difflib computes it."""
EXACT, SAME_LETTERS, PREFIX, SUB_WORDS, INSIDE, LETTERS, SIMILAR_RANK = range(7)

_DEFINED = "FROM {names} n WHERE EXISTS (SELECT 1 FROM {symbols} s WHERE s.name_id=n.id)"
_LIKE = "LIKE ? ESCAPE '\\'"
_WORDS = compile_later(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\W\d_a-zA-Z]+")


class NearName(NamedTuple):
    """A name and its rank, one of the constants above; lower is nearer."""

    rank: int
    name: str


class NameMemory:
    """The names of all published definitions as one text, for a process that answers many queries."""

    def __init__(self) -> None:
        self._key: tuple[str, int, int] = ("", 0, 0)
        self._names = self._lowered = ""

    def containing(self, view: TreeView, word: str) -> Iterator[str]:
        """Yield the names that contain a word in lower case; those of edits come last."""
        published = view.served.published
        key = (view.worktree.database, published.worktree_id, published.generation)
        if key != self._key:
            names = view.published_rows(f"SELECT n.text {_DEFINED}")
            self._names = "\n".join(name for (name,) in names if "\n" not in name)
            low = self._names.lower()
            self._lowered = low if len(low) == len(self._names) else self._names
            self._key = key
        at = self._lowered.find(word)
        while at >= 0:
            start = self._lowered.rfind("\n", 0, at) + 1
            end = self._lowered.find("\n", at)
            yield self._names[start : end if end >= 0 else None]
            at = self._lowered.find(word, end) if end >= 0 else -1
        like = f"SELECT n.text {_DEFINED} AND n.text {_LIKE}"
        yield from (name for (name,) in view.overlay_rows(like, f"%{escape_like(word)}%"))


def near_names(view: TreeView, query: str, limit: int) -> list[NearName]:
    """Return the names of definitions nearest to a text, nearest first."""
    query = query.strip()
    if not query or len(query) > MAX_QUERY:
        return []
    hits = rank_names(query, _names(view, _subsequence(query)))
    if len(hits) < limit and len(query) > 2 and not any(n.rank <= SUB_WORDS for n in hits):
        hits += _similar(query, _names(view, f"{escape_like(query[0])}%"), {n.name for n in hits})
    return sorted(hits, key=lambda near: _order(near, query))[:limit]


def containing_names(
    view: TreeView, query: str, limit: int, memory: NameMemory | None = None
) -> list[NearName]:
    """Return the names that contain the words of a text, nearest first: sooner than `near_names`."""
    query = query.strip()
    words = _WORDS.findall(query)
    if not words or len(query) > MAX_QUERY:
        return near_names(view, query, limit)
    if memory is not None:
        names = [*dict.fromkeys(memory.containing(view, max(words, key=len).lower()))]
    else:
        names = _names(view, "%" + "%".join(map(escape_like, words)) + "%")
    ranked = [near for near in rank_names(query, names) if near.rank <= INSIDE]
    return sorted(ranked, key=lambda near: _order(near, query))[:limit]


def rank_names(query: str, names: Iterable[str]) -> list[NearName]:
    """Return the names that contain the letters of a text in order, each with its rank."""
    lowered, words = query.lower(), [word.lower() for word in _WORDS.findall(query)]
    letters = re.compile(".*?".join(map(re.escape, lowered)), re.DOTALL)
    ranked = []
    for name in names:
        rank = _rank(query, lowered, words, letters, name)
        if rank is not None:
            ranked.append(NearName(rank, name))
    return ranked


def _rank(
    query: str, lowered: str, words: list[str], letters: re.Pattern[str], name: str
) -> int | None:
    if name == query:
        return EXACT
    low = name.lower()
    if low == lowered:
        return SAME_LETTERS
    if low.startswith(lowered):
        return PREFIX
    inside = lowered in low
    if (inside or words != [lowered]) and _starts_sub_words(words, name):
        return SUB_WORDS
    joined = low.replace("_", "")
    if joined.startswith(lowered):  # `sendf` of send_file
        return PREFIX
    if inside or lowered in joined:
        return INSIDE
    return LETTERS if len(lowered) > 2 and _dense(letters, low, len(lowered)) else None


def _starts_sub_words(words: list[str], name: str) -> bool:
    """Return whether each word starts a sub-word, in order (`req ctx`, `RequestContext`)."""
    parts = [part.lower() for part in _WORDS.findall(name)]
    at = 0
    for word in words:
        while at < len(parts) and not parts[at].startswith(word):
            at += 1
        if at == len(parts):
            return False
        at += 1
    return bool(words)


def _dense(letters: re.Pattern[str], low: str, length: int) -> bool:
    """Return whether the letters are close together: scattered letters mean nothing."""
    match = letters.search(low)
    return match is not None and match.end() - match.start() <= 2 * length


def _similar(query: str, names: Iterable[str], known: set[str]) -> list[NearName]:
    """Return names with a typo: letters swapped, omitted or doubled."""
    from difflib import SequenceMatcher  # lazily: most names have no typo

    matcher = SequenceMatcher(autojunk=False)
    matcher.set_seq2(query.lower())
    similar = []
    for name in names:
        if name in known or abs(len(name) - len(query)) > 3:
            continue
        matcher.set_seq1(name.lower())
        if matcher.real_quick_ratio() >= SIMILAR and matcher.ratio() >= SIMILAR:
            similar.append(NearName(SIMILAR_RANK, name))
    return similar


def _order(near: NearName, query: str) -> tuple[int, int, str]:
    if near.rank == SIMILAR_RANK:
        shared = sum(a == b for a, b in zip(pairwise(near.name), pairwise(query), strict=False))
        return near.rank, -shared, near.name
    return near.rank, len(near.name), near.name


def _names(view: TreeView, pattern: str) -> list[str]:
    rows = view.rows(f"SELECT n.text {_DEFINED} AND n.text {_LIKE}", pattern)
    return list(dict.fromkeys(name for (name,) in rows))


def _subsequence(query: str) -> str:
    """Return a LIKE pattern for names with these letters in order; LIKE ignores ASCII case."""
    return "%" + "%".join(escape_like(char) for char in query if char != " ") + "%"


def escape_like(text: str) -> str:
    """Return a text as a LIKE pattern without wildcards, with `\\` as its escape."""
    return re.sub(r"[%_\\]", r"\\\g<0>", text)
