"""Which files of C include a header: computed once per tree, and shared by all questions."""

from __future__ import annotations

import os

from gitindex.query.names.project import Project


class Includes:
    """The includes of one tree."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._includers: dict[str, set[str]] = project.tree.table("includers")

    def reach(self, path: str, header: str) -> bool:
        """Return whether a C file includes another one, directly or indirectly."""
        if header not in self._includers:
            found, todo = {header}, [header]
            while todo:
                new = self._including(todo.pop()) - found
                found |= new
                todo += new
            self._includers[header] = found - {header}
        return path in self._includers[header]

    def _including(self, header: str) -> set[str]:
        """Return the files whose includes resolve to a header.

        Computed once per tree for all headers of one name: there may be hundreds.
        """
        tree = self._project.tree
        known: dict[str, dict[str, set[str]]] = tree.table("including")
        name = header.rpartition("/")[2]
        if name not in known:
            found: dict[str, set[str]] = {}
            for module, paths in self._lines().get(name, {}).items():
                find = tree.resolver.include_finder(module)
                resolved: dict[str, set[str]] = {}  # by folder
                for path in paths:
                    folder, _, file = path.rpartition("/")
                    key = path if file == name else folder  # itself is no edge
                    if key not in resolved:
                        there = find(folder)
                        other = there if there != path else None
                        resolved[key] = found.setdefault(other, set()) if other else set()
                    resolved[key].add(path)
            known[name] = found
        return known[name].get(header, set())

    def _lines(self) -> dict[str, dict[str, list[str]]]:
        """Return all includes of a tree: file name → what is written → the files that have it."""
        notes = self._project.tree.notes
        if "includes" in notes:
            held: dict[str, dict[str, list[str]]] = notes["includes"]
            return held
        self._project.view.ensure_facts()
        written: dict[str, list[str]] = {}
        for (
            raw,
            modules,
        ) in self._project.view.rows(  # a row per file: hundreds of thousands cost more
            "SELECT l.path, (SELECT group_concat(i.module, char(10)) FROM {imports} i"
            " WHERE i.blob_id=b.id) FROM {blobs} b JOIN {live} l ON l.blob_id=b.id"
            " WHERE b.language IN ('c', 'cpp')"
        ):
            path = os.fsdecode(raw)
            for module in modules.split("\n") if modules else ():
                written.setdefault(module, []).append(path)
        lines: dict[str, dict[str, list[str]]] = {}
        for module, users in written.items():
            lines.setdefault(module.rpartition("/")[2], {})[module] = users
        notes["includes"] = lines
        return lines
