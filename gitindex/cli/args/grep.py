"""`gitindex grep`: the flags are those of ripgrep."""

from __future__ import annotations

from typing import Annotated

from typer import BadParameter

from gitindex.cli.app import Folder, Json, app, asked, leave, paths
from gitindex.cli.declare import argument, option
from gitindex.query.grep import LIMIT

Many = list[str]
Words = Annotated[
    Many | None,
    argument(
        metavar="PATTERN [PATH]...",
        help="A regular expression, looked for in each line; only in these files or folders.",
        complete=paths,
    ),
]
Patterns = Annotated[Many, option("--regexp", "-e", help="A pattern; may be repeated.")]
After = Annotated[int, option("--after-context", "-A", min=0, help="Lines after each match.")]
Before = Annotated[int, option("--before-context", "-B", min=0, help="Lines before each match.")]
Context = Annotated[
    int, option("--context", "-C", min=0, help="Lines before and after each match.")
]
Globs = Annotated[Many, option("--glob", "-g", help="Only paths like this; !GLOB: not.")]
Types = Annotated[Many, option("--type", "-t", help="Only files of this language.")]
Invert = Annotated[bool, option("--invert-match", "-v", help="Lines that do not match.")]
IgnoreCase = Annotated[
    bool, option("--ignore-case", "-i", help="Upper and lower case are the same.")
]
Fixed = Annotated[bool, option("--fixed-strings", "-F", help="The pattern is the text itself.")]
WholeWord = Annotated[bool, option("--word-regexp", "-w", help="Only whole words.")]
Names = Annotated[bool, option("--files-with-matches", "-l", help="List the files only.")]
Count = Annotated[bool, option("--count", "-c", help="List files and how many lines match.")]
Lines = Annotated[int, option("--limit", "-n", min=0, help="Lines, or files, at most; 0: all.")]
Tags = Annotated[Many, option("--tag", help="Only in documents with this topic.")]
From = Annotated[str, option("--from", help="Only in documents dated YYYY-MM-DD or later.")]
To = Annotated[str, option("--to", help="Only in documents dated YYYY-MM-DD or earlier.")]
At = Annotated[str, option("--at", help="In this commit, tag or branch, not on disk.")]
Staged = Annotated[bool, option("--staged", help="In what is staged.")]
Strict = Annotated[bool, option("--strict", help="Only from a proven index; no live scan.")]


@app.command()
def grep(
    words: Words = None,
    path: Folder = ".",
    patterns: Patterns = [],  # noqa: B006
    after: After = 0,
    before: Before = 0,
    context: Context = 0,
    globs: Globs = [],  # noqa: B006
    types: Types = [],  # noqa: B006
    invert: Invert = False,
    ignore_case: IgnoreCase = False,
    fixed: Fixed = False,
    word: WholeWord = False,
    names: Names = False,
    count: Count = False,
    limit: Lines = LIMIT,
    tags: Tags = [],  # noqa: B006
    date_from: From = "",
    date_to: To = "",
    as_json: Json = False,
    at: At = "",
    staged: Staged = False,
    strict: Strict = False,
) -> None:
    """Lines that match a pattern. The index says where to look, the files say what is there."""
    from gitindex.cli.verbs import grep as verb
    from gitindex.query.grep.grep import GrepQuery
    from gitindex.query.grep.pattern import GrepPattern

    files = list(words or [])
    if not patterns and not files:
        raise BadParameter("give a pattern", param_hint="PATTERN")
    texts = patterns or [files.pop(0)]
    question = GrepQuery(
        verb.one_pattern(texts, GrepPattern("", ignore_case, fixed, word, invert)),
        form=verb.form_of(names, count),
        limit=limit,
        before=before or context,
        after=after or context,
        rules=verb.rules_of(globs),
        languages=verb.languages_of(types),
    )
    ask, within = asked(at, staged, strict), verb.documents_of(tags, date_from, date_to)
    leave(verb.find_lines(question, files, path, ask, as_json, documents=within))
