"""`gitindex grep`."""

from __future__ import annotations

from typing import Annotated

import typer

from gitindex.cli.app import Json, app, leave
from gitindex.cli.shown_path import stand_in
from gitindex.cli.verbs.grep import (
    LIMIT,
    find_lines,
    form_of,
    languages_of,
    one_pattern,
    rules_of,
)
from gitindex.query.grep.grep import GrepQuery
from gitindex.query.grep.pattern import GrepPattern
from gitindex.view.tree import TreeChoice


@app.command()
def grep(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="PATTERN [PATH]...",
            help="A regular expression, looked for in each line; only in these files or folders.",
        ),
    ] = None,
    path: Annotated[str, typer.Option("--repo", help="A folder inside the work tree.")] = ".",
    patterns: Annotated[
        list[str] | None, typer.Option("--regexp", "-e", help="A pattern; may be repeated.")
    ] = None,
    after: Annotated[
        int, typer.Option("--after-context", "-A", min=0, help="Lines after each match.")
    ] = 0,
    before: Annotated[
        int, typer.Option("--before-context", "-B", min=0, help="Lines before each match.")
    ] = 0,
    context: Annotated[
        int, typer.Option("--context", "-C", min=0, help="Lines before and after each match.")
    ] = 0,
    globs: Annotated[
        list[str] | None, typer.Option("--glob", "-g", help="Only paths like this; !GLOB: not.")
    ] = None,
    types: Annotated[
        list[str] | None, typer.Option("--type", "-t", help="Only files of this language.")
    ] = None,
    invert: Annotated[
        bool, typer.Option("--invert-match", "-v", help="Lines that do not match.")
    ] = False,
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
    files = list(words or [])
    if not patterns and not files:
        raise typer.BadParameter("give a pattern", param_hint="PATTERN")
    asked = patterns or [files.pop(0)]
    stand_in(path)
    question = GrepQuery(
        one_pattern(asked, GrepPattern("", ignore_case, fixed, word, invert)),
        form=form_of(names, count),
        limit=limit,
        before=before or context,
        after=after or context,
        rules=rules_of(globs or []),
        languages=languages_of(types or []),
    )
    ask = TreeChoice(strict, at, staged)
    documents = None
    if tags or date_from or date_to:
        from gitindex.store.entities import Filter

        documents = Filter(tuple(tags or ()), date_from, date_to)
    leave(find_lines(question, files, path, ask, as_json, documents=documents))
