"""On a system without POSIX's modules every command says so in one line."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.support import Repo

MODULES = ("fcntl", "resource", "pwd", "grp", "termios")


@pytest.mark.parametrize(
    ("module", "args"),
    [
        ("gitindex", ["status"]),
        ("gitindex", ["search", "x"]),
        ("gitindex", ["mcp"]),
        ("gitindex", ["--help"]),
        ("gitindex", ["install"]),
        ("gitindex.refresh.background", [".git"]),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, list) else value,
)
def test_one_line_and_exit_4(repo: Repo, module: str, args: list[str]) -> None:
    code = (
        f"import runpy, sys\nfor name in {MODULES}: sys.modules[name] = None\n"
        f"sys.argv = ['gitindex', *{args}]\nrunpy.run_module({module!r}, run_name='__main__')"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=repo.path, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (4, "")
    assert done.stderr == "gitindex: a POSIX system is needed\n  hint: on Windows use WSL\n"
