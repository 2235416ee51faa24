"""Bytecode files that Python cut at a full disk or a limit: no lasting mark (I-42)."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
from importlib.machinery import SourceFileLoader
from importlib.util import cache_from_source
from pathlib import Path

import pytest

import gitindex

START = "import sys; sys.path.insert(0, {!r}); from gitindex.__main__ import run; run()"
LIMIT = 3_000


def _limit_files() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (LIMIT, LIMIT))


def _run(folder: Path, limited: bool = False) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-I", "-c", START.format(str(folder)), "--help"],
        preexec_fn=_limit_files if limited else None,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.promise("I-42")
def test_i42_bytecode_cut_by_a_limit_stops_no_later_command(tmp_path: Path) -> None:
    package = Path(gitindex.__file__).parent
    install = tmp_path / "gitindex"
    shutil.copytree(package, install, ignore=shutil.ignore_patterns("__pycache__", "vendor"))
    _run(tmp_path, limited=True)
    cut = [p for p in install.rglob("*.pyc") if p.stat().st_size == LIMIT]
    if sys.version_info < (3, 12, 8):
        assert cut, "Python did not cut a file: is this still needed?"
    first = Path(cache_from_source(str(install / "__init__.py")))
    first.unlink(
        missing_ok=True
    )  # Python reads it before any line of ours: the limit of the repair
    assert _run(tmp_path).returncode == 0
    bytecode = Path(cache_from_source(str(install / "base/errors.py")))
    whole = bytecode.read_bytes()
    for damage in (b"", whole[:16], whole[:-9], whole[:16] + b"?" + whole[17:]):
        bytecode.write_bytes(damage)
        assert _run(tmp_path).returncode == 0
        assert bytecode.read_bytes() == whole
    assert not [p for p in install.rglob("*.pyc") if p.stat().st_size == LIMIT]


def test_a_cut_file_that_cannot_be_removed_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Loader(SourceFileLoader):
        pass

    gitindex._survive_cut_bytecode(Loader)
    source = tmp_path / "module.py"
    source.write_text("VALUE = 1\n")
    loader = Loader("module", str(source))
    assert loader.get_code("module") is not None
    cached = Path(cache_from_source(str(source)))
    whole = cached.read_bytes()
    cached.write_bytes(whole[:-5])

    def refuse(_path: object) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "unlink", refuse)
    code = loader.get_code("module")
    found: dict[str, object] = {}
    assert code is not None
    exec(code, found)
    assert found["VALUE"] == 1
    assert cached.read_bytes() == whole[:-5]
    monkeypatch.undo()
    loader.get_code("module")
    assert cached.read_bytes() == whole, "written anew"
