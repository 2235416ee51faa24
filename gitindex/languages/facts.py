"""Facts of one blob: value types and their serialised form. Pure; needs no store and no parser."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from itertools import count
from operator import lt
from typing import Any, NamedTuple

from gitindex.base.vocabulary import FactsStatus
from gitindex.languages.postings import (
    NO_SYMBOL,
    Occurrence,
    Postings,
    Use,
    pack_postings,
    read_postings,
    unpack_places,
)

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
