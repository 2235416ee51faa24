"""The absence certificate: is every textual occurrence of a name in code explained?"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any, NamedTuple

from gitindex.base.escape import path_fields, safe_text, utf16_length
from gitindex.base.pattern import compile_later
from gitindex.base.vocabulary import FactsStatus, MentionKind, SkipReason, Unexplained
from gitindex.languages.implicit_calls import called_without_name
from gitindex.languages.scopes.model import MODELLED
from gitindex.query.names.finder import PROVEN, At, Found
from gitindex.query.names.fixtures import is_fixture
from gitindex.query.names.meanings import ECMA
from gitindex.query.names.mentions import MentioningFile, look, look_in
from gitindex.query.names.project import Project
from gitindex.query.names.read_strings import StringReaders, is_evaluated, is_in_template
from gitindex.query.names.respelled import respelled
from gitindex.query.names.source import Definition
from gitindex.query.names.targets import NAME
from gitindex.view.tree import TreeView

MAX_LISTED = 50
MAX_MENTIONS = 5_000
"""Places outside of code that are kept; fewer are listed."""
MAX_LINE = 200
MAX_LEFT_OUT = 400
"""Texts outside of the index that are searched."""

_KINDS = {
    MentionKind.DATA: "json yaml toml hcl css sql csv tsv xml ini cfg conf properties lock env svg plist"
    " po pot jsonl ndjson snap graphql proto",
    MentionKind.TEMPLATES: "html htm xhtml j2 jinja jinja2 tmpl tpl tera erb ejs hbs mustache twig djhtml",
    MentionKind.DOCUMENTS: "markdown md mdx rst adoc asciidoc txt text org tex textile pod log diff patch rtf"
    " license authors changelog readme copying notice contributing todo changes history pkg-info",
}
_KIND_OF = {word: kind for kind, words in _KINDS.items() for word in words.split()}

_SPECIFIER = compile_later(rb"\b(?:from|import)\s*[\"'][\w.:/@-]*$")
"""In a file that parses, `from 'x'` is always an import or an export."""
_ACCESS = compile_later(
    rb"\b(?:getattr|setattr|hasattr|delattr|attrgetter|methodcaller|import_module|__import__|send|public_send"
    rb"|method|respond_to\?|define_method|instance_variable_get|const_get|method_exists|call_user_func"
    rb"|GetMethod|GetProperty|GetField|GetType|nameof|invoke|getMethod|getDeclaredMethod|forName|dlsym)"
    rb"\s*\(?[^()\n]{0,120}$"
)
_LINKED = b"//go:linkname "
_QUOTES = (b'"', b"'", b"`")
_PATH = compile_later(rb"[\w.:/]*")
_WORD = compile_later(rb"[\w$\x80-\xff]+")
_DYNAMIC = frozenset({"eval_exec", "dynamic_attribute"})
_NOT_TEXT = frozenset(
    {SkipReason.SECRET, SkipReason.SYMLINK, SkipReason.SUBMODULE, SkipReason.BINARY}
)
"""Skipped because they are not code, or must not be read."""


class Mention(NamedTuple):
    """A textual occurrence that is not a listed reference."""

    path: str
    line: int
    column: int
    utf16: int  # the column in UTF-16 units, as editors count
    why: str  # a value of Unexplained or MentionKind
    text: str

    def fields(self) -> dict[str, Any]:
        """Return the fields of a mention in an answer."""
        return {
            **path_fields(os.fsencode(self.path)),
            "line": self.line + 1,
            "column": self.column + 1,
            "columnUtf16": self.utf16 + 1,
            "why": self.why,
            "text": safe_text(self.text),
        }


class FoundPlace(NamedTuple):
    """An occurrence that is found. Where it is listed, it becomes a `Mention`, at the cost of its line."""

    path: str
    line: int
    column: int
    start: int
    why: str


class Certificate(NamedTuple):
    """The result of a certification: what was checked, and what is unexplained."""

    complete: bool
    unexplained: tuple[Mention, ...]
    total: int
    coverage: dict[str, int]
    counts: dict[str, int]
    mentions: tuple[Mention, ...]
    quiet: tuple[FoundPlace, ...]  # all of these places, also those that are not listed
    elsewhere: int = 0  # unexplained places outside of the requested path

    def fields(self, listing: bool = False) -> dict[str, Any]:
        """Return the fields of an answer; `listing`: include the places outside of code."""
        listed = [m.fields() for m in self.unexplained]
        fields = {
            "complete": self.complete,
            "unexplained": listed,
            "mentions": self.counts,
            "coverage": self.coverage,
        }
        if self.elsewhere:
            fields["unexplainedElsewhere"] = self.elsewhere
        if listing:
            fields["mentioned"] = [m.fields() for m in self.mentions]
        return fields | ({"unexplainedCount": self.total} if self.total > len(listed) else {})


def certify(
    project: Project,
    name: str,
    found: Found,
    targets: Collection[Definition],
    mentions: bool = False,
    shown: Callable[[str], bool] = lambda _: True,
) -> Certificate:
    """Search every text of the tree for the name, and classify each place.

    A place is explained if it is listed, if scopes and imports prove another meaning, or if it is
    not code. Places are listed and counted if their path is `shown`; `complete` applies to the
    whole tree. A target that syntax calls without its name is never complete.
    """
    project.view.ensure_facts()
    coverage, left_out = _tree(project, name)
    listed = {site[:3] for site in found.sites}
    indexed, others = look(project, name), look_in(project, left_out, name)
    texts = indexed.places | others.places
    known = listed | found.excluded.keys()
    _load_scopes(project, texts, known)
    kinds = _load_kinds(project, texts, known)
    open_places, quiet = list(_unnamed(project, targets)), list[FoundPlace]()
    counts: Counter[str] = Counter()
    for file, place, why in _explained(project, name, found, texts, kinds, targets):
        if why in _UNEXPLAINED:
            open_places.append(FoundPlace(file.path, *place, why))
        elif why and shown(file.path):
            counts[why] += 1
            if mentions and len(quiet) < MAX_MENTIONS:
                quiet.append(FoundPlace(file.path, *place, why))
    open_places += _elsewhere(project, name, found)
    unread = indexed.unread + others.unread + len(project.view.overlay.left_out)
    coverage |= {"files": len(indexed.places), "unchecked": unread}
    ordered = sorted(open_places, key=lambda m: (os.fsencode(m.path), m.line, m.column))
    complete = not ordered and not unread and not found.cut and NAME.fullmatch(name) is not None
    complete = complete and project.view.may_certify()
    told = {str(kind): counts[kind] for kind in MentionKind if counts[kind]}
    below = [place for place in ordered if shown(place.path)]
    listed_places = tuple(_mention(project, place) for place in below[:MAX_LISTED])
    hidden = len(ordered) - len(below)
    mentioned = tuple(_mention(project, place) for place in quiet[:MAX_LISTED])
    kept = (coverage, told, mentioned, tuple(quiet))
    return Certificate(complete, listed_places, len(below), *kept, hidden)


def _explained(
    project: Project,
    name: str,
    found: Found,
    texts: dict[MentioningFile, list[tuple[int, int, int]]],
    kinds: dict[tuple[str, int], str],
    targets: Collection[Definition],
) -> Iterator[tuple[MentioningFile, tuple[int, int, int], str]]:
    """Yield every place that is not listed, with the reason."""
    readers = StringReaders(project, targets)
    listed = {site[:3] for site in found.sites}
    for file, places in texts.items():
        for line, column, start in places:
            at = (file.path, line, column)
            if at not in listed:
                kind = kinds.get((file.path, start), "")
                why = _why(project, file, at, start, name, found, kind)
                yield file, (line, column, start), readers.judge(why, file, start, name)


_UNEXPLAINED = frozenset(map(str, Unexplained))


def _unnamed(project: Project, targets: Iterable[Definition]) -> Iterator[FoundPlace]:
    """Yield targets that syntax calls without their name, or spells otherwise, and those of a file
    without scopes."""
    for path, line, column in respelled(project, targets):
        start = project.offset(path, line, column)
        yield FoundPlace(path, line, column, start, Unexplained.UNBOUND)
    for target in targets:
        source = project.source(target.path)
        if source is None:
            continue
        unnamed = called_without_name(source.language, target.name) or is_fixture(project, target)
        unread = source.language in MODELLED and project.scopes(target.path) is None
        if unnamed or unread:
            start = project.offset(target.path, target.line, target.column)
            place = (target.line, target.column, start)
            why = Unexplained.UNBOUND if unnamed else Unexplained.NO_FACTS
            yield FoundPlace(target.path, *place, why)


def _elsewhere(project: Project, name: str, found: Found) -> Iterator[FoundPlace]:
    """Yield unexplained places of the targets' aliases."""
    for (path, line, column), why in found.excluded.items():
        if why == PROVEN:
            continue
        start = project.offset(path, line, column)
        raw = name.encode("utf-8", "surrogatepass")
        if project.text(path)[start : start + len(raw)] != raw:
            yield FoundPlace(path, line, column, start, why)


