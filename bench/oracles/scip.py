"""scip-python and scip-typescript as judges; they come from npm."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path

from bench.oracles.marks import Mark, run
from gitindex.semantic.scip.schema import messages

INDEXERS = {"scip-python": "@sourcegraph/scip-python@0.6.6"}
INDEXERS |= {"scip-typescript": "@sourcegraph/scip-typescript@0.4.0"}
OPTIONS = {
    "scip-python": ["--project-name", "p", "--project-version", "1", "--quiet", "--environment"],
    "scip-typescript": [],
}
_SOURCE_FOLDER = re.compile(r"`(?:src|lib)\.")
"""Of a source folder scip-python has two identities: with it where defined, without where imported."""


def scip(indexer: str) -> Callable[[Path, Path], list[Mark]]:
    """A judge: (root of the project, folder for what is installed) → marks."""

    def judge(root: Path, cache: Path) -> list[Mark]:
        install(cache, INDEXERS[indexer])
        output, options = root.with_suffix(".scip"), list(OPTIONS[indexer])
        if options:  # without a list of what is installed it asks pip, for minutes
            environment = root.with_suffix(".json")
            environment.write_text("[]")
            options.append(str(environment))
        program = cache / "node_modules" / ".bin" / indexer
        run([str(program), "index", *options, "--output", str(output)], root)
        return _marks(output.read_bytes(), root)

    return judge


def _marks(data: bytes, root: Path) -> list[Mark]:
    found = []
    for document in messages()["Index"].FromString(data).documents:
        lines = (root / document.relative_path).read_text("utf-8", "replace").split("\n")
        for occurrence in document.occurrences:
            symbol = occurrence.symbol
            if symbol.startswith("local "):
                symbol = f"{document.relative_path} {symbol}"
            line, column = occurrence.range[:2]
            if line < len(lines):  # columns count UTF-16 units or characters
                column = len(lines[line][:column].encode())
            symbol = _SOURCE_FOLDER.sub("`", symbol)
            defines = bool(occurrence.symbol_roles & 1)
            found.append(Mark(document.relative_path, line, column, symbol, defines))
    defined = {mark.symbol for mark in found if mark.defines}
    return [m for m in found if m.symbol in defined or not _is_inside(m.symbol)]


def _is_inside(symbol: str) -> bool:
    """A symbol of the project: where no place defines it, the indexer did not resolve it.

    Of a variable with a declared type scip-python makes a name in the module of the type.
    """
    return " local " in symbol or symbol.startswith("scip-python python p 1 ")


def install(cache: Path, package: str) -> Path:
    """A package of npm, once."""
    npm = shutil.which("npm")
    if npm is None:
        raise OSError("there is no npm here")
    folder = cache / "node_modules" / package.rpartition("@")[0]
    if not folder.is_dir():
        cache.mkdir(parents=True, exist_ok=True)
        run([npm, "install", "--no-audit", "--no-fund", "--prefix", str(cache), package], cache)
    return folder
