"""File states, the mutation gate and decisions."""

from __future__ import annotations

from typing import Annotated

import typer

from gitindex.cli.app import Json, Path, app, leave

decide = typer.Typer(
    name="decide",
    help="Answers to what the language leaves open about a file.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.add_typer(decide)

Number = Annotated[int, typer.Argument(min=1, help="The decision's number.")]


@app.command()
def state(
    files: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[FILE…]", help="Files or folders; with --gate FILE[:LINE|:SYMBOL]."
        ),
    ] = None,
    path: Path = ".",
    refresh: Annotated[
        bool, typer.Option("--refresh", help="They have been checked again: stale no more.")
    ] = False,
    gate: Annotated[
        bool, typer.Option("--gate", help="May they be edited? 0 yes, 1 decide first, 3 no.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Is what is known of a file current and sure?

    Exit 1: of one of them it is not current.
    """
    from gitindex.cli.verbs import state as commands

    if gate and (refresh or not files):
        raise typer.BadParameter("--gate wants files, and not --refresh")
    if gate:
        leave(commands.gate(files or [], path, as_json))
    leave(commands.show_states(files or [], path, refresh, as_json))


@decide.command("list")
def list_(
    path: Path = ".",
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="Decisions at most.")] = 50,
    as_json: Json = False,
) -> None:
    """The newest decisions."""
    from gitindex.cli.verbs import state as commands

    leave(commands.decide_list(path, limit, as_json))


@decide.command()
def show(decision: Number, path: Path = ".", as_json: Json = False) -> None:
    """One decision with its proof."""
    from gitindex.cli.verbs import state as commands

    leave(commands.decide_show(decision, path, as_json))


@decide.command()
def commit(
    proof: Annotated[str, typer.Argument(help="A JSON file, - for standard input.")],
    path: Path = ".",
    as_json: Json = False,
) -> None:
    """Answer an open question: the proof that `state --gate --json` offers, completed."""
    from gitindex.cli.verbs import state as commands

    leave(commands.decide_commit(proof, path, as_json))


@decide.command()
def forget(decision: Number, path: Path = ".") -> None:
    """Re-open what a decision has answered."""
    from gitindex.cli.verbs import state as commands

    leave(commands.decide_forget(decision, path))
