"""Reads from workspace files which projects below them are members. Parses text, runs nothing."""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import chain
from typing import Any, NamedTuple

from gitindex.base.pattern import compile_later
from gitindex.git.wildmatch import Rule, make_rule, rule_matches
from gitindex.languages.imports.tree import join, under

Read = Callable[[str], bytes | None]
MAX_BYTES = 1 << 20  # of a workspace file that are parsed
MAX_GLOBS = 500  # patterns of one file, and crates that are reached by path


class WorkspaceSurroundings(NamedTuple):
    """The surroundings of a workspace file: the folders of all packages, and a file reader."""

    packages: Collection[str]
    read: Read


class WorkspaceMembers(NamedTuple):
    """The members of a workspace: folders by name, and by pattern relative to its own folder."""

    folder: str
    named: frozenset[str] = frozenset()
    rules: tuple[Rule, ...] = ()
    anyone: bool = False  # the file must be run to know its members

    def __contains__(self, project: object) -> bool:
        if self.anyone or project in self.named:
            return True
        inside = os.fsencode(str(project)[len(self.folder) :].lstrip("/"))
        verdict = False
        for rule in self.rules:
            if rule_matches(rule, inside, folder=True):
                verdict = not rule.negated
        return verdict


def read_members(
    family: str, folder: str, names: Iterable[str], project: WorkspaceSurroundings
) -> WorkspaceMembers | None:
    """Return the members of the workspace declared by this folder's files; None without one."""
    reader = _READERS.get(family)
    texts = {name: _text(project.read(under(folder, name))) for name in sorted(names)}
    return reader(folder, texts, project) if reader else None


def is_virtual(text: bytes | None) -> bool:
    """Is a Cargo.toml a workspace without a package?"""
    fields = _toml(_text(text))
    return "workspace" in fields and "package" not in fields


def _javascript(
    folder: str, texts: dict[str, str], _project: WorkspaceSurroundings
) -> WorkspaceMembers | None:
    globs: list[str] | None = None
    if "pnpm-workspace.yaml" in texts:
        globs = _yaml_list(texts["pnpm-workspace.yaml"], "packages")
    if globs is None:
        listed = _json(texts.get("package.json", "")).get("workspaces")
        globs = _strings(listed.get("packages") if isinstance(listed, dict) else listed)
    if globs is None:
        globs = _strings(_json(texts.get("lerna.json", "")).get("packages"))
    return None if globs is None else WorkspaceMembers(folder, rules=_rules(globs))


def _python(
    folder: str, texts: dict[str, str], _project: WorkspaceSurroundings
) -> WorkspaceMembers | None:
    tool = _toml(texts.get("pyproject.toml", "")).get("tool")
    uv = tool.get("uv") if isinstance(tool, dict) else None
    workspace = uv.get("workspace") if isinstance(uv, dict) else None
    if not isinstance(workspace, dict):
        return None
    excluded = [f"!{glob}" for glob in _strings(workspace.get("exclude")) or []]
    return WorkspaceMembers(
        folder, rules=_rules((_strings(workspace.get("members")) or []) + excluded)
    )


def _go(
    folder: str, texts: dict[str, str], _project: WorkspaceSurroundings
) -> WorkspaceMembers | None:
    if "go.work" not in texts:
        return None
    named = set()
    for block, single in _GO_USE.findall(_GO_COMMENT.sub("", texts["go.work"])):
        named |= {join(folder, word.strip('"`')) for word in (block or single).split()}
    return WorkspaceMembers(folder, frozenset(filter(None, named)) | ({folder} & named))


def _rust(
    folder: str, texts: dict[str, str], project: WorkspaceSurroundings
) -> WorkspaceMembers | None:
    fields = _toml(texts.get("Cargo.toml", ""))
    workspace = fields.get("workspace")
    if not isinstance(workspace, dict):
        return None
    globs, without = (_strings(workspace.get(key)) or [] for key in ("members", "exclude"))
    members = WorkspaceMembers(folder, rules=_rules(globs + [f"!{glob}" for glob in without]))
    excluded = WorkspaceMembers(folder, rules=_rules(without))
    inside = [p for p in project.packages if p.startswith(folder and f"{folder}/")]
    reached = _path_dependencies([folder, *(p for p in inside if p in members)], project.read)
    return members._replace(named=frozenset(path for path in reached if path not in excluded))


def _path_dependencies(crates: list[str], read: Read) -> set[str]:
    """Return crates that others reach by path: Cargo counts them as members."""
    found: set[str] = set()
    todo = list(crates)
    while todo and len(found) < MAX_GLOBS:
        here = todo.pop()
        for path in _paths_in(_toml(_text(read(under(here, "Cargo.toml"))))):
            target = join(here, path)
            if target is not None and target not in found and target not in crates:
                found.add(target)
                todo.append(target)
    return found


