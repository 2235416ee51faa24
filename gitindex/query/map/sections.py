"""Optional sections of a repo map: structure, languages, entry points, hubs, tests, surface."""

from __future__ import annotations

import json
import re
import tomllib
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from gitindex.base.escape import counted, safe_text
from gitindex.base.path_kind import is_foreign, is_test
from gitindex.base.vocabulary import MapSection
from gitindex.query.map.file_graph import FileGraph
from gitindex.view.tree import TreeView

MOST = 40
"""Maximum lines of one section; the budget may shorten it."""
MAX_PROJECTS = 50
MAX_PROJECT_BYTES = 1 << 18
_PROJECTS = frozenset({"pyproject.toml", "Cargo.toml", "package.json"})
_STARTS = re.compile(
    r"(^|/)(__main__\.py|main\.[a-z]+|manage\.py|wsgi\.py|asgi\.py|app\.[a-z]+|cli\.[a-z]+|server\.[a-z]+"
    r"|index\.(js|ts|tsx|html)|Main\.(java|kt|scala)|Program\.cs|src/lib\.rs|src/bin/[^/]+\.rs)$"
)
_SURFACE = re.compile(r"(^|/)(__init__\.py|index\.(js|ts|tsx|mjs)|lib\.rs|mod\.rs|[^/]+\.h)$")

Line = tuple[str, dict[str, Any]]
"""A line of text, and the same data as fields."""


class Subject(NamedTuple):
    """The data that sections are made from."""

    view: TreeView
    graph: FileGraph
    ranks: Mapping[str, float]


class RenderedSection(NamedTuple):
    """One section: its heading and its lines, the most important first."""

    name: MapSection
    lines: list[Line]


def draw(of: Subject, name: MapSection) -> RenderedSection:
    """Return one section of the map."""
    return RenderedSection(name, _SECTIONS[name](of)[:MOST])


def _structure(of: Subject) -> list[Line]:
    """Return the folders of the first two levels, with counts of what is below them."""
    files, lines = Counter[str](), Counter[str]()
    for path, file in of.graph.files.items():
        parts = path.split("/")[:-1]
        for depth in range(min(len(parts), 2) + 1):
            folder = "".join(f"{part}/" for part in parts[:depth]) or "./"
            files[folder] += 1
            lines[folder] += file.lines
    order = sorted(files, key=lambda f: (f.count("/") > 1, -lines[f], f))
    return [
        (
            f"{safe_text(f)}  {counted(files[f], 'files')}, {counted(lines[f], 'lines')}",
            {"path": safe_text(f), "files": files[f], "lines": lines[f]},
        )
        for f in order
    ]


def _languages(of: Subject) -> list[Line]:
    files, lines = Counter[str](), Counter[str]()
    for file in of.graph.files.values():
        files[file.language] += 1
        lines[file.language] += file.lines
    return [
        (
            f"{name}  {counted(files[name], 'files')}, {counted(lines[name], 'lines')}",
            {"language": name, "files": files[name], "lines": lines[name]},
        )
        for name in sorted(files, key=lambda name: (-lines[name], name))
    ]


def _entry_points(of: Subject) -> list[Line]:
    """Return commands in project files, functions called `main`, and files run directly."""
    entries: dict[str, str] = {}
    read = 0
    for path in sorted(of.graph.files, key=lambda p: (p.count("/"), p)):
        if is_test(path) or is_foreign(path):
            continue
        if path.rpartition("/")[2] in _PROJECTS and read < MAX_PROJECTS:
            read += 1
            entries |= {f"{path}: {name}": target for name, target in _declared(of.view, path)}
        main = any(top.name == "main" for top in of.graph.outer.get(path, ()))
        if main or _STARTS.search(path):
            entries.setdefault(path, "main()" if main else "")
    return [
        (
            safe_text(f"{name}  {target}".rstrip()),
            {"name": safe_text(name), "target": safe_text(target)},
        )
        for name, target in entries.items()
    ]


