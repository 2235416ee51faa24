"""Facts of one blob: a pure function of its bytes and its language. Reads no file."""

from __future__ import annotations

from itertools import accumulate

from gitindex.base.vocabulary import FactsStatus
from gitindex.languages.facts import BlobFacts
from gitindex.languages.scopes.read import read_scopes
from gitindex.languages.syntax.details import interface_hash, reexports
from gitindex.languages.syntax.flags import Reading, read_flags
from gitindex.languages.syntax.imports import read_imports
from gitindex.languages.syntax.macros import Span, mask_macros
from gitindex.languages.syntax.outline import read_outline
from gitindex.languages.syntax.parser import Parsed, parse, parse_tree
from gitindex.languages.syntax.postings import build_postings
from gitindex.languages.syntax.source import SourceText, count_lines, read_source, readable
from gitindex.languages.table import TEXT

MAX_BYTES = 1 << 20
"""Larger blobs are not parsed."""

MAX_NESTING = 5_000
"""Most open or surplus closing brackets; tree-sitter's queries are quadratic in them."""

_BRACKETS = b"([{)]}"
_OTHERS = bytes(byte for byte in range(256) if byte not in _BRACKETS)
_STEPS = {byte: 1 if byte in b"([{" else -1 for byte in _BRACKETS}


def extract_facts(data: bytes, language: str, scopes: bool = True) -> BlobFacts:
    """Return symbols, imports, exports, flags and postings of a blob; partial if it is broken.

    `scopes`: the scopes, too, which cost as much as all the rest.
    """
    source = read_source(data)
    reason = _why_unparsed(source, language)
    if reason is not None:
        return _lexical(source, language, reason)
    masked = mask_macros(source.data, language)
    parsed = parse(readable(source, masked.data), language)
    if parsed is None:
        return _lexical(source, language, "no_grammar")
    facts = _facts(source, language, parsed, masked.spans)
    return (
        facts._replace(scopes=read_scopes(parsed.root, source.data, language)) if scopes else facts
    )


def extract_scopes(data: bytes, language: str) -> bytes:
    """Return the scopes of a blob alone, equal to those of its facts; empty if it has none."""
    source = read_source(data)
    if _why_unparsed(source, language) is not None:
        return b""
    root = parse_tree(readable(source, mask_macros(source.data, language).data), language)
    return b"" if root is None else read_scopes(root, source.data, language)


def _why_unparsed(source: SourceText, language: str) -> str | None:
    if language == TEXT:
        return ""
    if len(source.data) > MAX_BYTES:
        return "oversize"
    return "nesting" if nesting(source.data) > MAX_NESTING else None


def _lexical(source: SourceText, language: str, reason: str) -> BlobFacts:
    flags = ("encoding_lossy",) if source.lossy else ()
    lines = count_lines(source.data)
    return BlobFacts(language, FactsStatus.LEXICAL, lines, reason=reason, flags=flags)


def nesting(data: bytes) -> int:
    """Return the range of the bracket depth; an upper bound, as brackets in strings count too."""
    brackets = data.translate(None, delete=_OTHERS)
    if len(brackets) <= MAX_NESTING:
        return 0  # too few brackets to reach the limit
    steps = map(_STEPS.__getitem__, brackets)
    depths = list(accumulate(steps, initial=0))
    return max(depths) - min(depths)


def _facts(source: SourceText, language: str, parsed: Parsed, macros: list[Span]) -> BlobFacts:
    data, captures = source.data, parsed.captures
    outline = read_outline(data, captures, language)
    imports = read_imports(captures, outline.starts, language)
    postings = build_postings(data, outline, captures, macros)
    surface = [*outline.surface, *reexports(imports, outline.exports, language)]
    reading = Reading(data, language, captures, outline, imports, postings)
    broken = parsed.has_error
    return BlobFacts(
        language=language,
        status=FactsStatus.PARTIAL if broken else FactsStatus.PARSED,
        lines=count_lines(data),
        reason="syntax" if broken else "",
        symbols=outline.symbols,
        imports=imports,
        exports=outline.exports,
        interface_hash=interface_hash(surface),
        flags=read_flags(reading, broken=broken, lossy=source.lossy),
        postings=postings,
    )
