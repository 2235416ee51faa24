"""File states, the mutation gate and decisions."""

from __future__ import annotations

from typing import Annotated

from typer import BadParameter

from gitindex.cli.app import Json, Path, app, leave, paths
from gitindex.cli.declare import VerbGroup, argument, option

decide = VerbGroup(
    name="decide",
    help="Answers to what the language leaves open about a file.",
)
app.add_command(decide)

Number = Annotated[int, argument(min=1, help="The decision's number.")]


@app.command()
def state(
    files: Annotated[
        list[str] | None,
        argument(
            metavar="[FILE…]",
            help="Files or folders; with --gate FILE[:LINE|:SYMBOL].",
            complete=paths,
        ),
    ] = None,
    path: Path = ".",
    refresh: Annotated[
        bool, option("--refresh", help="They have been checked again: stale no more.")
    ] = False,
    gate: Annotated[
        bool, option("--gate", help="May they be edited? 0 yes, 1 decide first, 3 no.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Is what is known of a file current and sure?

    Exit 1: of one of them it is not current.
    """
    from gitindex.cli.verbs import state as commands

    if gate and (refresh or not files):
        raise BadParameter("--gate wants files, and not --refresh")
    if gate:
        leave(commands.gate(files or [], path, as_json))
    leave(commands.show_states(files or [], path, refresh, as_json))


@decide.command("list")
def list_(
    path: Path = ".",
    limit: Annotated[int, option("--limit", "-n", min=1, help="Decisions at most.")] = 50,
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
    proof: Annotated[str, argument(help="A JSON file, - for standard input.")],
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
