"""Shells complete symbols and paths from the index; manual pages come from the help."""

from __future__ import annotations

import os
import pty
import select
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gitindex.cli.complete import symbol_names, tree_paths
from tests.pages import ROOT
from tests.support import TIMEOUT, Repo

SCRIPTS = ROOT / "templates/completion"


def shell_env(**more: str) -> dict[str, str]:
    """The user's environment with our command first on PATH."""
    folder = str(Path(sys.executable).parent)
    return os.environ | {"PATH": f"{folder}{os.pathsep}{os.environ['PATH']}", **more}


def needs(program: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(shutil.which(program) is None, reason=f"{program} is not installed")


def words(folder: Path, *command: str) -> list[str]:
    done = subprocess.run(
        command,
        cwd=folder,
        env=shell_env(),
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )
    return done.stdout.split()


def test_u16_names_and_paths_come_from_the_index(
    quiet: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    quiet.write("lib/deep/er.py", "class Helpful:\n    pass\n")
    quiet.write("lib/$(touch pwned).py", "helpme = 1\n")
    quiet.commit()
    quiet.index()
    monkeypatch.chdir(quiet.path)
    assert symbol_names("hel") == ["helper", "helpme"]
    assert symbol_names("Hel") == ["Helpful"]
    assert symbol_names("nosuch") == []
    assert tree_paths("") == ["README.md", "app.py", "lib/"]
    assert tree_paths("lib/") == ["lib/deep/", "lib/util.py"], "a shell would run the third"
    assert symbol_names("lib/d") == ["lib/deep/"]
    monkeypatch.chdir(quiet.path / "lib")
    assert tree_paths("u") == ["util.py"]
    assert tree_paths("../a") == ["../app.py"]
    assert tree_paths("deep/") == ["deep/er.py"]


def test_nothing_is_offered_where_nothing_is_indexed(
    repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in (repo.path, tmp_path):
        monkeypatch.chdir(folder)
        assert (symbol_names("a"), tree_paths("a")) == ([], [])


def test_bash_completes_gitindex_and_git_index(quiet: Repo) -> None:
    def offered(typed: str, function: str) -> list[str]:
        script = (
            f"source {SCRIPTS}/gitindex.bash; COMP_WORDS=({typed});"
            f" COMP_CWORD={len(typed.split()) - 1}; {function}; echo ${{COMPREPLY[@]}}"
        )
        return words(quiet.path, "bash", "-c", script)

    assert offered("gitindex refs hel", "_gitindex") == ["helper"]
    assert offered("git index outline lib/", "_git_index") == ["lib/util.py"]


@needs("fish")
def test_fish_completes_symbols_and_paths(quiet: Repo) -> None:
    script = f"source {SCRIPTS}/gitindex.fish; complete -C 'gitindex "
    assert words(quiet.path, "fish", "-c", f"{script}callers hel'") == ["helper"]
    assert words(quiet.path, "fish", "-c", f"{script}read li'") == ["lib/"]


@needs("zsh")
def test_zsh_completes_symbols_on_a_terminal(quiet: Repo) -> None:
    ours, theirs = pty.openpty()
    shell = subprocess.Popen(
        ["zsh", "-f", "-i"],
        cwd=quiet.path,
        env=shell_env(PS1="$ ", TERM="xterm"),
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    )
    os.close(theirs)
    start = f"autoload -U compinit; compinit -u -D; source {SCRIPTS}/gitindex.zsh; echo rea''dy\n"
    try:
        os.write(ours, start.encode())
        read_until(ours, b"ready")
        os.write(ours, b"gitindex refs hel\t")
        read_until(ours, b"helper")
    finally:
        shell.kill()
        shell.wait(TIMEOUT)
        os.close(ours)


def read_until(terminal: int, wanted: bytes) -> None:
    said, deadline = b"", time.monotonic() + TIMEOUT
    while wanted not in said and time.monotonic() < deadline:
        if select.select([terminal], [], [], 1)[0]:
            said += os.read(terminal, 1 << 16)
    assert wanted in said, said


def test_completion_prints_the_scripts(quiet: Repo) -> None:
    for shell in ("bash", "zsh", "fish"):
        told = quiet.gitindex("completion", shell)
        assert told.stdout == (SCRIPTS / f"gitindex.{shell}").read_text()
    refused = quiet.gitindex("completion", "tcsh")
    assert refused.returncode == 2
    assert "one of bash, zsh, fish" in refused.stderr


@needs("man")
def test_u1_git_index_help_is_a_manual_page(quiet: Repo) -> None:
    done = subprocess.run(
        ["git", "index", "--help"],
        cwd=quiet.path,
        env=shell_env(MANPATH=str(ROOT / "man"), MANPAGER="cat", MANWIDTH="100"),
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "git-index - A code index" in done.stdout
    assert "Where a symbol is used, and whether that is all." in done.stdout


def test_help_man_prints_the_page_of_one_command(quiet: Repo) -> None:
    page = quiet.gitindex("help", "--man", "decide").stdout
    assert page.startswith('.TH "GITINDEX-DECIDE" 1')
    assert ".SS gitindex decide commit [OPTIONS] {PROOF}" in page
    assert quiet.gitindex("help", "--man", "nosuch").returncode == 2
