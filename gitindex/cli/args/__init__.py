"""Typer declarations, a file per topic: each parses its options and calls one verb.

A run asks for one command: only the file that declares it is imported. Verbs are imported where they
are called, so that `--help`, which needs all files, pays for none of them.
"""

from __future__ import annotations

import os
from functools import lru_cache
from importlib import import_module

import click
import typer
from click.exceptions import NoArgsIsHelpError, UsageError

from gitindex.base.errors import Exit, GitIndexError
from gitindex.cli.app import app
from gitindex.cli.terminal import paged

DECLARED = {
    "agents": "mcp lsp agents-md",
    "docs": "docs",
    "gates": "gate merge-check api",
    "graph": "refs callers callees graph impact",
    "grep": "grep",
    "history": "history",
    "indexing": "install uninstall clear hook template aliases doctor index run wait status check"
    " jobs log config",
    "maintenance": "verify audit gc",
    "maps": "map",
    "packs": "pack",
    "team": "team",
    "questions": "search explore symbols find outline read slice export",
    "rename": "rename",
    "semantic": "contexts semantic",
    "state": "state decide",
    "web": "web",
}
"""Which file of this folder declares which commands."""
_FILE_OF = {verb: file for file, verbs in DECLARED.items() for verb in verbs.split()}


def whole_app() -> typer.Typer:
    """The app with all its commands."""
    for file in DECLARED:
        import_module(f"{__name__}.{file}")
    return app


def run_cli(args: list[str]) -> int:
    """Run one command line and return its exit code."""
    _declare(args)
    try:
        with paged(args):
            code = _parser(len(app.registered_commands))(
                args, prog_name="gitindex", standalone_mode=False
            )
    except UsageError as error:
        if isinstance(error, NoArgsIsHelpError):
            error.show()
            return int(Exit.USAGE)
        asked = error.ctx.command_path if error.ctx else "gitindex"
        told = error.format_message().replace("\n", " ").replace(" (env var: 'None')", "")
        raise GitIndexError(told, f"see `{asked} --help`", Exit.USAGE) from error
    except typer.Abort:
        return 130
    return code if isinstance(code, int) else int(Exit.OK)


@lru_cache(maxsize=1)
def _parser(_declared: int) -> click.Command:
    """The parser of the commands declared so far: built once in a process that runs several."""
    return typer.main.get_command(app)


def _declare(args: list[str]) -> None:
    """Import the declarations of the command that is asked for; of all where that is not plain."""
    verb = args[1] if len(args) > 1 and args[0] == "help" else args[0] if args else ""
    if verb in _FILE_OF and "_GITINDEX_COMPLETE" not in os.environ:
        import_module(f"{__name__}.{_FILE_OF[verb]}")
    else:
        whole_app()
