"""Commands that ask the index."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

from typer import BadParameter

from gitindex.base.vocabulary import PathKind
from gitindex.cli.app import (
    At,
    Json,
    Path,
    Staged,
    Team,
    among,
    among_sorted,
    app,
    asked,
    leave,
    names,
    paths,
)
from gitindex.cli.declare import argument, option

FORMATS = ("ctags", "scip", "json", "sqlite")


def _kinds() -> Iterable[str]:
    from gitindex.query.search.query_text import KINDS

    return KINDS


def _languages() -> Iterable[str]:
    from gitindex.languages.table import BY_NAME

    return BY_NAME


Many = list[str]
KIND = among_sorted(_kinds)

Query = Annotated[Many, argument(help="Any text: words, names, a path, a pasted line.")]
Results = Annotated[int, option("--limit", "-n", min=1, max=200, help="Results at most.")]
Languages = Annotated[
    Many,
    option("--lang", help="Only this language (lang:).", complete=among_sorted(_languages)),
]
Below = Annotated[Many, option("--path", help="Only paths with this (path:).", complete=paths)]
NotBelow = Annotated[
    Many, option("--not-path", help="No paths with this (-path:).", complete=paths)
]
Kinds = Annotated[Many, option("--kind", help="Only definitions of a kind (kind:).", complete=KIND)]
Must = Annotated[Many, option("--must", help="With this word (must:).")]
Exclude = Annotated[Many, option("--exclude", help="Without this word (exclude:).")]
Places = Annotated[
    Many, option("--in", help="code, tests or docs (in:).", complete=among(*PathKind))
]
Recent = Annotated[bool, option("--recent", help="Recently changed first.")]
Explain = Annotated[bool, option("--explain", help="Print the features of every result.")]
Strict = Annotated[bool, option("--strict", help="Refuse to answer while a job runs.")]


@app.command()
def search(
    query: Query,
    path: Path = ".",
    limit: Results = 10,
    lang: Languages = [],  # noqa: B006
    below: Below = [],  # noqa: B006
    not_below: NotBelow = [],  # noqa: B006
    kind: Kinds = [],  # noqa: B006
    must: Must = [],  # noqa: B006
    exclude: Exclude = [],  # noqa: B006
    place: Places = [],  # noqa: B006
    recent: Recent = False,
    explain: Explain = False,
    at: At = "",
    staged: Staged = False,
    strict: Strict = False,
    team: Team = False,
    as_json: Json = False,
) -> None:
    """Search the index: best places first, with proof."""
    from gitindex.cli.verbs.search import SearchRequest, find
    from gitindex.query.search.query_text import read_filters

    flags = {
        "lang": lang,
        "path": below,
        "-path": not_below,
        "kind": kind,
        "must": must,
        "exclude": exclude,
        "in": place,
    }
    wish = SearchRequest(limit, read_filters(flags), recent, explain, team)
    leave(find(" ".join(query), path, wish, asked(at, staged, strict), as_json))


@app.command()
def explore(
    question: Query,
    path: Path = ".",
    tokens: Annotated[
        int, option("--tokens", "-t", min=200, max=20_000, help="Budget: 4 characters each.")
    ] = 2_000,
    at: At = "",
    staged: Staged = False,
    as_json: Json = False,
) -> None:
    """One question: the best places with code, uses and tests."""
    from gitindex.cli.verbs.explore import show_places

    leave(show_places(" ".join(question), tokens, path, asked(at, staged), as_json))


@app.command()
def symbols(
    name: Annotated[
        str, argument(help="A name, or a qualified name; all if left out.", complete=names)
    ] = "",
    path: Path = ".",
    below: Annotated[
        str, option("--path", help="Only in this file or folder of the tree.", complete=paths)
    ] = "",
    kind: Annotated[
        str,
        option("--kind", help="Only this kind: function, class, method, …", complete=KIND),
    ] = "",
    file: Annotated[
        str, option("--file", help="Look at this file on disk instead, indexed or not.")
    ] = "",
    limit: Annotated[int, option("--limit", "-n", min=1, max=1000, help="Symbols at most.")] = 50,
    at: At = "",
    staged: Staged = False,
    team: Team = False,
    as_json: Json = False,
) -> None:
    """Definitions by name, path and kind."""
    from gitindex.cli.verbs import questions as commands
    from gitindex.query.symbols import SymbolQuery

    if file:
        leave(commands.symbols_of_file(file, as_json))
    wanted = SymbolQuery(name, below, kind, limit, exact=False)
    leave(commands.symbols(wanted, path, asked(at, staged), as_json, team))


@app.command("find")
def find_(
    words: Annotated[
        Many | None,
        argument(help="A part of a name or a path; asked for if left out.", complete=names),
    ] = None,
    path: Path = ".",
    limit: Annotated[int, option("--limit", "-n", min=1, max=1000, help="Results at most.")] = 50,
    as_json: Json = False,
) -> None:
    """Pick a symbol or a file by a part of its name, and open it."""
    from gitindex.cli.verbs import find as commands

    leave(commands.find(" ".join(words or []), path, limit, as_json))


@app.command()
def outline(
    file: Annotated[str, argument(help="A file of the tree.", complete=paths)],
    path: Path = ".",
    at: At = "",
    staged: Staged = False,
    as_json: Json = False,
) -> None:
    """All definitions of one file, in its order."""
    from gitindex.cli.verbs import questions as commands

    leave(commands.outline(file, path, asked(at, staged), as_json))


@app.command()
def read(
    place: Annotated[
        str, argument(metavar="FILE[:A[-B]]", help="A file, and its lines.", complete=paths)
    ],
    path: Path = ".",
    outlined: Annotated[
        bool, option("--outline", help="Say which definition starts where.")
    ] = False,
    at: At = "",
    staged: Staged = False,
    as_json: Json = False,
) -> None:
    """Lines of one file of the tree, as it is now or at any commit."""
    from gitindex.cli.verbs import questions as commands

    leave(commands.read(place, path, asked(at, staged), outlined, as_json))


@app.command("slice")
def slice_(
    place: Annotated[
        str, argument(metavar="FILE:LINE[:COL]", help="A line, or a variable.", complete=paths)
    ],
    path: Path = ".",
    forward: Annotated[
        bool, option("--forward", help="What it influences, not what it depends on.")
    ] = False,
    as_json: Json = False,
) -> None:
    """The lines that a line, or a variable on it, depends on."""
    from gitindex.cli.verbs import questions as commands

    leave(commands.slice_lines(place, path, forward, as_json))


@app.command()
def export(
    form: Annotated[
        str,
        option("--format", help="ctags, scip, json or sqlite.", complete=among(*FORMATS)),
    ],
    path: Path = ".",
    output: Annotated[str, option("--output", "-o", help="A file; - for standard output.")] = "-",
    at: At = "",
    staged: Staged = False,
    as_json: Json = False,
) -> None:
    """The whole index for another tool. Vim reads the ctags file."""
    from gitindex.cli.verbs import questions as commands

    if form not in FORMATS:
        raise BadParameter(f"one of {', '.join(FORMATS)}", param_hint="--format")
    leave(commands.write_export(form, path, asked(at, staged), output, as_json))
