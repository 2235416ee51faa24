"""Occurrences of a name in texts, as `git grep -a -F -w -o` counts them, and those that no fact binds."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from gitindex.base.confined_read import ConfinedRoot
from gitindex.base.pattern import compile_later
from gitindex.base.vocabulary import (
    BINARY_PROBE,
    FactsStatus,
    MentionKind,
    OccurrenceClass,
    SkipReason,
    Why,
)
from gitindex.extract.fragments import fragments_of
from gitindex.languages.facts import Occurrence, Use
from gitindex.languages.scopes.model import MODELLED, TextKind
from gitindex.languages.table import may_be_of
from gitindex.query.names.model import (
    ECMA,
    ELSEWHERE,
    NOT_PARSED,
    RECEIVER,
    STRING,
    At,
    Definition,
    FileNames,
    PlaceClass,
    enclosing,
    family_of,
    is_python,
)
from gitindex.query.names.project import LISTED, Project, rows_of
from gitindex.store.text_index import candidates
from gitindex.view.overlay import WORKTREE
from gitindex.view.tree import TreeView

MAX_FILES = 20_000
"""Files whose text one query reads."""
MAX_LEFT_OUT, MAX_LEFT_OUT_BYTES = 5_000, 128 << 20
"""Files that the index leaves out, and their bytes, that one query searches."""

_FILE = "SELECT l.path, b.language, b.status, l.oid FROM "
_INDEXED = " WHERE b.status NOT IN ('skipped', 'quarantined')"
_ALL = f"{_FILE} {{live}} l JOIN {{blobs}} b ON b.id=l.blob_id {_INDEXED}"
_OF_PATHS = f"{_FILE} {LISTED} JOIN {{blobs}} b ON b.id=l.blob_id {_INDEXED}"
_OF_BLOBS = (  # from the listed values to the tree, which may be large
    f"{_FILE} {{listed}} w CROSS JOIN {{blobs}} b ON b.id=w.column1"
    f" CROSS JOIN {{live}} l ON l.blob_id=b.id {_INDEXED}"
)
_LEFT_OUT = (
    "SELECT l.path, coalesce(l.skip, b.reason), l.oid FROM {live} l LEFT JOIN {blobs} b"
    " ON b.id=l.blob_id"
    " WHERE (l.skip IS NOT NULL OR b.id IS NULL OR b.status IN ('skipped', 'quarantined'))"
    " AND NOT (l.skip IS NULL AND b.reason IS 'binary' AND b.lines IS 0)"
)
"""Paths without facts, but for those that git takes as binary: it searches none of these."""
_WORD = compile_later(rb"\w+")
_NAME = compile_later(rb"[\w$@#!?\x80-\xff]+")
"""A name of code: longer than what git takes as a word."""
_VERBATIM = {"csharp": b"@", "rust": b"r#"}
"""What may stand before a name so that it is no keyword; it is no part of the name."""
_NOT_GREPPED = (SkipReason.SYMLINK, SkipReason.SUBMODULE)


class MentioningFile(NamedTuple):
    """A file whose text may contain the name."""

    path: str
    language: str
    status: str  # words.FactsStatus, or the reason it is skipped
    oid: bytes


class TextMentions(NamedTuple):
    """Occurrences of a name in texts by file, and how many files were not read."""

    places: dict[MentioningFile, list[tuple[int, int, int]]]  # line, column, offset
    unread: int


def look(project: Project, name: str, within: Iterable[str] = ()) -> TextMentions:
    """Return every occurrence of a name in the indexed texts, or in the files `within`."""
    only = [os.fsencode(path) for path in within]
    if only:
        project.view.ensure_facts(words=[name], paths=only)
        rows = rows_of(project.view, _OF_PATHS, only)
        files = [MentioningFile(os.fsdecode(row[0]), *row[1:]) for row in rows]
        return look_in(project, files, name)
    key = ("text", name)
    mentions: TextMentions | None = project.notes.get(key)
    if mentions is None:
        mentions = project.tree.searched(key)
        if mentions is None:
            project.view.ensure_facts(words=[name])
            mentions = look_in(project, files_with(project.view, name), name)
            project.tree.keep_search(key, mentions, sum(map(len, mentions.places.values())))
        for file in mentions.places:
            project.know(file.path, file.oid)
        project.notes[key] = mentions
    return mentions


def look_in(project: Project, files: list[MentioningFile], name: str) -> TextMentions:
    """Return every occurrence of a name in some texts."""
    some = files[:MAX_FILES]
    for file in some:
        project.know(file.path, file.oid)
    project.read(file.path for file in some)
    places = {file: list(places_of(project, file, name)) for file in some}
    return TextMentions(
        {file: found for file, found in places.items() if found}, len(files) - len(some)
    )


def files_with(view: TreeView, text: str) -> list[MentioningFile]:
    """Return indexed files that may contain a text, from the text index; edited files always."""
    fragments = fragments_of(text)
    blobs = candidates(view.served.database, [frozenset({fragments})] if fragments else [])
    if blobs is None:
        rows = view.rows(_ALL)
    else:
        changed = [path for path, file in view.changed().items() if file is not None]
        rows = rows_of(view, _OF_BLOBS, sorted(blobs))
        rows += rows_of(view, _OF_PATHS, changed)
    by_path = {row[0]: MentioningFile(os.fsdecode(row[0]), *row[1:]) for row in rows}
    return [by_path[path] for path in sorted(by_path)]


def look_left_out(project: Project, name: str) -> TextMentions:
    """Return every occurrence of a name in texts that the index leaves out: secrets, large files."""
    known: dict[str, frozenset[bytes]] = project.tree.table("left_out_words")
    words = frozenset(_WORD.findall(name.encode("utf-8", "surrogatepass")))
    places: dict[MentioningFile, list[tuple[int, int, int]]] = {}
    left, unread, room = MAX_LEFT_OUT, 0, MAX_LEFT_OUT_BYTES
    with ConfinedRoot(project.view.worktree.root) as disk:
        for file in left_out(project):
            if file.path in known and not words <= known[file.path]:
                continue
            left -= 1
            data = _read(project, disk, file, room) if left >= 0 else None
            if data is None:
                unread += 1
                continue
            room -= len(data)
            if b"\0" in data[:BINARY_PROBE]:
                data = b""  # git does not search it either
            project.hold(file.path, data)
            if os.fsencode(file.path) not in project.view.changed():
                known[file.path] = frozenset(_WORD.findall(data))
            if in_file := list(places_of(project, file, name)):
                places[file] = in_file
    return TextMentions(places, unread)


def left_out(project: Project) -> list[MentioningFile]:
    """Return the files without facts that git searches: skipped by the policy, or lost."""
    notes = project.tree.notes
    if "left_out" not in notes:
        rows = project.view.rows(_LEFT_OUT)
        notes["left_out"] = [
            MentioningFile(os.fsdecode(path), "", reason or Why.NOT_PARSED, oid)
            for path, reason, oid in rows
            if reason not in _NOT_GREPPED
        ]
    files: list[MentioningFile] = notes["left_out"]
    return files


def _read(project: Project, disk: ConfinedRoot, file: MentioningFile, room: int) -> bytes | None:
    """Return the bytes of a file that has no facts; None if it is too large, or cannot be read."""
    raw = os.fsencode(file.path)
    if project.view.overlay.source != WORKTREE:
        return project.view.read([raw]).get(raw)
    try:
        probe = BINARY_PROBE if file.status == SkipReason.BINARY else room
        text = disk.read(raw, probe)
        if text is not None and text.size > probe == BINARY_PROBE and b"\0" not in text.data:
            text = disk.read(raw, room)
    except OSError:
        return None
    if text is None or (text.size > room and file.status != SkipReason.BINARY):
        return None
    return text.data


def places_of(project: Project, file: MentioningFile, name: str) -> Iterator[tuple[int, int, int]]:
    """Yield every occurrence of a name as a whole word of git: line, column and offset."""
    data = project.text(file.path)
    needle = name.encode("utf-8", "surrogatepass")
    if needle not in data:
        return
    line = seen = first = 0
    for match in _pattern(needle).finditer(data):
        start = match.start()
        passed = data.count(b"\n", seen, start)
        if passed:
            line += passed
            first = data.rfind(b"\n", seen, start) + 1
        seen = start
        yield line, start - first, start


def _pattern(needle: bytes) -> re.Pattern[bytes]:
    """Return what `git grep -w` matches: a word is of letters of ASCII, digits and underscores."""
    return re.compile(rb"(?<![A-Za-z0-9_])%s(?![A-Za-z0-9_])" % re.escape(needle))


def _mentioned(
    project: Project, targets: Iterable[Definition], within: Iterable[str]
) -> Iterator[tuple[str, FileNames, list[tuple[int, int, int]]]]:
    """Yield where the texts of Python files have the names of targets of modules."""
    names = {t.name for t in targets if is_python(t.path) and t.parent < 0}
    for name in sorted(names):
        for file, places in look(project, name, within).places.items():
            source = project.source(file.path) if file.language == "python" else None
            if source is not None:
                yield name, source, places


def of_strings(
    project: Project, targets: Iterable[Definition], within: Iterable[str]
) -> Iterator[tuple[FileNames, Occurrence]]:
    """Yield what strings of Python name: a type in an annotation, an item of `__all__`."""
    for name, source, places in _mentioned(project, targets, within):
        data, size = project.text(source.path), len(name.encode())
        for line, column, start in places:
            before = data[start - column : start]
            quoted = b'"' in before or b"'" in before  # most names are in code
            scopes = project.scopes(source.path) if quoted else None
            if scopes is None:
                continue
            kind = scopes.quiet(start)
            if kind == "annotation":
                around = enclosing(source, line)
                scope = around.ordinal if around else -1
                yield source, Occurrence(name, line, column, Use.TYPE, scope)
            elif kind == "exported" and scopes.quiet_span(start) == (start, start + size):
                yield source, Occurrence(name, line, column, Use.REFERENCE, -1)


_KINDS = {
    MentionKind.DATA: "json yaml toml hcl css sql csv tsv xml ini cfg conf properties lock env svg plist"
    " po pot jsonl ndjson snap graphql proto",
    MentionKind.TEMPLATES: "html htm xhtml j2 jinja jinja2 tmpl tpl tera erb ejs hbs mustache twig djhtml",
    MentionKind.DOCUMENTS: "markdown md mdx rst adoc asciidoc txt text org tex textile pod log diff patch rtf"
    " license licence authors changelog readme copying notice contributing todo changes history pkg-info",
}
_KIND_OF = {word: kind for kind, words in _KINDS.items() for word in words.split()}
_LICENCES = frozenset({"license", "licence", "copying", "notice", "readme", "authors", "changelog"})
_CODE_NAMES = frozenset({"cmakelists.txt"})
_COMMENTED = compile_later(
    r"(?:.*ignore|(?:gnu)?makefile|.*\.(?:mk|am|cmake|make|ini|cfg|conf|properties|env)|dockerfile"
    r"|cmakelists\.txt|\.gitattributes|\.editorconfig|codeowners|justfile|procfile)"
)
"""Files without a grammar where a line with `#` at its start is a comment."""
_READ = frozenset({"dynamic", "exported", "evaluated"})
"""Strings of the tree that code runs or reads by name."""
_QUOTE = compile_later(rb"[A-Za-z@$]{0,3}(\"{3}|'{3}|[\"'`])")
_BLANKS = (b" ", b"\t", b"\r", b"\n")
_PUNCTUATION = (b".", b",", b":", b"!", b"?")
_OPENING = compile_later(rb"\{\{|\{%|<%|<\?|\$\{|#\{|<[A-Za-z!/]")
_CLOSING = (b"}}", b"%}", b"%>", b"?>", b"}", b">")
_IN_TEXTS = ("bash", "css", "sql")
"""Languages whose names stand in the texts of others: commands, lists of classes, queries."""
_CODE = compile_later(
    rb"\s*(?:select|insert|update|delete|from|with|create|alter|drop|merge|import|truncate)\b|"
    rb"\s*(?:SELECT|INSERT|UPDATE|DELETE|FROM|WITH|CREATE|ALTER|DROP|MERGE|TRUNCATE)\b|"
    rb"\s*Select\b[^;]*\bFrom\b"
)
"""The first word of a query, or of code that is run; a sentence begins with a capital."""
_SPLIT = compile_later(rb"[\"'`]*\s*\.\s*split\b")
_EXAMPLE = compile_later(rb"\s*(?:>>>|\.\.\.)")
_TYPE_COMMENT = compile_later(rb"#\s*type:")
_TYPED_TAG = compile_later(rb"@\w+[ \t]*\{(?!@)")
_GO_DIRECTIVE = compile_later(rb"//(?:go:|export |line )")
MAX_LOOK = 4_000
"""Bytes before a place of a template in which what opens there is looked for."""


def prose(kind: MentionKind) -> PlaceClass:
    """Return the verdict on a word of a text."""
    return PlaceClass(OccurrenceClass.PROSE, kind)


class Texts:
    """Judges the places of one name that are not in the facts."""

    def __init__(
        self, project: Project, name: str, places: dict[MentioningFile, list[int]]
    ) -> None:
        """Load what is needed to judge these offsets: scopes, or the kinds of places."""
        self._project, self._name = project, name
        self._size = len(name.encode("utf-8", "surrogatepass"))
        self._in_texts = any(may_be_of(d.path, _IN_TEXTS) for d in project.definitions(name))
        parsed = {file: at for file, at in places.items() if _has_tree(file)}
        project.load_scopes(f.path for f in parsed if f.language in MODELLED and not kind_of(f))
        self._kinds = self._read_kinds(parsed)

    def _read_kinds(
        self, parsed: dict[MentioningFile, list[int]]
    ) -> dict[tuple[str, int], TextKind]:
        """Return what trees say of the places that scopes do not know."""
        unknown = {
            file.path: left
            for file, offsets in parsed.items()
            if kind_of(file) is not MentionKind.DOCUMENTS
            and (left := [at for at in offsets if not self._quiet(file, at)])
        }
        kinds = self._project.kinds(unknown)
        return {
            (path, offset): kind
            for path, offsets in unknown.items()
            for offset, kind in zip(offsets, kinds.get(path, ()), strict=False)
        }

    def judge(self, file: MentioningFile, start: int) -> PlaceClass:
        """Return the class of a place."""
        kind = kind_of(file)
        if kind is MentionKind.DOCUMENTS:
            return prose(kind)
        if kind:
            return self._of_data(file, start, kind)
        if not _has_tree(file):
            return self._without_tree(file, start)
        quiet = self._quiet(file, start)
        if quiet:
            scopes = self._project.scopes(file.path)
            assert scopes is not None
            return self._outside_of_code(file, start, quiet, scopes.quiet_span(start))
        place = self._kinds.get((file.path, start))
        if place is None:
            return NOT_PARSED
        if place.kind in ("comment", "string"):
            return self._outside_of_code(file, start, place.kind, place[1:])
        return self._in_code(file, start, place)

    def _quiet(self, file: MentioningFile, start: int) -> str:
        """Return what scopes say of a place outside of code; empty if they say nothing."""
        scopes = self._project.scopes(file.path) if file.language in MODELLED else None
        return scopes.quiet(start) if scopes is not None else ""

    def _outside_of_code(
        self, file: MentioningFile, start: int, kind: str, span: tuple[int, int]
    ) -> PlaceClass:
        """Judge a place in a comment or a string."""
        data = self._project.text(file.path)
        if kind == "comment":
            directive = _is_directive(file, data, start, span)
            return STRING if directive else prose(MentionKind.COMMENTS)
        if kind == "docstring":
            line = data[data.rfind(b"\n", 0, start) + 1 : start]
            return STRING if _EXAMPLE.match(line) else prose(MentionKind.STRINGS)
        if kind in _READ:
            return STRING
        first, last = _content(data, *span)
        if file.language in ECMA and self._is_specifier(file, data[first:last]):
            return ELSEWHERE
        word = self._is_prose(data, start, (first, last))
        braced = data.count(b"{", first, start) > data.count(b"}", first, start)
        if braced and (file.language != "python" or first > span[0]):
            return (
                STRING  # in a template, a query or code; in a part of an f-string `{{` is a brace
            )
        return prose(MentionKind.STRINGS) if word else STRING

    def _is_specifier(self, file: MentioningFile, content: bytes) -> bool:
        """Return whether a string is the module of an import, which is an edge of the graph."""
        source = self._project.source(file.path)
        text = content.decode("utf-8", "replace")
        return source is not None and any(text == item.module for item in source.imports)

    def _in_code(self, file: MentioningFile, start: int, place: TextKind) -> PlaceClass:
        """Judge code that no fact names: a keyword, a label, a part of a longer name, a macro."""
        data = self._project.text(file.path)
        scopes = self._project.scopes(file.path) if file.language in MODELLED else None
        if place.kind == "token" or (scopes is not None and start in scopes.labels):
            return ELSEWHERE
        if data[place.start : start] == _VERBATIM.get(file.language):
            return NOT_PARSED
        longer = (place.start, place.end) != (start, start + self._size)
        # what `attr_reader` reads
        if file.language == "ruby" and data[place.start : start] == b"@":
            attribute = any(d.kind == "field" for d in self._project.definitions(self._name))
            return RECEIVER if attribute else ELSEWHERE
        return ELSEWHERE if longer and _NAME.fullmatch(data, place.start, place.end) else NOT_PARSED

    def _of_data(self, file: MentioningFile, start: int, kind: MentionKind) -> PlaceClass:
        """Judge a place in a data file or a template: a word of a text, or anything else."""
        place = self._kinds.get((file.path, start))
        data, end = self._project.text(file.path), start + self._size
        comment = place.kind == "comment" if place else _is_comment_line(file, data, start)
        if comment:
            return prose(MentionKind.COMMENTS)
        opened = kind is MentionKind.TEMPLATES and _is_opened(data, start)
        if opened or data[end : end + 80].lstrip(b"\"' \t")[:1] in (b":", b"="):
            return STRING  # a key, or in an expression
        first, last = data.rfind(b"\n", 0, start) + 1, data.find(b"\n", end)
        last = last if last >= 0 else len(data)
        inner = first < start < end < last and self._is_prose(data, start, (first, last))
        return prose(kind) if inner else STRING

    def _is_prose(self, data: bytes, start: int, text: tuple[int, int]) -> bool:
        """Return whether the name is a word of a sentence: of no query, command or list."""
        if self._in_texts or not is_word(data, start, start + self._size, text):
            return False
        return not (_CODE.match(data, *text) or _SPLIT.match(data, text[1]))

    def _without_tree(self, file: MentioningFile, start: int) -> PlaceClass:
        comment = _is_comment_line(file, self._project.text(file.path), start)
        return prose(MentionKind.COMMENTS) if comment else NOT_PARSED


def kind_of(file: MentioningFile) -> MentionKind | None:
    """Return the kind of a file without code; None for code."""
    if file.language not in ("", "text"):
        return _KIND_OF.get(file.language)
    name = file.path.rpartition("/")[2].lower()
    stem, _, extension = name.rpartition(".")
    known = name not in _CODE_NAMES and (stem or extension in _KIND_OF)
    if known and stem.partition(".")[0] in _LICENCES:
        return MentionKind.DOCUMENTS
    return _KIND_OF.get(extension) if known else None


def is_word(data: bytes, start: int, end: int, text: tuple[int, int]) -> bool:
    """Return whether a name is a word of a text of several words.

    On each side of it there is a blank, punctuation of a sentence, or the end of the text.
    """
    first, last = text
    if len(data[first:last].split(None, 2)) < 2:
        return False
    before, after = data[start - 1 : start], data[end : end + 1]
    if start > first and before not in _BLANKS:
        return False
    if end >= last or after in _BLANKS:
        return True
    follows = data[end + 1 : end + 2]
    return after in _PUNCTUATION and (end + 1 >= last or follows in _BLANKS)


def places_without_verdict(
    texts: dict[MentioningFile, list[tuple[int, int, int]]], known: Iterable[At]
) -> dict[MentioningFile, list[int]]:
    """Return the offsets of the places that nothing else judges, by file."""
    judged = known if isinstance(known, set | frozenset) else set(known)
    return {
        file: left
        for file, places in texts.items()
        if (left := [at for line, col, at in places if (file.path, line, col) not in judged])
    }


def _has_tree(file: MentioningFile) -> bool:
    return file.status in (FactsStatus.PARSED, FactsStatus.PARTIAL)


def _content(data: bytes, first: int, last: int) -> tuple[int, int]:
    """Return the extent of the text in a string, without its quotes."""
    opened = _QUOTE.match(data, first, last)
    if opened is None:
        return first, last
    quote = opened.group(1)
    return opened.end(), last - len(quote) if data.endswith(quote, first, last) else last


def _is_opened(data: bytes, start: int) -> bool:
    """Return whether a place of a template is in an expression, a statement or a tag."""
    before = data[max(0, start - MAX_LOOK) : start]
    opened = max((m.start() for m in _OPENING.finditer(before)), default=-1)
    return opened >= 0 and not any(before.find(mark, opened + 1) >= 0 for mark in _CLOSING)


def _is_comment_line(file: MentioningFile, data: bytes, start: int) -> bool:
    if not _COMMENTED.fullmatch(file.path.rpartition("/")[2].lower()):
        return False
    return data[data.rfind(b"\n", 0, start) + 1 : start].lstrip()[:1] in (b"#", b";")


def _is_directive(file: MentioningFile, data: bytes, start: int, span: tuple[int, int]) -> bool:
    """Return whether tools read a comment: a linker's name, a type, an example that is run."""
    text = data[span[0] : span[1]]
    if file.language == "go":
        return _GO_DIRECTIVE.match(text) is not None
    if file.language == "python":
        return _TYPE_COMMENT.match(text) is not None
    line = data[max(span[0], data.rfind(b"\n", 0, start) + 1) : start]
    if file.language in ECMA:
        return text.startswith(b"/**") and _is_type(data, span[0], start)
    if file.language == "php":
        return text.startswith(b"/**") and b"@" in line
    if file.language == "rust" and text.startswith((b"///", b"//!", b"/**")):
        return _is_fenced(data, start)
    return False


