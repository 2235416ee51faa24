"""Places that name a module of Python: imports, and what they bind."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import Any

from gitindex.base.errors import Exit, GitIndexError
from gitindex.base.escape import path_fields, safe_text
from gitindex.base.vocabulary import Layer, Tier
from gitindex.edit.patch import FileEdit
from gitindex.languages.facts import Import, Occurrence, Use
from gitindex.query.names.finder import Finder, Found
from gitindex.query.names.model import (
    ELSEWHERE,
    UNBOUND,
    At,
    FileNames,
    Meaning,
    PlaceClass,
    Site,
    State,
    make_site,
)
from gitindex.query.names.names import BUILTINS
from gitindex.query.names.project import Project

_CALLED = frozenset(
    {
        *("conftest", "setup", "noxfile", "fabfile", "tasks", "sitecustomize", "usercustomize"),
        *("manage", "wsgi", "asgi", "settings", "models", "admin", "apps", "urls"),
    }
)
"""Modules that programs outside of the tree look for by their name (pytest, Django, Celery …)."""
_SEARCHED = frozenset({"commands", "migrations", "templatetags"})
"""Folders whose modules they look for."""
_FINDERS = ("iter_modules", "walk_packages", "run_module", "runpy")
_LISTING = ("listdir", "scandir", "glob", "iglob", "rglob", "iterdir", "walk")
_FLAGGED = (
    "SELECT l.path FROM {live} l JOIN {blobs} b ON b.id=l.blob_id"
    " WHERE b.flags LIKE '%dynamic_import%'"
)


def module_name(home: FileNames) -> str:
    """Return the name of the module in a file; GitIndexError where none can be renamed."""
    stem = os.path.splitext(os.path.basename(home.path))[0]
    if home.language != "python":
        raise GitIndexError(
            f"a module of {home.language} is not renamed: {safe_text(home.path)}",
            "give FILE#NAME for a symbol in it",
            Exit.USAGE,
        )
    is_test = stem.startswith("test_") or stem.endswith("_test")
    searched = os.path.basename(os.path.dirname(home.path)) in _SEARCHED
    called = stem.startswith("__") or stem in _CALLED or is_test or searched
    if called or not stem.isidentifier():
        raise GitIndexError(
            f"programs look for a file of this name: {safe_text(home.path)}",
            "rename it by hand with `git mv`, and what looks for it",
            Exit.NO,
        )
    return stem


def module_fields(home: FileNames, name: str) -> dict[str, Any]:
    """Return a module with the fields of a definition."""
    dotted = os.path.splitext(home.path)[0].replace("/", ".")
    return {
        "name": name,
        "qualifiedName": safe_text(dotted),
        "kind": "module",
        **path_fields(os.fsencode(home.path)),
        "line": 1,
        "column": 1,
        "layer": str(Layer.SYNTACTIC),
    }


def find_module(finder: Finder, home: FileNames, name: str) -> Found:
    """Return the places that name a module, and why every other place of its name does not."""
    sites: list[Site] = []
    judged: dict[At, PlaceClass] = {}
    for source, places in finder.occurrences(name):
        for place in places:
            verdict: PlaceClass | Tier = ELSEWHERE
            if source.language == "python":
                verdict = _judge(finder, home, source, place)
            if isinstance(verdict, Tier):
                sites.append(make_site(source, place, Tier.IMPORT, ()))
            else:
                judged[source.path, place.line, place.column] = verdict
    return Found(sorted(sites, key=Site.order), [], judged)


def moved(project: Project, edits: list[FileEdit], path: str, new: str) -> list[FileEdit]:
    """Return the edits with the module's own file at its new path."""
    target = _path_of(path, new)
    own = next((e for e in edits if e.path == path), None)
    data = project.text(path)
    own = own or FileEdit(path, data, data)
    return [*(e for e in edits if e.path != path), own._replace(moved=target)]


def beside(finder: Finder, home: FileNames, new: str) -> list[str]:
    """Return what stands in the way of a module's new name."""
    root, path = finder.view.worktree.root, home.path
    folder, stem = os.path.dirname(path), os.path.splitext(path)[0]
    other = ".py" if path.endswith(".pyi") else ".pyi"
    reasons = [
        f"{there} exists already"
        for there in (_path_of(path, new), os.path.join(folder, new))
        if os.path.lexists(os.path.join(root, there))
    ]
    if os.path.lexists(os.path.join(root, stem + other)) or os.path.isdir(os.path.join(root, stem)):
        reasons.append(f"{stem} is more than one file")
    if new in sys.stdlib_module_names:
        reasons.append(f"Python has a module {new} of its own")
    package = finder.project.source(os.path.join(folder, "__init__.py"))
    name = os.path.basename(stem)
    if package is not None:
        lines = [d.line for d in package.named(name)]
        lines += [
            item.line
            for item, there in package.bindings.get(name, ())
            if finder.binder.names.modules.imported(package, item, there).definitions
        ]
        reasons += [f"{package.path}:{line + 1}: the package has {name}, too" for line in lines]
    return reasons


