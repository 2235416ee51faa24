"""Names that code puts together, or spells otherwise: no place of the name leads to their use."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

from gitindex.base.pattern import compile_later
from gitindex.languages.syntax.kinds import TYPES
from gitindex.query.names.expressions import read_chain
from gitindex.query.names.finder import Finder
from gitindex.query.names.model import Definition, ExpressionPlace, FileNames, enclosing
from gitindex.query.names.project import Project
from gitindex.query.names.texts import look

MAX_CUTS = 4
"""Places where a name is taken apart, to look for its parts."""
_ENCODERS = ("json", "xml", "gob", "yaml", "toml", "template", "reflect", "mapstructure")
_LISTING = ("vars", "dir", "__dict__")
_LISTED = compile_later(r"\b(?:vars|dir)\(\s*([\w.]+)\s*\)|([\w.]+)\.__dict__")
_QUOTES = (b'"', b"'")
_NAMES = ("__name__", "__qualname__")


def built_names(finder: Finder, family: list[Definition]) -> Iterator[tuple[str, str]]:
    """Yield places that speak for a use by another text than the name, each with the reason."""
    yield from _built(finder, family[0])
    yield from _parts(finder.project, family[0])
    yield from _other_spellings(finder.project, family[0])
    yield from _encoded(finder, family)
    yield from _listings(finder, family)


def _parts(project: Project, target: Definition) -> Iterator[tuple[str, str]]:
    """Yield strings that may be put together to the name: `getattr(x, "do_" + name)`."""
    words = target.name.split("_")
    cuts = [i for i in range(1, len(words)) if any(words[:i]) and any(words[i:])][:MAX_CUTS]
    for cut in cuts:
        for part in ("_".join(words[:cut]) + "_", "_" + "_".join(words[cut:])):
            for file, places in look(project, part).places.items():
                source = project.source(file.path)
                if source is None or "dynamic_attribute" not in source.origin.flags:
                    continue
                data = project.text(file.path)
                for line, _, start in places:
                    if _is_text(data, start, start + len(part.encode())):
                        yield f"{file.path}:{line + 1}", f"names with {part} are put together"


def _is_text(data: bytes, start: int, end: int) -> bool:
    """Is a part of a name a string of its own, or the start or end of one: `'do_'`, `f"do_{x}"`?"""
    before, after = data[max(0, start - 1) : start], data[end : end + 1]
    if before in _QUOTES:
        return after in (*_QUOTES, b"{", b"%", b"$")
    return after in _QUOTES and before in (b"}", b"s")


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


def _listings(finder: Finder, family: list[Definition]) -> Iterator[tuple[str, str]]:
    """Yield places that list the names of a module that offers the symbol: `vars(m)`, `m.__dict__`."""
    project = finder.project
    around = {d.qualified.rpartition(".")[0].rpartition(".")[2] or _module(d.path) for d in family}
    for word in _LISTING:
        for file, places in look(project, word).places.items():
            source = project.source(file.path)
            for line in sorted({line for line, _, _ in places} if source is not None else ()):
                if _lists_any(finder, source, line, around, family):
                    yield f"{file.path}:{line + 1}", "names of the module are listed there"


def _lists_any(
    finder: Finder,
    source: FileNames | None,
    line: int,
    around: set[str],
    family: list[Definition],
) -> bool:
    """Does a line list the names of a module or class that has the symbol?"""
    text = finder.project.span(source.path, line, line) if source is not None else ""
    listed = [one or other for one, other in _LISTED.findall(text)]
    if any(chain.rpartition(".")[2] in around for chain in listed):
        return True
    return any(_offers(finder, source, line, chain, family) for chain in listed)


def _offers(
    finder: Finder, source: FileNames | None, line: int, chain: str, family: list[Definition]
) -> bool:
    """Is a chain a module that has the symbol: its own, or one that passes it on?"""
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