def _is_type(data: bytes, first: int, start: int) -> bool:
    """Return whether a place of a comment is in a type: `@param {Map<a, b>} x`, and in no example."""
    at = max((match.end() for match in _TYPED_TAG.finditer(data, first, start)), default=-1)
    return at >= 0 and data.count(b"{", at, start) >= data.count(b"}", at, start)


def _is_fenced(data: bytes, start: int) -> bool:
    """Return whether a place is in an example of the comment lines of Rust around it."""
    fences, at = 0, data.rfind(b"\n", 0, start)
    while at > 0:
        first = data.rfind(b"\n", 0, at) + 1
        line = data[first:at].strip()
        if not line.startswith((b"///", b"//!", b"*", b"/**")):
            break
        fences += b"```" in line
        at = first - 1
    return fences % 2 == 1


_CASE_BLIND = frozenset({"php", "sql"})
_LIKE = "SELECT text FROM {names} WHERE text LIKE ? ESCAPE '\\' AND text<>?"
_ESCAPED = compile_later(rb"\\u+00[2-7][0-9a-fA-F][\w$\\]|[\w$]\\u+00[2-7][0-9a-fA-F]")
_SPECIAL = compile_later(r"([\\_%])")


def is_respelled(project: Project, targets: Iterable[Definition]) -> bool:
    """Return whether code of the targets' languages has one of their names in another spelling."""
    named = ((project.source(target.path), target.name) for target in targets)
    for language, name in dict.fromkeys((s.language, name) for s, name in named if s is not None):
        if any(project.plain_places(other) for other in _spellings(project, language, name)):
            return True
        if language == "java" and _has_escapes(project):
            return True
        if language in _CASE_BLIND and _has_other_letters(project, name, language):
            return True
    return False


def _spellings(project: Project, language: str, name: str) -> Iterator[str]:
    """Yield the names that mean the same as one; a property of Kotlin or Lombok has accessors."""
    yield from project.other_spellings(name)
    if family_of(language) == "jvm":
        yield from (f"{how}{name[:1].upper()}{name[1:]}" for how in ("get", "set", "is"))


def _has_escapes(project: Project) -> bool:
    """Return whether code of Java has escapes of plain letters; kept for the tree."""
    notes = project.tree.notes
    if "escaped_names" not in notes:
        files = [f for f in files_with(project.view, "u00") if f.language == "java"]
        for file in files:
            project.know(file.path, file.oid)
        project.read(file.path for file in files)
        notes["escaped_names"] = any(_ESCAPED.search(project.text(f.path)) for f in files)
    return bool(notes["escaped_names"])


def _has_other_letters(project: Project, name: str, language: str) -> bool:
    for (other,) in project.view.rows(_LIKE, _SPECIAL.sub(r"\\\1", name), name):
        for path in project.plain_places(other):
            there = project.source(path)
            if there is not None and there.language == language:
                return True
    return False