def _load_scopes(
    project: Project, texts: dict[MentioningFile, list[tuple[int, int, int]]], known: set[At]
) -> None:
    """Load the scopes of files with unknown places, to tell comments and strings from code."""
    project.load_scopes(
        file.path
        for file, places in texts.items()
        if file.language in MODELLED
        and file.status == FactsStatus.PARSED
        and any((file.path, line, column) not in known for line, column, _ in places)
    )


def _load_kinds(
    project: Project, texts: dict[MentioningFile, list[tuple[int, int, int]]], known: set[At]
) -> dict[tuple[str, int], str]:
    """Return the kind of text at unknown places, in languages without scopes."""
    asked = {
        file.path: offsets
        for file, places in texts.items()
        if file.language not in MODELLED
        and file.status == FactsStatus.PARSED
        and not _kind_of(file)
        and (offsets := [at for line, col, at in places if (file.path, line, col) not in known])
    }
    told = project.kinds(asked)
    return {
        (path, offset): kind
        for path, offsets in asked.items()
        for offset, kind in zip(offsets, told.get(path, ()), strict=False)
    }


def _why(
    project: Project,
    file: MentioningFile,
    at: At,
    start: int,
    name: str,
    found: Found,
    kind_there: str = "",
) -> str:
    """Return why a place is unexplained, or the kind of mention; empty if it is proven."""
    kind = _kind_of(file)
    if kind:
        return kind
    if at in found.defined:
        return ""  # it is among the definitions of the answer
    if file.status == FactsStatus.PARTIAL:
        return Unexplained.PARTIAL
    if file.status == FactsStatus.LEXICAL:
        return Unexplained.NO_GRAMMAR if file.language == "text" else Unexplained.NO_FACTS
    if file.status == SkipReason.GENERATED:
        return Unexplained.GENERATED
    if file.status != FactsStatus.PARSED:
        return Unexplained.NO_FACTS
    if at in found.excluded:
        return found.excluded[at]  # also an item of `__all__`, which refers to the module's binding
    end = start + len(name.encode())
    if file.language in MODELLED:
        return _outside_of_code(project, file, start, end)
    if kind_there == "comment":
        return MentionKind.COMMENTS
    if kind_there == "string":
        return _string(project, file, project.text(file.path), start, end)
    return Unexplained.NO_FACTS  # code without names in the grammar: the body of a macro


