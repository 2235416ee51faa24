"""Reasons to expect that code reaches a name by its text: no search for places can prove these."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from gitindex.base.vocabulary import MentionKind
from gitindex.query.absence import FoundPlace
from gitindex.query.names.finder import Finder
from gitindex.query.names.mentions import look
from gitindex.query.names.source import Definition

_READ = (MentionKind.STRINGS, MentionKind.DATA)
_LISTING = ("vars", "dir", "__dict__")


def read_as_text(
    finder: Finder, family: list[Definition], mentions: Iterable[FoundPlace], force: tuple[str, ...]
) -> list[str]:
    """Return what speaks for an access by text, each with its place; forced places are left out."""
    around = {d.qualified.rpartition(".")[0].rpartition(".")[2] or _module(d.path) for d in family}
    told = [
        *_computed(finder, family),
        *_paths(finder, around, mentions),
        *_listings(finder, around),
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
    finder: Finder, around: set[str], mentions: Iterable[FoundPlace]
) -> Iterator[tuple[str, str]]:
    """Yield strings and data like `package.module.name` and `package.module:name`."""
    project = finder.project
    for found in mentions:
        start, data = found.start, project.text(found.path)
        before = data[max(0, start - 200) : start].decode("utf-8", "replace")
        path = re.split(r"[^\w.:]", before)[-1]
        owner = re.split(r"[.:]", path.rstrip(".:"))[-1]
        if found.why in _READ and path[-1:] in (".", ":") and owner in around:
            yield f"{found.path}:{found.line + 1}", "a path in a text that may be read as code"


def _listings(finder: Finder, around: set[str]) -> Iterator[tuple[str, str]]:
    """Yield places that list the names of the module or class: `vars(m)`, `dir(m)`, `m.__dict__`."""
    project, owner = finder.project, "|".join(map(re.escape, sorted(around)))
    listing = re.compile(rf"\b(?:vars|dir)\(\s*[\w.]*\b(?:{owner})\s*\)|\b(?:{owner})\.__dict__")
    for word in _LISTING:
        for file, places in look(project, word).places.items():
            for line in sorted({line for line, _, _ in places}):
                if listing.search(project.span(file.path, line, line)):
                    yield f"{file.path}:{line + 1}", "names of the module are listed there"


def _module(path: str) -> str:
    folder, _, file = path.rpartition("/")
    stem = file.partition(".")[0]
    return folder.rpartition("/")[2] if stem == "__init__" else stem
