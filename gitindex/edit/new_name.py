"""What a new name means already, beyond the files with places of the old one."""

from __future__ import annotations

import keyword
import os
import re
import unicodedata
from collections.abc import Iterable, Iterator

from gitindex.base.errors import Exit, GitIndexError
from gitindex.base.escape import safe_text
from gitindex.base.pattern import compile_later
from gitindex.edit.patch import RenamePlace
from gitindex.languages.facts import Use
from gitindex.query.names.finder import Finder
from gitindex.query.names.source import Definition, FileNames

_IDENTIFIER = re.compile(r"[^\W\d][\w$]*|\$[\w$]*")
_SHOWN = compile_later(rb"\{[^{}]*[^{}=!<>]=\s*(?:![rsa])?(?::[^{}]*)?\}")


def check_new(new: str, old: str, python: bool) -> None:
    """Raise unless a name can be given: Python reads names in their NFKC form."""
    named = bool(_IDENTIFIER.fullmatch(new))
    if python:
        plain = unicodedata.normalize("NFKC", new) == new
        named = named and new.isidentifier() and plain and not keyword.iskeyword(new)
    if not named:
        hint = "a name has letters, digits and _, and does not begin with a digit"
        raise GitIndexError(f"not a name: {safe_text(new)}", hint, Exit.USAGE)
    if new == old:
        raise GitIndexError("the new name is the old one", "give another one", Exit.USAGE)


def taken(
    finder: Finder, family: list[Definition], places: list[RenamePlace], new: str
) -> list[str]:
    """Return why a symbol with the new name would be another one, or hide one."""
    old, python = family[0].name, any(d.path.endswith((".py", ".pyi")) for d in family)
    reasons = list(_members(finder, family, new))
    if not python:
        return reasons
    if any(map(finder.binder.is_member, family)):
        if new.startswith("__") or old.startswith("__"):
            reasons.append(f"{new if new.startswith('__') else old} is special in a class")
    else:
        if new.startswith("_") != old.startswith("_"):
            reasons += _starred_from(finder, family)
        reasons += starred(finder, {p.path for p in places}, new)
        reasons += _submodules(finder, {p.path for p in places}, new)
    return [*reasons, *_shown(finder, places)]


def module_taken(
    finder: Finder, home: FileNames, places: list[RenamePlace], new: str
) -> Iterator[str]:
    """Yield why a module with the new name would be another one, or hide one."""
    project = finder.project
    for path, found in sorted(project.places(new).items()):
        if any(p.use == Use.IMPORT for p in found):
            yield f"{path}: {new} is imported there already"
    folder = os.path.dirname(home.path)
    package = project.source(os.path.join(folder, "__init__.py"))
    if package is not None:
        brought = package.stars and project.definitions(new)
        if brought or project.places(new, [package.path]):
            yield f"{package.path}: the package has {new}, too"
    yield from starred(finder, {p.path for p in places}, new)


def starred(finder: Finder, paths: Iterable[str], new: str) -> Iterator[str]:
    """Yield files where a star brings the new name in, or would."""
    project, defined = finder.project, bool(finder.project.definitions(new))
    for path in sorted({*paths, *project.places(new)}):
        source = project.source(path)
        if source is None or source.language != "python" or not source.stars:
            continue
        if defined or path not in paths:
            yield f"{path}:{source.stars[0].line + 1}: the star may bring {new} in"


def _starred_from(finder: Finder, family: list[Definition]) -> Iterator[str]:
    """Yield files with a star from a module of the symbol: a star leaves out names like `_x`."""
    project = finder.project
    for path in sorted({user for d in family for user in project.importing(d.path)}):
        source = project.source(path)
        for item in source.stars if source is not None else ():
            yield f"{path}:{item.line + 1}: a star leaves out names that begin with _"


def _members(finder: Finder, family: list[Definition], new: str) -> Iterator[str]:
    """Yield files of classes above or below that have the new name: it may be their member's."""
    classes = finder.binder.types.classes
    owners = [owner for d in family if (owner := classes.class_of(d)) is not None]
    below = [one for owner in owners for one in (owner, *finder.dispatch.descendants(owner))]
    kin = {up.path for one in below for up in classes.ancestors(one)[0]}
    for path, found in sorted(finder.project.places(new, kin).items() if kin else ()):
        yield f"{path}:{found[0].line + 1}: {new} may be a member of a class above or below"


def _submodules(finder: Finder, paths: Iterable[str], new: str) -> Iterator[str]:
    """Yield packages whose submodule the new name would hide."""
    for path in sorted(paths):
        folder, name = os.path.split(path)
        at = os.path.join(finder.view.worktree.root, folder, new)
        if name == "__init__.py" and any(map(os.path.lexists, (at, f"{at}.py", f"{at}.pyi"))):
            yield f"{path}: the package has a module {new}"


def _shown(finder: Finder, places: list[RenamePlace]) -> Iterator[str]:
    """Yield places that show the name as text: `f"{name=}"`."""
    project = finder.project
    for place in places:
        at = project.offset(place.path, place.line, place.column)
        data = project.text(place.path)
        first, last = data.rfind(b"\n", 0, at) + 1, data.find(b"\n", at)
        line = data[first : last if last >= 0 else len(data)]
        if any(m.start() < at - first < m.end() for m in _SHOWN.finditer(line)):
            yield f"{place.path}:{place.line + 1}: the text `name=` is shown there"
