"""Contexts and the semantic layer."""

from __future__ import annotations

from typing import Annotated

from gitindex.cli.app import At, Json, Path, Staged, app, asked, leave
from gitindex.cli.declare import VerbGroup, argument, option

semantic = VerbGroup(
    name="semantic",
    help="What SCIP indexers say of the code. Off until you set gitindex.semantic.",
)
app.add_command(semantic)


@app.command()
def contexts(
    path: Path = ".",
    at: At = "",
    staged: Staged = False,
    off: Annotated[
        str,
        option("--off", metavar="NAME", help="Run no indexer for it, use no facts of it."),
    ] = "",
    on: Annotated[str, option("--on", metavar="NAME", help="Take that back.")] = "",
    as_json: Json = False,
) -> None:
    """The projects of the tree, and which files each owns."""
    from gitindex.cli.verbs import semantic as commands

    if off or on:
        leave(commands.switch_context(off or on, bool(on), path, as_json))
    leave(commands.contexts(path, asked(at, staged), as_json))


@semantic.command("list")
def list_(path: Path = ".", as_json: Json = False) -> None:
    """Which indexers could run here, and whether they may."""
    from gitindex.cli.verbs import semantic as commands

    leave(commands.list_indexers(path, as_json))


@semantic.command()
def run(
    names: Annotated[
        list[str] | None,
        argument(metavar="[CONTEXT]…", help="As `gitindex contexts` calls them; all if none."),
    ] = None,
    path: Path = ".",
    only: Annotated[
        list[str] | None,
        option("--only", help="Keep only what is said of this file or folder."),
    ] = None,
    seconds: Annotated[
        float | None,
        option("--timeout", min=0.1, help="Stop an indexer after so many seconds."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Run indexers and import what they say of the files that are as in git."""
    from gitindex.cli.verbs import semantic as commands

    leave(commands.run(names or [], path, only, seconds, as_json))


@semantic.command()
def status(path: Path = ".", as_json: Json = False) -> None:
    """What is known of each context, and what became of its last job."""
    from gitindex.cli.verbs import semantic as commands

    leave(commands.show_status(path, as_json))
