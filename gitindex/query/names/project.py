"""The facts of one tree for name resolution, loaded in batches. Writes nothing."""

from __future__ import annotations

import json
import os
import unicodedata
from bisect import bisect_right
from collections.abc import Hashable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from gitindex.base.confined_read import ConfinedRoot
from gitindex.base.pattern import compile_later
from gitindex.base.vocabulary import MAX_PARSE_BYTES, MAX_TEXT_BYTES
from gitindex.git.interface import blob_id
from gitindex.languages.facts import Import, Occurrence, unpack_places
from gitindex.languages.scopes.model import FLOWING, SCOPED, FileFlow, FileScopes, TextKind
from gitindex.query.names.memory import Memory, TreeMemory
from gitindex.query.names.model import Definition, FileNames, LiveFile, Text, place_of
from gitindex.store.blobs import unpack_scopes
from gitindex.store.name_rows import find_places, split_places
from gitindex.view.footprint import plain
from gitindex.view.tree import BLOBS_NAMED, TreeView

if TYPE_CHECKING:
    from gitindex.base.answers import ReceiptFields


_SEPARATORS = compile_later(r"[^\w$-]+")
MAIN = frozenset({"__init__", "index", "mod", "lib", "main"})
"""Files that are imported by the name of their folder."""


class WrittenImport(NamedTuple):
    """One import, and all files that have it, with their languages."""

    module: str
    names: str  # as JSON
    level: int
    users: list[tuple[bytes, str]]

    def item(self) -> Import:
        """Return what an import resolver takes."""
        pairs = tuple((there, local) for there, local in json.loads(self.names))
        return Import(self.module, pairs, self.level, 0)

    def is_nameless(self) -> bool:
        """Return whether it names no module: `from . import x`."""
        return not self.module.strip("./")


class WrittenImports:
    """All imports of one tree; the same text in many files is one entry."""

    def __init__(self, view: TreeView) -> None:
        view.ensure_facts()
        users: dict[tuple[str, str, int, bool], list[tuple[bytes, str]]] = {}
        for path, language, *written in view.rows(
            "SELECT l.path, b.language, i.module, i.names, i.level FROM {live} l"
            " JOIN {imports} i ON i.blob_id=l.blob_id JOIN {blobs} b ON b.id=l.blob_id"
        ):
            users.setdefault((*written, language == "python"), []).append((path, language))
        self.entries = [WrittenImport(*key[:3], found) for key, found in users.items()]

    def with_words(self, words: set[str]) -> set[int]:
        """Return the numbers of the entries that have one of some words."""
        return {number for word in words for number in self._by_word.get(word, ())}

    def files_with(self, words: set[str]) -> set[str]:
        """Return the files whose imports have one of some words."""
        entries = (self.entries[number] for number in self.with_words(words))
        return {os.fsdecode(path) for entry in entries for path, _ in entry.users}

    @cached_property
    def _by_word(self) -> dict[str, list[int]]:
        by_word: dict[str, list[int]] = {}
        for number, entry in enumerate(self.entries):
            words = set(_SEPARATORS.split(f"{entry.module} {entry.names}"))
            words.add(entry.module.rpartition("/")[2])
            if not entry.is_nameless():
                words.discard("")
            for word in words:
                by_word.setdefault(word, []).append(number)
        return by_word


def words_of_import(item: Import) -> set[str]:
    """Return the words of an import that `words_of_file` may have; "" if it names no module."""
    words = {*_SEPARATORS.split(item.module), *(name for pair in item.names for name in pair)}
    return words | {item.module.rpartition("/")[2]}


def words_of_file(path: str) -> set[str]:
    """Return the words an import may use for a file: with and without suffix, and its folder's.

    A file that represents its folder is also reached by an import without name, the empty word. A
    Python import always names the last part of the module's path.
    """
    folder, _, name = path.rpartition("/")
    stem = name.partition(".")[0]
    if stem not in MAIN and name.endswith((".py", ".pyi", ".pyx")):
        return {stem}
    words = {name, stem, folder.rpartition("/")[2]}
    return words | {""} if stem in MAIN else words


MAX_NAME = 200
"""Characters of a name that are compared; names in the store are not much longer."""
MANY = 40
"""Names of a tree after which all that are spelled otherwise are listed: that takes as long."""

_LAST = "\U0010ffff"
_BETWEEN = (
    "WITH bounds(a, b) AS (VALUES {values})"
    " SELECT n.text FROM bounds CROSS JOIN {names} n ON n.text>=a AND n.text<b"
)
_ODD = (
    "SELECT text FROM {names} WHERE length(CAST(text AS BLOB))<>length(text) OR instr(text, '\\')"
)


