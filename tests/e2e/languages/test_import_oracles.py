"""Imports equal those that the language's own parser reads, in real files."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests import imports_oracle

SAMPLE = 120
"""Files of a run of the suite; all of them with `-m torture`."""


def test_python_imports_equal_those_of_cpython() -> None:
    _compare(_some(imports_oracle.python_files()), imports_oracle.read_python)


@pytest.mark.skipif(shutil.which("go") is None, reason="needs go")
def test_go_imports_equal_those_of_go() -> None:
    _compare(_some(imports_oracle.go_files()), imports_oracle.read_go)


def test_ecma_imports_equal_those_of_typescript() -> None:
    _need_typescript()
    _compare(_some(imports_oracle.typescript_files()), imports_oracle.read_typescript)


@pytest.mark.torture
@pytest.mark.skipif(shutil.which("go") is None, reason="needs go")
def test_all_imports_equal_those_of_other_parsers() -> None:
    _need_typescript()
    assert _compare(imports_oracle.python_files(), imports_oracle.read_python) >= 2_000
    assert _compare(imports_oracle.go_files(), imports_oracle.read_go) >= 2_000
    assert _compare(imports_oracle.typescript_files(), imports_oracle.read_typescript) >= 2_000


def _need_typescript() -> None:
    if not imports_oracle.has_typescript():
        pytest.skip("needs node, and npm's typescript")


def _some(files: list[Path]) -> list[Path]:
    return random.Random().sample(files, SAMPLE)


def _compare(files: list[Path], read: Callable[[list[Path]], imports_oracle.Read]) -> int:
    compared, found = imports_oracle.differences(files, read)
    assert not found
    assert compared > len(files) / 2
    return compared