def _paths_in(fields: dict[str, Any]) -> list[str]:
    targets = fields.get("target")
    holders = [fields, *(targets.values() if isinstance(targets, dict) else ())]
    tables = [
        holder.get(f"{kind}dependencies")
        for holder in holders
        if isinstance(holder, dict)
        for kind in ("", "dev-", "build-")
    ]
    workspace = fields.get("workspace")
    tables.append(workspace.get("dependencies") if isinstance(workspace, dict) else None)
    listed = [item for table in tables if isinstance(table, dict) for item in table.values()]
    return [item["path"] for item in listed if isinstance(item, dict) and _is_text(item, "path")]


def _jvm(
    folder: str, texts: dict[str, str], _project: WorkspaceSurroundings
) -> WorkspaceMembers | None:
    settings = [text for name, text in texts.items() if name.startswith("settings.gradle")]
    if not settings:
        return None
    text = _C_COMMENT.sub("", "\n".join(settings))
    listed = _GRADLE_INCLUDE.findall(text)
    projects = [name for found in listed for name in _QUOTED.findall(found)]
    if len(listed) < len(re.findall(r"\binclude\b", text)) or any("$" in p for p in projects):
        return WorkspaceMembers(folder, anyone=True)  # some are computed
    moved = {name.strip(":"): path for name, path in _GRADLE_MOVED.findall(text)}
    named = {join(folder, moved.get(name, name.replace(":", "/"))) for name in _above(projects)}
    named |= {join(folder, path) for path in _GRADLE_BUILD.findall(text)}
    return WorkspaceMembers(folder, frozenset(filter(None, named)))


def _above(projects: list[str]) -> set[str]:
    """Return the projects and all their ancestors: Gradle includes them all."""
    found = set()
    for project in projects:
        parts = project.strip(":").split(":")
        found |= {":".join(parts[:end]) for end in range(1, len(parts) + 1)}
    return found


_READERS: dict[
    str, Callable[[str, dict[str, str], WorkspaceSurroundings], WorkspaceMembers | None]
] = {
    "javascript": _javascript,
    "python": _python,
    "go": _go,
    "rust": _rust,
    "jvm": _jvm,
}
_GO_COMMENT = compile_later(r"//[^\n]*")
_GO_USE = compile_later(r"^\s*use\s*(?:\(([^)]*)\)|(\S+))", re.MULTILINE)
_C_COMMENT = compile_later(r"/\*.*?\*/|(?<!:)//[^\n]*", re.DOTALL)
_QUOTED = compile_later(r"""['"]([^'"\n]+)['"]""")
_GRADLE_INCLUDE = compile_later(r"""\binclude\b\s*\(?\s*((?:['"][^'"\n]+['"]\s*,?\s*)+)""")
_GRADLE_BUILD = compile_later(r"""\bincludeBuild\b\s*\(?\s*['"]([^'"\n]+)['"]""")
_GRADLE_MOVED = compile_later(
    r"""project\(\s*['"]([^'"\n]+)['"]\s*\)\.projectDir\s*=\s*(?:new\s+)?[Ff]ile\("""
    r"""\s*(?:\w+\s*,\s*)?['"]([^'"\n]+)['"]"""
)
_BRACES = compile_later(r"\{([^{}]*)\}")


def _rules(globs: list[str]) -> tuple[Rule, ...]:
    rules = []
    for glob in chain.from_iterable(map(_expand, globs[:MAX_GLOBS])):
        negated = glob.startswith("!")
        body = glob.removeprefix("!").removeprefix("./").strip("/")
        if body in ("", "."):
            continue
        rule = make_rule(b"/" + os.fsencode(body), negated=negated)
        if rule is not None:
            rules.append(rule)
    return tuple(rules)


def _expand(glob: str) -> list[str]:
    """Expand `{a,b}/*` into two globs; one level of braces is supported."""
    found = _BRACES.search(glob)
    if found is None:
        return [glob]
    return [glob[: found.start()] + one + glob[found.end() :] for one in found[1].split(",")]


def _yaml_list(text: str, key: str) -> list[str] | None:
    """Return a list of plain strings under one top-level key, in block or bracket form."""
    lines = iter(text.splitlines())
    for line in lines:
        name, colon, rest = line.partition(":")
        if colon and name.strip("'\" ") == key and not line.startswith((" ", "\t", "-")):
            break
    else:
        return None
    inline = rest.partition(" #")[0].strip()
    if inline.startswith("["):
        return [word.strip(" '\"") for word in inline.strip("[]").split(",") if word.strip(" '\"")]
    return list(_block_items(lines))


def _block_items(lines: Iterator[str]) -> Iterator[str]:
    """Yield the items of a block list, up to the line that ends it."""
    for line in lines:
        item = line.strip()
        if item.startswith("-"):
            yield item[1:].partition(" #")[0].strip().strip("'\"")
        elif item and not item.startswith("#"):
            return


def _text(data: bytes | None) -> str:
    return (data or b"")[:MAX_BYTES].decode("utf-8-sig", "replace")


def _json(text: str) -> dict[str, Any]:
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return fields if isinstance(fields, dict) else {}


def _toml(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError):
        return {}


def _strings(value: object) -> list[str] | None:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else None


def _is_text(fields: dict[str, Any], key: str) -> bool:
    return isinstance(fields.get(key), str)
