"""What linked local repositories add to an answer, each with its own freshness."""

from __future__ import annotations

import os
from contextlib import contextmanager
from functools import partial

from gitindex.base.escape import counted, safe_text
from gitindex.base.light_types import TYPE_CHECKING
from gitindex.questions.ink import Ink, Note

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from gitindex.questions.here import Here
    from gitindex.questions.table import Params, Question
    from gitindex.sharing.links import LinkedTree

    Answer = dict[str, Any]

PLACES = ("references", "definitions")
"""The fields of a linked answer that package identity found."""


def add_linked(question: Question, here: Here, params: Params, answer: Answer) -> Answer:
    """Add the answer of each linked repository, or one line that says why it has none."""
    from gitindex.sharing.links import UNANSWERED, LinkedTree, read_links, why_unanswered

    assert question.team is not None
    kind, words = question.team(answer, params)
    limit = params.get("limit") or 100
    rows: list[Answer] = []
    with here.tree() as view:
        home = LinkedTree(view, here.memories.binding)
        for root in read_links(here.worktree):
            row: Answer = {"repository": safe_text(os.path.basename(root)), "root": safe_text(root)}
            try:
                with _open(here, home, root) as (other, tag):
                    row |= {"tag": tag} if tag else {}
                    if kind == "references":
                        row |= _crossing(question, home, other, answer, words)
                    else:
                        row |= _asked_there(question, here, root, params | {"at": tag})
            except UNANSWERED as error:
                row["message"] = f"not asked: {row['root']}: {why_unanswered(error)}"
            rows.append(row | {f: row[f][:limit] for f in PLACES if f in row})
    return answer | {"linked": rows}


@contextmanager
def _open(here: Here, home: LinkedTree, root: str) -> Iterator[tuple[LinkedTree, str]]:
    """Open a linked repository: the files as they are, or the tag whose version a lock file here names."""
    from gitindex.base.worktree import check_owner, find_worktree
    from gitindex.sharing.links import LinkedTree, locked_tag
    from gitindex.view.tree import NOW, TreeChoice, open_tree

    worktree = find_worktree(root)
    check_owner(worktree)
    with open_tree(worktree, root, NOW, here.memories.facts) as view:
        tag = locked_tag(home.view, LinkedTree(view))
        if not tag:
            yield LinkedTree(view, here.memories.binding), ""
            return
    with open_tree(worktree, root, TreeChoice(at=tag), here.memories.facts) as view:
        yield LinkedTree(view, here.memories.binding), tag


def _crossing(
    question: Question, home: LinkedTree, other: LinkedTree, answer: Answer, names: list[str]
) -> Answer:
    """Return the uses there of what is defined here, and the definitions there that are used here."""
    from gitindex.sharing.links import CALLS, crossing_rows, crossings, definition_row

    targets = {(row["path"], row["line"]) for row in _targets(answer)}
    uses, used = [], {}
    for name in dict.fromkeys(word.rpartition("#")[2].rpartition(".")[2] for word in names):
        for one in crossings(other, home, name):
            place = (safe_text(one.definition.path), one.definition.line + 1)
            if not targets or place in targets:
                uses.append(one)
        for one in crossings(home, other, name):
            used[one.definition] = definition_row(one.definition)
    if question.name == "callers":
        uses = [one for one in uses if one.place.use in CALLS]
    rows = crossing_rows(other, uses)
    return other.view.envelope(tier="package", references=rows, definitions=[*used.values()])


def _targets(answer: Answer) -> list[Answer]:
    """Return the definitions here that an answer is about; none where it is about names."""
    if "root" in answer:
        return [node for node in answer["nodes"] if node["id"] == answer["root"]]
    rows: list[Answer] = answer.get("definitions", [])
    return rows


def _asked_there(question: Question, here: Here, root: str, params: Params) -> Answer:
    from gitindex.questions.here import Here
    from gitindex.view.tree import TreeChoice

    there = Here(root, TreeChoice(at=params["at"]), here.memories)
    there.agent = here.agent
    return dict(question.ask(there, params | {"path": root, "below": ""}))


def has_linked(question: Question, answer: Mapping[str, Any]) -> bool:
    """Return whether a linked repository has something."""
    fields = (*PLACES, question.found or question.pages)
    return any(row.get(field) for row in answer.get("linked", ()) for field in fields)


def linked_lines(question: Question, answer: Mapping[str, Any], ink: Ink) -> Iterator[str]:
    """Yield what each linked repository has, its freshness, or why it was not asked."""
    for row in answer.get("linked", ()):
        if "message" in row:
            yield Note(row["message"])
            continue
        at = f"@{safe_text(row['tag'])}" if "tag" in row else ""
        there = Ink(
            ink.width, ink.color, ink.params, partial(os.path.join, f"{row['repository']}{at}")
        )
        yield from _place_lines(row, there) if row.get("tier") else question.text(row, there)
        state = row["freshness"]["state"]
        edits = row["freshness"].get("overlayPaths")
        more = f", {counted(edits, 'edited paths')} overlaid" if edits else ""
        yield ink.paint("dim", f"-- {row['repository']}{at}: {state}{more}")


def _place_lines(row: Mapping[str, Any], ink: Ink) -> Iterator[str]:
    for one in row["definitions"]:
        yield f"{ink.paint('path', ink.place(one))}  {one['kind']} {safe_text(one['qualifiedName'])}"
    for one in row["references"]:
        how = ink.paint("dim", f"[{one['tier']} {one['use']}]")
        yield f"  {ink.paint('path', ink.place(one))}  {ink.code(one['text'])}  {how}"
