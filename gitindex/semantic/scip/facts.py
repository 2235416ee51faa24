"""Turns a SCIP document and its file's bytes into facts. Pure; refuses positions that don't fit."""

from __future__ import annotations

import codecs
import re
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import groupby
from typing import Any, NamedTuple

from gitindex.base.pattern import compile_later
from gitindex.base.vocabulary import Relation
from gitindex.languages.facts import Use
from gitindex.store.semantic import NOWHERE, Defined, FileFacts, Related, pack_places

_DEFINITION, _IMPORT = 1, 2
_ROLES = (
    ("is_implementation", Relation.IMPLEMENTATION),
    ("is_reference", Relation.REFERENCE),
    ("is_type_definition", Relation.TYPE_DEFINITION),
    ("is_definition", Relation.DEFINITION),
)
_HIDDEN_KINDS = ("parameter", "type_parameter", "module", "meta")
_STAND_INS = ("self", "Self", "this", "super", "base", "cls", "crate", "var", "default", "new")
"""Words that refer to a symbol without being its name."""
_FENCED = compile_later(r"\s*```\w*\n(.*?)\n?```\s*", re.DOTALL)
_HOVER = compile_later(r"^\([a-z ]{1,20}\) ")
"""The prefix in `(property) size: number`; the kind is stored separately."""
MAX_TEXT = 2_000  # characters of a signature or a comment that are kept

Span = tuple[int, int, int, int]


UTF8, UTF16, UTF32 = 1, 2, 3
"""SCIP's position encodings; 0 means unspecified, and then the tool's default applies."""
LINES = compile_later(rb"\r\n|\n|\r")
ECMA_LINES = compile_later(rb"\r\n|\n|\r|\xe2\x80[\xa8\xa9]")
"""ECMAScript also ends lines at U+2028 and U+2029; lines on disk do not end there."""

_NEWLINE = compile_later(rb"\n")


class OutsideFile(ValueError):
    """A position outside the bytes on disk: the indexer read other bytes."""


class Positions:
    """Converts positions in one file's bytes."""

    def __init__(self, data: bytes, encoding: int, breaks: re.Pattern[bytes] = LINES) -> None:
        self._data = data
        self._encoding = encoding
        self._breaks = breaks
        self._tables: dict[int, list[int]] = {}

    def place(self, line: int, column: int) -> tuple[int, int]:
        """Return line and byte column on disk; both 0-based."""
        if not 0 <= line < len(self._lines) or column < 0:
            raise OutsideFile(f"line {line}, column {column}")
        start, end = self._lines[line]
        offset = start + self._bytes(line, column, start, end)
        at = line if self._same_lines else bisect_right(self._line_starts, offset) - 1
        return at, offset - self._line_starts[at]

    def span(self, numbers: Sequence[int]) -> tuple[int, int, int, int]:
        """Convert a SCIP range of three or four numbers to lines and byte columns."""
        if len(numbers) == 3:
            line, column, end_column = numbers
            if 0 <= line < len(self._simple) and 0 <= column <= end_column <= self._simple[line]:
                return line, column, line, end_column
            end_line = line
        elif len(numbers) == 4:
            line, column, end_line, end_column = numbers
        else:
            raise OutsideFile(f"a range of {len(numbers)} numbers")
        found = (*self.place(line, column), *self.place(end_line, end_column))
        if found[2:] < found[:2]:
            raise OutsideFile(f"a range that ends before it starts: {list(numbers)}")
        return found

    def text(self, span: tuple[int, int, int, int]) -> bytes:
        """Return the bytes of a span."""
        line, column, end_line, end_column = span
        starts = self._line_starts
        return self._data[starts[line] + column : starts[end_line] + end_column]

    @cached_property
    def lossy(self) -> bool:
        """Are there bytes that are not valid UTF-8?"""
        try:
            self._data.decode()
        except UnicodeDecodeError:
            return True
        return False

    @cached_property
    def _line_starts(self) -> list[int]:
        return [0, *(gap.end() for gap in _NEWLINE.finditer(self._data))]

    @cached_property
    def _simple(self) -> list[int]:
        """Lengths of the lines whose columns are already bytes; -1 for the others."""
        if not self._same_lines or self._lines[0][0]:
            return []
        data = self._data
        if data.isascii():
            return [end - start for start, end in self._lines]
        return [end - start if data[start:end].isascii() else -1 for start, end in self._lines]

    @cached_property
    def _same_lines(self) -> bool:
        """Does the indexer count the same lines as there are on disk?"""
        return len(self._lines) == len(self._line_starts)

    @cached_property
    def _lines(self) -> list[tuple[int, int]]:
        """Start and end of each line as the indexer sees it, without a byte order mark."""
        mark = len(codecs.BOM_UTF8) if self._data.startswith(codecs.BOM_UTF8) else 0
        found, start = [], mark
        for gap in self._breaks.finditer(self._data):
            found.append((start, gap.start()))
            start = gap.end()
        found.append((start, len(self._data)))
        return found

    def _bytes(self, line: int, column: int, start: int, end: int) -> int:
        table = self._tables.get(line)
        if table is None:
            table = self._tables[line] = _offsets(self._data[start:end], self._encoding)
        if not table:
            if column > end - start:
                raise OutsideFile(f"line {line}, column {column}")
            return column
        if column >= len(table):
            raise OutsideFile(f"line {line}, column {column}")
        return table[column]


