"""What an answer was made from: the words that were searched and the files that were read.

`recheck` compares it with what changed since. A word that a file gained or lost, or a file that was
read and differs, may change the answer; nothing else can. Words and, beyond a few, paths are hashed:
a collision costs a needless "changed", never a missed one.
"""

from __future__ import annotations

import os
from binascii import a2b_base64, b2a_base64
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any
from zlib import crc32

from gitindex.base.pattern import compile_later

if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_LISTED = 20
"""Paths that a footprint lists; more are hashed."""
MAX_WORDS = 120  # in a list; more are a filter: a receipt stays below 1 kB
MAX_EDITS = 20  # that a receipt names
BLOOM_BITS = 3_000  # at 300 words about one other word in 85 is taken for one of them
VERSION = 2
"""Of how words are hashed: a receipt of another one cannot be compared."""
_PART = compile_later(r"\w+")
_ESCAPE = compile_later(r"\\u+(?:([0-9a-fA-F]{4})|\{([0-9a-fA-F]{1,6})\})")


class Footprint:
    """Words and paths of one answer, or of all answers that share what they derived."""

    __slots__ = ("paths", "words")

    def __init__(self) -> None:
        self.words: set[str] = set()
        self.paths: set[str] = set()

    def add(self, other: Footprint) -> None:
        """Take over what another one has."""
        self.words |= other.words
        self.paths |= other.paths

    def fields(self, edits: Mapping[str, tuple[str, bytes | None]]) -> dict[str, Any] | None:
        """Return the fields of a receipt; None if there are too many edits to name them.

        `edits`: what differed from the tree, by path: the blob's id, and its text where it is known.
        """
        if len(edits) > MAX_EDITS:
            return None
        hashes = sorted({h for word in self.words for h in word_hashes(word)})
        few = len(hashes) <= MAX_WORDS
        result: dict[str, Any] = {"words": _packed(hashes)} if few else {"anyWords": _bloom(hashes)}
        if len(self.paths) <= MAX_LISTED:
            result["paths"] = sorted(self.paths)
        else:
            result["anyPaths"] = _bloom(map(path_hash, self.paths))
        if edits:
            words = set(hashes)
            result["edits"] = {
                path: [oid, int(data is None or not words.isdisjoint(text_hashes(data)))]
                for path, (oid, data) in sorted(edits.items())
            }
        return result


def plain(text: str) -> str:
    """Return a name as compilers read it: its escapes resolved, as NFKC."""
    if "\\" in text:
        text = _ESCAPE.sub(lambda m: _character(m.group(1) or m.group(2)), text)
    if text.isascii():
        return text
    from unicodedata import normalize  # lazily: most names have no need of it

    return normalize("NFKC", text)


def _character(digits: str) -> str:
    number = int(digits, 16)
    return chr(number) if number <= 0x10FFFF else ""


def word_hashes(text: str) -> list[int]:
    """Return the hashes of the words of a text; other spellings that compilers equate have the same."""
    read = plain(text)
    parts = _PART.findall(read) if read == text else [*_PART.findall(read), *_PART.findall(text)]
    return [crc32(part.encode("utf-8", "surrogatepass")) for part in parts]


def text_hashes(data: bytes) -> frozenset[int]:
    """Return the hashes of all words of a text."""
    text = data.decode("utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8", "replace")
    return frozenset(word_hashes(text))


def path_hash(path: str) -> int:
    """Return the hash of a path."""
    return crc32(os.fsencode(path))


class ReadFootprint:
    """A footprint as a receipt has it. Raises ValueError where it is malformed."""

    def __init__(self, fields: Mapping[str, Any]) -> None:
        self.exact = "words" in fields  # are the words a list, not a filter with rare false hits?
        self._words = frozenset(_unpacked(fields["words"])) if self.exact else frozenset()
        self._any_words = b"" if self.exact else _filter(fields.get("anyWords"))
        listed = fields.get("paths")
        self._paths = frozenset(_texts(listed)) if listed is not None else None
        self._any_paths = b"" if listed is not None else _filter(fields.get("anyPaths"))
        edits = fields.get("edits", {})
        if not isinstance(edits, dict):
            raise ValueError("edits are a map")
        self.edits = {path: (str(oid), bool(said)) for path, (oid, said) in edits.items()}

    def has(self, path: str) -> bool:
        """Return whether a file was read for the answer, or may have been."""
        if self._paths is not None:
            return path in self._paths
        return _is_in(self._any_paths, path_hash(path))

    def says(self, hashes: frozenset[int]) -> bool:
        """Return whether one of some words was searched for, or may have been."""
        if self.exact:
            return not self._words.isdisjoint(hashes)
        return any(_is_in(self._any_words, one) for one in hashes)


def _packed(hashes: Iterable[int]) -> str:
    return b2a_base64(b"".join(h.to_bytes(4, "big") for h in hashes), newline=False).decode()


def _unpacked(text: Any) -> list[int]:
    data = _bytes(text)
    return [int.from_bytes(data[at : at + 4], "big") for at in range(0, len(data), 4)]


def _bytes(text: Any) -> bytes:
    if not isinstance(text, str) or len(text) > 1 << 16:
        raise ValueError("not a text")
    return a2b_base64(text.encode("ascii", "replace"), strict_mode=True)


def _texts(value: Any) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise ValueError("not a list of paths")
    return value


def _bloom(hashes: Iterable[int]) -> str:
    bits = bytearray(BLOOM_BITS // 8)
    for one in hashes:
        for at in _bits(one):
            bits[at >> 3] |= 1 << (at & 7)
    return b2a_base64(bits, newline=False).decode()


def _filter(text: Any) -> bytes:
    data = _bytes(text)
    if len(data) != BLOOM_BITS // 8:
        raise ValueError("not a filter")
    return data


def _is_in(bits: bytes, one: int) -> bool:
    return all(bits[at >> 3] >> (at & 7) & 1 for at in _bits(one))


def _bits(one: int) -> list[int]:
    second = crc32(one.to_bytes(4, "big")) | 1
    return [(one + n * second) % BLOOM_BITS for n in range(4)]
