"""Hints name the command that this user has."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from gitindex.cli.own_command import for_this_user
from tests.support import Repo

HINT = "run `gitindex index`, or see `gitindex log`"


@pytest.mark.parametrize(
    ("on_path", "alias", "shown"),
    [
        (True, True, HINT),
        (False, True, "run `git idx index`, or see `git idx log`"),
        (False, False, HINT),
    ],
    ids=["on PATH", "by pre-commit", "neither"],
)
def test_a_hint_can_be_typed(
    repo: Repo,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    on_path: bool,
    alias: bool,
    shown: str,
) -> None:
    repo.init()
    if alias:
        repo.git("config", "alias.idx", "!true")
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "git").symlink_to(str(shutil.which("git")))
    if on_path:
        (folder / "gitindex").write_text("#!/bin/sh\n")
        (folder / "gitindex").chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.chdir(repo.path)
    assert for_this_user(HINT) == shown
