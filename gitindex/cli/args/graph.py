"""`gitindex refs`, `callers`, `callees`, `graph`, `impact`."""

from __future__ import annotations

from typing import Annotated

from typer import BadParameter

from gitindex.base.vocabulary import Direction, Role
from gitindex.cli.app import At, Json, Path, Staged, Team, among, app, asked, leave, names, paths
from gitindex.cli.declare import argument, option

FORMATS = ("text", "json", "dot", "mermaid", "svg")

Symbol = Annotated[
    str,
    argument(help="A name, a qualified name, FILE:LINE, a node's id, or a file.", complete=names),
]
Depth = Annotated[int, option("--depth", "-d", min=1, max=10, help="Steps to follow.")]
Limit = Annotated[int, option("--limit", "-n", min=1, max=2000, help="Nodes at most.")]
Between = Annotated[
    str,
    option("--between", metavar="A..B", help="Callers that differ: `gitindex history index`."),
]
NoteLimit = Annotated[int, option("--note-limit", min=0, max=2000, help="Notes at most.")]


@app.command()
def refs(
    name: Annotated[
        str,
        argument(metavar="NAME|FILE:LINE:COL", help="A name, or a place of it.", complete=names),
    ],
    path: Path = ".",
    role: Annotated[
        str,
        option("--role", help="Only reference or import.", complete=among("reference", "import")),
    ] = "",
    below: Annotated[
        str, option("--path", help="Only in this file or folder of the tree.", complete=paths)
    ] = "",
    limit: Annotated[
        int, option("--limit", "-n", min=1, max=1000, help="References at most.")
    ] = 100,
    mentions: Annotated[
        bool, option("--mentions", help="List comments, strings and documents, too.")
    ] = False,
    at: At = "",
    staged: Staged = False,
    team: Team = False,
    as_json: Json = False,
) -> None:
    """Where a symbol is used, and whether that is all."""
    from gitindex.cli.verbs import graph as commands
    from gitindex.query.references import ReferenceQuery

    if role and role not in (Role.REFERENCE, Role.IMPORT):
        raise BadParameter("reference or import", param_hint="--role")
    wanted = ReferenceQuery(name, role, below, limit, mentions)
    leave(commands.refs(wanted, path, asked(at, staged), as_json, team))


def _between(direction: Direction, symbol: str, between: str, path: str, as_json: bool) -> None:
    if direction is not Direction.CALLERS:
        raise BadParameter("only of callers", param_hint="--between")
    from gitindex.cli.verbs.history import show_callers

    leave(show_callers(symbol, between, path, as_json))


def _declare(direction: Direction, help_text: str) -> None:
    """`gitindex callers` and `gitindex callees`: the same options, another direction."""

    def verb(
        symbol: Symbol,
        path: Path = ".",
        depth: Depth = 1,
        limit: Limit = 100,
        note_limit: NoteLimit = 50,
        at: At = "",
        staged: Staged = False,
        team: Team = False,
        between: Between = "",
        as_json: Json = False,
    ) -> None:
        if between:
            _between(direction, symbol, between, path, as_json)
        form = "json" if as_json else "text"
        _graph(direction, symbol, path, (depth, limit, note_limit), at, staged, form, team)

    app.command(str(direction), help=help_text)(verb)


_declare(Direction.CALLERS, "Who calls a symbol.")
_declare(Direction.CALLEES, "What a symbol calls.")


@app.command()
def graph(
    symbol: Symbol,
    path: Path = ".",
    direction: Annotated[str, option("--direction", help="callers, callees or both.")] = "both",
    depth: Depth = 1,
    limit: Limit = 100,
    note_limit: NoteLimit = 50,
    form: Annotated[
        str,
        option(
            "--format",
            "-f",
            help="text, json, dot, mermaid or svg.",
            complete=among(*FORMATS),
        ),
    ] = "text",
    at: At = "",
    staged: Staged = False,
    as_json: Json = False,
) -> None:
    """The calls around a symbol, or the imports around a file."""
    if direction not in list(Direction):
        raise BadParameter("callers, callees or both", param_hint="--direction")
    if form not in FORMATS:
        raise BadParameter(f"one of {', '.join(FORMATS)}", param_hint="--format")
    form = "json" if as_json else form
    _graph(Direction(direction), symbol, path, (depth, limit, note_limit), at, staged, form)


def _graph(
    direction: Direction,
    symbol: str,
    path: str,
    bounds: tuple[int, int, int],
    at: str,
    staged: bool,
    form: str,
    team: bool = False,
) -> None:
    from gitindex.cli.verbs import graph as commands
    from gitindex.query.callgraph.answer import GraphQuery

    wanted = GraphQuery(symbol, direction, *bounds)
    leave(commands.graph(wanted, path, asked(at, staged), form, team))


@app.command()
def impact(
    between: Annotated[
        str, argument(metavar="[A..B]", help="Two commits; HEAD and the disk if left out.")
    ] = "",
    path: Path = ".",
    staged: Annotated[bool, option("--staged", help="Of what is staged, against HEAD.")] = False,
    dangling: Annotated[
        bool, option("--dangling", help="References left behind; exit 1 if any.")
    ] = False,
    signatures: Annotated[
        bool,
        option("--signatures", help="With --dangling: calls that no longer fit, too."),
    ] = False,
    tests: Annotated[
        bool, option("--tests", help="Tests that reach the change, the likeliest first.")
    ] = False,
    limit: Annotated[
        int, option("--limit", "-n", min=0, help="Test files at most, with --tests.")
    ] = 0,
    nodes: Annotated[
        bool, option("--nodes", help="pytest's node ids, with --tests, where they are known.")
    ] = False,
    depth: Depth = 2,
    everything: Annotated[
        bool, option("--all", help="Show keys of data files and headings, too.")
    ] = False,
    team: Team = False,
    as_json: Json = False,
) -> None:
    """What a change reaches: symbols, files and tests."""
    from gitindex.cli.verbs import impact as commands

    if dangling and tests:
        raise BadParameter("--dangling and --tests exclude each other")
    if dangling:
        leave(commands.dangling(between, staged, path, as_json, signatures))
    if tests:
        leave(commands.reached_tests(between, staged, path, as_json, limit, nodes))
    leave(commands.impact(between, staged, path, depth, as_json, everything, team))
