"""`gitindex docs`: queries and prints documents; returns an exit code."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from gitindex.base.escape import safe_text
from gitindex.base.worktree import find_worktree
from gitindex.cli.printing import any_of, print_answer, print_warnings
from gitindex.cli.shown_path import shown_path
from gitindex.cli.terminal import paint, say, say_nothing
from gitindex.query.documents import DocumentQuery, count_topics, find_documents
from gitindex.store.entities import Filter
from gitindex.view.tree import NOW, TreeChoice

if TYPE_CHECKING:
    from gitindex.base.answers import DocumentRow, DocumentsAnswer


def docs(
    wanted: DocumentQuery, path: str = ".", ask: TreeChoice = NOW, as_json: bool = False
) -> int:
    """List documents by topic, day and text."""
    ask_all = partial(find_documents, find_worktree(path), path, wanted, ask)
    return print_answer(ask_all, as_json, _say_documents, any_of("results"))


def list_topics(
    wanted: Filter, path: str = ".", ask: TreeChoice = NOW, as_json: bool = False
) -> int:
    """List topics with their number of documents."""
    count_all = partial(count_topics, find_worktree(path), path, wanted, ask)
    return print_answer(count_all, as_json, _say_topics, any_of("topics"))


def _say_topics(answer: dict[str, Any]) -> None:
    for row in answer["topics"]:
        say(f"{row['count']:>6}  {safe_text(row['topic'])}")
    if not answer["topics"]:
        say_nothing("no document has a topic")


def _say_documents(answer: DocumentsAnswer) -> None:
    for result in answer["results"]:
        _say_document(result)
    if not answer["results"]:
        say_nothing("no document matches")
    print_warnings(answer)


def _say_document(result: DocumentRow) -> None:
    day = (result["createdAt"] or "")[:10]
    topics = ", ".join(result["topics"])
    told = "  ".join(filter(None, (day, f"[{topics}]" if topics else "")))
    where = f"{shown_path(result['path'])}:{result['startLine']}"
    say(f"{paint('path', where)}  {paint('dim', safe_text(told))}".rstrip())
    told = result["snippet"] if result["matched"] or not result["summary"] else result["summary"]
    for line in told.splitlines():
        say("    " + safe_text(line.replace("\t", "    ")))
