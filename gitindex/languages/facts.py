"""Facts of one blob: value types and their serialised form. Pure; needs no store and no parser."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, partial
from itertools import accumulate, chain, count, pairwise
from operator import lt
from typing import Any, NamedTuple

from gitindex.base.vocabulary import FactsStatus

LEAP = 1 << 20
LEAP_MARK = 0x10FFFF
"""Column value that marks a gap of many lines instead of a place."""

_NATIVE = f"utf-32-{sys.byteorder[0]}e"
"""The memory layout of an array of numbers: the fastest way to turn numbers into characters."""

Flat = list[int]
"""Places of one name in file order, each `line * 8 + use`, `column`, `enclosing + 1` (0: none)."""


class Use:
    """The role of an occurrence at its place: stored in three bits."""

    DEFINITION = 0
    IMPORT = 1
    REFERENCE = 2
    CALL = 3
    ATTRIBUTE = 4
    TYPE = 5
    INHERIT = 6
    DECORATOR = 7


NO_SYMBOL = (1 << 18) - 1
"""Enclosing-symbol ordinal of an occurrence at module level."""


class Occurrence(NamedTuple):
    """One identifier at one place. Line and column are 0-based; the column counts UTF-8 bytes."""

    name: str
    line: int
    column: int
    use: int
    enclosing: int


class Postings(Mapping[str, bytes]):
    """Names and their packed places: one text for all, split when a name is looked up.

    Lines are stored as differences, numbers as characters: UTF-8 makes small numbers short.
    """

    def __init__(self, counts: dict[str, int], text: str) -> None:
        self.counts = counts  # count of numbers per name, three to a place
        self.text = text
        self._starts: dict[str, int] = {}

    def __getitem__(self, name: str) -> bytes:
        if not self._starts:
            ends = accumulate(self.counts.values(), initial=0)
            self._starts = dict(zip(self.counts, ends, strict=False))
        start = self._starts[name]
        return _to_bytes(self.text[start : start + self.counts[name]])

    def __iter__(self) -> Iterator[str]:
        return iter(self.counts)

    def __len__(self) -> int:
        return len(self.counts)

    def encode(self) -> bytes:
        """Return the packed places of all names, in order."""
        return _to_bytes(self.text)


def join_postings(packed: Iterable[tuple[str, bytes]]) -> Postings:
    """Return postings of names whose places are already packed."""
    texts = {name: places.decode("utf-8", "surrogatepass") for name, places in packed}
    return Postings({name: len(text) for name, text in texts.items()}, "".join(texts.values()))


def pack_postings(by_name: Mapping[str, Flat]) -> Postings:
    """Return the postings of a blob."""
    flat = list(chain.from_iterable(by_name.values()))
    heads = flat[::3]
    flat[3::3] = [head - (last & -8) for last, head in pairwise(heads)]
    at = 0
    for places in by_name.values():
        flat[at] = places[0]
        at += len(places)
    try:
        text = array("I", flat).tobytes().decode(_NATIVE, "surrogatepass")
    except UnicodeDecodeError:
        return _pack_with_leaps(by_name)
    return Postings(dict(zip(by_name, map(len, by_name.values()), strict=True)), text)


_MODULO = (3).__rmod__
"""Numbers of a name come in threes."""


def read_postings(names: list[str], counts: list[int], packed: bytes) -> Postings:
    """Decode the output of `encode`; ValueError if names, counts and text do not match."""
    text = packed.decode("utf-8", "surrogatepass")
    if sum(counts) != len(text) or min(counts, default=3) <= 0 or any(map(_MODULO, counts)):
        raise ValueError("bad postings")
    postings = Postings(dict(zip(names, counts, strict=True)), text)
    if len(postings) != len(counts):
        raise ValueError("a name twice")
    return postings


def unpack_places(name: str, packed: bytes) -> list[Occurrence]:
    """Return the occurrences of `name` in one posting, in file order."""
    numbers = map(ord, packed.decode("utf-8", "surrogatepass"))
    places = []
    line = 0
    for head, column, enclosing in zip(numbers, numbers, numbers, strict=True):
        line += head >> 3
        if column != LEAP_MARK:
            inside = enclosing - 1 if enclosing else NO_SYMBOL
            places.append(Occurrence(name, line, column, head & 7, inside))
    return places


def _pack_with_leaps(by_name: Mapping[str, Flat]) -> Postings:
    """Pack places whose line differences exceed the range of a character: long gaps are split."""
    texts = {name: "".join(map(chr, _leaping(places))) for name, places in by_name.items()}
    return join_postings((name, _to_bytes(text)) for name, text in texts.items())


def _leaping(flat: Flat) -> Iterator[int]:
    last = 0
    numbers = iter(flat)
    for head, column, enclosing in zip(numbers, numbers, numbers, strict=True):
        distance = head - (last & -8)
        last = head
        while distance > LEAP:
            yield from (LEAP, LEAP_MARK, 0)
            distance -= LEAP
        yield from (distance, min(column, LEAP_MARK - 1), enclosing)


def _to_bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


__all__ = [
    "NO_SYMBOL",
    "BlobFacts",
    "FactsKey",
    "Import",
    "Occurrence",
    "Postings",
    "Symbol",
    "Use",
    "decode_facts",
    "encode_facts",
    "pack_postings",
    "unpack_places",
]

MAGIC = b"gixf3\n"
"""Start of every serialised payload; the digit is the format's version."""


MAX_NUMBER = 1 << 31
"""Lines and counts of a payload are below: numbers that a damaged or foreign one may hold are not."""
_SYMBOL_TYPES = (str, str, str, int, int, int, int, str, str, int, bool)
"""Types of a symbol's fields."""


