"""Each command is declared in the file that the table of cli/args names, and only that file is imported."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer

from gitindex.cli import args, verbs
from gitindex.cli.app import DECLARED, app
from gitindex.cli.declare import VerbGroup


def _declared() -> dict[str, set[str]]:
    context: Any = typer.Context(app)
    found: dict[str, set[str]] = {}
    for name in app.list_commands(context):
        command = app.get_command(context, name)
        assert command is not None, name
        inner = list(command.commands.values()) if isinstance(command, VerbGroup) else []
        first = next(one.callback for one in (command, *inner) if one.callback is not None)
        found.setdefault(first.__module__, set()).add(name)
    return found


def test_u12_the_table_says_where_every_command_is() -> None:
    found = _declared()
    assert {
        f"{args.__name__}.{file}": set(names.split()) for file, names in DECLARED.items()
    } == found
    files = {file.stem for file in Path(args.__path__[0]).glob("*.py")} - {"__init__"}
    assert files == DECLARED.keys()


def test_every_command_of_the_contract_is_there() -> None:
    page = (Path(__file__).resolve().parents[3] / "docs/contract.md").read_text()
    promised = page.partition("Commands: `gitindex` + `")[2].partition("`")[0].split()
    assert len(promised) > 40
    there = set.union(*_declared().values())
    assert [name for name in promised if name not in there] == []


@pytest.mark.parametrize("asked", ["--help", "help grep", "jobs --help"])
def test_u12_help_imports_no_verb(asked: str) -> None:
    code = (
        "import sys\nfrom gitindex.cli.args import run_cli\n"
        f"assert run_cli({asked.split()!r}) == 0\n"
        f"print([m for m in sys.modules if m.startswith(('{verbs.__name__}.', 'sqlite3', 'tantivy'))])"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-c", code], capture_output=True, text=True, timeout=300, check=True
    )
    assert done.stdout.splitlines()[-1] == "[]"
