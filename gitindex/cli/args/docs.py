"""Commands about documents."""

from __future__ import annotations

from typing import Annotated

from gitindex.cli.app import At, Json, Path, Staged, app, asked, leave
from gitindex.cli.declare import argument, option


@app.command()
def docs(
    query: Annotated[
        str, argument(help="Words that a document must contain, in any case; see --regex.")
    ] = "",
    path: Path = ".",
    tags: Annotated[
        list[str] | None, option("--tag", "-t", help="A topic it must have; repeat for more.")
    ] = None,
    date_from: Annotated[str, option("--from", help="Dated this day or later: YYYY-MM-DD.")] = "",
    date_to: Annotated[str, option("--to", help="Dated this day or earlier: YYYY-MM-DD.")] = "",
    fields: Annotated[
        list[str] | None,
        option("--field", "-f", help="NAME=VALUE of its front matter; repeat for more."),
    ] = None,
    regex: Annotated[
        bool, option("--regex", "-e", help="The query is a regular expression.")
    ] = False,
    topics: Annotated[
        bool, option("--topics", help="List topics and how many documents have each.")
    ] = False,
    limit: Annotated[int, option("--limit", "-n", min=1, max=1000, help="Documents at most.")] = 20,
    at: At = "",
    staged: Staged = False,
    as_json: Json = False,
) -> None:
    """Markdown, reStructuredText and AsciiDoc by topic, day, front matter and text."""
    from gitindex.cli.verbs.docs import docs as find
    from gitindex.cli.verbs.docs import list_topics
    from gitindex.query.documents import DocumentQuery
    from gitindex.store.entities import Filter

    filters = Filter(tuple(tags or ()), date_from, date_to)
    if topics:
        leave(list_topics(filters, path, asked(at, staged), as_json))
    pairs = tuple((name, value) for name, _, value in (f.partition("=") for f in fields or ()))
    wanted = DocumentQuery(query, filters, limit, pairs, regex)
    leave(find(wanted, path, asked(at, staged), as_json))