def loaded_unnamed(finder: Finder, home: FileNames) -> list[tuple[str, str]]:
    """Return files that may load the module though no text has its name.

    Those that look for modules; and, of those that load modules by computed names, the ones that
    list files or that lie in a package around it. Names that others compute stand in some text.
    """
    project = finder.project
    reasons = [(path, f"modules are found by {w}") for w in _FINDERS for path in project.places(w)]
    listing = {path for word in _LISTING for path in project.places(word)}
    for row in finder.view.rows(_FLAGGED):
        path = os.fsdecode(row[0])
        folder = os.path.dirname(path)
        if path in listing or not folder or home.path.startswith(f"{folder}/"):
            reasons.append((path, "modules are loaded by computed names"))
    return sorted(reasons)


def _judge(
    finder: Finder, home: FileNames, source: FileNames, place: Occurrence
) -> PlaceClass | Tier:
    """Return Tier.IMPORT for a place that names the module, else the class that it is in."""
    if place.use == Use.DEFINITION:
        bound = [
            _verdict(finder.binder.names.modules.imported(source, item, there), home, place.name)
            for item, there in source.bindings.get(place.name, ())
        ]
        defined = [d for d in source.named(place.name) if d.line == place.line]
        twice = Tier.IMPORT in bound and not any(map(finder.binder.is_member, defined))
        return UNBOUND if twice else ELSEWHERE
    if place.use == Use.IMPORT:
        return _of_import(finder, home, source, place)
    return _verdict(finder.binder.meaning(source, place), home, place.name)


def _verdict(meaning: Meaning, home: FileNames, name: str) -> PlaceClass | Tier:
    if meaning.module is not None and home.path in meaning.module.paths:
        alone = meaning.sure and meaning.module.paths == (home.path,)
        return Tier.IMPORT if alone else UNBOUND
    match meaning.state:
        case State.UNKNOWN:
            return UNBOUND
        case State.UNBOUND:
            return ELSEWHERE if name in BUILTINS["python"] else UNBOUND
        case State.KEY:
            return ELSEWHERE
        case _:
            return ELSEWHERE if meaning.sure else UNBOUND


def _line_of_import(source: FileNames, place: Occurrence) -> int:
    """Return the line where the import around a place begins; -1 if there is none."""
    return max((i.line for i in source.imports if i.line <= place.line), default=-1)


def _of_import(
    finder: Finder, home: FileNames, source: FileNames, place: Occurrence
) -> PlaceClass | Tier:
    """Judge a name in an import statement: part of a path, an imported name, or an alias."""
    scopes = finder.project.scopes(source.path)
    at = finder.project.offset(source.path, place.line, place.column)
    declared = scopes.declared(place.name) if scopes is not None else ()
    binds = any(made.offset == at for made in declared)
    line = _line_of_import(source, place)
    items = [item for item in source.imports if item.line == line]
    verdicts = {
        one for item in items for one in _readings(finder, home, source, item, place.name, binds)
    }
    return verdicts.pop() if len(verdicts) == 1 else UNBOUND


def _readings(
    finder: Finder, home: FileNames, source: FileNames, item: Import, name: str, binds: bool
) -> Iterator[PlaceClass | Tier]:
    """Yield what a name in an import may be; does it stand where it is bound?"""
    parts = item.module.split(".")
    named = [pair for pair in item.names if pair != (item.module, parts[0])]
    for there, local in named:
        if name == (local if binds else there) and (binds or there != local):
            imported = finder.binder.names.modules.imported(source, item, there)
            yield _verdict(imported, home, name)
    for end in range(len(parts)) if not (binds and named) else ():
        if parts[end] == name:
            yield _of_path(finder, home, source, item, ".".join(parts[: end + 1]))


def _of_path(
    finder: Finder, home: FileNames, source: FileNames, item: Import, dotted: str
) -> PlaceClass | Tier:
    """Judge a part of the path of a module: the path up to it must lead to the file."""
    imported = Import(dotted, (), item.level, item.line)
    paths = finder.project.resolve(source, imported)[:1]
    resolver = finder.project.tree.resolver
    certain = resolver.is_certain(source.path, "python", imported)
    if not paths:
        certain = not imported.level and resolver.is_outside("python", dotted)
    if not certain:
        return UNBOUND
    return Tier.IMPORT if paths == (home.path,) else ELSEWHERE


def _path_of(path: str, new: str) -> str:
    return os.path.join(os.path.dirname(path), new + os.path.splitext(path)[1])