class Spellings:
    """The names of one tree that are spelled otherwise than compilers read them."""

    def __init__(self) -> None:
        self._others: dict[str, list[str]] = {}
        self._all: dict[str, set[str]] | None = None  # by what they mean

    def others(self, view: TreeView, name: str) -> list[str]:
        """Return the names that mean the same as one. Many questions are answered by one list."""
        if name in self._others:
            return self._others[name]
        view.ensure_facts(words=[name])
        if self._all is None and len(self._others) >= MANY:
            self._all = _by_meaning(text for (text,) in view.rows(_ODD))
        word = plain(name)
        by_meaning = self._all if self._all is not None else _by_meaning(_near(view, word))
        others = sorted({word, *by_meaning.get(word, ())} - {name})
        if self._all is None:
            self._others[name] = others
        return others


def _near(view: TreeView, word: str) -> Iterator[str]:
    """Yield the names that begin like one up to a character that is no ASCII, or begins an escape."""
    word = word[:MAX_NAME]
    forms = {word} if word.isascii() else {word, unicodedata.normalize("NFD", word)}
    starts = {form[:end] for form in forms for end in range(len(form) + 1)}
    bounds = [(s + "\x80", s + _LAST) for s in starts] + [(s + "\\", s + "]") for s in starts]
    values = ",".join(["(?,?)"] * len(bounds))
    rows = view.rows(_BETWEEN.format(values=values, names="{names}"), *chain(*bounds))
    return (text for (text,) in rows)


def _by_meaning(names: Iterable[str]) -> dict[str, set[str]]:
    by_meaning: dict[str, set[str]] = {}
    for name in names:
        by_meaning.setdefault(plain(name), set()).add(name)
    return by_meaning


MAX_LOCALS = 200
"""Files of C and C++ whose scopes one query reads: there may be thousands."""

MAX_RECEIPTS = 4_000
"""Questions about one tree whose footprints are kept; each has about 1 kB."""

CHUNK = 300
"""Values bound in one statement."""


# CROSS JOIN keeps the join order: from the listed values to the tree, which may be large.
_SYMBOL = (
    'SELECT l.path, s.ordinal, n.text, s.qualified_name, s.kind, s.line, s."column", s.start_line,'
    " s.end_line, s.signature, s.parent, s.exported FROM "
)
_SYMBOLS_NAMED = (
    f"{_SYMBOL} {{names}} n CROSS JOIN {{symbols}} s ON s.name_id=n.id"
    " CROSS JOIN {live} l ON l.blob_id=s.blob_id WHERE n.text=?"
)
_PLACES = "SELECT l.path, o.names, o.places, n.id FROM"
_PLACES_NAMED = (
    f"{_PLACES} {BLOBS_NAMED} CROSS JOIN {{occurrences}} o ON o.blob_id=u.value"
    " CROSS JOIN {live} l ON l.blob_id=o.blob_id WHERE n.text=?"
)
LISTED = "{listed} w CROSS JOIN {live} l ON l.path=w.column1"


