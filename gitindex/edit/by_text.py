"""Reasons to expect that code reaches a name by its text: no search for places can prove these."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator

from gitindex.base.pattern import compile_later
from gitindex.base.vocabulary import MentionKind
from gitindex.languages.syntax.kinds import TYPES
from gitindex.query.absence import FoundPlace
from gitindex.query.names.chains import read_chain
from gitindex.query.names.finder import Finder
from gitindex.query.names.fixtures import is_fixture
from gitindex.query.names.meanings import ECMA
from gitindex.query.names.mentions import look
from gitindex.query.names.project import Project
from gitindex.query.names.source import Definition, FileNames, enclosing
from gitindex.query.names.values import ExpressionPlace

_READ = (MentionKind.STRINGS, MentionKind.DATA)
_LISTED = compile_later(r"\b(?:vars|dir)\(\s*([\w.]+)\s*\)|([\w.]+)\.__dict__")
_EXAMPLE = compile_later(r"\s*(?:>>>|\.\.\.) ")
MAX_CUTS = 4
"""Places where a name is taken apart, to look for its parts."""
_ENCODERS = ("json", "xml", "gob", "yaml", "toml", "template", "reflect", "mapstructure")
_NAMES = ("__name__", "__qualname__")
_LISTING = ("vars", "dir", "__dict__")


def read_as_text(
    finder: Finder, family: list[Definition], mentions: Iterable[FoundPlace], force: tuple[str, ...]
) -> list[str]:
    """Return what speaks for an access by text, each with its place; forced places are left out."""
    around = {d.qualified.rpartition(".")[0].rpartition(".")[2] or _module(d.path) for d in family}
    told = [
        *_computed(finder, family),
        *_paths(finder, family[0], around, mentions),
        *_listings(finder, family, around),
        *_built(finder, family[0]),
        *_parts(finder.project, family[0]),
        *_other_spellings(finder.project, family[0]),
        *_encoded(finder, family),
        *_injected(finder.project, family),
    ]
    return [f"{where}: {why}" for where, why in told if where not in force]


def _computed(finder: Finder, family: list[Definition]) -> Iterator[tuple[str, str]]:
    """Yield the files of classes with the member, or of their bases, that compute attributes."""
    classes = finder.binder.types.classes
    owners = [owner for d in family if (owner := classes.class_of(d)) is not None]
    homes = {up.path for owner in owners for up in (owner, *classes.ancestors(owner)[0])}
    for path in sorted(homes):
        source = finder.project.source(path)
        if source is not None and "dynamic_attribute" in source.origin.flags:
            yield path, "a class there reads attributes by computed names"


def _paths(
    finder: Finder, target: Definition, around: set[str], mentions: Iterable[FoundPlace]
) -> Iterator[tuple[str, str]]:
    """Yield strings and data like `package.module.name`, `package.module:name` and `name(…)`."""
    project = finder.project
    for found in mentions:
        start, data = found.start, project.text(found.path)
        before = data[max(0, start - 200) : start].decode("utf-8", "replace")
        path = re.split(r"[^\w.:]", before)[-1]
        owner = re.split(r"[.:]", path.rstrip(".:"))[-1]
        where = f"{found.path}:{found.line + 1}"
        if found.why in _READ and path[-1:] in (".", ":") and owner in around:
            yield where, "a path in a text that may be read as code"
        elif _is_whole(project, target, found):
            yield where, "a string that is the name"
        elif found.why == MentionKind.TEMPLATES and _is_handler(project, target, found):
            yield where, "a page that may call it"
        elif target.kind in TYPES and _is_shown(project, found, target.name):
            yield where, "a text as `repr` gives it"
        elif found.why == MentionKind.STRINGS and _EXAMPLE.match(
            project.span(found.path, found.line, found.line)
        ):
            yield where, "an example that doctest runs"


def _is_whole(project: Project, target: Definition, found: FoundPlace) -> bool:
    """Is a place a name in quotes in the target's own language: a key, a slot, a registered name?"""
    home, there = project.source(target.path), project.source(found.path)
    if found.why != MentionKind.STRINGS or home is None or there is None:
        return False
    data, end = project.text(found.path), found.start + len(target.name.encode())
    quotes = data[max(0, found.start - 1) : found.start], data[end : end + 1]
    scopes = project.scopes(found.path)
    told = scopes is None or scopes.quiet(found.start) != "docstring"
    same = told and home.origin.family == there.origin.family
    return same and quotes[0] == quotes[1] and quotes[0] in (b'"', b"'", b"`")


def _is_handler(project: Project, target: Definition, found: FoundPlace) -> bool:
    """Is a place in a page a call of a function of a script: `onclick="name()"`?"""
    home = project.source(target.path)
    after = project.text(found.path)[found.start + len(target.name.encode()) :][:80].lstrip()
    return home is not None and home.language in ECMA and after[:1] == b"("