def _offsets(line: bytes, encoding: int) -> list[int]:
    """Return the byte offset of every unit of a line, and of its end; empty if units are bytes."""
    if encoding == UTF8 or line.isascii():
        return []
    found, at = [], 0
    for char in line.decode("utf-8", "surrogateescape"):
        found.append(at)
        if encoding == UTF16 and char > "\uffff":
            found.append(at)  # between two surrogates: indexers should not point here
        at += len(char.encode("utf-8", "surrogateescape"))
    found.append(at)
    return found


class SyntacticOutline(NamedTuple):
    """The syntactic layer's view of a definition."""

    kind: str
    start_line: int
    end_line: int
    exported: bool


class Syntax(NamedTuple):
    """The syntactic facts of the same bytes, by line and byte column."""

    uses: Mapping[tuple[int, int], int] = {}
    symbols: Mapping[tuple[int, int], SyntacticOutline] = {}
    bound: Collection[str] = ()  # names that imports of this file bind
    aliases: Collection[tuple[str, str]] = ()  # (name, other name) of all imports of the context


class IndexerQuirks(NamedTuple):
    """Properties of a tool that its output does not state."""

    encoding: int = UTF16
    breaks: re.Pattern[bytes] = LINES


_Seen = tuple[int, int, int, int, str, int, Span | tuple[()]]
"""One occurrence: span, identity, roles, and the definition's extent if the tool gives one.

A plain tuple: there are millions of them, and they sort by place.
"""


class _Extent(NamedTuple):
    """A definition that may contain others."""

    start: tuple[int, int]
    end: tuple[int, int]
    ordinal: int


def make_facts(document: Any, data: bytes, syntax: Syntax, habits: IndexerQuirks) -> FileFacts:
    """Return the facts of one document. Raises OutsideFile if it describes other bytes."""
    encoding = document.position_encoding or habits.encoding
    positions = Positions(data, encoding, habits.breaks)
    named: dict[str, ParsedSymbol] = {}
    seen, doubtful = _occurrences(document, positions, named, syntax)
    infos = {read_symbol(info.symbol).identity: info for info in document.symbols}
    definitions, extents = _definitions(seen, named, infos, syntax)
    around = _innermost(seen, definitions, extents)
    places = _places(seen, around, syntax.uses)
    relations = tuple(sorted(_relations(document.symbols)))
    names = {identity: named[identity].name for identity in places}
    names |= {text: read_symbol(text).name for r in relations for text in (r.identity, r.target)}
    flags = ("encoding_lossy",) if positions.lossy else ()
    parents = iter([i for one, i in zip(seen, around, strict=True) if one[5] & _DEFINITION])
    made = tuple(
        d if i == NOWHERE or d.kind == "module" else d._replace(parent=i)
        for d, i in zip(definitions, parents, strict=True)
    )
    interface = _interface_hash(made, relations)
    return FileFacts(made, places, relations, names, interface, flags, doubtful)