class Project:
    """One tree: definitions and occurrences by name, files by path, resolved imports."""

    def __init__(self, view: TreeView, memory: Memory | None = None) -> None:
        self.view = view
        self.memory = memory or Memory()
        self._sources: dict[str, FileNames | None] = {}
        self._where: dict[str, str] = {}
        self._oids: dict[str, bytes] = {}
        self._texts: dict[str, Text] = {}
        self._scopes: dict[str, FileScopes | None] = {}
        self._c_files = 0
        self._flows: dict[str, FileFlow | None] = {}
        self.notes: dict[Any, Any] = {}
        """Results cached for this query."""
        self._defined: dict[str, list[Definition]] = {}

    @cached_property
    def tree(self) -> TreeMemory:
        """Query-independent data of the tree."""
        tree = self.memory.tree(self.view)
        shared = tree.notes.setdefault("footprint", self.view.footprint)
        if shared is not self.view.footprint:  # what was derived for it is not read again
            shared.add(self.view.footprint)
            self.view.footprint = shared
        return tree

    def receipt(self, question: Hashable) -> ReceiptFields:
        """Return the receipt of an answer: asked again, a question has the one that it had.

        What was derived for a tree grows with other questions; the first answer needed none of that.
        """
        footprints = self.tree.table("receipts")
        fields = self.view.receipt()
        if "footprint" in fields:
            key = type(question), question
            fields["footprint"] = footprints.setdefault(key, fields["footprint"])
            if len(footprints) > MAX_RECEIPTS:
                del footprints[next(iter(footprints))]
        return fields

    def definitions(self, name: str) -> list[Definition]:
        """Return every symbol with this name, ordered by path."""
        if name not in self._defined:
            self.view.footprint.words.add(name)
            self.view.ensure_facts(words=[name])
            rows = self.view.rows(_SYMBOLS_NAMED, name)
            definitions = (_definition(row, os.fsdecode(row[0])) for row in rows)
            self._defined[name] = sorted(definitions, key=place_of)
        return self._defined[name]

    def places(self, name: str, within: Iterable[str] = ()) -> dict[str, list[Occurrence]]:
        """Return every occurrence of a name by path, in the tree or in the files `within`.

        Those that spell it otherwise are among them: their `name` is what is written there.
        """
        by_path = self.plain_places(name, within)
        for other in self.other_spellings(name):
            for path, places in self.plain_places(other, within).items():
                by_path[path] = [*by_path.get(path, ()), *places]
        return by_path

    def other_spellings(self, name: str) -> list[str]:
        """Return the names of the tree that compilers read as this one."""
        return self._spellings.others(self.view, name)

    @cached_property
    def _spellings(self) -> Spellings:
        spellings: Spellings = self.tree.notes.setdefault("spellings", Spellings())
        return spellings

    def plain_places(self, name: str, within: Iterable[str] = ()) -> dict[str, list[Occurrence]]:
        """Return the occurrences that are spelled like this."""
        only = [os.fsencode(path) for path in within]
        self.view.footprint.words.add(name)
        self.view.ensure_facts(words=[name], paths=only or None)
        if only:
            sql = f"{_PLACES} {LISTED} JOIN {{occurrences}} o ON o.blob_id=l.blob_id"
            rows = rows_of(self.view, f"{sql} CROSS JOIN {{names}} n WHERE n.text=?", only, name)
        else:
            rows = self.view.rows(_PLACES_NAMED, name)
        packed_places = {os.fsdecode(path): find_places(*row) for path, *row in rows}
        return {
            path: unpack_places(name, packed) for path, packed in packed_places.items() if packed
        }

    def places_in(self, path: str) -> list[Occurrence]:
        """Return every occurrence in one file, in its order."""
        self._settle([path])
        rows = self.view.rows(
            "SELECT o.names, o.places FROM {live} l JOIN {occurrences} o ON o.blob_id=l.blob_id"
            " WHERE l.path=?",
            os.fsencode(path),
        )
        by_id = {name_id: packed for row in rows for name_id, packed in split_places(*row)}
        sql = "SELECT text, id FROM {names} WHERE id IN (SELECT value FROM json_each(?))"
        named = self.view.rows(sql, str(list(by_id)))
        places = [place for name, at in named for place in unpack_places(name, by_id[at])]
        return sorted(places, key=lambda place: (place.line, place.column))

    def load(self, paths: Iterable[str]) -> None:
        """Load the symbols and imports of many files at once."""
        missing = [path for path in dict.fromkeys(paths) if path not in self._sources]
        if not missing:
            return
        self.view.footprint.paths.update(missing)
        self._settle(missing)
        raw = [os.fsencode(path) for path in missing]
        self._sources.update(dict.fromkeys(missing))
        for source in self._read_sources(raw):
            self._sources[source.path] = source

    def source(self, path: str) -> FileNames | None:
        """Return one file's facts; None if it has none."""
        if path not in self._sources:
            self.load([path])
        return self._sources[path]

    def has(self, path: str) -> bool:
        """Return whether a path is a file of the tree."""
        self.view.footprint.paths.add(path)
        return bool(self.view.rows("SELECT 1 FROM {live} f WHERE f.path=?", os.fsencode(path)))

    def family(self, definition: Definition) -> str:
        """Return the group of languages that a definition is of; empty without facts."""
        source = self.source(definition.path)
        return source.origin.family if source is not None else ""

    def know(self, path: str, oid: bytes) -> None:
        """Record the blob id of a path whose facts are not loaded."""
        self._oids[path] = oid

    def hold(self, path: str, data: bytes) -> None:
        """Keep the bytes of a file that the index leaves out, for this query."""
        self._texts[path] = Text(data)

    def is_decoded(self, path: str) -> bool:
        """Return whether the text of a file is not its bytes: UTF-16, which git does not search."""
        return self._text(path).decoded

    def where(self, path: str) -> str:
        """Return the source of a file: `index@<tree>`, or an overlay."""
        self.source(path)
        return self._where.get(path, "")

    def read(self, paths: Iterable[str]) -> None:
        """Load the text of many files at once: from disk if the bytes match the tree."""
        unread = [path for path in dict.fromkeys(paths) if path not in self._texts]
        self.view.footprint.paths.update(unread)
        missing = [path for path in unread if not self._remembered(path)]
        if missing:
            with ConfinedRoot(self.view.worktree.root) as disk:
                missing = [path for path in missing if not self._on_disk(disk, path)]
        for raw, data in self.view.read(map(os.fsencode, missing)).items() if missing else ():
            self._texts[os.fsdecode(raw)] = Text(data)
        for path in unread:
            if path not in self._texts:
                self._texts[path] = Text(b"")

    def text(self, path: str) -> bytes:
        """Return the bytes of one file, as columns count them."""
        return self._text(path).data

    def starts(self, path: str) -> list[int]:
        """Return the offsets where its lines start."""
        return self._text(path).starts

    def _text(self, path: str) -> Text:
        if path not in self._texts:
            self.read([path])
        return self._texts[path]

    def offset(self, path: str, line: int, column: int) -> int:
        """Return the offset of a line and column."""
        text = self._texts.get(path) or self._text(path)  # called for every place
        starts = text.starts
        return starts[line] + column if line < len(starts) else len(text.data)

    def span(self, path: str, first: int, last: int) -> str:
        """Return some lines of a file, the last one included."""
        starts, data = self.starts(path), self.text(path)
        end = starts[last + 1] if last + 1 < len(starts) else len(data)
        return data[starts[min(first, len(starts) - 1)] : end].decode("utf-8", "replace")

    def scopes(self, path: str) -> FileScopes | None:
        """Return the scopes of one file; None if its language has none, or they cannot be read."""
        if path not in self._scopes:
            self.load_scopes([path])
        return self._scopes[path]

    def load_scopes(self, paths: Iterable[str]) -> None:
        """Load the scopes of many files at once."""
        missing = [path for path in dict.fromkeys(paths) if path not in self._scopes]
        self.load(missing)
        self._scopes.update(dict.fromkeys(missing))
        unknown = []
        for source in filter(self._has_scopes, map(self.source, missing)):
            assert source is not None
            cached = self.memory.scopes(source.origin)
            if cached is not None:
                self._scopes[source.path] = cached[0]
            else:
                unknown.append(source.origin)
        self.read(origin.path for origin in unknown)
        texts = {origin: self.text(origin.path) for origin in unknown}
        todo = {origin: data for origin, data in texts.items() if len(data) <= MAX_PARSE_BYTES}
        stored = self._stored_scopes([origin.path for origin in todo])
        for origin, scopes in self.memory.read_scopes(todo, stored):
            self._scopes[origin.path] = scopes

    def _has_scopes(self, source: FileNames | None) -> bool:
        """Return whether the scopes of a file are read: not of more files of C than a query may."""
        if source is None or source.language not in SCOPED:
            return False
        self._c_files += source.origin.family == "c"
        return source.origin.family != "c" or self._c_files <= MAX_LOCALS

    def _stored_scopes(self, paths: list[str]) -> dict[str, bytes]:
        """Return the scopes that the store has of some files, and of overlaid ones."""
        sql = f"SELECT l.path, c.packed FROM {LISTED} JOIN {{scopes}} c ON c.blob_id=l.blob_id"
        rows = rows_of(self.view, sql, [os.fsencode(path) for path in paths])
        return {os.fsdecode(path): unpack_scopes(packed) for path, packed in rows}

    def flow(self, path: str) -> FileFlow | None:
        """Return the value flow of one file; None if its language has no such query."""
        if path not in self._flows:
            source, data = self.source(path), self.text(path)
            known = (
                source is not None and source.language in FLOWING and len(data) <= MAX_PARSE_BYTES
            )
            self._flows[path] = self.memory.flow(source.origin, data) if source and known else None
        return self._flows[path]

    def kinds(self, by_path: dict[str, list[int]]) -> dict[str, list[TextKind]]:
        """Return the kind of text at some offsets of some files."""
        texts = {}
        for path, offsets in by_path.items():
            source, data = self.source(path), self.text(path)
            if source is not None and len(data) <= MAX_PARSE_BYTES:
                texts[source.origin] = (data, offsets)
        return self.memory.kinds(texts) if texts else {}

    def line(self, path: str, offset: int) -> int:
        """Return the line of an offset."""
        return bisect_right(self.starts(path), offset) - 1

    def resolve(self, source: FileNames, imported: Import) -> tuple[str, ...]:
        """Return the files that an import reaches."""
        key = (source.path, imported)
        if key not in self._resolved:
            itself = source.language == "rust"
            self._resolved[key] = self.tree.resolver.resolve(
                source.path, source.language, imported, itself
            )
        return self._resolved[key]

    @cached_property
    def _resolved(self) -> dict[tuple[str, Import], tuple[str, ...]]:
        return self.tree.cache("resolved")

    @property
    def written(self) -> WrittenImports:
        """The unresolved imports of the tree."""
        if "written" not in self.tree.notes:
            self.tree.notes["written"] = WrittenImports(self.view)
        written: WrittenImports = self.tree.notes["written"]
        return written

    def importing(self, path: str) -> list[str]:
        """Return files that may import a file, by the words of their unresolved imports."""
        words = words_of_file(path)
        self.view.footprint.words |= words
        return sorted(self.written.files_with(words), key=os.fsencode)

    def importing_name(self, name: str) -> list[FileNames]:
        """Return files whose imports list a name."""
        self.view.footprint.words.add(name)
        paths = self.written.files_with({name})
        self.load(paths)
        return [s for s in map(self.source, sorted(paths)) if s is not None]

    def _settle(self, paths: list[str]) -> None:
        """Extract the facts of edited files."""
        if self.view.changed():
            self.view.ensure_facts(paths=map(os.fsencode, paths))

    def _remembered(self, path: str) -> bool:
        oid = self._oids.get(path)
        text = self.memory.text(oid) if oid else None
        if text is not None:
            self._texts[path] = text
        return text is not None

    def _on_disk(self, disk: ConfinedRoot, path: str) -> bool:
        oid = self._oids.get(path)
        raw = os.fsencode(path)
        if oid is None or raw in self.view.changed():
            return False
        try:
            file = disk.read(raw, MAX_TEXT_BYTES + 1)
        except OSError:
            return False
        if file is None or blob_id(file.data, 2 * len(oid)) != oid.hex():
            return False
        self._texts[path] = text = Text(file.data)
        self.memory.keep_text(oid, text)
        return True

    def _read_sources(self, raw: list[bytes]) -> Iterator[FileNames]:
        fresh: dict[bytes, LiveFile] = {}
        for path, oid, language, status, flags, where in rows_of(
            self.view,
            f"SELECT l.path, l.oid, b.language, b.status, b.flags, l.source FROM {LISTED}"
            " JOIN {blobs} b ON b.id=l.blob_id",
            raw,
        ):
            flag_names = tuple(filter(None, flags.split(",")))
            origin = LiveFile(os.fsdecode(path), oid, language, status, flag_names)
            self._where[origin.path] = where
            self._oids[origin.path] = oid
            known = self.memory.source(origin)
            if known is not None:
                yield known
            else:
                fresh[path] = origin
        yield from self._read_facts(fresh) if fresh else ()

    def _read_facts(self, fresh: dict[bytes, LiveFile]) -> Iterator[FileNames]:
        symbols: dict[bytes, list[Definition]] = {path: [] for path in fresh}
        for row in rows_of(
            self.view,
            f"{_SYMBOL} {LISTED} JOIN {{symbols}} s ON s.blob_id=l.blob_id"
            " JOIN {names} n ON n.id=s.name_id",
            list(fresh),
        ):
            symbols[row[0]].append(_definition(row, fresh[row[0]].path))
        imports: dict[bytes, list[tuple[int, Import]]] = {path: [] for path in fresh}
        for path, ordinal, module, names, level, line in rows_of(
            self.view,
            f"SELECT l.path, i.ordinal, i.module, i.names, i.level, i.line FROM {LISTED}"
            " JOIN {imports} i ON i.blob_id=l.blob_id",
            list(fresh),
        ):
            pairs = tuple((a, b) for a, b in json.loads(names))
            imports[path].append((ordinal, Import(module, pairs, level, line)))
        for path, origin in fresh.items():
            ordered = sorted(symbols[path], key=lambda symbol: symbol.ordinal)
            source = FileNames(origin, ordered, tuple(item for _, item in sorted(imports[path])))
            self.memory.keep(source)
            yield source


def rows_of(view: TreeView, sql: str, values: Sequence[Any], *rest: Any) -> list[Any]:
    """Return rows of a query over a list of values, `{listed}`, run in chunks."""
    rows = []
    for at in range(0, len(values), CHUNK):
        part = values[at : at + CHUNK]
        listed = f"(VALUES {','.join(['(?)'] * len(part))})"
        rows += view.rows(sql.replace("{listed}", listed), *part, *rest)
    return rows


def _definition(row: Any, path: str) -> Definition:
    return tuple.__new__(Definition, (path, *row[1:-1], row[-1] == 1))  # there are thousands
