"""`gitindex web`."""

from __future__ import annotations

from typing import Annotated

from gitindex.cli.app import Path, app, leave
from gitindex.cli.declare import option


@app.command()
def web(
    path: Path = ".",
    port: Annotated[
        int, option("--port", min=0, max=65535, help="Port on loopback; 0: any free one.")
    ] = 0,
    no_open: Annotated[
        bool, option("--no-open", help="Print the link, and open no browser.")
    ] = False,
    export: Annotated[
        str,
        option(
            "--export", metavar="DIR", help="Write a static snapshot of map, symbols and health."
        ),
    ] = "",
) -> None:
    """The page: search, map, history and health in a browser, on loopback only."""
    from gitindex.cli.verbs import web as commands

    if export:
        leave(commands.export_page(path, export))
    leave(commands.show_page(path, port, not no_open))