def _occurrences(
    document: Any, positions: Positions, named: dict[str, ParsedSymbol], syntax: Syntax
) -> tuple[list[_Seen], int]:
    """Return all occurrences in file order, each once, and how many were dropped."""
    found: list[_Seen] = []
    doubtful = 0
    for occurrence in document.occurrences:
        symbol = occurrence.symbol
        if not symbol:
            continue
        one = read_symbol(symbol)
        roles = occurrence.symbol_roles & (_DEFINITION | _IMPORT)
        whole: Span | tuple[()] = ()
        if roles & _DEFINITION and (numbers := occurrence.enclosing_range):
            whole = positions.span(numbers)
        is_used = not roles & _DEFINITION
        span = _span_of(
            positions.span(occurrence.range), one if is_used else None, positions, syntax
        )
        if span is None:
            doubtful += 1
            continue
        if one.kind != "meta":
            named[one.identity] = one
        elif roles & _DEFINITION or one.identity not in named:
            written = positions.text(span).decode("utf-8", "replace").strip("\"'`")
            named[one.identity] = one._replace(name=written or one.name)
        found.append((*span, one.identity, roles, whole))
    found.sort()
    return [one for one, _ in groupby(found)], doubtful


def _span_of(
    span: Span, used: ParsedSymbol | None, positions: Positions, syntax: Syntax
) -> Span | None:
    """Return the place of a name, in whose range a tool may include more; None if it is doubtful."""
    if used is None or not used.name_bytes:
        return span
    text = positions.text(span)
    if text.startswith(used.name_bytes + b" "):  # `make as build`: the name is first
        return (*span[:3], span[1] + len(used.name_bytes))
    if text == used.name_bytes or _is_plausible(text.decode("utf-8", "replace"), used.name, syntax):
        return span
    return None


def _is_plausible(text: str, name: str, syntax: Syntax) -> bool:
    """Can this text refer to a symbol of another name?

    Indexers make mistakes: one reports fields of a tuple as its class, and half of `os.path` as one
    function.
    """
    if not text.isidentifier() or text in _STAND_INS or text in syntax.bound:
        return True
    return (name, text) in syntax.aliases


def _definitions(
    seen: list[_Seen], named: Mapping[str, ParsedSymbol], infos: Mapping[str, Any], syntax: Syntax
) -> tuple[list[Defined], list[_Extent]]:
    """Return definitions in file order, and the extents of those that contain others."""
    made: list[Defined] = []
    extents: list[_Extent] = []
    for *span, identity, roles, around in seen:
        if not roles & _DEFINITION:
            continue
        line, column, _, end_column = span
        symbol = named[identity]
        outline = syntax.symbols.get((line, column))
        kind = outline.kind if outline and not symbol.is_local else symbol.kind
        whole = around or _lines(outline)
        signature, doc = _documentation(infos.get(identity))
        exported = outline.exported if outline else _is_visible(symbol)
        if whole and symbol.kind != "module":
            extents.append(_Extent(whole[:2], whole[2:], len(made)))
        first, last = (whole[0], whole[2]) if whole else (line, line)
        made.append(
            Defined(
                identity,
                kind,
                line,
                column,
                end_column,
                first,
                last,
                signature,
                doc,
                -1,
                exported and not symbol.is_local,
            )
        )
    extents.sort(key=lambda e: (e.start, [-n for n in e.end], e.ordinal))
    return made, extents


def _lines(outline: SyntacticOutline | None) -> Span | None:
    """Return the extent that the grammar gives a definition, if the tool gives none."""
    if outline is None or outline.end_line <= outline.start_line:
        return None
    return outline.start_line, 0, outline.end_line + 1, 0


