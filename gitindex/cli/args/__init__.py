"""Declarations of commands, a file per topic: each parses its options and calls one verb."""

from __future__ import annotations

import os

import typer

from gitindex.base.errors import Exit, GitIndexError
from gitindex.cli.app import app
from gitindex.cli.declare import NoArgsIsHelpError, UsageError
from gitindex.cli.terminal import paged

COMPLETE = "_GITINDEX_COMPLETE"
"""The environment variable a shell sets to ask for completions instead of running a command."""


def run_cli(args: list[str]) -> int:
    """Run one command line and return its exit code."""
    if COMPLETE in os.environ:
        from typer._completion_classes import completion_init
        from typer.completion import shell_complete

        completion_init()
        return shell_complete(app, {}, "gitindex", COMPLETE, os.environ[COMPLETE])
    try:
        with paged(args):
            code = app(args, prog_name="gitindex", standalone_mode=False)
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
