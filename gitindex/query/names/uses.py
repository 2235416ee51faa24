"""How code uses a name, from trees: what the rules that take a proof away look at."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from gitindex.base.pattern import compile_later
from gitindex.extract.policy import MAX_PARSE_BYTES
from gitindex.languages.facts import Occurrence
from gitindex.languages.scopes.bound import Part
from gitindex.languages.scopes.model import CLASS, FUNCTION, FileScopes
from gitindex.languages.scopes.uses import (
    DEFINED,
    GLOBAL,
    IMPORTED,
    KEYWORD,
    TARGET,
    UNKNOWN,
    UNREAD,
    NameUse,
)
from gitindex.query.names.meanings import ECMA
from gitindex.query.names.mentions import look
from gitindex.query.names.project import Project
from gitindex.query.names.source import is_python

MAX_FILES = 400
"""Files with a word that are read; with more, all of its uses are taken to be there."""
BATCH = 40
"""Files that are read at once: many questions end at the first use that they look for."""
_NOT_READ = ("exported", "comment", "docstring")
_ANNOTATIONS = ("__annotations__", "get_type_hints", "get_annotations")
_PATH = compile_later(rb"[\w.:]*")

NO_USE = (DEFINED, IMPORTED, KEYWORD)
"""A place that only has the name of what is asked about."""
SELF = (Part("self", False),)

Used = tuple[str, NameUse]  # the path


def in_python(project: Project, word: str) -> dict[str, list[Occurrence]]:
    """Return every occurrence of a word by path, in files that can be of Python."""
    return {path: found for path, found in project.places(word).items() if is_python(path)}


def python_uses(project: Project, *words: str) -> Iterator[Used]:
    """Yield how code of Python uses some words; an unknown use if they are in too many files."""
    found = {word: in_python(project, word) for word in words}
    paths = dict.fromkeys(path for places in found.values() for path in places)
    if len(paths) > MAX_FILES:
        yield "", UNREAD
        return
    yield from _spelled_otherwise(found)
    yield from uses_in(project, words, list(paths), ("python",))


def ecma_uses(project: Project, *words: str) -> Iterator[Used]:
    """Yield how code of JavaScript and TypeScript uses some words."""
    found = {word: project.places(word) for word in words}
    yield from _spelled_otherwise(found)
    paths = dict.fromkeys(path for places in found.values() for path in places)
    yield from uses_in(project, words, list(paths), ECMA)


def _spelled_otherwise(found: dict[str, dict[str, list[Occurrence]]]) -> Iterator[Used]:
    """Yield an unknown use for each file that spells a word otherwise: the tree has it as written."""
    for word, by_path in found.items():
        for path, places in by_path.items():
            if any(place.name != word for place in places):
                yield path, UNREAD


def uses_in(
    project: Project, words: Sequence[str], paths: Sequence[str], languages: Iterable[str]
) -> Iterator[Used]:
    """Yield how some files of some languages use some words; an unknown use of an unread file."""
    asked = tuple(words)
    for first in range(0, len(paths), BATCH):
        some = paths[first : first + BATCH]
        project.load(some)
        sources = [s for s in map(project.source, some) if s and s.language in languages]
        project.read(s.path for s in sources)
        texts = {s.origin: project.text(s.path) for s in sources}
        large = {o.path for o, data in texts.items() if len(data) > MAX_PARSE_BYTES}
        yield from ((path, UNREAD) for path in sorted(large))
        found = project.memory.uses({o: d for o, d in texts.items() if o.path not in large}, asked)
        for path in some:
            yield from ((path, use) for use in found.get(path, ()))


def is_in_strings(project: Project, name: str) -> bool:
    """Return whether a string of Python that code may read is a name, or a path that ends in it."""
    known: dict[str, bool] = project.tree.table("in_strings")
    if name not in known:
        known[name] = _is_in_strings(project, name)
    return known[name]


def _is_in_strings(project: Project, name: str) -> bool:
    for file, places in look(project, name).places.items():
        if file.language != "python":
            continue
        data, scopes = project.text(file.path), project.scopes(file.path)
        for _, _, at in places:
            if scopes is None:
                return True
            first, last = scopes.quiet_span(at)
            whole = at + len(name.encode()) == last and _PATH.fullmatch(data, first, at)
            kind = scopes.quiet(at) if whole else "comment"
            if kind not in _NOT_READ and (kind != "annotation" or reads_annotations(project)):
                return True
    return False


def reads_annotations(project: Project) -> bool:
    """Return whether code of Python has annotations as values; kept for the tree."""
    notes = project.tree.notes
    if "reads_annotations" not in notes:
        used = (use.kind for _, use in python_uses(project, *_ANNOTATIONS))
        notes["reads_annotations"] = any(kind not in NO_USE for kind in used)
    return bool(notes["reads_annotations"])


def is_own_self(scopes: FileScopes, at: int) -> bool:
    """Return whether `self` at a place is the first parameter of the method around it, unchanged."""
    found = scopes.resolve("self", at)
    if found is None or found.kind != FUNCTION or len(found.declarations) != 1:
        return False
    given = scopes.parameters(found.scope)
    outer = scopes.ranges[scopes.ranges[found.scope].outer].kind
    return outer == CLASS and bool(given) and given[0][0] == "self"


def is_set(project: Project, name: str) -> bool:
    """Return whether code of Python may change a variable of a module, or an attribute but of `self`."""
    return any(
        use.kind in (GLOBAL, UNKNOWN) or (use.kind == TARGET and use.receiver not in (None, SELF))
        for _, use in python_uses(project, name)
    )
