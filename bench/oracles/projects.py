"""The projects that are judged: where they come from, who judges them."""

from __future__ import annotations

import os
import shutil
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from bench.oracles.clang import clang
from bench.oracles.compilers import go, javac
from bench.oracles.marks import Mark, run
from bench.oracles.scip import install, scip

FOLDER = "ORACLE_PROJECTS"
"""Variable that names a folder with checkouts, for projects that no package holds."""
TSCONFIG = (
    '{"compilerOptions":{"target":"es2020","strict":true,"allowJs":true,'
    '"moduleResolution":"node"},"include":["src","lib","index.js"]}'
)


class Project(NamedTuple):
    """A third-party project: its language, how it is copied into a folder, who judges it."""

    name: str
    language: str
    fetch: Callable[[Path, Path], None]  # cache, target
    judge: Callable[[Path, Path], list[Mark]]


def _from_pypi(name: str, version: str) -> Callable[[Path, Path], None]:
    """The source distribution, tests included."""

    def fetch(cache: Path, target: Path) -> None:
        folder = cache / "pypi" / name
        if not list(folder.glob("*.tar.gz")):
            folder.mkdir(parents=True, exist_ok=True)
            argv = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-binary"]
            argv += [":all:", "-d", str(folder), f"{name}=={version}"]
            run(argv, folder)
        with tarfile.open(next(iter(folder.glob("*.tar.gz")))) as archive:
            archive.extractall(folder, filter="data")
        _copy(next(p for p in folder.iterdir() if p.is_dir()), target)

    return fetch


def _from_npm(name: str, version: str, *parts: str) -> Callable[[Path, Path], None]:
    def fetch(cache: Path, target: Path) -> None:
        folder = install(cache, f"{name}@{version}")
        for part in parts:
            _copy(folder / part, target / part)
        (target / "tsconfig.json").write_text(TSCONFIG)

    return fetch


def _from_folder(name: str) -> Callable[[Path, Path], None]:
    def fetch(_cache: Path, target: Path) -> None:
        home = os.environ.get(FOLDER)
        if not home or not Path(home, name).is_dir():
            raise OSError(f"set {FOLDER} to a folder that holds a checkout {name}")
        _copy(Path(home, name), target)

    return fetch


def _copy(origin: Path, target: Path) -> None:
    if origin.is_file():
        shutil.copyfile(origin, target)
    else:
        ignored = shutil.ignore_patterns(".git", "node_modules")
        shutil.copytree(origin, target, dirs_exist_ok=True, ignore=ignored, symlinks=True)


_REDIS = ("src", "deps/hiredis", "deps/lua/src", "deps/linenoise", "deps/hdr_histogram")
PYTHON, TYPESCRIPT = scip("scip-python"), scip("scip-typescript")
PROJECTS = (
    Project("flask", "Python", _from_pypi("flask", "3.0.3"), PYTHON),
    Project("click", "Python", _from_pypi("click", "8.1.7"), PYTHON),
    Project("requests", "Python", _from_pypi("requests", "2.32.3"), PYTHON),
    Project("httpx", "Python", _from_pypi("httpx", "0.27.0"), PYTHON),
    Project("immer", "TypeScript", _from_npm("immer", "11.2.10", "src"), TYPESCRIPT),
    Project("rxjs", "TypeScript", _from_npm("rxjs", "7.8.2", "src"), TYPESCRIPT),
    Project("express", "JavaScript", _from_npm("express", "5.1.0", "lib", "index.js"), TYPESCRIPT),
    Project("chi", "Go", _from_folder("chi"), go),
    Project("mux", "Go", _from_folder("mux"), go),
    Project("pflag", "Go", _from_folder("pflag"), go),
    Project("gson", "Java", _from_folder("gson"), javac("gson/src/main/java")),
    Project("jsoup", "Java", _from_folder("jsoup"), javac("src/main/java")),
    Project("jansson", "C", _from_folder("jansson"), clang("src", ("src",))),
    Project("redis", "C", _from_folder("redis"), clang("src", _REDIS)),
)
