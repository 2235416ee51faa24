"""Names that code puts together, or spells otherwise: no place of the name leads to their use."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

from gitindex.languages.facts import Occurrence, Use
from gitindex.languages.syntax.kinds import TYPES
from gitindex.query.names.finder import Finder
from gitindex.query.names.model import Definition
from gitindex.query.names.project import Project
from gitindex.query.names.texts import look

MAX_CUTS = 4
"""Places where a name is taken apart, to look for its parts."""
_ENCODERS = ("json", "xml", "gob", "yaml", "toml", "template", "reflect", "mapstructure")
_LISTING = ("vars", "dir", "__dict__")
_TEXTS = ("string", "dynamic", "evaluated")
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
            for where in _computed_with(project, part):
                yield where, f"names with {part} are put together"


def _computed_with(project: Project, part: str) -> Iterator[str]:
    """Yield strings with a part of a name, in files that reach members by computed names."""
    found = {
        file.path: [start for _, _, start in places]
        for file, places in look(project, part).places.items()
        if (source := project.source(file.path)) and "dynamic_attribute" in source.origin.flags
    }
    for path, kinds in project.kinds(found).items():
        for start, kind in zip(found[path], kinds, strict=False):
            words = project.text(path)[kind.start : kind.end].split()
            if kind.kind in _TEXTS and len(words) == 1:
                yield f"{path}:{project.line(path, start) + 1}"


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
    """Yield places that list the names of a module or class that has the symbol: `vars(m)`."""
    for word in _LISTING:
        for path, places in sorted(finder.project.places(word).items()):
            used = [place for place in places if place.use in (Use.CALL, Use.ATTRIBUTE)]
            names = _offering(finder, path, family) if used else set()
            for place in used if names else ():
                if _lists(finder, path, place, names):
                    yield f"{path}:{place.line + 1}", "names of the module are listed there"


def _lists(finder: Finder, path: str, place: Occurrence, names: set[str]) -> bool:
    """Is the object of `__dict__`, or a name in the line of `vars(…)`, one of these?"""
    project = finder.project
    scopes = project.scopes(path)
    chain = scopes.receiver(project.offset(path, place.line, place.column)) if scopes else None
    if chain is not None:
        return any(part.name in names for part in chain)
    found = (project.places(name, [path]).get(path, ()) for name in names)
    return any(other.line == place.line for others in found for other in others)


def _offering(finder: Finder, path: str, family: list[Definition]) -> set[str]:
    """Return names that mean a module or a class with the symbol in a file of Python."""
    modules, source = finder.binder.names.modules, finder.project.source(path)
    if source is None or source.language != "python":
        return set()
    found = {d.qualified.rpartition(".")[0].rpartition(".")[2] or _module(d.path) for d in family}
    for item, there, local in ((i, *pair) for i in source.imports for pair in i.names):
        module = modules.imported(source, item, there).module
        offered = modules.exported(module.paths, family[0].name).definitions if module else ()
        if any(d in family for d in offered):
            found.add(local)
    return found


def _module(path: str) -> str:
    folder, _, file = path.rpartition("/")
    stem = file.partition(".")[0]
    return folder.rpartition("/")[2] if stem == "__init__" else stem