class FactsKey(NamedTuple):
    """The key of facts: a blob's bytes, parsed as one language, by one version of the extractor."""

    oid: str
    extractor: str


class Symbol(NamedTuple):
    """One definition. Lines and columns are 0-based inside; user interfaces add one."""

    name: str
    qualified: str
    kind: str
    line: int
    column: int
    start_line: int
    end_line: int
    signature: str
    doc: str
    parent: int  # ordinal of the enclosing symbol, -1 at module level
    exported: bool


class Import(NamedTuple):
    """One import as written: `module` is the path or dotted name, `names` are the bound names."""

    module: str
    names: tuple[tuple[str, str], ...]  # (imported name, local name); "*" for a star import
    level: int  # leading dots of a relative Python import, else 0
    line: int


class BlobFacts(NamedTuple):  # not a dataclass: a cold worker cannot afford the import
    """All syntactic facts about one blob in one language."""

    language: str
    status: FactsStatus
    lines: int
    reason: str = ""  # skip reason, quarantine cause, or why it is partial
    symbols: tuple[Symbol, ...] = ()
    imports: tuple[Import, ...] = ()
    exports: tuple[str, ...] = ()
    interface_hash: str = ""
    flags: tuple[str, ...] = ()  # ambiguity flags of the contract
    postings: Postings = Postings({}, "")  # name -> packed places
    scopes: bytes = b""  # packed, of languages that have them (languages/scopes)


_PARENT = Symbol._fields.index("parent")
_SYMBOL: Callable[[tuple[Any, ...]], Symbol] = partial(tuple.__new__, Symbol)
"""`Symbol._make` without its cost."""


def encode_facts(facts: BlobFacts) -> bytes:
    """Return the serialised form: magic, a JSON head, scopes, the packed places of all names in order."""
    head = {
        "language": facts.language,
        "status": facts.status,
        "lines": facts.lines,
        "reason": facts.reason,
        "symbols": list(zip(*facts.symbols, strict=True)),
        "imports": facts.imports,
        "exports": facts.exports,
        "interfaceHash": facts.interface_hash,
        "flags": facts.flags,
        "names": list(facts.postings.counts),
        "counts": list(facts.postings.counts.values()),
        "scopes": len(facts.scopes),
    }
    text = _encoder()(head).encode()
    return b"%s%d\n%s%s%s" % (MAGIC, len(text), text, facts.scopes, facts.postings.encode())


@cache
def _encoder() -> Callable[[object], str]:
    """Return what writes pure ASCII; created once. Facts contain no cycles."""
    import json

    return json.JSONEncoder(check_circular=False, separators=(",", ":")).encode


def decode_facts(payload: bytes) -> BlobFacts | None:
    """Return the facts of a payload; None if it is invalid, which counts as a cache miss."""
    try:
        return _decode(payload)
    except (ValueError, TypeError, KeyError, IndexError, RecursionError):
        return None


def _decode(payload: bytes) -> BlobFacts:
    if not payload.startswith(MAGIC):
        raise ValueError("not a facts payload")
    length, _, rest = payload[len(MAGIC) :].partition(b"\n")
    size = int(length)
    if length != b"%d" % size or size < 0:
        raise ValueError("bad length")
    head = _read_head(rest[:size])
    places = size + _number(head["scopes"])
    return BlobFacts(
        language=_text(head["language"]),
        status=FactsStatus(head["status"]),
        lines=_number(head["lines"]),
        reason=_text(head["reason"]),
        symbols=_symbols(head["symbols"]),
        imports=tuple(_import(row) for row in _list(head["imports"])),
        exports=tuple(_column(head["exports"], str)),
        interface_hash=_text(head["interfaceHash"]),
        flags=tuple(_column(head["flags"], str)),
        postings=read_postings(
            _column(head["names"], str), _column(head["counts"], int), rest[places:]
        ),
        scopes=rest[size:places],
    )


def _read_head(text: bytes) -> dict[str, Any]:
    """Return the JSON head: an object whose texts can all be stored."""
    if not text.isascii():
        raise ValueError("not written by us")
    import json  # lazily: a search that decodes no facts spares 2 ms

    head = json.loads(text)
    if not isinstance(head, dict):
        raise TypeError("object expected")
    if b"\\ud" in text.lower():  # may be a lone surrogate, which no store can hold
        json.dumps(head, ensure_ascii=False).encode()
    return head


def _text(value: object) -> str:
    if type(value) is not str:
        raise TypeError("text expected")
    return value


def _number(value: object) -> int:
    if type(value) is not int:
        raise TypeError("number expected")
    if not -1 <= value < MAX_NUMBER:
        raise ValueError("number out of range")
    return value


def _list(value: object) -> list[Any]:
    if type(value) is not list:
        raise TypeError("list expected")
    return value


def _column(values: object, kind: type) -> list[Any]:
    """Return a list after one type check of all values: single checks double the decoding time."""
    column = _list(values)
    if set(map(type, column)) - {kind}:
        raise TypeError(f"{kind} expected")
    if kind is int and column and (min(column) < -1 or max(column) >= MAX_NUMBER):
        raise ValueError("number out of range")
    return column


def _symbols(columns: object) -> tuple[Symbol, ...]:
    if columns == []:
        return ()
    pairs = zip(_list(columns), _SYMBOL_TYPES, strict=True)
    checked = [_column(column, kind) for column, kind in pairs]
    if not all(map(lt, checked[_PARENT], count())):
        raise ValueError("a definition inside itself")
    return tuple(map(_SYMBOL, zip(*checked, strict=True)))


def _import(row: list[Any]) -> Import:
    module, names, level, line = row
    pairs = tuple((_text(a), _text(b)) for a, b in names)
    return Import(_text(module), pairs, _number(level), _number(line))