def _innermost(seen: list[_Seen], definitions: list[Defined], extents: list[_Extent]) -> list[int]:
    """Return for each occurrence, in file order, the innermost other definition around it."""
    found = []
    open_ones: list[_Extent] = []
    waiting = iter([*extents, _Extent((1 << 62, 0), (0, 0), 0)])
    following = next(waiting)
    ordinal = -1
    for line, column, _, _, _, roles, _ in seen:
        spot = (line, column)
        own = -1
        if roles & _DEFINITION:
            own = ordinal = ordinal + 1
        while following.start <= spot:
            open_ones.append(following)
            following = next(waiting)
        while open_ones and open_ones[-1].end <= spot:
            open_ones.pop()
        found.append(_around(open_ones, spot, own, definitions) if open_ones else NOWHERE)
    return found


def _around(
    open_ones: list[_Extent], spot: tuple[int, int], own: int, definitions: list[Defined]
) -> int:
    if own >= 0 and definitions[own].kind == "module":
        return NOWHERE  # a module's definition has no enclosing one
    top = open_ones[-1]
    if top.end > spot and top.ordinal != own:
        return top.ordinal
    inside = (e.ordinal for e in reversed(open_ones) if e.end > spot and e.ordinal != own)
    return next(inside, NOWHERE)


def _places(
    seen: list[_Seen], around: list[int], uses: Mapping[tuple[int, int], int]
) -> dict[str, bytes]:
    found: dict[str, list[tuple[int, int, int, int, int, int]]] = {}
    for (line, column, end_line, end_column, identity, roles, _), enclosing in zip(
        seen, around, strict=True
    ):
        if roles:
            use = Use.DEFINITION if roles & _DEFINITION else Use.IMPORT
        else:
            use = uses.get((line, column)) or Use.REFERENCE  # not a definition here
        place = (line, column, end_line, end_column, use, enclosing)
        found.setdefault(identity, []).append(place)
    return {identity: pack_places(places) for identity, places in sorted(found.items())}


def _relations(symbols: Iterable[Any]) -> set[Related]:
    found = set()
    for info in symbols:
        own = read_symbol(info.symbol)
        for relationship in info.relationships:
            target = read_symbol(relationship.symbol)
            for field, kind in _ROLES:
                if getattr(relationship, field) and not (own.is_local or target.is_local):
                    found.add(Related(own.identity, target.identity, kind))
    return found


def _documentation(info: Any) -> tuple[str, str]:
    """Return signature and prose. Without a signature field, the first fenced block is used."""
    if info is None:
        return "", ""
    texts = list(info.documentation)
    signature = info.signature_documentation.text
    if not signature and texts and (fenced := _FENCED.fullmatch(texts[0])):
        signature, texts = fenced[1], texts[1:]
    shown = _HOVER.sub("", " ".join(signature.split()))
    return shown[:MAX_TEXT], "\n".join(texts).strip()[:MAX_TEXT]


def _is_visible(named: ParsedSymbol) -> bool:
    return named.kind not in _HIDDEN_KINDS and not named.is_local


def _interface_hash(definitions: tuple[Defined, ...], relations: tuple[Related, ...]) -> str:
    """Hash what other files can see: exported symbols, their signatures and what they implement."""
    import hashlib  # lazily: readers only parse symbols

    seen = {d.identity for d in definitions if d.exported}
    lines = sorted(f"{d.identity}\0{d.signature}" for d in definitions if d.exported)
    lines += [f"{r.identity}\0{r.kind}\0{r.target}" for r in relations if r.identity in seen]
    return hashlib.sha256("\n".join(lines).encode("utf-8", "surrogateescape")).hexdigest()[:32]


_ESCAPED_SPACE = "\0"
_KINDS = {
    "/": "module",
    "#": "class",
    ".": "variable",
    "().": "function",
    "()": "parameter",
    "[]": "type_parameter",
    "!": "macro",
    ":": "meta",
}
_NAMELESS_KINDS = ("module", "meta", "constructor", "")
_SUFFIXES = "/#.:!([])"


