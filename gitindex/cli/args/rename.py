"""`gitindex rename`."""

from __future__ import annotations

from typing import Annotated

import typer

from gitindex.cli.app import Json, Path, app, leave


@app.command()
def rename(
    symbol: Annotated[str, typer.Argument(help="CLASS.NAME, FILE#NAME or FILE:LINE:COL.")],
    new: Annotated[str, typer.Argument(help="The new name.")],
    path: Path = ".",
    apply: Annotated[
        bool, typer.Option("--apply", help="Write the files, if every place is proven.")
    ] = False,
    force: Annotated[
        list[str] | None,
        typer.Option("--force", metavar="FILE:LINE", help="Accept this place without a proof."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Rename a symbol: a patch with the proof of every place."""
    from gitindex.cli.verbs.rename import rename as verb
    from gitindex.edit.rename import RenameRequest

    leave(verb(RenameRequest(symbol, new, tuple(force or ())), path, apply, as_json))
