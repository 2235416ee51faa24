"""`gitindex map`."""

from __future__ import annotations

from typing import Annotated

from gitindex.base.vocabulary import MapSection
from gitindex.cli.app import At, Json, Path, Staged, among, app, asked, leave, paths
from gitindex.cli.declare import option


@app.command("map")
def map_(
    path: Path = ".",
    tokens: Annotated[
        int, option("--tokens", min=1, max=100_000, help="Length at most; 4 characters each.")
    ] = 2_000,
    focus: Annotated[
        list[str],
        option("--focus", help="A file or folder that matters most; repeatable.", complete=paths),
    ] = [],  # noqa: B006
    include: Annotated[
        list[str],
        option(
            "--include",
            help="structure, languages, entrypoints, hubs, tests, surface; joined by commas.",
            complete=among(*MapSection),
        ),
    ] = [],  # noqa: B006
    svg: Annotated[bool, option("--svg", help="A picture instead: SVG.")] = False,
    at: At = "",
    staged: Staged = False,
    as_json: Json = False,
) -> None:
    """The files that matter most and their signatures. Never longer than its budget."""
    from gitindex.cli.verbs.maps import show_map
    from gitindex.query.map.answer import MapQuery, read_sections

    wanted = MapQuery(tokens, tuple(focus), read_sections(include))
    leave(show_map(wanted, path, asked(at, staged), svg, as_json))
