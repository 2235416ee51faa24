"""Which test files a runner would collect, by its configuration and conventions, and how to run them."""

from __future__ import annotations

import json
import os
import re
import shlex
import tomllib
from collections.abc import Iterable
from configparser import ConfigParser
from configparser import Error as ConfigError
from fnmatch import fnmatch
from functools import cached_property
from typing import NamedTuple

from gitindex.base.path_kind import is_test
from gitindex.query.impact.change import NO_CODE
from gitindex.query.names.project import LISTED, Project, rows_of

_INI = {
    "pytest.ini": "pytest",
    ".pytest.ini": "pytest",
    "tox.ini": "pytest",
    "setup.cfg": "tool:pytest",
}
_PYTHON = (*_INI, "pyproject.toml", "setup.py", "manage.py")
_MARKERS = {
    "python": _PYTHON,
    "go": ("go.mod",),
    "rust": ("Cargo.toml",),
    "java": ("pom.xml", "build.gradle", "build.gradle.kts"),
    "kotlin": ("build.gradle", "build.gradle.kts", "pom.xml"),
    "javascript": ("package.json",),
    "typescript": ("package.json",),
    "tsx": ("package.json",),
}
"""Files that make a folder the root of a project, by language."""

_DEFAULT = ("test_*.py", "*_test.py")
_JUNIT = re.compile(r"^(Test\w*|\w*(Test|Tests|TestCase|IT|Spec))\.(java|kt)$")
_ECMA_TEST = re.compile(r"\.(test|spec|test-d|cy)\.[cm]?[jt]sx?$")
_SUPPORT = frozenset(
    {"support", "fixtures", "fixture", "helpers", "utils", "mocks", "__mocks__", "testdata"}
)


class TestCommand(NamedTuple):
    """One command that runs affected tests, in the folder it is to be run in."""

    root: str  # empty: the top of the repository
    command: str


class PytestSettings(NamedTuple):
    """What a project tells pytest to collect."""

    files: tuple[str, ...] = (*_DEFAULT, "tests.py")
    folders: tuple[str, ...] = ()
    given: bool = False  # there is a section for pytest


