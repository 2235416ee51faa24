"""Strings that code may read by name, though no call has them as its argument."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from gitindex.base.pattern import compile_later
from gitindex.base.vocabulary import MentionKind, Unexplained
from gitindex.languages.scopes.model import MODELLED
from gitindex.languages.scopes.uses import ARGUMENT, CALLED, UNKNOWN, VALUE
from gitindex.languages.syntax.kinds import FUNCTIONS
from gitindex.query.names.listings import lists_members
from gitindex.query.names.meanings import ECMA
from gitindex.query.names.mentions import MentioningFile
from gitindex.query.names.project import Project
from gitindex.query.names.source import Definition, is_python
from gitindex.query.names.uses import python_uses, uses_in

_TEMPLATES = frozenset({"text/template", "html/template"})
_REFLECTS = {
    "go": ("MethodByName", "FieldByName"),
    "java": (
        *("getMethod", "getDeclaredMethod", "getField", "getDeclaredField", "findVirtual"),
        *("getMethods", "getDeclaredMethods", "getFields", "getDeclaredFields"),
    ),
}
"""Calls that read a member by its text, in languages whose files have no flag for them."""
_FLAGGED = (
    "SELECT b.language, b.flags FROM {live} l JOIN {blobs} b ON b.id=l.blob_id"
    " WHERE b.flags LIKE '%dynamic_attribute%' GROUP BY 1, 2"
)
_DOTTED = compile_later(rb"[\w.]*")
_FORMATTED = compile_later(rb"\{[^{}\n]*\.$")
_FIELD = compile_later(rb"(?:\{|%\(|\$\{?)$")
_PLAIN = ("string", "annotation")
_RUNNERS, _GETTERS = ("eval", "exec"), ("getattr", "__getattribute__", "attrgetter", "vars")
_LISTING = ("globals", "locals", "vars", "__dict__", "f_locals", "f_globals")
"""What gives names as data, which a format then reads: `"{name}".format(**globals())`."""


def is_in_template(
    project: Project, file: MentioningFile, start: int, span: tuple[int, int]
) -> bool:
    """Return whether a word in a string may be a member that a template or a format shows."""
    data = project.text(file.path)
    text = data[span[0] : span[1]]
    if file.language == "python":
        if _FORMATTED.search(data, max(span[0], start - 200), start) is not None:
            return True
        field = _FIELD.search(data, max(span[0], start - 2), start) is not None
        return field and any(project.places(word) for word in _LISTING)
    if file.language != "go":
        return False
    source = project.source(file.path)
    imported = {item.module for item in source.imports} if source is not None else set()
    if b"{{" in text or b"}}" in text or not _TEMPLATES.isdisjoint(imported):
        return True
    return bool(project.places("Delims"))  # any brackets may be those of a template


class StringReaders:
    """Which strings code may read as the name of some targets."""

    def __init__(self, project: Project, targets: Collection[Definition]) -> None:
        self._project = project
        self._by_name = _may_be_read(project, targets)
        inner = () if self._by_name else targets
        self._as_data = any(is_python(t.path) and lists_locals(project, t.path) for t in inner)
        self._hidden = bool(inner) and not self._as_data and all(is_python(t.path) for t in inner)

    def judge(self, why: str, file: MentioningFile, start: int, name: str) -> str:
        """Return the reason of a place once all readers of strings are known; others stay."""
        project = self._project
        if why == MentionKind.STRINGS and _is_name(project, file, start, name):
            read = self._by_name and _reads_names(project, file.language)
            return Unexplained.STRING if read or self._as_data else why
        if why == Unexplained.STRING and self._hidden and not is_evaluated(project, file, start):
            return MentionKind.STRINGS
        return why


def is_evaluated(project: Project, file: MentioningFile, start: int) -> bool:
    """Return whether a string may be run as code."""
    scopes = project.scopes(file.path) if file.language in MODELLED else None
    kind = scopes.quiet(start) if scopes is not None else ""
    source = project.source(file.path) if kind in _PLAIN else None
    if source is None:
        return kind == "evaluated"
    return "eval_exec" in source.origin.flags or (
        source.language == "python" and _passes(project, _RUNNERS)
    )


def _passes(project: Project, words: tuple[str, ...]) -> bool:
    """Return whether code of Python has a built-in function as a value; kept for the tree."""
    known: dict[tuple[str, ...], bool] = project.tree.table("passed")
    if words not in known:
        known[words] = any(
            (use.receiver is None or "__" in use.word) and use.kind in (ARGUMENT, VALUE, UNKNOWN)
            for _, use in python_uses(project, *words)
        )
    return known[words]


def _may_be_read(project: Project, targets: Iterable[Definition]) -> bool:
    """Return whether some target is an attribute of something: no function declares it."""
    outer = ((project.source(t.path), t) for t in targets)
    around = [source.symbol(t.parent) for source, t in outer if source is not None]
    return not around or any(one is None or one.kind not in FUNCTIONS for one in around)


def lists_locals(project: Project, path: str) -> bool:
    """Return whether a file of Python gives the variables of a function as data."""
    words = ("locals", "vars", "dir", "f_locals")
    return any(
        use.word == "f_locals" or use.kind != CALLED or not use.arguments
        for _, use in uses_in(project, words, [path], ("python",))
    )


def _is_name(project: Project, file: MentioningFile, start: int, name: str) -> bool:
    """Return whether a string is a name, or a path to it."""
    scopes = project.scopes(file.path) if file.language in MODELLED else None
    if scopes is None or scopes.quiet(start) not in (*_PLAIN, "docstring"):
        return False
    first, last = scopes.quiet_span(start)
    text = project.text(file.path)[first:last].strip(b"\"'`")
    path, dot, word = text.rpartition(b".")
    return word == name.encode() and (not dot or _DOTTED.fullmatch(path) is not None)


def _reads_names(project: Project, language: str) -> bool:
    """Return whether files of a language read members by names that they get from elsewhere."""
    if language in _REFLECTS:
        return any(project.places(name) for name in _REFLECTS[language])
    notes = project.tree.notes
    if "by_name" not in notes:
        project.view.ensure_facts()
        notes["by_name"] = frozenset(found for found, _ in project.view.rows(_FLAGGED))
    told: frozenset[str] = notes["by_name"]
    if language == "python" and (lists_members(project) or _passes(project, _GETTERS)):
        return True
    return not told.isdisjoint(ECMA) if language in ECMA else language in told
