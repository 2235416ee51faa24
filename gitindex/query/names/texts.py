"""Occurrences that no fact binds: words of comments, documents, strings, data, templates; keywords."""

from __future__ import annotations

from collections.abc import Iterable

from gitindex.base.pattern import compile_later
from gitindex.base.vocabulary import FactsStatus, MentionKind, OccurrenceClass
from gitindex.languages.scopes.model import MODELLED, TextKind
from gitindex.query.names.meanings import ECMA
from gitindex.query.names.mentions import MentioningFile
from gitindex.query.names.project import Project
from gitindex.query.names.sites import ELSEWHERE, NOT_PARSED, STRING, At, PlaceClass

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
_EXAMPLE = compile_later(rb"\s*(?:>>>|\.\.\.)")
_TYPE_COMMENT = compile_later(rb"#\s*type:")
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
        self._project = project
        self._size = len(name.encode("utf-8", "surrogatepass"))
        parsed = {file: at for file, at in places.items() if _has_tree(file)}
        project.load_scopes(f.path for f in parsed if f.language in MODELLED and not kind_of(f))
        self._kinds = self._read_kinds(parsed)

    def _read_kinds(
        self, parsed: dict[MentioningFile, list[int]]
    ) -> dict[tuple[str, int], TextKind]:
        """Return what trees say of the places that scopes do not know."""
        asked = {
            file.path: left
            for file, offsets in parsed.items()
            if kind_of(file) is not MentionKind.DOCUMENTS
            and (left := [at for at in offsets if not self._quiet(file, at)])
        }
        told = self._project.kinds(asked)
        return {
            (path, offset): kind
            for path, offsets in asked.items()
            for offset, kind in zip(offsets, told.get(path, ()), strict=False)
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
        told = self._kinds.get((file.path, start))
        if told is None:
            return NOT_PARSED
        if told.kind in ("comment", "string"):
            return self._outside_of_code(file, start, told.kind, told[1:])
        return self._in_code(file, start, told)

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
        word = is_word(data, start, start + self._size, (first, last))
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

    def _in_code(self, file: MentioningFile, start: int, told: TextKind) -> PlaceClass:
        """Judge code that no fact names: a keyword, a label, a part of a longer name, a macro."""
        data = self._project.text(file.path)
        scopes = self._project.scopes(file.path) if file.language in MODELLED else None
        if told.kind == "token" or (scopes is not None and start in scopes.labels):
            return ELSEWHERE
        around = data[max(0, start - 1) : start] + data[start + self._size :][:1]
        longer = (told.start, told.end) != (start, start + self._size)
        return ELSEWHERE if longer and any(b >= 0x80 or b in b"$@#" for b in around) else NOT_PARSED

    def _of_data(self, file: MentioningFile, start: int, kind: MentionKind) -> PlaceClass:
        """Judge a place in a data file or a template: a word of a text, or anything else."""
        told = self._kinds.get((file.path, start))
        data, end = self._project.text(file.path), start + self._size
        comment = told.kind == "comment" if told else _is_comment_line(file, data, start)
        if comment:
            return prose(MentionKind.COMMENTS)
        opened = kind is MentionKind.TEMPLATES and _is_opened(data, start)
        if opened or data[end : end + 80].lstrip(b"\"' \t")[:1] in (b":", b"="):
            return STRING  # a key, or in an expression
        first, last = data.rfind(b"\n", 0, start) + 1, data.find(b"\n", end)
        line = (first, last if last >= 0 else len(data))
        quoted = _quoted(data, start, end, line)
        inner = quoted is not None or first < start < end < line[1]
        return prose(kind) if inner and is_word(data, start, end, quoted or line) else STRING

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
    told = known if isinstance(known, set | frozenset) else set(known)
    return {
        file: left
        for file, places in texts.items()
        if (left := [at for line, col, at in places if (file.path, line, col) not in told])
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


def _quoted(data: bytes, start: int, end: int, line: tuple[int, int]) -> tuple[int, int] | None:
    """Return the extent of the quotes around a place on its line; None if it is in none."""
    for quote in (b'"', b"'", b"`"):
        if data.count(quote, line[0], start) % 2 and (last := data.find(quote, end, line[1])) >= 0:
            return data.rfind(quote, line[0], start) + 1, last
    return None


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
        return text.startswith(b"/**") and line.count(b"{") > line.count(b"}")
    if file.language == "php":
        return text.startswith(b"/**") and b"@" in line
    if file.language == "rust" and text.startswith((b"///", b"//!", b"/**")):
        return _is_fenced(data, start)
    return False


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
