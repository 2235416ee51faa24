"""Facts of one blob: value types and their one serialised form. Pure; knows no store and no parser."""

from __future__ import annotations

import json
from array import array
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol

from gitindex.words import FactsStatus

MAGIC = b"gixf1\n"
"""Start of every serialised payload; the digit is the format's version."""


MAX_NUMBER = 1 << 31
_SYMBOL_TYPES = [str, str, str, int, int, int, int, str, str, int, bool]
"""Types of a symbol's fields, compared at once: one by one nearly doubles the cost of decoding."""


class FactsKey(NamedTuple):
    """Names facts: a blob's bytes, read as one language, by one version of the extractor."""

    oid: str
    extractor: str


class Use:
    """What an occurrence does at its place: stored in four bits. 0–2 are definitions and imports."""

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


class Symbol(NamedTuple):
    """One definition. Lines and columns are 0-based inside; doors add one."""

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
    """One import as written: `module` is the path or dotted name, `names` what it binds."""

    module: str
    names: tuple[tuple[str, str], ...]  # (imported name, local name); "*" for a star import
    level: int  # leading dots of a relative Python import, else 0
    line: int


class BlobFacts(NamedTuple):  # not a dataclass: a cold worker cannot afford the import
    """Everything the syntactic layer says about one blob in one language."""

    language: str
    status: FactsStatus
    lines: int
    reason: str = ""  # skip reason, quarantine cause, or what made it partial
    symbols: tuple[Symbol, ...] = ()
    imports: tuple[Import, ...] = ()
    exports: tuple[str, ...] = ()
    interface_hash: str = ""
    flags: tuple[str, ...] = ()  # ambiguity flags of the contract
    postings: Mapping[str, bytes] = MappingProxyType({})  # name -> packed places, sorted


def pack_place(line: int, column: int, use: int, enclosing: int) -> int:
    """One occurrence in 64 bits: 21 of line, 21 of column, 4 of use, 18 of enclosing symbol."""
    return min(line, 0x1FFFFF) << 43 | min(column, 0x1FFFFF) << 22 | use << 18 | enclosing


def unpack_places(name: str, packed: bytes) -> list[Occurrence]:
    """The occurrences of `name` behind one posting, in file order."""
    places = array("Q")
    places.frombytes(packed)
    return [
        Occurrence(name, p >> 43, p >> 22 & 0x1FFFFF, p >> 18 & 15, p & NO_SYMBOL) for p in places
    ]


def encode_facts(facts: BlobFacts) -> bytes:
    """The serialised form: magic, a JSON head, then the packed places of all names in order."""
    head = {
        "language": facts.language,
        "status": facts.status,
        "lines": facts.lines,
        "reason": facts.reason,
        "symbols": facts.symbols,
        "imports": facts.imports,
        "exports": facts.exports,
        "interfaceHash": facts.interface_hash,
        "flags": facts.flags,
        "names": list(facts.postings),
        "counts": [len(p) for p in facts.postings.values()],
    }
    text = json.dumps(head, separators=(",", ":"), ensure_ascii=True).encode()
    return b"%s%d\n%s%s" % (MAGIC, len(text), text, b"".join(facts.postings.values()))


def decode_facts(payload: bytes) -> BlobFacts | None:
    """The facts of a payload, or None for anything that is not one: a bad payload is a miss."""
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
    packed = memoryview(rest)[size:]
    postings: dict[str, bytes] = {}
    at = 0
    for name, count in zip(head["names"], head["counts"], strict=True):
        if count <= 0 or count % 8 or name in postings:
            raise ValueError("bad posting")
        postings[_text(name)] = bytes(packed[at : at + count])
        at += count
    if at != len(packed):
        raise ValueError("truncated postings")
    return BlobFacts(
        language=_text(head["language"]),
        status=FactsStatus(head["status"]),
        lines=_number(head["lines"]),
        reason=_text(head["reason"]),
        symbols=tuple(_symbol(row) for row in _list(head["symbols"])),
        imports=tuple(_import(row) for row in _list(head["imports"])),
        exports=tuple(_text(name) for name in _list(head["exports"])),
        interface_hash=_text(head["interfaceHash"]),
        flags=tuple(_text(flag) for flag in _list(head["flags"])),
        postings=postings,
    )


def _read_head(text: bytes) -> dict[str, Any]:
    """The JSON head: an object whose texts can all be stored."""
    if not text.isascii():
        raise ValueError("not written by us")
    head = json.loads(text)
    if not isinstance(head, dict):
        raise TypeError("object expected")
    if b"\\ud" in text.lower():  # perhaps half a surrogate pair, which no store can hold
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


def _symbol(row: list[Any]) -> Symbol:
    if [*map(type, row)] != _SYMBOL_TYPES:
        raise TypeError("symbol expected")
    numbers = (*row[3:7], row[9])
    if min(numbers) < -1 or max(numbers) >= MAX_NUMBER:
        raise ValueError("number out of range")
    return Symbol._make(row)


def _import(row: list[Any]) -> Import:
    module, names, level, line = row
    pairs = tuple((_text(a), _text(b)) for a, b in names)
    return Import(_text(module), pairs, _number(level), _number(line))


class FactsCache(Protocol):
    """Where serialised facts are kept. A bad or missing payload is a miss, never an error."""

    def missing(self, keys: list[FactsKey]) -> list[FactsKey]:
        """Those of `keys` that are not held, in the given order."""
        ...

    def get(self, key: FactsKey) -> bytes | None:
        """The payload of `key`, or None."""
        ...

    def put(self, key: FactsKey, payload: bytes) -> None:
        """Keep `payload` unless `key` is held already."""
        ...