def _declared(view: TreeView, path: str) -> list[tuple[str, str]]:
    """Return the commands in pyproject.toml, Cargo.toml and package.json; none if unreadable."""
    name = path.rpartition("/")[2]
    raw = path.encode("utf-8", "surrogateescape")
    text = view.read([raw]).get(raw, b"")[:MAX_PROJECT_BYTES].decode("utf-8", "replace")
    try:
        fields = json.loads(text) if name == "package.json" else tomllib.loads(text)
    except (ValueError, RecursionError):
        return []
    if name == "package.json":
        tables = [_table(fields, "bin"), {"main": _field(fields, "main")}]
    elif name == "pyproject.toml":
        tables = [_table(fields, "project", "scripts"), _table(fields, "tool", "poetry", "scripts")]
    else:
        rows = fields.get("bin", [])
        tables = [{str(row.get("name")): row.get("path")} for row in rows if isinstance(row, dict)]
    return [(k, v) for table in tables for k, v in table.items() if isinstance(v, str)]


def _table(fields: Any, *keys: str) -> dict[str, Any]:
    for key in keys:
        fields = _field(fields, key)
    return fields if isinstance(fields, dict) else {}


def _field(fields: Any, key: str) -> Any:
    return fields.get(key) if isinstance(fields, dict) else None


def _hubs(of: Subject) -> list[Line]:
    """Return files that many files import, and how many they import themselves."""
    order = sorted(of.graph.importers, key=lambda p: (-of.graph.importers[p], p))
    return [
        (
            f"{safe_text(p)}  imported by {of.graph.importers[p]}, "
            f"imports {len(of.graph.imports.get(p, ()))}",
            {
                "path": safe_text(p),
                "importedBy": of.graph.importers[p],
                "imports": len(of.graph.imports.get(p, ())),
            },
        )
        for p in order
        if of.graph.importers[p] > 1
    ]


def _tests(of: Subject) -> list[Line]:
    """Return folders with tests, and what those tests import most."""
    folders: dict[str, list[str]] = defaultdict(list)
    for path in of.graph.files:
        if is_test(path):
            folders[f"{path.rpartition('/')[0]}/".removeprefix("/") or "./"].append(path)
    lines: list[Line] = []
    for folder in sorted(folders, key=lambda f: (-len(folders[f]), f)):
        reached = Counter(
            t for path in folders[folder] for t in of.graph.imports.get(path, ()) if not is_test(t)
        )
        most = sorted(reached, key=lambda p: (-reached[p], p))[:3]
        reads = f"; of {', '.join(map(safe_text, most))}" if most else ""
        lines.append(
            (
                f"{safe_text(folder)}  {counted(len(folders[folder]), 'files')}{reads}",
                {
                    "path": safe_text(folder),
                    "files": len(folders[folder]),
                    "covers": [safe_text(path) for path in most],
                },
            )
        )
    return lines


def _surface(of: Subject) -> list[Line]:
    """Return the exported names of packages: of their main files, else of the first files."""
    own = [p for p in of.graph.files if not is_test(p) and not is_foreign(p)]
    mains = [p for p in own if _SURFACE.search(p)] or own
    names = _exported(of.view, of.graph)
    lines: list[Line] = []
    for path in sorted(mains, key=lambda p: (p.count("/"), -of.ranks.get(p, 0.0), p)):
        offered = names.get(path, [])
        if offered:
            lines.append(
                (
                    safe_text(f"{path}  {', '.join(offered)}"),
                    {"path": safe_text(path), "names": [safe_text(name) for name in offered]},
                )
            )
    return lines


def _exported(view: TreeView, graph: FileGraph) -> dict[str, list[str]]:
    """Return the names that each file exports: its own, and those a main file re-exports."""
    exported: dict[str, dict[str, None]] = defaultdict(dict)
    for blob_id, name in view.rows("SELECT blob_id, name FROM {exports} ORDER BY blob_id, ordinal"):
        for path in graph.blobs.get(blob_id, ()):
            exported[path][name] = None
    for blob_id, names in view.rows(
        "SELECT blob_id, names FROM {imports} ORDER BY blob_id, ordinal"
    ):
        for path in graph.blobs.get(blob_id, ()):
            if path.endswith("/__init__.py"):
                public = (
                    local for _, local in json.loads(names) if local[:1] not in ("_", "*", "")
                )
                exported[path].update(dict.fromkeys(name for name in public if "." not in name))
    return {path: list(names) for path, names in exported.items()}


_SECTIONS: dict[MapSection, Callable[[Subject], list[Line]]] = {
    MapSection.STRUCTURE: _structure,
    MapSection.LANGUAGES: _languages,
    MapSection.ENTRYPOINTS: _entry_points,
    MapSection.HUBS: _hubs,
    MapSection.TESTS: _tests,
    MapSection.SURFACE: _surface,
}
