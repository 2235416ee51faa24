"""The command line itself: the one typer app, its common options, and how a run ends."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import click
import typer
from click.exceptions import NoArgsIsHelpError, UsageError
from typer.core import TyperGroup

from gitindex import __version__
from gitindex.base.errors import Exit, GitIndexError
from gitindex.cli.terminal import paged
from gitindex.view.tree import TreeChoice

_COMMANDS = (
    "install uninstall doctor index run wait status check jobs log search grep symbols outline refs"
    " callers callees graph impact map read slice docs verify audit export contexts semantic state"
    " decide mcp lsp agents-md template aliases gc config hook"
)
_ORDER = {name: place for place, name in enumerate(_COMMANDS.split())}


class _InOrder(TyperGroup):
    """Commands as one meets them, not as their files are called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(super().list_commands(ctx), key=lambda name: _ORDER.get(name, len(_ORDER)))


app = typer.Typer(
    cls=_InOrder,
    name="gitindex",
    help="A code index of a git repository that is always fresh, and can prove it.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

_NOISE = " (env var: 'None')"  # typer says so of every option of a newer click

Path = Annotated[str, typer.Option("--repo", "-C", help="A folder inside the work tree.")]
At = Annotated[str, typer.Option("--at", help="Answer for this commit, tag or branch.")]
Staged = Annotated[bool, typer.Option("--staged", help="Answer for the tree that is staged.")]
Json = Annotated[bool, typer.Option("--json", help="Print the structured answer.")]


def run_cli(args: list[str]) -> int:
    """Run one command line and return its exit code."""
    try:
        with paged(args):
            code = app(args, prog_name="gitindex", standalone_mode=False)
    except UsageError as error:
        if isinstance(error, NoArgsIsHelpError):
            error.show()
            return int(Exit.USAGE)
        asked = error.ctx.command_path if error.ctx else "gitindex"
        told = error.format_message().replace("\n", " ").replace(_NOISE, "")
        raise GitIndexError(told, f"see `{asked} --help`", Exit.USAGE) from error
    except typer.Abort:
        return 130
    return code if isinstance(code, int) else int(Exit.OK)


def asked(at: str = "", staged: bool = False, strict: bool = False) -> TreeChoice:
    """Which tree is asked for."""
    if at and staged:
        raise typer.BadParameter("--at and --staged exclude each other")
    return TreeChoice(strict, at, staged)


def among(*values: str) -> Callable[[str], list[str]]:
    """What a shell completes an option with."""
    return lambda incomplete: [value for value in values if value.startswith(incomplete)]


def leave(code: int) -> None:
    raise typer.Exit(code)


def _show_version(value: bool) -> None:
    if value:
        typer.echo(f"gitindex {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """A code index of a git repository that is always fresh, and can prove it."""
