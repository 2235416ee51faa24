"""`gitindex rename`."""

from __future__ import annotations

from typing import Annotated

from gitindex.cli.app import Json, Path, app, leave, names
from gitindex.cli.declare import argument, option


@app.command()
def rename(
    symbol: Annotated[
        str,
        argument(
            help="CLASS.NAME, FILE#NAME, FILE:LINE:COL, or FILE for a module.", complete=names
        ),
    ],
    new: Annotated[str, argument(help="The new name.")],
    path: Path = ".",
    apply: Annotated[
        bool, option("--apply", help="Write the files, if every place is proven.")
    ] = False,
    force: Annotated[
        list[str] | None,
        option("--force", metavar="FILE:LINE", help="Accept this place without a proof."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Rename a symbol or a module: a patch with the proof of every place."""
    from gitindex.cli.verbs.rename import rename as verb
    from gitindex.edit.rename import RenameRequest

    leave(verb(RenameRequest(symbol, new, tuple(force or ())), path, apply, as_json))