class TestRunners:
    """The test runners of one tree."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._roots: dict[tuple[str, tuple[str, ...]], list[str]] = {}
        self._pytest: dict[str, PytestSettings] = {}
        self._scripts: dict[str, str] = {}

    def collected(self, paths: Iterable[str]) -> list[str]:
        """Return those files that a runner collects."""
        raw = [os.fsencode(path) for path in paths]
        self._project.view.ensure_facts(paths=raw)
        sql = f"SELECT l.path, b.language FROM {LISTED} JOIN {{blobs}} b ON b.id=l.blob_id"
        rows = rows_of(self._project.view, sql, raw)
        found = [(os.fsdecode(path), language) for path, language in rows]
        return [path for path, language in found if self._is_collected(path, language)]

    def commands(self, tests: dict[str, tuple[str, ...]]) -> list[TestCommand]:
        """Return one command per root; `tests`: files with pytest's node ids, or none for all of a file."""
        by_root: dict[tuple[str, str], list[str]] = {}
        for path, nodes in tests.items():
            source = self._project.source(path)
            language = source.language if source else ""
            root = self._root(path, language)
            by_root.setdefault((root, self._runner(root, language)), []).extend(nodes or (path,))
        return [
            TestCommand(root, _command(runner, [_inside(root, name) for name in names]))
            for (root, runner), names in by_root.items()
            if runner
        ]

    def _is_collected(self, path: str, language: str) -> bool:
        name = path.rpartition("/")[2]
        if language in NO_CODE:
            return False
        if language == "python":
            return self._is_pytest(path)
        if language == "go":
            return name.endswith("_test.go")
        if language in ("java", "kotlin"):
            return _JUNIT.match(name) is not None
        if language == "rust":
            return self._is_cargo(path)
        if language in ("javascript", "typescript", "tsx"):
            return self._is_ecma(path)
        return is_test(name)

    def _is_pytest(self, path: str) -> bool:
        root = self._root(path, "python")
        settings = self._pytest_settings(root)
        inside = _inside(root, path)
        name = inside.rpartition("/")[2]
        if not any(fnmatch(inside if "/" in p else name, p) for p in settings.files):
            return False
        folders = [folder.strip("/") for folder in settings.folders]
        return not folders or any(
            folder == "." or fnmatch(inside, f"{folder}/*") or inside == folder
            for folder in folders
        )

    def _is_cargo(self, path: str) -> bool:
        inside = _inside(self._root(path, "rust"), path)
        own = re.match(r"tests/[^/]+(/main)?\.rs$", inside) is not None
        return own or not inside.startswith("tests/")  # unit tests are in the sources

    def _is_ecma(self, path: str) -> bool:
        if _ECMA_TEST.search(path) or "__tests__" in path.split("/"):
            return True
        root = self._root(path, "javascript")
        plain = self._runner(root, "javascript") in ("mocha", "node")
        folders = _inside(root, path).split("/")[:-1]
        return plain and bool(folders) and is_test(path) and _SUPPORT.isdisjoint(folders)

    def _runner(self, root: str, language: str) -> str:
        """Return the runner of a project: for ECMAScript as `npm test` names it."""
        if language in ("javascript", "typescript", "tsx"):
            script = self._script(root)
            words = ("vitest", "jest", "mocha", "ava", "tap")
            named = next((word for word in words if re.search(rf"\b{word}\b", script)), "")
            return named or ("node" if "node --test" in script else "npm" if script else "")
        if language in ("java", "kotlin"):
            return "maven" if self._exists(root, "pom.xml") else "gradle"
        return {"python": "pytest", "go": "go", "rust": "cargo"}.get(language, "")

    def _script(self, root: str) -> str:
        if root not in self._scripts:
            try:
                package = json.loads(self._read(root, "package.json") or "{}")
                scripts = package.get("scripts", {})
                self._scripts[root] = " ".join(
                    str(text) for name, text in scripts.items() if name.startswith("test")
                )
            except (ValueError, AttributeError):
                self._scripts[root] = ""
        return self._scripts[root]

    def _root(self, path: str, language: str) -> str:
        """Return the nearest folder that is a project of this language; for pytest one with its section."""
        markers = _MARKERS.get(language, ())
        folders = self._projects_above(path.rpartition("/")[0], markers)
        if language == "python":
            configured = [folder for folder in folders if self._pytest_settings(folder).given]
            folders = configured or folders
        return folders[0] if folders else ""

    def _projects_above(self, folder: str, markers: tuple[str, ...]) -> list[str]:
        """Return the folders from this one up that have one of these files."""
        key = (folder, markers)
        if key not in self._roots:
            above = [folder]
            while above[-1]:
                above.append(above[-1].rpartition("/")[0])
            self._roots[key] = [f for f in above if any(self._exists(f, m) for m in markers)]
        return self._roots[key]

    def _exists(self, folder: str, name: str) -> bool:
        return _joined(folder, name) in self._named

    @cached_property
    def _named(self) -> frozenset[str]:
        """The paths of the tree that are called like a marker."""
        names = sorted({name for listed in _MARKERS.values() for name in listed})
        where = " OR ".join(["path=? OR substr(path, ?)=?"] * len(names))  # blobs have no GLOB
        ends = [(n.encode(), -len(n) - 1, b"/" + n.encode()) for n in names]
        values = [value for row in ends for value in row]
        rows = self._project.view.rows(f"SELECT path FROM {{live}} WHERE {where}", *values)
        return frozenset(os.fsdecode(path) for (path,) in rows)

    def _pytest_settings(self, root: str) -> PytestSettings:
        if root not in self._pytest:
            self._pytest[root] = self._read_pytest(root)
        return self._pytest[root]

    def _read_pytest(self, root: str) -> PytestSettings:
        for name, section in _INI.items():
            if self._exists(root, name):
                parser = ConfigParser(interpolation=None, strict=False)
                try:
                    parser.read_string(self._read(root, name))
                except ConfigError:
                    continue
                if parser.has_section(section):
                    return _settings(dict(parser[section]))
        try:
            tool = tomllib.loads(self._read(root, "pyproject.toml")).get("tool", {})
            found = tool.get("pytest", {})
            return _settings(found.get("ini_options", found)) if found else PytestSettings()
        except (ValueError, AttributeError):
            return PytestSettings()

    def _read(self, root: str, name: str) -> str:
        raw = os.fsencode(_joined(root, name))
        return self._project.view.read([raw]).get(raw, b"").decode("utf-8", "replace")


def _settings(section: dict[str, object]) -> PytestSettings:
    files, folders = (_words(section.get(name)) for name in ("python_files", "testpaths"))
    return PytestSettings(files or _DEFAULT, folders, True)


def _words(value: object) -> tuple[str, ...]:
    if isinstance(value, list):
        return tuple(map(str, value))
    return tuple(value.split()) if isinstance(value, str) else ()


def _joined(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name


def _inside(root: str, path: str) -> str:
    return path[len(root) + 1 :] if root else path


def _command(runner: str, names: list[str]) -> str:
    """Return the command line for tests that are named relative to their root."""
    if runner in _COMMANDS:
        return _COMMANDS[runner](names)
    start = _STARTS.get(runner, f"npx {runner}")
    return " ".join([start, *map(shlex.quote, names)])


def _go(names: list[str]) -> str:
    folders = dict.fromkeys(name.rpartition("/")[0] for name in names)
    return "go test " + " ".join(shlex.quote(f"./{f}" if f else ".") for f in folders)


def _maven(names: list[str]) -> str:
    return f"mvn test -Dtest={shlex.quote(','.join(map(_class_name, names)))}"


def _gradle(names: list[str]) -> str:
    return " ".join(["./gradlew test", *(f"--tests {shlex.quote(_class_name(n))}" for n in names)])


def _cargo(names: list[str]) -> str:
    named = [re.match(r"tests/([^/]+?)(?:/main)?\.rs$", name) for name in names]
    if not all(named):
        return "cargo test"  # unit tests are in the sources
    return " ".join(["cargo test", *(f"--test {shlex.quote(m.group(1))}" for m in named if m)])


def _class_name(path: str) -> str:
    return re.sub(r"\.\w+$", "", path.rpartition("/")[2])


_COMMANDS = {"go": _go, "maven": _maven, "gradle": _gradle, "cargo": _cargo}
_STARTS = {
    "pytest": "pytest",
    "node": "node --test",
    "vitest": "npx vitest run",
    "npm": "npm test --",
}
