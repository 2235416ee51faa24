"""What linked local repositories add to an answer, each with its own freshness."""

from __future__ import annotations

import os
from functools import partial

from gitindex.base.escape import counted, safe_text
from gitindex.base.light_types import TYPE_CHECKING
from gitindex.questions.ink import Ink, Note

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping
    from typing import Any

    from gitindex.query.names.model import Definition
    from gitindex.questions.here import Here
    from gitindex.questions.table import Params, Question
    from gitindex.sharing.links import LinkedTree

    Answer = dict[str, Any]

PLACES = ("references", "definitions")
"""The fields of a linked answer that package identity found."""


def ask_with(
    question: Question, here: Here, params: Params, scopes: Collection[str], limit: int = 0
) -> Any:
    """Ask a question here and of other repositories: the team's, those that are linked, or both."""
    answer = question.ask(here, params)
    if "team" in scopes and question.team is not None:
        from gitindex.sharing.team_questions import add_team  # lazily: most have no team

        kind, words = question.team(answer, params)
        most = limit or params.get("limit") or 100
        answer = add_team(here.worktree, dict(answer), kind, [word for word in words if word], most)
    if "linked" in scopes and question.team is not None:
        answer = add_linked(question, here, params, dict(answer))
    return answer


def add_linked(question: Question, here: Here, params: Params, answer: Answer) -> Answer:
    """Add the answer of each linked repository, or one line that says why it has none."""
    from gitindex.sharing.links import UNANSWERED, LinkedTree, read_links, why_unanswered

    rows: list[Answer] = []
    with here.tree() as view:
        home = _Home(question, here, params, answer, LinkedTree(view, here.memories.binding))
        for root in read_links(here.worktree):
            row: Answer = {"repository": safe_text(os.path.basename(root)), "root": safe_text(root)}
            try:
                row |= home.ask(root)
            except UNANSWERED as error:
                row["message"] = f"not asked: {row['root']}: {why_unanswered(error)}"
            rows.append(row)
    return answer | {"linked": rows}


class _Home:
    """One question here, to be sent to other repositories."""

    def __init__(
        self, question: Question, here: Here, params: Params, answer: Answer, tree: LinkedTree
    ) -> None:
        from gitindex.sharing.links import origins

        assert question.team is not None
        self._question, self._here, self._params, self._tree = question, here, params, tree
        self._kind, words = question.team(answer, params)
        self._limit = params.get("limit") or 100
        self._targets = {(row["path"], row["line"]) for row in _targets(answer)}
        names: dict[str, None] = {}
        if self._kind == "references":
            names = dict.fromkeys(word.rpartition("#")[2].rpartition(".")[2] for word in words)
        self._origins = {name: list(origins(tree, name)) for name in names}

    def ask(self, root: str) -> Answer:
        """Return the answer of one repository; raises where there is none."""
        from gitindex.base.worktree import check_owner, find_worktree
        from gitindex.sharing.links import LinkedTree, locked_tag
        from gitindex.view.tree import NOW, open_tree

        worktree, memories = find_worktree(root), self._here.memories
        check_owner(worktree)
        with open_tree(worktree, root, NOW, memories.facts) as view:
            other = LinkedTree(view, memories.binding)
            used = other.is_imported_by(self._tree)
            tag = locked_tag(self._tree, other) if used else ""
            if self._kind == "references":
                answer = self._crossing(other, root, tag)
            else:
                answer = self._answer_there(root, tag)
        return answer | ({"tag": tag} if tag else {})

    def _crossing(self, other: LinkedTree, root: str, tag: str) -> Answer:
        """Return the uses there of what is defined here, and the definitions there that are used here."""
        from gitindex.sharing.links import CALLS, LinkedTree, crossing_rows, crossings, origins
        from gitindex.view.tree import TreeChoice, open_tree

        uses = [
            one
            for name in self._origins
            for one in crossings(origins(other, name, self._tree), self._tree, name)
            if not self._targets or _place(one.definition) in self._targets
        ]
        if self._question.name == "callers":
            uses = [one for one in uses if one.place.use in CALLS]
        rows = crossing_rows(other, uses)[: self._limit]
        taken = any(other.declares(one) for listed in self._origins.values() for one in listed)
        if not tag or not taken:
            return other.view.envelope(tier="package", references=rows, **self._used(other))
        memories = self._here.memories
        with open_tree(other.view.worktree, root, TreeChoice(at=tag), memories.facts) as view:
            locked = LinkedTree(view, memories.binding)
            return view.envelope(tier="package", references=rows, **self._used(locked))

    def _used(self, other: LinkedTree) -> Answer:
        """Return the definitions of another repository that are used here."""
        from gitindex.sharing.links import crossings, definition_row

        used = {
            one.definition: definition_row(one.definition)
            for name, listed in self._origins.items()
            for one in crossings(listed, other, name)
        }
        return {"definitions": [*used.values()][: self._limit]}

    def _answer_there(self, root: str, tag: str) -> Answer:
        from gitindex.questions.here import Here
        from gitindex.view.tree import TreeChoice

        there = Here(root, TreeChoice(at=tag), self._here.memories)
        there.agent = self._here.agent
        params = self._params | {"at": tag, "path": root, "below": ""}
        return dict(self._question.ask(there, params))


def _place(definition: Definition) -> tuple[str, int]:
    return safe_text(definition.path), definition.line + 1


def _targets(answer: Answer) -> list[Answer]:
    """Return the definitions here that an answer is about; none where it is about names."""
    if "root" in answer:
        return [node for node in answer["nodes"] if node["id"] == answer["root"]]
    rows: list[Answer] = answer.get("definitions", [])
    return rows


def has_linked(question: Question, answer: Mapping[str, Any]) -> bool:
    """Return whether a linked repository has something."""
    fields = (*PLACES, question.found or question.pages)
    return any(row.get(field) for row in answer.get("linked", ()) for field in fields)


def linked_lines(question: Question, answer: Mapping[str, Any], ink: Ink) -> Iterator[str]:
    """Yield what each linked repository has, its freshness, or why it was not queried."""
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
