"""The one typer app and the options that its commands share."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Annotated

import click
import typer
from click.exceptions import UsageError
from typer.core import TyperGroup

from gitindex import __version__

if TYPE_CHECKING:
    from gitindex.view.tree import TreeChoice

GROUPS = {
    "Everyday": "search find grep symbols outline read status wait index",
    "Explore": "explore refs callers callees graph impact map slice docs history",
    "Change": "rename api merge-check state decide",
    "Prove": "check verify audit jobs log gc doctor",
    "Hooks and set-up": "install uninstall clear config template aliases contexts semantic",
    "Agents, editors and teams": "mcp lsp web agents-md export pack team",
    "Help": "help",
}
"""Commands as people meet them; those of no group are for programs and not listed."""
_ORDER = {name: at for at, name in enumerate(" ".join(GROUPS.values()).split())}


class _Grouped(TyperGroup):
    """Lists commands in groups, as git does."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(super().list_commands(ctx), key=lambda name: _ORDER.get(name, len(_ORDER)))

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        known = {name: self.get_command(ctx, name) for name in self.list_commands(ctx)}
        for title, names in GROUPS.items():
            rows = [
                (f"{name:<11}", command.get_short_help_str(formatter.width))
                for name in names.split()
                if (command := known.get(name)) is not None
            ]
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows, col_max=14)


app = typer.Typer(
    cls=_Grouped,
    name="gitindex",
    help="A code index of a git repository that is always fresh, and can prove it.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _stand_in(folder: str) -> str:
    from gitindex.cli.shown_path import stand_in

    stand_in(folder)
    return folder


Path = Annotated[
    str,
    typer.Option("--repo", "-C", help="A folder inside the work tree.", callback=_stand_in),
]
Folder = Annotated[
    str, typer.Option("--repo", help="A folder inside the work tree.", callback=_stand_in)
]
"""The same for `grep`, where -C means what it means to ripgrep."""
At = Annotated[str, typer.Option("--at", help="Answer for this commit, tag or branch.")]
Staged = Annotated[bool, typer.Option("--staged", help="Answer for the tree that is staged.")]
Team = Annotated[bool, typer.Option("--team", help="Ask the team's other repositories, too.")]
Json = Annotated[bool, typer.Option("--json", help="Print the structured answer.")]


def asked(at: str = "", staged: bool = False, strict: bool = False) -> TreeChoice:
    """Which tree is asked for."""
    if at and staged:
        raise typer.BadParameter("--at and --staged exclude each other")
    from gitindex.view.tree import TreeChoice

    return TreeChoice(strict, at, staged)


def among(*values: str) -> Callable[[str], list[str]]:
    """What a shell completes an option with."""
    return lambda incomplete: [value for value in values if value.startswith(incomplete)]


def among_sorted(values: Callable[[], Iterable[str]]) -> Callable[[str], list[str]]:
    """The same for values that are read only when a shell asks."""
    return lambda incomplete: among(*sorted(values()))(incomplete)


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
    folder: Annotated[
        str, typer.Option("-C", metavar="DIR", help="Run as if started in this folder.")
    ] = ".",
    full_name: Annotated[
        bool, typer.Option("--full-name", help="Print paths from the root of the work tree.")
    ] = False,
) -> None:
    """A code index of a git repository that is always fresh, and can prove it."""


@app.command("help")
def help_(
    context: typer.Context,
    command: Annotated[list[str] | None, typer.Argument(help="A command; all if left out.")] = None,
) -> None:
    """Explain a command."""
    parent = context.parent
    assert parent is not None
    here, group = parent, parent.command
    for name in command or []:
        found = group.get_command(here, name) if isinstance(group, click.Group) else None
        if found is None:
            raise UsageError(f"no such command: {name}", context)
        here, group = click.Context(found, info_name=name, parent=here), found
    typer.echo(group.get_help(here))
