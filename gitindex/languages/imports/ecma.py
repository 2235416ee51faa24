"""JavaScript and TypeScript: relative paths, index files, tsconfig paths, workspace packages."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from gitindex.base.pattern import compile_later
from gitindex.languages.facts import Import
from gitindex.languages.imports.tree import Tree, join, parent, under

_EXTENSIONS = (
    ".ts",
    ".tsx",
    ".d.ts",
    ".mts",
    ".cts",
    ".js",
    ".jsx",
    ".mjs",
    ".cjs",
    ".json",
    ".vue",
)
MAX_EXTENDS = 4
"""Most configurations that extend one another: a circle of them ends."""
_CODE = frozenset(_EXTENSIONS) - {".json", ".vue"}
_SOURCES = {".js": (".ts", ".tsx"), ".jsx": (".tsx",), ".mjs": (".mts",), ".cjs": (".cts",)}
_COMMENT = compile_later(r'("(?:\\.|[^"\\])*")|//[^\n]*|/\*.*?\*/', re.DOTALL)
_TRAILING = compile_later(r",(\s*[}\]])")


class _Alias(NamedTuple):
    prefix: str
    suffix: str | None  # None: the pattern has no star
    targets: tuple[str, ...]


def resolve(tree: Tree, path: str, imported: Import) -> Iterator[str]:
    """Return the one file that a module specifier names."""
    for candidate in _candidates(tree, path, imported):
        file = tree.first(_files(candidate)) if candidate is not None else None
        if file:
            yield file
            return


def is_certain(tree: Tree, path: str, imported: Import) -> bool:
    """Is the file the only one of its name? One of `b.d.ts`, `b.ts` and `b.js` is read, another runs."""
    [file] = [*resolve(tree, path, imported)] or [""]
    stem = file.removesuffix(_ending(file))
    return sum(stem + extension in tree.paths for extension in _CODE) <= 1


def _ending(path: str) -> str:
    return next((e for e in sorted(_CODE, key=len, reverse=True) if path.endswith(e)), "")


def _candidates(tree: Tree, path: str, imported: Import) -> Iterator[str | None]:
    """Yield the paths, without an extension, that a module specifier may mean."""
    name = imported.module.partition("?")[0]
    if name.startswith("."):
        yield join(parent(path), name)
        return
    yield from _aliased(tree, path, name)
    yield from _workspace(tree, name)


def _files(base: str) -> Iterator[str]:
    names = [base, *(base + extension for extension in _EXTENSIONS)]
    for written, sources in _SOURCES.items():
        if base.endswith(written):
            names += [base.removesuffix(written) + source for source in sources]
    names += [under(base, f"index{extension}") for extension in _EXTENSIONS]
    return iter(names)


def _aliased(tree: Tree, path: str, name: str) -> Iterator[str | None]:
    folder = parent(path)
    while True:
        for config in ("tsconfig.json", "jsconfig.json"):
            if under(folder, config) in tree.paths:
                yield from _apply(_aliases(tree, under(folder, config)), name)
        if not folder:
            return
        folder = parent(folder)


def _apply(aliases: list[_Alias], name: str) -> Iterator[str | None]:
    for alias in aliases:
        if alias.suffix is None:
            if name == alias.prefix:
                yield from alias.targets
        elif name.startswith(alias.prefix) and name.endswith(alias.suffix):
            middle = name[len(alias.prefix) : len(name) - len(alias.suffix) or None]
            yield from (join(target.replace("*", middle, 1)) for target in alias.targets)


def _aliases(tree: Tree, config: str) -> list[_Alias]:
    return tree.note(config, lambda: _read_aliases(tree, config, MAX_EXTENDS))


def _read_aliases(tree: Tree, config: str, depth: int) -> list[_Alias]:
    fields = _load(tree, config)
    options = fields.get("compilerOptions")
    options = options if isinstance(options, dict) else {}
    base = options.get("baseUrl")
    folder = join(parent(config), base if isinstance(base, str) else ".") or ""
    aliases = _path_aliases(options.get("paths"), folder)
    if isinstance(base, str):
        aliases.append(_Alias("", "", (under(folder, "*"),)))
    extended = fields.get("extends")
    if not aliases and depth and isinstance(extended, str) and extended.startswith("."):
        other = join(parent(config), extended)
        for name in (other, f"{other}.json"):
            if name in tree.paths:
                return _read_aliases(tree, name, depth - 1)
    return aliases


def _path_aliases(paths: object, folder: str) -> list[_Alias]:
    aliases = []
    for pattern, targets in paths.items() if isinstance(paths, dict) else ():
        prefix, star, suffix = pattern.partition("*")
        inside = tuple(under(folder, t.removeprefix("./")) for t in targets if isinstance(t, str))
        aliases.append(_Alias(prefix, suffix if star else None, inside))
    return aliases


def _workspace(tree: Tree, name: str) -> Iterator[str]:
    """Resolve a package of this repository: its folder, its main file, or a path inside."""
    parts = name.split("/")
    package = "/".join(parts[:2] if name.startswith("@") else parts[:1])
    rest = name[len(package) + 1 :]
    for folder, main in _packages(tree).get(package, ()):
        if rest:
            yield from (under(folder, rest), under(folder, f"src/{rest}"))
        else:
            yield from (under(folder, main), under(folder, "src/index"), under(folder, "index"))


def _packages(tree: Tree) -> dict[str, list[tuple[str, str]]]:
    return tree.note("package.json", lambda: _read_packages(tree))


def _read_packages(tree: Tree) -> dict[str, list[tuple[str, str]]]:
    packages: dict[str, list[tuple[str, str]]] = {}
    for path in tree.by_name.get("package.json", ()):
        fields = _load(tree, path)
        name, main = fields.get("name"), fields.get("main")
        if isinstance(name, str) and "node_modules/" not in path:
            entry = main.removeprefix("./") if isinstance(main, str) else "index"
            packages.setdefault(name, []).append((parent(path), entry))
    return packages


def _load(tree: Tree, path: str) -> dict[str, Any]:
    """Parse a JSON file that may have comments and trailing commas."""
    text = (tree.read(path) or b"").decode("utf-8", "replace")
    try:
        bare = _COMMENT.sub(lambda match: match.group(1) or " ", text)
        value = json.loads(_TRAILING.sub(r"\1", bare))
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
