"""Imports as the languages' own parsers read them, to compare ours with: CPython, TypeScript, Go."""

from __future__ import annotations

import ast
import json
import os
import shutil
import subprocess
import sysconfig
import unicodedata
import warnings
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path

from gitindex.languages.facts import Import
from gitindex.languages.syntax.extract import MAX_BYTES, extract_facts
from gitindex.languages.table import language_of
from tests.ctags.corpus import fetched

HERE = Path(__file__).parent / "oracles"

Read = dict[Path, list[Import]]
"""What another parser reads in each file; files that it cannot parse are left out."""


def differences(files: list[Path], read: Callable[[list[Path]], Read]) -> tuple[int, list[str]]:
    """Return how many files were compared, and every import that only one of the two reads."""
    theirs = read(files)
    found = []
    for path, expected in theirs.items():
        data = path.read_bytes()
        ours = extract_facts(data, language_of(os.fsencode(path), data)).imports
        one, other = (Counter(map(_normal, side)) for side in (ours, expected))
        found += [f"{path}: {item}" for item in ((one - other) + (other - one)).elements()]
    return len(theirs), found


def _normal(item: Import) -> str:
    """Return an import as text; Python reads identifiers in normal form."""
    return unicodedata.normalize("NFKC", repr(item))


def python_files() -> list[Path]:
    """Return the files of the standard library and of the installed packages."""
    paths = sysconfig.get_paths()
    return _below((paths["stdlib"], paths["purelib"], paths["platlib"]), "*.py")


def typescript_files() -> list[Path]:
    """Return JavaScript and TypeScript of packages, and of npm itself; none without a network."""
    folders = [fetched("typescript"), fetched("javascript"), "/usr/lib/node_modules"]
    return [path for end in ("*.ts", "*.js") for path in _below(filter(None, folders), end)]


def go_files() -> list[Path]:
    """Return the sources of Go's own library and tools."""
    command = ["go", "env", "GOROOT"]
    root = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout
    return _below([os.path.join(root.strip(), part) for part in ("src", "test")], "*.go")


def _below(folders: Iterable[str], pattern: str) -> list[Path]:
    found = {path for folder in folders for path in Path(folder).resolve().rglob(pattern)}
    return sorted(path for path in found if path.is_file() and path.stat().st_size < MAX_BYTES)


def read_python(files: list[Path]) -> Read:
    """Return what CPython's `ast` reads."""
    found = {}
    for path in files:
        imports = _python_imports(path.read_bytes())
        if imports is not None:
            found[path] = imports
    return found


def _python_imports(source: bytes) -> list[Import] | None:
    if b"\f" in source or b"\r" in source.replace(b"\r\n", b""):
        return None  # CPython counts other lines than git
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            tree = ast.parse(source)
        except (SyntaxError, ValueError, RecursionError):
            return None
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for item in node.names:
                bound = item.asname or item.name.partition(".")[0]
                found.append(Import(item.name, ((item.name, bound),), 0, node.lineno - 1))
        elif isinstance(node, ast.ImportFrom):
            names = tuple((item.name, item.asname or item.name) for item in node.names)
            if node.module == "__future__" and names == (("*", "*"),):
                return None  # which the compiler refuses
            found.append(Import(node.module or "", names, node.level, node.lineno - 1))
    return found


def read_typescript(files: list[Path]) -> Read:
    """Return what TypeScript's compiler reads."""
    compiler = fetched("typescript_compiler")
    assert compiler is not None
    (module,) = Path(compiler).glob("*/package/lib/typescript.js")
    return _run(["node", str(HERE / "imports.js"), str(module)], files)


def read_go(files: list[Path]) -> Read:
    """Return what go/parser reads."""
    return _run(["go", "run", str(HERE / "imports.go")], files)


def has_typescript() -> bool:
    """Are node and the compiler to be had?"""
    return shutil.which("node") is not None and fetched("typescript_compiler") is not None


def _run(command: list[str], files: list[Path]) -> Read:
    paths = "\n".join(map(str, files)).encode()
    done = subprocess.run(command, input=paths, capture_output=True, check=True, timeout=600)
    found = {}
    for line in done.stdout.splitlines():
        path, failed, imports = json.loads(line)
        if not failed:
            found[Path(path)] = [
                Import(module, tuple((name, local) for name, local in names), 0, at)
                for module, names, at in imports
            ]
    return found
