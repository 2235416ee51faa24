"""Selects a file's ambiguity flags that concern one definition, by its places or the names it uses.

The flags of a file do not record where they apply. So the definition is extracted again on its own,
between the file's imports and stand-ins for its other definitions, in a child like any blob.
"""

from __future__ import annotations

import re
import textwrap
from typing import TYPE_CHECKING, NamedTuple

from gitindex.extract.frames import WorkRequest
from gitindex.languages.facts import BlobFacts, FactsKey, Symbol, decode_facts
from gitindex.languages.table import extractor_id

if TYPE_CHECKING:
    from collections.abc import Iterator

OUTGOING = frozenset({"unresolved_receiver"})
"""Flags about what a function calls, not about what it is: reported, but no decision is needed."""
_OF_NAMES = frozenset({"multiple_definitions", "overload_set"})
_READ_AGAIN = {
    "python": "{} = 0",
    "javascript": "var {};",
    "typescript": "var {};",
    "tsx": "var {};",
}
"""Languages whose flags depend on places, each with its stand-in for another definition."""
_NAME = re.compile(r"(?<![\w.:$])([A-Z]\w*|[a-z_]\w*(?=\s*\())")
_NO_CODE = re.compile(r'//[^\n]*|"(?:[^"\\\n]|\\.)*"')
_RUST_PRELUDE = """
Some None Ok Err Vec String Option Result Box Iterator Into From Default Clone Copy Send Sync Drop Fn
FnMut FnOnce ToString ToOwned AsRef AsMut Eq Ord PartialEq PartialOrd Extend IntoIterator Self
DoubleEndedIterator ExactSizeIterator drop
"""
_KEYWORDS = "if while for match return fn loop switch catch sizeof assert"
_KNOWN = frozenset(f"{_RUST_PRELUDE} {_KEYWORDS}".split())
"""Names and keywords that are known without a star import."""
_MODULE_HOOK = "__getattr__"
"""The function of a Python module that is called for names that the module does not define."""
MAX_IMPORT_LINES = 60


class FlagQuestion(NamedTuple):
    """One definition of a file with known facts."""

    language: str
    data: bytes
    facts: BlobFacts
    symbol: Symbol


class SymbolFlags(NamedTuple):
    """The open flags of one definition, and those that are only reported."""

    open: tuple[str, ...]
    told: tuple[str, ...]


def flags_of_symbol(asked: FlagQuestion) -> SymbolFlags:
    """Return the flags of a file that count for one definition of it."""
    of_file = set(asked.facts.flags)
    found = of_file & {"parse_error", "encoding_lossy"}
    if "star_import" in of_file and _may_be_from_star(asked):
        found.add("star_import")
    if "macro_or_generated" in of_file and _is_macro_or_generated(asked):
        found.add("macro_or_generated")
    rest = of_file - found - _OF_NAMES - {"star_import", "macro_or_generated", "reexport_chain"}
    if rest and asked.language in _READ_AGAIN:
        alone = _read_alone(asked)
        found |= rest if alone is None else rest & alone
    else:
        found |= rest
    if "conditional_definition" in rest and _uses_conditional(asked):
        found.add("conditional_definition")
    return SymbolFlags(tuple(sorted(found - OUTGOING)), tuple(sorted(found & OUTGOING)))


def _read_alone(asked: FlagQuestion) -> set[str] | None:
    """Return the flags of the definition on its own; None if it cannot be extracted on its own."""
    from gitindex.extract.pool import Extractor, Task  # lazily: most answers extract nothing

    text = _alone(asked).encode("utf-8", "replace")
    key = FactsKey("", extractor_id(asked.language))
    extractor = Extractor(workers=1)
    try:
        [(_, reply)] = extractor.extract([Task(key, WorkRequest(asked.language, text))])
    finally:
        extractor.close()
    facts = decode_facts(reply.payload)
    if facts is None or ("parse_error" in facts.flags and "parse_error" not in asked.facts.flags):
        return None
    return set(facts.flags)


