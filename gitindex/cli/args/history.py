"""`gitindex history`."""

from __future__ import annotations

from typing import Annotated

from gitindex.cli.app import Json, Path, app, leave, names
from gitindex.cli.declare import VerbGroup, argument

history = VerbGroup(
    name="history",
    help="What became of a definition or a call, by commit. Off until `gitindex history index`.",
)
app.add_command(history)


@history.command("index")
def index(path: Path = ".") -> None:
    """Keep the facts of every blob of HEAD's first-parent history. Opt-in; run again to catch up."""
    from gitindex.cli.verbs.history import index_now

    leave(index_now(path))


@history.command("when")
def when(
    caller: Annotated[str, argument(help="The function that calls.", complete=names)],
    callee: Annotated[str, argument(help="The name that it calls.", complete=names)],
    path: Path = ".",
    as_json: Json = False,
) -> None:
    """The commits with which CALLER began or ceased to call CALLEE."""
    from gitindex.cli.verbs.history import show_when

    leave(show_when(caller, callee, path, as_json))


@history.command("log")
def log(
    symbol: Annotated[str, argument(help="A name, or the end of a qualified one.", complete=names)],
    path: Path = ".",
    as_json: Json = False,
) -> None:
    """The commits that added, changed or removed definitions of SYMBOL."""
    from gitindex.cli.verbs.history import show_log

    leave(show_log(symbol, path, as_json))


@history.command("status")
def status(path: Path = ".", as_json: Json = False) -> None:
    """How far the history layer reaches, and its size."""
    from gitindex.cli.verbs.history import show_state

    leave(show_state(path, as_json))
