"""`gitindex map`."""

from __future__ import annotations

from typing import Annotated

import typer

from gitindex.base.vocabulary import MapSection
from gitindex.cli.app import At, Json, Path, Staged, among, app, asked, leave


@app.command("map")
def map_(
    path: Path = ".",
    tokens: Annotated[
        int, typer.Option("--tokens", min=1, max=100_000, help="Length at most; 4 characters each.")
    ] = 2_000,
    focus: Annotated[
        list[str], typer.Option("--focus", help="A file or folder that matters most; repeatable.")
    ] = [],  # noqa: B006
    include: Annotated[
        list[str],
        typer.Option(
            "--include",
            help="structure, languages, entrypoints, hubs, tests, surface; joined by commas.",
            autocompletion=among(*MapSection),
        ),
    ] = [],  # noqa: B006
    svg: Annotated[bool, typer.Option("--svg", help="A picture instead: SVG.")] = False,
    at: At = "",
    staged: Staged = False,
    as_json: Json = False,
) -> None:
    """The files that matter most and their signatures. Never longer than its budget."""
    from gitindex.cli.verbs.maps import show_map
    from gitindex.query.map.answer import MapQuery, read_sections

    wanted = MapQuery(tokens, tuple(focus), read_sections(include))
    leave(show_map(wanted, path, asked(at, staged), svg, as_json))
