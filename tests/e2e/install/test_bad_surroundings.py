"""Machines that people have: each gives one clear line, or simply works."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import hatch_build
from tests.support import TIMEOUT, Repo

ROOT = Path(__file__).resolve().parents[3]
DEAD_PROXY = "http://127.0.0.1:9"
OLD = """import runpy, sys
sys.version_info = (3, 10, 13, "final", 0)
sys.argv = ["gitindex", *{args}]
runpy.run_module({module!r}, run_name="__main__")
"""


def run(repo: Repo, *args: str, **env: str) -> subprocess.CompletedProcess[str]:
    """A command with some variables changed, and none of the test's own folders for configuration."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("XDG_")}
    return subprocess.run(
        [sys.executable, "-m", "gitindex", *args],
        cwd=repo.path,
        env=kept | {"CI": "false"} | env,
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )


def in_one_line(done: subprocess.CompletedProcess[str]) -> str:
    """The message of a failure: one line and a hint."""
    message, hint = done.stderr.splitlines()
    assert message.startswith("gitindex: "), done.stderr
    assert hint.startswith("  hint: "), done.stderr
    assert "internal error" not in message
    return message


def answers(repo: Repo, **env: str) -> None:
    """An index is made and asked."""
    made = run(repo, "index", **env)
    assert made.returncode == 0, made.stderr
    found = run(repo, "search", "alpha", **env)
    assert (found.returncode, found.stderr) == (0, "")
    assert "a.py:1" in found.stdout


@pytest.fixture
def small(repo: Repo) -> Repo:
    repo.write("a.py", "def alpha():\n    pass\n")
    repo.commit("one")
    return repo


@pytest.mark.parametrize("module", ["gitindex", "gitindex.refresh.background"])
def test_an_older_python_says_what_it_needs(small: Repo, module: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", OLD.format(args=["status"], module=module)],
        cwd=small.path,
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )
    assert done.returncode == 4
    assert in_one_line(done) == "gitindex: Python 3.11 or later is needed"


@pytest.mark.skipif(shutil.which("python3.10") is None, reason="no Python 3.10 here")
def test_a_real_python_3_10(small: Repo) -> None:
    env = os.environ | {"PYTHONPATH": str(ROOT), "PYENV_VERSION": _pyenv("3.10")}
    command = ["python3.10", "-B", "-m", "gitindex", "status"]
    done = subprocess.run(
        command, cwd=small.path, env=env, capture_output=True, text=True, check=False
    )
    if "pyenv" in done.stderr:
        pytest.skip("pyenv has no Python 3.10")
    assert done.returncode == 4
    assert in_one_line(done) == "gitindex: Python 3.11 or later is needed"


def _pyenv(version: str) -> str:
    folder = Path("~/.pyenv/versions").expanduser()
    return next((path.name for path in folder.glob(f"{version}.*")), version)


@pytest.mark.parametrize("name", ["Hôme of Ünï", "it's $HOME", "new\nline"])
def test_any_home(small: Repo, tmp_path: Path, name: str) -> None:
    home = tmp_path / name
    home.mkdir()
    answers(small, HOME=str(home))
    assert run(small, "install", HOME=str(home)).returncode == 0
    written = run(small, "mcp", "install", "--client", "codex", HOME=str(home))
    assert written.returncode == 0, written.stderr
    assert (home / ".codex/config.toml").exists()


def test_a_home_that_nobody_can_write(small: Repo) -> None:
    """Below /proc not even root makes a folder."""
    answers(small, HOME="/proc/nobody")
    assert run(small, "install", HOME="/proc/nobody").returncode == 0
    done = run(small, "mcp", "install", "--client", "codex", HOME="/proc/nobody")
    assert done.returncode != 0
    assert "/proc/nobody" in in_one_line(done)


def test_proxy_variables_change_nothing(small: Repo) -> None:
    names = ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
    answers(small, **dict.fromkeys(names, DEAD_PROXY))


def test_an_old_git(small: Repo, tmp_path: Path) -> None:
    program = tmp_path / "bin/git"
    program.parent.mkdir()
    program.write_text(
        "#!/bin/sh\n"
        'for word; do case $word in version | --version) echo "git version 2.20.1"; exit;; esac; done\n'
        f'exec {shutil.which("git")} "$@"\n'
    )
    program.chmod(0o755)
    path = f"{program.parent}:{os.environ['PATH']}"
    answers(small, PATH=path)
    done = run(small, "install", "--mode", "config", PATH=path)
    assert done.returncode != 0
    assert "git 2.20 does not run hooks from its configuration" in in_one_line(done)


def test_no_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The build says why in one line, and installs without the compiled part."""
    monkeypatch.setenv("CC", "/nowhere/cc")
    failure = hatch_build.compile_library(ROOT, tmp_path / "library.so")
    assert failure
    assert len(failure.splitlines()) == 1
    assert not (tmp_path / "library.so").exists()
