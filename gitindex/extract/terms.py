"""Splits text into terms: identifiers and their parts. Pure; the same for index and query."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from gitindex.base.compiled import LIBRARY
from gitindex.base.pattern import compile_later

MAX_TERM = 200  # longer words are data; the rest of one is not searched by rank
MAX_REPEATS = 5
"""Most repetitions of a term in one blob: BM25 saturates, so more hardly change the ranking."""

MAX_TERM_BYTES = 400_000
"""Of the distinct terms of a blob whose words are listed: a picture as text has only words of its own."""
MARK = b"*"
"""The last term of a blob that may contain any text: one with words that were cut, or with too many."""

_WORD = compile_later(r"\w+")
_PART = compile_later(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_a-zA-Z]+")
_BLANKED = bytes(
    byte if byte >= 128 or byte == 0x5F or chr(byte).isalnum() else 32 for byte in range(256)
)
"""Translation table that replaces ASCII bytes outside words with spaces."""

_MAX_CACHED = 1 << 17  # words; then the cache begins anew


def decode_text(data: bytes) -> str:
    """Return a blob's text: UTF-8, or UTF-16 with a BOM; bad bytes become U+FFFD."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", "replace")
    return data.decode("utf-8", "replace").removeprefix("\ufeff")


def lines_of(data: bytes) -> list[str]:
    """Return a blob's lines as git counts them: a form feed or U+2028 ends none, unlike `splitlines`."""
    lines = decode_text(data).split("\n")
    if not lines[-1]:
        lines.pop()
    return [line.removesuffix("\r") for line in lines]


def fold_text(text: str) -> str:
    """Return text without case, letter by letter. The dot of the Turkish capital I is removed,
    because Python's `re` matches that letter with `i`."""
    return text.casefold().replace("\u0307", "").replace("ı", "i")


def words_of(text: str) -> list[str]:
    """Return the identifiers and words of a text, as written."""
    return _WORD.findall(text)


def parts_of(name: str) -> list[str]:
    """Return a name's parts in lower case: `parseHTTPRequest_v2` → parse, http, request, v, 2."""
    return [part.lower() for part in _PART.findall(name)]


def terms_of(word: str) -> tuple[str, ...]:
    """Return the terms of one word: itself in lower case, then its parts if it has several."""
    return _WORD_TERMS[word]


def _terms(word: str) -> tuple[str, ...]:
    whole = word.lower()[:MAX_TERM]
    if word.isalpha() and (word.islower() or word.isupper() or word.istitle()):
        return (whole,)
    parts = parts_of(word)
    if len(parts) < 2:
        bare = whole.strip("_")
        return (whole, bare) if bare and bare != whole else (whole,)
    joined = "".join(parts)[:MAX_TERM]
    extra = [joined] if joined != whole else []
    return tuple(dict.fromkeys([whole, *extra, *(part[:MAX_TERM] for part in parts)]))


def _folded(word: str) -> tuple[str, ...]:
    """Return the term by which a text search finds a word, if `lower` is another one."""
    folded = fold_text(word)[:MAX_TERM]
    return () if folded == word.lower()[:MAX_TERM] else (folded,)


class _WordTerms(dict[str, tuple[str, ...]]):
    """A cache of the terms of words; a plain dict costs half as much as a cached function."""

    def __missing__(self, word: str) -> tuple[str, ...]:
        if len(self) >= _MAX_CACHED:
            self.clear()
        terms = self[word] = _terms(word)
        return terms


class _ChunkTerms(dict[bytes, tuple[bytes, ...]]):
    """A cache of the terms of chunks: UTF-8 text between two bytes that are outside words."""

    def __init__(self) -> None:
        self.plain: set[bytes] = set()  # chunks whose only term is themselves: most of a text

    def __missing__(self, chunk: bytes) -> tuple[bytes, ...]:
        if len(self) >= _MAX_CACHED:
            self.clear()
            self.plain.clear()
        text = chunk.decode("utf-8", "replace")
        if chunk.isascii():
            found = _terms(text)
        else:
            words = words_of(text)
            found = tuple(term for word in words for term in (*_terms(word), *_folded(word)))
        terms = self[chunk] = tuple(term.encode() for term in found)
        if terms == (chunk,) and chunk.isascii():
            self.plain.add(chunk)
        return terms


_WORD_TERMS = _WordTerms()
_CHUNK_TERMS = _ChunkTerms()


def document_text(data: bytes, names: Iterable[str]) -> tuple[str, str]:
    """Return the lexical index's text for a blob and for the names of its definitions."""
    body, named = document_terms(data, names)
    return body.decode(), named.decode()


def document_terms(data: bytes, names: Iterable[str]) -> tuple[bytes, bytes]:
    """Return the same as `document_text`, in UTF-8."""
    text = data if data.isascii() else decode_text(data).encode("utf-8", "replace")
    return lexical_terms(text), lexical_terms(" ".join(names).encode("utf-8", "replace"))


def lexical_text(text: str) -> str:
    """Return the lexical index's form of a text: its terms, each repeated a few times at most."""
    return lexical_terms(text.encode("utf-8", "replace")).decode()


def lexical_terms(text: bytes) -> bytes:
    """Return the same as `lexical_text`, in UTF-8."""
    if LIBRARY is not None:
        found: bytes = LIBRARY.terms_of_text(text, _terms_of_chunk)
        return found
    return python_terms(text)


def _terms_of_chunk(chunk: bytes) -> bytes:
    return b" ".join(_CHUNK_TERMS[chunk])


def python_terms(text: bytes) -> bytes:
    """Do what native/terms.c does: words that are their only term first, then the others' terms."""
    counts = dict(Counter(text.translate(_BLANKED).split()))  # changing a Counter is slow
    plain = _CHUNK_TERMS.plain
    others = [
        (chunk, counts.pop(chunk))
        for chunk in list(counts)
        if chunk not in plain and (_CHUNK_TERMS[chunk] != (chunk,) or not chunk.isascii())
    ]
    for chunk, count in others:
        for term in _CHUNK_TERMS[chunk]:
            if term in counts:
                counts[term] += count
            else:
                counts[term] = count
    return b" ".join(_repeated(counts))


def _repeated(counts: dict[bytes, int]) -> list[bytes]:
    """Return each term, then the repetitions of frequent ones in rounds: the index ignores order.

    An empty term precedes the repetitions, for readers that need each term once.
    """
    terms = list(counts)
    sizes = [len(term) for term in terms]
    repeated = [
        term for round_ in range(1, MAX_REPEATS) for term, count in counts.items() if count > round_
    ]
    if repeated:
        terms += [b"", *repeated]
    is_marked = max(sizes, default=0) >= MAX_TERM or sum(sizes) > MAX_TERM_BYTES
    return [*terms, MARK] if is_marked else terms