def _alone(asked: FlagQuestion) -> str:
    """Return the definition between the file's imports and stand-ins for its other names."""
    lines = asked.data.decode("utf-8", "replace").split("\n")
    symbol, symbols = asked.symbol, asked.facts.symbols
    others = {s.name for s in symbols if s.parent < 0 and s.name.isidentifier()} - {symbol.name}
    stand_in = _READ_AGAIN[asked.language]
    body = textwrap.dedent("\n".join(lines[symbol.start_line : symbol.end_line + 1]))
    in_class = symbol.parent >= 0 and symbols[symbol.parent].kind == "class"
    if in_class and asked.language != "python":
        body = f"class Enclosing {{\n{body}\n}}"
    imports = dict.fromkeys(_imports(asked, lines))
    known = map(stand_in.format, sorted(others - {_MODULE_HOOK}))
    return "\n".join([*imports, *known, *_hooks(asked, lines), body, ""])


def _hooks(asked: FlagQuestion, lines: list[str]) -> Iterator[str]:
    """Yield the module's hook under another name, so that only the code in it counts.

    Python calls it only for names that the module lacks (PEP 562). So it concerns a definition only
    if it reaches names by computation, for example in `globals()`.
    """
    for symbol in asked.facts.symbols:
        if symbol.parent < 0 and symbol.name == _MODULE_HOOK and symbol != asked.symbol:
            text = textwrap.dedent("\n".join(lines[symbol.start_line : symbol.end_line + 1]))
            yield text.replace(_MODULE_HOOK, "module_hook")


def _imports(asked: FlagQuestion, lines: list[str]) -> Iterator[str]:
    """Yield the import statements outside the definition, up to their closing bracket."""
    for item in asked.facts.imports:
        if asked.symbol.start_line <= item.line <= asked.symbol.end_line:
            continue
        text = ""
        for line in lines[item.line : item.line + MAX_IMPORT_LINES]:
            text += line.strip() + "\n"
            if sum(map(text.count, "([{")) <= sum(map(text.count, ")]}")):
                break
        yield text.rstrip("\n")


def _text(asked: FlagQuestion) -> str:
    lines = asked.data.decode("utf-8", "replace").split("\n")
    return "\n".join(lines[asked.symbol.start_line : asked.symbol.end_line + 1])


def _may_be_from_star(asked: FlagQuestion) -> bool:
    """Does it contain a star import, or use a type or function of unknown origin?"""
    stars = [item for item in asked.facts.imports if ("*", "*") in item.names]
    if any(asked.symbol.start_line <= s.line <= asked.symbol.end_line for s in stars):
        return True
    known = {local for item in asked.facts.imports for _, local in item.names}
    known |= {symbol.name for symbol in asked.facts.symbols} | _KNOWN
    return not set(_NAME.findall(_NO_CODE.sub(" ", _text(asked)))) <= known


def _is_macro_or_generated(asked: FlagQuestion) -> bool:
    """Is the file generated, or does the definition contain or use one of its macros?"""
    macros = [symbol for symbol in asked.facts.symbols if symbol.kind == "macro"]
    if not macros:
        return True
    inside = (asked.symbol.start_line <= m.start_line <= asked.symbol.end_line for m in macros)
    names = "|".join(re.escape(m.name) for m in macros)
    return any(inside) or re.search(rf"\b(?:{names})\b", _text(asked)) is not None


def _uses_conditional(asked: FlagQuestion) -> bool:
    """Is it indented at module level, or does it use such a definition? Then it is conditional."""
    lines = asked.data.decode("utf-8", "replace").split("\n")
    guarded = {
        symbol.name
        for symbol in asked.facts.symbols
        if symbol.parent < 0 and lines[symbol.start_line][:1] in (" ", "\t")
    }
    if asked.symbol.parent < 0 and asked.symbol.name in guarded:
        return True
    return any(re.search(rf"\b{re.escape(name)}\b", _text(asked)) for name in guarded)
