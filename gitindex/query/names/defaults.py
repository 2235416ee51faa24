"""The names that importers give to what a module exports as a whole or by default (ECMA)."""

from __future__ import annotations

import os
from collections.abc import Iterable

from gitindex.languages.scopes.model import EXPORTED_WHOLE
from gitindex.query.names.meanings import ECMA
from gitindex.query.names.modules import Modules
from gitindex.query.names.project import Project
from gitindex.query.names.source import Definition


def default_names(modules: Modules, targets: Iterable[Definition], names: list[str]) -> list[str]:
    """Return the names that importers give to a module's default export."""
    project, found = modules.project, list[str]()
    for target in targets:
        source = project.source(target.path)
        if source is None or source.language not in ECMA:
            continue
        renamed = modules.renamed(source)
        for out in ("default", EXPORTED_WHOLE):
            if renamed.get(out) == target.name:
                found += [
                    *([out] if out == "default" else []),
                    *locals_of(project, target.path, out),
                ]
    return [name for name in dict.fromkeys(found) if name not in names]


def locals_of(project: Project, path: str, out: str) -> list[str]:
    """Return the local names of a module's default export, or of a whole CommonJS module."""
    bound = _bound(project, ("default", "*") if out == EXPORTED_WHOLE else ("default",))
    homes = [path]
    for home in homes:  # grows during the loop: files that re-export the default
        homes += [
            importer
            for importer, there, local, paths in bound
            if there == local == "default" and home in paths and importer not in homes
        ]
    return [
        local
        for _, _, local, paths in bound
        if local != "default" and any(home in paths for home in homes)
    ]


def _bound(
    project: Project, listed: tuple[str, ...]
) -> list[tuple[str, str, str, tuple[str, ...]]]:
    """Return imports of some names: the importer, the name, what it is called there, the files."""
    view = project.view
    view.ensure_facts()
    importers = {
        os.fsdecode(row[0])
        for name in listed
        for row in view.rows(
            "SELECT DISTINCT l.path FROM {imports} i JOIN {live} l ON l.blob_id=i.blob_id"
            f" WHERE i.names LIKE '%[\"{name}\",%'"
        )
    }
    project.load(importers)
    sources = [s for s in map(project.source, sorted(importers)) if s and s.language in ECMA]
    return [
        (source.path, there, local, project.resolve(source, item))
        for source in sources
        for item in source.imports
        for there, local in item.names
        if there in listed and local != "*"
    ]
