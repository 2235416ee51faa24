"""The group of all commands, and the options they share.

A run imports only the file of cli/args that declares its command. Verbs are imported where they are
called: `--help` imports every file of cli/args, but no verb.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from difflib import get_close_matches
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gitindex import __version__
from gitindex.cli.declare import UsageError, VerbGroup, option

if TYPE_CHECKING:
    from gitindex.view.tree import TreeChoice

DECLARED = {
    "agents": "mcp lsp agents-md",
    "docs": "docs",
    "gates": "gate merge-check api",
    "graph": "refs callers callees graph impact",
    "grep": "grep",
    "help": "help completion",
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
"""Maps each file of cli/args to the commands it declares."""
_FILE_OF = {verb: file for file, verbs in DECLARED.items() for verb in verbs.split()}
GROUPS = {
    "Everyday": "search find grep symbols outline read status wait index",
    "Explore": "explore refs callers callees graph impact map slice docs history",
    "Change": "rename api merge-check state decide",
    "Prove": "check verify audit jobs log gc doctor",
    "Hooks and set-up": "install uninstall clear config template aliases contexts semantic",
    "Agents, editors and teams": "mcp lsp web agents-md export pack team",
    "Help": "help completion",
}
"""The groups that help lists; commands outside of all groups are for programs."""
_ORDER = {name: at for at, name in enumerate(" ".join(GROUPS.values()).split())}


class _AllCommands(VerbGroup):
    """Lists commands in groups, as git does, and imports the declaration of the one that is run."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002
        return sorted(_FILE_OF, key=lambda name: _ORDER.get(name, len(_ORDER)))

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name in _FILE_OF:
            import_module(f"gitindex.cli.args.{_FILE_OF[cmd_name]}")
        return super().get_command(ctx, cmd_name)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if self.get_command(ctx, args[0]) is None and args[0][:1].isalpha():
            near = get_close_matches(args[0], _ORDER)
            meant = f" Did you mean {' or '.join(map(repr, near))}?" if near else ""
            raise UsageError(f"No such command {args[0]!r}.{meant}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        for title, names in GROUPS.items():
            rows = [
                (f"{name:<11}", command.get_short_help_str(formatter.width))
                for name in names.split()
                if (command := self.get_command(ctx, name)) is not None
            ]
            with formatter.section(title):
                formatter.write_dl(rows, col_max=14)


def _stand_in(folder: str) -> str:
    from gitindex.cli.shown_path import stand_in

    stand_in(folder)
    return folder


Path = Annotated[
    str,
    option("--repo", "-C", help="A folder inside the work tree.", callback=_stand_in),
]
Folder = Annotated[str, option("--repo", help="A folder inside the work tree.", callback=_stand_in)]
"""The same for `grep`, where -C has ripgrep's meaning."""
At = Annotated[str, option("--at", help="Answer for this commit, tag or branch.")]
Staged = Annotated[bool, option("--staged", help="Answer for the tree that is staged.")]
Team = Annotated[bool, option("--team", help="Ask the team's other repositories, too.")]
Json = Annotated[bool, option("--json", help="Print the structured answer.")]


def asked(at: str = "", staged: bool = False, strict: bool = False) -> TreeChoice:
    """Return the tree choice that the options ask for."""
    if at and staged:
        raise typer.BadParameter("--at and --staged exclude each other")
    from gitindex.view.tree import TreeChoice

    return TreeChoice(strict, at, staged)


def among(*values: str) -> Callable[[str], list[str]]:
    """Return a shell completion that offers these values."""
    return lambda incomplete: [value for value in values if value.startswith(incomplete)]


def among_sorted(values: Callable[[], Iterable[str]]) -> Callable[[str], list[str]]:
    """The same for values that are read only when a shell asks."""
    return lambda incomplete: among(*sorted(values()))(incomplete)


def names(typed: str) -> list[str]:
    """Complete symbols from the index."""
    from gitindex.cli.complete import symbol_names

    return symbol_names(typed)


def paths(typed: str) -> list[str]:
    """Complete paths from the index."""
    from gitindex.cli.complete import tree_paths

    return tree_paths(typed)


def leave(code: int) -> None:
    raise typer.Exit(code)


def _show_version(value: bool) -> None:
    if value:
        typer.echo(f"gitindex {__version__}")
        raise typer.Exit


def _options(
    version: Annotated[
        bool, option("--version", callback=_show_version, eager=True, help="Print the version.")
    ] = False,
    folder: Annotated[
        str, option("-C", metavar="DIR", help="Run as if started in this folder.")
    ] = ".",
    full_name: Annotated[
        bool, option("--full-name", help="Print paths from the root of the work tree.")
    ] = False,
) -> None:
    """Options before the command; `take_globals` has applied them already."""


app = _AllCommands(
    "gitindex",
    help="A code index of a git repository that is always fresh, and can prove it.",
    callback=_options,
    context_settings={"help_option_names": ["-h", "--help"]},
)