def _kind_of(file: MentioningFile) -> str:
    """Return the kind of a file without code; empty for code."""
    if file.language not in ("", "text"):
        return _KIND_OF.get(file.language, "")
    stem, _, extension = file.path.rpartition("/")[2].lower().rpartition(".")
    return _KIND_OF.get(extension, "") if stem or extension in _KIND_OF else ""


def _outside_of_code(project: Project, file: MentioningFile, start: int, end: int) -> str:
    """Classify a place that is not an identifier: a comment, or a string that code may access."""
    data = project.text(file.path)
    scopes = project.scopes(file.path)
    if scopes is None:
        return Unexplained.NO_FACTS
    kind = scopes.quiet(start)
    if kind == "comment":
        linked = data.startswith(_LINKED, scopes.quiet_span(start)[0])
        return Unexplained.NO_FACTS if linked else MentionKind.COMMENTS
    if is_evaluated(project, file, start):
        return Unexplained.STRING  # any word of it may be code
    if kind and is_in_template(project, file, start, scopes.quiet_span(start)):
        return Unexplained.STRING if kind != "docstring" else MentionKind.STRINGS
    if kind and not _is_content(data, start, end, scopes.quiet_span(start)):
        return MentionKind.STRINGS
    if kind in ("dynamic", "exported"):
        return Unexplained.STRING
    if kind == "named":
        return MentionKind.STRINGS
    if kind in ("string", "docstring", "annotation"):
        return _string(project, file, data, start, end)
    # A label, or text between JSX tags; anything else should be in the facts.
    return "" if start in scopes.labels or file.language in ECMA else Unexplained.NO_FACTS


