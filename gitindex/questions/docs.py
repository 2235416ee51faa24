"""`gitindex docs`, `search_documents`: documents by topic, day, front matter and text."""

from __future__ import annotations

from gitindex.base.errors import GitIndexError
from gitindex.base.escape import safe_text
from gitindex.base.light_types import TYPE_CHECKING
from gitindex.questions.ink import Aside, warnings
from gitindex.questions.table import Here, Ink, Lines, Params, question

if TYPE_CHECKING:
    from typing import Any

    from gitindex.base.answers import DocumentRow


def ask(here: Here, params: Params) -> Any:
    """Return documents, or topics with how many documents have each."""
    from gitindex.query import documents
    from gitindex.store.entities import Filter

    filters = Filter(tuple(params["tags"]), params["date_from"], params["date_to"])
    if params["topics"]:
        return documents.count_topics(here.worktree, here.path, filters, here.choice)
    pairs = tuple(dict(params["fields"]).items())
    if params["session"]:
        pairs += (("session_id", params["session"]),)
    query = documents.DocumentQuery(
        params["query"], filters, params["limit"], pairs, params["regex"]
    )
    try:
        if here.agent:
            with here.tree() as view:
                answer = documents.search_documents(view, query)
        else:
            answer = documents.find_documents(here.worktree, here.path, query, here.choice)
    except GitIndexError as error:
        if params["regex"] and error.message.startswith("not a regular expression"):
            error.hint = "without `regex` its words are looked for"
        raise
    if not answer["results"] and _is_regex(params):
        message = "nothing has these words; the query reads as a regular expression"
        how = "`regex: true`" if here.agent else "--regex"
        answer["warnings"] = [*answer.get("warnings", []), f"{message}: ask with {how}"]
    return answer


def _is_regex(params: Params) -> bool:
    """Is the query more than words, and a pattern that compiles?"""
    import re

    text = params["query"]
    if params["regex"] or not set(text) & set("\\.^$*+?[]()|{}"):
        return False
    try:
        re.compile(text)
    except re.error:
        return False
    return True


def text(answer: Any, ink: Ink) -> Lines:
    """Yield the documents, each with its day, topics and text; or the topics."""
    for row in answer.get("topics", ()):
        yield f"{row['count']:>6}  {safe_text(row['topic'])}"
    for row in answer.get("results", ()):
        yield from _document(row, ink)
    if not (answer.get("topics") or answer.get("results")):
        yield Aside("no document has a topic" if "topics" in answer else "no document matches")
    yield from warnings(answer)


def _document(row: DocumentRow, ink: Ink) -> Lines:
    topics = ", ".join(row["topics"])
    details = "  ".join(
        filter(None, ((row["createdAt"] or "")[:10], f"[{topics}]" if topics else ""))
    )
    where = ink.paint("path", ink.place(row, "startLine"))
    yield f"{where}  {ink.paint('dim', safe_text(details))}".rstrip()
    shown = row["snippet"] if row["matched"] or not row["summary"] else row["summary"]
    for line in shown.splitlines():
        yield "    " + safe_text(line.replace("\t", "    "))


TABLE = """
Explore: docs | found=topics,results tool=search_documents pages=results reach=1000
  Markdown, reStructuredText and AsciiDoc by topic, day, front matter and text.
  > Markdown, rst and adoc by text, topics, dates or any front-matter field; at least one.
    * | query = ..500 | Words that a document must contain, in any case; see --regex. | :
    --tag | tags texts | A topic it must have; repeat for more. | ..200: all of them
    --from | date_from ..10 | Dated this day or later: YYYY-MM-DD. | dateFrom: YYYY-MM-DD
    --to | date_to ..10 | Dated this day or earlier: YYYY-MM-DD. | dateTo:
    --field | fields fields | NAME=VALUE of its front matter; repeat for more. | ..200: {session_id:
      + …}
    mcp | session ..200 |  | session_id hidden
    --regex | regex flag | The query is a regular expression. | :
    --topics | topics flag | List topics and how many documents have each.
    --limit -m -n | limit integer =20 1..1000 | Documents at most. | =20 1..200:
    at
"""
QUESTION = question(TABLE, ask, text, example={"query": "words"})
