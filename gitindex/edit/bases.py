"""What classes outside of the tree may call in a member: those of Python's library are read."""

from __future__ import annotations

from collections.abc import Iterator

from gitindex.edit.library import library_class
from gitindex.query.names.finder import Finder
from gitindex.query.names.source import Definition, FileNames

_ROOTS = ("object", "Protocol", "Generic")


def called_by_bases(finder: Finder, family: list[Definition]) -> Iterator[tuple[str, str]]:
    """Yield classes of the members with a base outside of the tree that may use such a member."""
    classes = finder.binder.types.classes
    seen: set[tuple[str, int]] = set()
    for member in family:
        owner = classes.class_of(member)
        below = [owner, *finder.dispatch.descendants(owner)] if owner is not None else []
        for one in (up for low in below for up in classes.ancestors(low)[0]):
            if (one.path, one.ordinal) not in seen and classes.bases(one)[1]:
                for base in _reaching(finder, one, member.name):
                    why = f"{base}, a base of {one.name}, may use {member.name}"
                    yield f"{one.path}:{one.line + 1}", why
            seen.add((one.path, one.ordinal))


def _reaching(finder: Finder, owner: Definition, name: str) -> Iterator[str]:
    """Yield the bases outside of the tree that have or use a member of this name, or may."""
    project = finder.project
    source = project.source(owner.path)
    scopes = project.scopes(owner.path)
    if source is None or source.language != "python" or scopes is None:
        yield "a class outside of the tree"
        return
    known = {base.name for base in finder.binder.types.classes.bases(owner)[0]}
    at = project.offset(owner.path, owner.line, owner.column)
    for chain in scopes.bases.get(at, ()):
        names = [part.name for part in chain]
        if not names or names[-1] in _ROOTS or names[-1] in known:
            continue
        dotted = _full_name(source, names)
        found = library_class(dotted)
        if found is None or found.reaches(name):
            yield dotted


def _full_name(source: FileNames, names: list[str]) -> str:
    """Return the name of what a chain means, from its module on; as written where that is unknown."""
    for item, there in source.bindings.get(names[0], ()):
        if item.level:
            break
        if there != item.module:
            return ".".join([item.module, there, *names[1:]])
        if item.module.partition(".")[0] == names[0]:  # `import http.server`
            return ".".join(names)
        return ".".join([item.module, *names[1:]])
    return ".".join(names)
