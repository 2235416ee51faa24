"""`gitindex grep`."""

from __future__ import annotations

from typing import Annotated

import typer

from gitindex.cli.app import Json, Path, app, leave
from gitindex.cli.verbs.grep import LIMIT, find_lines, form_of
from gitindex.query.grep.grep import GrepQuery
from gitindex.query.grep.pattern import GrepPattern
from gitindex.view.tree import TreeChoice


@app.command()
def grep(
    pattern: Annotated[str, typer.Argument(help="A regular expression, looked for in each line.")],
    files: Annotated[
        list[str] | None,
        typer.Argument(metavar="[PATH]...", help="Only in these files or folders."),
    ] = None,
    path: Path = ".",
    ignore_case: Annotated[
        bool, typer.Option("--ignore-case", "-i", help="Upper and lower case are the same.")
    ] = False,
    fixed: Annotated[
        bool, typer.Option("--fixed-strings", "-F", help="The pattern is the text itself.")
    ] = False,
    word: Annotated[bool, typer.Option("--word-regexp", "-w", help="Only whole words.")] = False,
    names: Annotated[
        bool, typer.Option("--files-with-matches", "-l", help="List the files only.")
    ] = False,
    count: Annotated[
        bool, typer.Option("--count", "-c", help="List files and how many lines match.")
    ] = False,
    limit: Annotated[
        int, typer.Option("--limit", "-n", min=0, help="Lines, or files, at most; 0: all.")
    ] = LIMIT,
    tags: Annotated[
        list[str] | None, typer.Option("--tag", help="Only in documents with this topic.")
    ] = None,
    date_from: Annotated[
        str, typer.Option("--from", help="Only in documents dated YYYY-MM-DD or later.")
    ] = "",
    date_to: Annotated[
        str, typer.Option("--to", help="Only in documents dated YYYY-MM-DD or earlier.")
    ] = "",
    as_json: Json = False,
    at: Annotated[
        str, typer.Option("--at", help="In this commit, tag or branch, not on disk.")
    ] = "",
    staged: Annotated[bool, typer.Option("--staged", help="In what is staged.")] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Only from a proven index; no live scan.")
    ] = False,
) -> None:
    """Lines that match a pattern. The index says where to look, the files say what is there."""
    needle = GrepPattern(pattern, ignore_case, fixed, word)
    question = GrepQuery(needle, form=form_of(names, count), limit=limit)
    ask = TreeChoice(strict, at, staged)
    documents = None
    if tags or date_from or date_to:
        from gitindex.store.entities import Filter

        documents = Filter(tuple(tags or ()), date_from, date_to)
    leave(find_lines(question, files or [], path, ask, as_json, documents=documents))
