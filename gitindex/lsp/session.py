"""The questions of one editor session to the index. Independent of the protocol; writes nothing."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, NamedTuple

from gitindex.base.errors import GitIndexError
from gitindex.base.vocabulary import Direction
from gitindex.base.worktree import Worktree, find_worktree
from gitindex.edit.patch import FileEdit
from gitindex.edit.rename import RenameRequest, plan_rename
from gitindex.freshness.observation import observe
from gitindex.freshness.verdict import judge
from gitindex.query.names.memory import Memory
from gitindex.query.near_names import NameMemory
from gitindex.questions.here import Here, Memories
from gitindex.questions.ink import Ink
from gitindex.questions.table import Question, find_question
from gitindex.view.overlay import FactsMemory
from gitindex.view.snapshot import GateClosed

MAX_SYMBOLS = 100
MAX_REFERENCES = 1_000
MAX_NODES = 500


class EditorFile(NamedTuple):
    """A file of a worktree, as an editor names it."""

    worktree: Worktree
    path: str  # relative to the worktree's root


class EditorSession:
    """Answers one editor's questions, one at a time; caches facts between them."""

    def __init__(self) -> None:
        self.buffers: dict[str, bytes] = {}
        """Texts that the editor holds, by absolute path; they may equal the file on disk."""
        self._facts = FactsMemory()
        self._names: dict[str, Memory] = {}
        self._defined: dict[str, NameMemory] = {}

    def locate(self, file: str) -> EditorFile | None:
        """Return the file with its worktree; None outside of any repository."""
        try:
            worktree = find_worktree(os.path.dirname(file))
        except (GitIndexError, OSError):
            return None
        inside = os.path.relpath(os.path.realpath(file), worktree.root)
        return None if inside.startswith("..") else EditorFile(worktree, inside)

    def symbols(self, root: str, name: str) -> list[dict[str, Any]]:
        """Return definitions with similar names, or with its letters in this order; nearest first."""
        worktree = find_worktree(root)
        answer = self._ask("symbols", worktree, name=name, limit=MAX_SYMBOLS)
        if answer and not answer["symbols"]:
            found = self._ask("find", worktree, words=name, limit=MAX_SYMBOLS) or {"results": []}
            return [row for row in found["results"] if row["type"] == "symbol"]
        return [*map(dict, answer["symbols"])] if answer else []

    def outline(self, file: EditorFile, callers: bool = False) -> list[dict[str, Any]]:
        """Return all definitions of one file; with `callers` how many of those that were counted."""
        answer = self._ask("outline", file.worktree, file=file.path, callers=callers)
        counts = answer.get("callers", {}) if answer else {}
        rows = answer["symbols"] if answer else ()
        return [{**row, "callers": counts.get(row["qualifiedName"])} for row in rows]

    def rename(self, file: EditorFile, line: int, column: int, new: str) -> list[FileEdit]:
        """Return the edits that rename what stands there; GitIndexError if anything blocks them."""
        here = self._here(file.worktree)
        with here.tree() as view:
            request = RenameRequest(f"{file.path}:{line}:{column}", new)
            plan = plan_rename(view, request, here.memories.binding)
        if plan.blocked:
            raise GitIndexError("; ".join(plan.blocked))
        return plan.edits

    def definitions(
        self, file: EditorFile, line: int, column: int, implementations: bool = False
    ) -> list[dict[str, Any]]:
        """Return the definitions of the name at a position (1-based, the column in bytes).

        `implementations`: what overrides or implements it instead.
        """
        place = {"file": file.path, "line": line, "column": column}
        answer = self._ask("definition", file.worktree, **place, implementations=implementations)
        return [*answer["definitions"], *answer["declared"]] if answer else []

    def references(self, file: EditorFile, line: int, column: int) -> dict[str, Any]:
        """Return the whole answer about the uses of the name at a position."""
        place = f"{file.path}:{line}:{column}"
        answer = self._ask("refs", file.worktree, symbol=place, limit=MAX_REFERENCES)
        return answer or {"references": [], "definitions": []}

    def calls(self, worktree: Worktree, node: str, direction: Direction) -> dict[str, Any]:
        """Return the calls around a node of the call graph, or the name at `FILE:LINE:COL`."""
        bounds = {"limit": MAX_NODES, "note_limit": 0}
        answer = self._ask("graph", worktree, symbol=node, direction=str(direction), **bounds)
        return answer or {"nodes": [], "edges": [], "root": None}

    def _ask(self, name: str, worktree: Worktree, /, **params: Any) -> dict[str, Any] | None:
        """Ask about the tree with the editor's texts overlaid; None if there is no index."""
        question, here = _question(name), self._here(worktree)
        here.agent = True
        try:
            return dict(question.ask(here, question.given(**params)))
        except GateClosed:
            return None

    def ask(self, worktree: Worktree, name: str, params: dict[str, Any]) -> dict[str, Any]:
        """Ask any question of the table; the answer has its `text` as well, also of a closed gate."""
        question = _question(name)
        named = {param.wire_name: param.name for param in question.params}
        named |= {param.name: param.name for param in question.params}
        if unknown := sorted(params.keys() - named.keys()):
            raise GitIndexError(f"{name} has no parameter {', '.join(unknown)}")
        values = question.given(**{named[key]: value for key, value in params.items()})
        missing = [param.wire_name for param in question.params if values[param.name] is None]
        if missing:
            raise GitIndexError(f"{name} needs {', '.join(missing)}")
        try:
            answer = dict(question.ask(self._here(worktree), values))
        except GateClosed as closed:
            return {**closed.envelope, "text": [closed.envelope["message"]]}
        return answer | {"text": list(question.text(answer, Ink(params=values)))}

    def state(self, worktree: Worktree) -> dict[str, str]:
        """Return the state of the index in one word, and in one line."""
        seen = observe(worktree)
        verdict = judge(seen)
        return {"state": verdict.word, "line": f"{verdict.word}: {verdict.why}"}

    def _here(self, worktree: Worktree) -> Here:
        """Return where the editor asks: the tree, overlaid with its unsaved texts."""
        binding = self._names.setdefault(worktree.root, Memory())
        names = self._defined.setdefault(worktree.root, NameMemory())
        memories = Memories(self._facts, None, binding, names)
        here = Here(worktree.root, memories=memories, worktree=worktree)
        here.buffers = self._unsaved(worktree.root)
        return here

    def _unsaved(self, root: str) -> Mapping[bytes, bytes]:
        """Return the editor's texts below a root that differ from the files on disk."""
        found = {}
        for file, text in self.buffers.items():
            real = os.path.realpath(file)
            if real.startswith(root + os.sep) and not _is_on_disk(real, text):
                found[os.fsencode(os.path.relpath(real, root))] = text
        return found


def _question(name: str) -> Question:
    question = find_question(name.split())
    if question is None:
        raise GitIndexError(f"no such question: {name}", "see `gitindex help --all`")
    return question


def _is_on_disk(file: str, text: bytes) -> bool:
    try:
        with open(file, "rb") as opened:
            return opened.read(len(text) + 1) == text
    except OSError:
        return False
