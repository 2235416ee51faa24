"""The registry of codebases: private, atomic, and never replaced by a guess."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from gitindex.base.errors import GitIndexError
from gitindex.mcp.server_state import Registry


def test_reading_creates_nothing(tmp_path: Path) -> None:
    assert Registry(str(tmp_path / "state")).roots() == []
    assert list(tmp_path.iterdir()) == []


def test_roots_are_sorted_private_and_survive(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "gitindex"
    registry = Registry(str(folder))
    names = ["/b", "/a", os.fsdecode(b"/caf\xe9"), "/a/nested"]
    assert [registry.add(name) for name in (*names, "/b")] == [True] * 4 + [False]
    assert Registry(str(folder)).roots() == sorted(names)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE((folder / "codebases.json").stat().st_mode) == 0o600
    assert (registry.discard("/b"), registry.discard("/b")) == (True, False)
    assert "/b" not in registry.roots()


@pytest.mark.parametrize(
    "data", [b"", b"[]", b"{", b'{"version":1}', b'{"version":1,"roots":[1]}', b"[" * 100_000]
)
def test_a_damaged_registry_is_left_alone(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "codebases.json").write_bytes(data)
    registry = Registry(str(tmp_path))
    for action in (registry.roots, lambda: registry.add("/a"), lambda: registry.discard("/a")):
        with pytest.raises(GitIndexError, match="damaged"):
            action()
    assert (tmp_path / "codebases.json").read_bytes() == data


def test_a_newer_registry_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "codebases.json").write_text(json.dumps({"version": 2, "roots": {}}))
    with pytest.raises(GitIndexError, match="newer"):
        Registry(str(tmp_path)).add("/a")


def test_no_registration_is_lost_among_many_writers(tmp_path: Path) -> None:
    code = (
        "import sys; from gitindex.mcp.server_state import Registry\n"
        "for n in range(20): Registry(sys.argv[1]).add(f'/{sys.argv[2]}/{n}')"
    )
    writers = [
        subprocess.Popen([sys.executable, "-c", code, str(tmp_path), str(n)]) for n in range(4)
    ]
    assert [writer.wait(300) for writer in writers] == [0] * 4
    assert len(Registry(str(tmp_path)).roots()) == 80