def _string(project: Project, file: MentioningFile, data: bytes, start: int, end: int) -> str:
    """Classify a string: it is unexplained if a dynamic access may read it."""
    if file.language not in MODELLED and not _is_whole(data, start, end):
        return MentionKind.STRINGS
    before = data[max(0, start - 200) : start]
    if file.language in ECMA and _SPECIFIER.search(before):
        return MentionKind.STRINGS  # the module of an import, which is an edge of the graph
    source = project.source(file.path)
    flagged = source is not None and not _DYNAMIC.isdisjoint(source.origin.flags)
    return Unexplained.STRING if flagged or _ACCESS.search(before) else MentionKind.STRINGS


def _is_content(data: bytes, start: int, end: int, span: tuple[int, int]) -> bool:
    """Return whether the name is all that a string of the tree holds, or ends a dotted path in it."""
    first, last = span
    if data[first : first + 1] in _QUOTES:  # the quotes belong to it
        first, last = first + 1, last - 1
    return end == last and _PATH.fullmatch(data, first, start) is not None


def _is_whole(data: bytes, start: int, end: int) -> bool:
    """Return whether the name is a whole string, or the last part of a dotted one."""
    if data[end : end + 1] not in _QUOTES:
        return False
    before = re.search(rb"([\"'`:])[\w.:/]*$", data[max(0, start - 200) : start])
    return before is not None


def _tree(project: Project, name: str) -> tuple[dict[str, int], list[MentioningFile]]:
    """Return the coverage of the tree, computed once, and the skipped texts with the name."""
    notes = project.tree.notes
    if "coverage" not in notes:
        left_out = list(_left_out(project.view))
        for file in left_out:
            project.know(file.path, file.oid)
        project.read(file.path for file in left_out[:MAX_LEFT_OUT])
        words = [frozenset(_WORD.findall(project.text(f.path))) for f in left_out[:MAX_LEFT_OUT]]
        known = [*zip(left_out, words, strict=False)]
        notes["coverage"] = _coverage(project.view), known, left_out[MAX_LEFT_OUT:]
    counts, known, unread = notes["coverage"]
    return dict(counts), [f for f, words in known if name.encode() in words] + unread


def _coverage(view: TreeView) -> dict[str, int]:
    """Return how many files of the tree were parsed, by status."""
    counts = dict.fromkeys(("parsed", "partial", "noGrammar", "quarantined", "skipped"), 0)
    keys = {FactsStatus.PARSED: "parsed", FactsStatus.PARTIAL: "partial"}
    keys |= {FactsStatus.LEXICAL: "noGrammar", FactsStatus.QUARANTINED: "quarantined"}
    for status, count in view.rows(
        "SELECT b.status, count(*) FROM {live} l LEFT JOIN {blobs} b ON b.id=l.blob_id GROUP BY 1"
    ):
        counts[keys.get(status, "skipped") if status else "skipped"] += count
    return counts


def _left_out(view: TreeView) -> Iterator[MentioningFile]:
    """Yield texts without facts: skipped by the policy, or lost."""
    rows = view.rows(
        "SELECT l.path, coalesce(l.skip, b.reason), l.oid FROM {live} l LEFT JOIN {blobs} b ON b.id=l.blob_id"
        " WHERE l.skip IS NOT NULL OR b.id IS NULL OR b.status IN ('skipped', 'quarantined')"
    )
    for path, reason, oid in rows:
        if reason not in _NOT_TEXT:
            yield MentioningFile(os.fsdecode(path), "", reason or Unexplained.NO_FACTS, oid)


def _mention(project: Project, place: FoundPlace) -> Mention:
    path, line, column, start, why = place
    data = project.text(path)
    units = utf16_length(data[start - column : start])
    return Mention(path, line, column, units, str(why), _line(data, start - column))


def _line(data: bytes, start: int) -> str:
    text = data[start : start + 4 * MAX_LINE].partition(b"\n")[0]
    return text.decode("utf-8", "replace").strip()[:MAX_LINE]