class ParsedSymbol(NamedTuple):
    """The parts of a symbol's text."""

    identity: str  # the same in every version of its package; `local N` within its file
    name: str
    kind: str
    is_local: bool
    name_bytes: bytes = b""  # the text at each occurrence; empty if that is not the name


class Descriptor(NamedTuple):
    """One step of a symbol's path: a name and the suffix that marks its kind."""

    name: str
    suffix: str


@lru_cache(maxsize=100_000)
def read_symbol(text: str) -> ParsedSymbol:
    """Return identity, name and kind of a symbol. A malformed symbol is its own identity."""
    if text.startswith("local "):
        return ParsedSymbol(text, text.removeprefix("local "), "variable", True)
    fields = text.replace("  ", _ESCAPED_SPACE).split(" ", 4)
    if len(fields) != 5:
        return ParsedSymbol(text, text, "", False)
    scheme, manager, package, _version, path = (
        field.replace(_ESCAPED_SPACE, "  ") for field in fields
    )
    steps = list(descriptors(path))
    name, kind = _called(steps)
    stands = b"" if kind in _NAMELESS_KINDS else name.encode("utf-8", "surrogatepass")
    return ParsedSymbol(f"{scheme} {manager} {package} . {path}", name or text, kind, False, stands)


def descriptors(path: str) -> Iterator[Descriptor]:
    """Return the steps of a symbol's path, outermost first."""
    at = 0
    while at < len(path):
        opener = path[at] if path[at] in "([" else ""
        name, at = _identifier(path, at + len(opener))
        if opener:
            yield Descriptor(name, "()" if opener == "(" else "[]")
            at += 1
        elif path[at : at + 1] == "(":
            at = path.find(")", at) + 2
            yield Descriptor(name, "().")
            if at == 1:  # unterminated
                return
        else:
            yield Descriptor(name, path[at : at + 1])
            at += 1


def qualified(identity: str) -> str:
    """Return the names from the outermost type or function down to a symbol; without its module."""
    path = identity.replace("  ", _ESCAPED_SPACE).split(" ", 4)[-1]
    found: list[str] = []
    for step in descriptors(path):
        if step.suffix == "/":
            found = []
        elif step.suffix != ":":
            found.append(step.name)
    return ".".join(found)


def is_twin(own: str, other: str) -> bool:
    """Are two identities the same Python symbol: `src.a.b` by file and `a.b` by import?"""
    mine, theirs = own.split(" ", 2)[:2], other.split(" ", 2)[:2]
    if mine != theirs or "python" not in mine:
        return False
    module, rest = _module(own)
    imported, same = _module(other)
    return rest == same and bool(imported) and module.endswith(f".{imported}")


def _module(identity: str) -> tuple[str, str]:
    """Return the module of an identity, and the rest."""
    path = identity.replace("  ", _ESCAPED_SPACE).split(" ", 4)[-1]
    module, at = _identifier(path, 0)
    return module, path[at:]


def _identifier(path: str, at: int) -> tuple[str, int]:
    if path[at : at + 1] != "`":
        end = at
        while end < len(path) and path[end] not in _SUFFIXES:
            end += 1
        return path[at:end], end
    end = at + 1
    while (end := path.find("`", end)) != -1 and path[end + 1 : end + 2] == "`":
        end += 2
    end = len(path) if end == -1 else end
    return path[at + 1 : end].replace("``", "`"), end + 1


def _called(steps: list[Descriptor]) -> tuple[str, str]:
    """Return the name in the source, and the kind. A constructor has its type's name."""
    if not steps:
        return "", ""
    last, outer = steps[-1], steps[-2] if len(steps) > 1 else Descriptor("", "")
    if last == Descriptor("__init__", ":") and outer.suffix == "/":
        return outer.name, "module"
    if last.name in ("<constructor>", "<init>") and outer.suffix == "#":
        return outer.name, "constructor"
    if last.name.startswith(("<get>", "<set>")):
        return last.name[5:], "method"
    kind = _KINDS.get(last.suffix, "")
    if outer.suffix == "#":
        kind = {"function": "method", "variable": "field"}.get(kind, kind)
    return last.name, kind
