"""Set-up commands answer in JSON, too; and what a terminal is told where there is nothing to show."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from gitindex.base.worktree import Worktree
from gitindex.install.hooks.block import EVENTS
from tests.support import Repo
from tests.terminal import on_a_terminal


def _answer(repo: Repo, *args: str, code: int = 0) -> dict[str, Any]:
    done = repo.gitindex(*args, "--json")
    assert done.returncode == code, done.stdout + done.stderr
    value = json.loads(done.stdout)
    assert isinstance(value, dict)
    assert value["status"] == "ok"
    return value


def test_u16_install_log_export_and_uninstall(quiet: Repo, tmp_path: Path) -> None:
    installed = _answer(quiet, "install")
    assert {hook["event"]: hook["state"] for hook in installed["hooks"]} == dict.fromkeys(
        EVENTS, "installed"
    )
    assert installed["enabled"] is True
    assert all(json.loads(line)["event"] for line in _answer(quiet, "log")["lines"])
    tags = str(tmp_path / "tags")
    written = _answer(quiet, "export", "--format", "ctags", "-o", tags)
    assert (written["file"], written["bytes"]) == (tags, os.path.getsize(tags))
    assert quiet.gitindex("export", "--format", "ctags", "--json").returncode == 2
    removed = _answer(quiet, "uninstall", "--purge")
    assert {os.path.basename(path) for path in removed["removed"]} == set(EVENTS)
    assert removed["kept"] == []
    assert removed["index"]["outcome"] == "cleared"
    _assert_gone(quiet.worktree)
    again = quiet.gitindex("uninstall")
    assert again.stdout == "no hook of gitindex is installed\n"


def _assert_gone(worktree: Worktree) -> None:
    assert not os.path.exists(worktree.marker)
    assert not os.path.exists(worktree.database)


def test_u16_aliases_and_template(
    repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".gitconfig").write_text("[alias]\n\tidx = status\n")
    taken = _answer(repo, "aliases", "install", code=1)["aliases"]
    assert taken == [{"name": "fresh", "installed": True}, {"name": "idx", "installed": False}]
    assert _answer(repo, "aliases", "uninstall")["removed"] is True
    assert _answer(repo, "aliases", "uninstall")["removed"] is False
    notes = _answer(repo, "template", str(tmp_path / "template"))["notes"]
    assert "init.templateDir" in notes[-1]


def test_a_terminal_is_told_where_there_is_nothing(quiet: Repo, tmp_path: Path) -> None:
    assert "no document matches" in on_a_terminal(quiet, "docs", "nosuchword")
    assert "no document has a topic" in on_a_terminal(quiet, "docs", "--topics")
    assert "no test reaches the change" in on_a_terminal(quiet, "impact", "--staged", "--tests")
    assert "fresh: HEAD is indexed" in on_a_terminal(quiet, "wait")
    tags = str(tmp_path / "tags")
    assert f"wrote {tags}: ctags" in on_a_terminal(quiet, "export", "--format", "ctags", "-o", tags)
    assert quiet.gitindex("wait").stdout == ""
    assert quiet.gitindex("docs", "nosuchword").stderr == ""


def test_a_folder_is_not_a_file(quiet: Repo) -> None:
    for verb in ("outline", "read"):
        done = quiet.gitindex(verb, "lib")
        assert done.returncode == 1
        assert done.stderr.startswith("gitindex: lib is a folder\n  hint: give a file of it;")


def test_a_posix_class_is_named(quiet: Repo) -> None:
    done = quiet.gitindex("grep", "[[:alpha:]]+")
    assert done.returncode == 2
    assert "`[:alpha:]` is a class of POSIX" in done.stderr
    assert "[A-Za-z]" in done.stderr
