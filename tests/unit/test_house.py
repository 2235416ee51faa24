"""The floor plan stays legible: few entries, files and functions of a size that one can read."""

from __future__ import annotations

import ast
from pathlib import Path
from statistics import median

PACKAGE = Path(__file__).parents[2] / "gitindex"
FILES = sorted(PACKAGE.rglob("*.py"))
ENTRIES = 23
LINES_OF_A_FILE = 400
LINES_OF_A_FUNCTION = 45


def test_few_entries() -> None:
    found = [path for path in PACKAGE.iterdir() if path.name != "__pycache__"]
    assert len(found) <= ENTRIES, sorted(path.name for path in found)


def test_files_can_be_read() -> None:
    sizes = {p.relative_to(PACKAGE).as_posix(): p.read_text().count("\n") for p in FILES}
    large = {name for name, lines in sizes.items() if lines >= LINES_OF_A_FILE}
    assert not large
    assert median(sizes.values()) <= 130


def test_functions_can_be_read() -> None:
    long = {
        node.name
        for path in FILES
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        and (node.end_lineno or 0) - node.lineno + 1 >= LINES_OF_A_FUNCTION
    }
    assert not long