def _parts(project: Project, target: Definition) -> Iterator[tuple[str, str]]:
    """Yield strings that may be put together to the name: `getattr(x, "do_" + name)`."""
    words = target.name.split("_")
    cuts = [i for i in range(1, len(words)) if any(words[:i]) and any(words[i:])][:MAX_CUTS]
    for cut in cuts:
        for part in ("_".join(words[:cut]) + "_", "_" + "_".join(words[cut:])):
            for file, places in look(project, part).places.items():
                source = project.source(file.path)
                flags = source.origin.flags if source is not None else ()
                if "dynamic_attribute" in flags:
                    yield f"{file.path}:{places[0][0] + 1}", f"names with {part} are put together"


def _other_spellings(project: Project, target: Definition) -> Iterator[tuple[str, str]]:
    """Yield names of Python that are the target in another form: NFKC, or `_Class__name`."""
    source = project.source(target.path)
    if source is None or source.language != "python":
        return
    project.view.ensure_facts()
    mangled = f"_{target.name.lstrip('_')}__" if target.kind in TYPES else ""
    for (text,) in project.view.rows(
        "SELECT text FROM {names} WHERE text GLOB '*[^ -~]*' OR (? AND substr(text, 1, ?)=?)",
        bool(mangled),
        len(mangled),
        mangled,
    ):
        same = text != target.name and unicodedata.normalize("NFKC", text) == target.name
        if same or (mangled and text.startswith(mangled)):
            for path in sorted(project.places(text))[:1]:
                yield path, f"{text} is the name in another form"
    if unicodedata.normalize("NFKC", target.name) != target.name:
        yield target.path, "Python reads the name in another form"


def _encoded(finder: Finder, family: list[Definition]) -> Iterator[tuple[str, str]]:
    """Yield files of Go that may turn the names of fields into text."""
    fields = [d for d in family if d.kind == "field" and d.path.endswith(".go")]
    for word in _ENCODERS if fields else ():
        for source in finder.project.importing_name(word):
            if source.language == "go":
                yield source.path, f"{word} may read the names of fields"


def _is_shown(project: Project, found: FoundPlace, name: str) -> bool:
    """Is a place in a text like an object of a class is shown, in a docstring as the result of code?"""
    data = project.text(found.path)
    if found.why not in _READ or not data.startswith(f"{name}(".encode(), found.start):
        return False
    scopes = project.scopes(found.path)
    if scopes is None or scopes.quiet(found.start) != "docstring":
        return True
    first, last = scopes.quiet_span(found.start)
    return b">>>" in data[first:last]


def _listings(
    finder: Finder, family: list[Definition], around: set[str]
) -> Iterator[tuple[str, str]]:
    """Yield places that list the names of the module or class: `vars(m)`, `dir(m)`, `m.__dict__`."""
    project = finder.project
    for word in _LISTING:
        for file, places in look(project, word).places.items():
            source = project.source(file.path)
            for line in sorted({line for line, _, _ in places} if source is not None else ()):
                listed = [a or b for a, b in _LISTED.findall(project.span(file.path, line, line))]
                own = any(chain.rpartition(".")[2] in around for chain in listed)
                if own or any(_has(finder, source, line, chain, family) for chain in listed):
                    yield f"{file.path}:{line + 1}", "names of the module are listed there"


def _built(finder: Finder, target: Definition) -> Iterator[tuple[str, str]]:
    """Yield definitions whose names end in a class's, where names of classes are read: `visit_Name`."""
    project = finder.project
    if target.kind not in TYPES or not any(map(project.places, _NAMES)):
        return
    project.view.ensure_facts()
    like = f"%!_{target.name.replace('_', '!_')}"
    for (longer,) in project.view.rows(
        "SELECT text FROM {names} WHERE text LIKE ? ESCAPE '!'", like
    ):
        for found in project.definitions(longer)[:1]:
            yield f"{found.path}:{found.line + 1}", f"{longer} may be found by the class's name"


def _injected(project: Project, family: list[Definition]) -> Iterator[tuple[str, str]]:
    """Yield fixtures of pytest: parameters of their name ask for them."""
    for d in family:
        if is_fixture(project, d):
            yield f"{d.path}:{d.line + 1}", "pytest gives a fixture to parameters of its name"


def _has(
    finder: Finder, source: FileNames | None, line: int, chain: str, family: list[Definition]
) -> bool:
    """Is a chain a module that offers the symbol: its own, or one that passes it on?"""
    parts = read_chain(chain)
    if not parts or source is None:
        return False
    at = finder.project.offset(source.path, line, 0)
    around = enclosing(source, line)
    place = ExpressionPlace(source, around.ordinal if around else -1, at)
    value = finder.binder.types.chain(parts, place)
    if value.module is None:
        return False
    offered = finder.binder.names.modules.exported(value.module.paths, family[0].name)
    return any(d in family for d in offered.definitions)


def _module(path: str) -> str:
    folder, _, file = path.rpartition("/")
    stem = file.partition(".")[0]
    return folder.rpartition("/")[2] if stem == "__init__" else stem
