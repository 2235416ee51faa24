"""A question as a tool: its parameters as a schema, its place from the server, its text."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from gitindex.base.errors import Exit, GitIndexError
from gitindex.base.vocabulary import GateStatus
from gitindex.base.worktree import normalize_rel_path
from gitindex.freshness.gate import add_debug_hint
from gitindex.freshness.observation import prove
from gitindex.mcp.arguments import ToolField
from gitindex.mcp.dispatch import Answer, Arguments, McpTool
from gitindex.mcp.server_state import ServerState
from gitindex.questions.here import Here, Memories
from gitindex.questions.ink import Ink
from gitindex.questions.table import MAX_TEXT, Param, Question, Wire
from gitindex.view.snapshot import GateClosed
from gitindex.view.tree import TreeChoice, TreeView

PATH = ToolField("path", "path", "", "")
STRICT = ToolField(
    "strict", "boolean", "Answer `not_ready` while any job runs.", False, hidden=True
)
DEBUG = ToolField("debug", "boolean", "More hints in refusals.", False, hidden=True)
OFFSET = ToolField("offset", "integer", "", 0, most=10_000)
SCOPE = ToolField("scope", "text", "", "", choices=("team",))
COMMON = (PATH, STRICT, DEBUG)
_TEXTS = frozenset({"texts", "fields", "text", "path"})
_KINDS = {"words": "text", "flag": "boolean", "number": "integer"}


def tool_of(question: Question) -> McpTool:
    """Return the tool of a question."""
    params = [_field(param) for param in question.params if param.wire is not None]
    params += [OFFSET] if question.pages else []
    params += [SCOPE] if question.team else []
    return McpTool(
        question.tool,
        question.tells,
        (*params, *COMMON),
        partial(_run, question),
        partial(_text, question),
        question.pages,
        question.reach,
        question.reads,
        always_loaded=question.kept,
        listed=question.listed,
        example=question.example,
    )


def _field(param: Param) -> ToolField:
    wire = param.wire
    assert wire is not None
    kind = wire.kind or param.kind
    least, most = _bounds(param, wire)
    return ToolField(
        param.wire_name,
        _KINDS.get(kind, kind),
        param.help if wire.help is None else wire.help,
        _default(param, wire),
        param.choices,
        least,
        most,
        wire.hidden,
        wire.also,
    )


def _default(param: Param, wire: Wire) -> Any:
    """Return the default over MCP; None: required."""
    default = param.default if wire.default is None else wire.default
    if default is None or default is ...:
        return None
    return default or ("" if (wire.kind or param.kind) in _TEXTS else default)


def _bounds(param: Param, wire: Wire) -> tuple[int, int]:
    least = param.least if wire.least is None else wire.least
    most = param.most if wire.most is None else wire.most
    return int(least or 0), int(most or MAX_TEXT)


def _params(question: Question, asked: Arguments) -> dict[str, Any]:
    """Return the question's own parameters of a call; a page asks for all items up to its end."""
    given = {}
    for param in question.params:
        if param.wire is not None:
            value = asked[param.wire_name]
            if param.kind == "texts" and isinstance(value, str):
                value = [value] if value else []
            given[param.name] = value
    if question.pages:
        given["limit"] += asked["offset"]
    return question.given(**given)


def _run(question: Question, server: ServerState, asked: Arguments) -> Answer:
    params = _params(question, asked)
    here = ServerHere(server, asked, params.get("file", ""))
    with _debugged(here, asked):
        answer: Answer = dict(question.ask(here, params))
        if asked.get("scope") and question.team is not None:
            from gitindex.sharing.team_questions import add_team  # lazily: most have no team

            kind, words = question.team(answer, params)
            answer = add_team(here.worktree, answer, kind, words, TEAM_HITS)
    return question.fit(answer, params) if question.fit else answer


TEAM_HITS = 50


def _text(question: Question, answer: Answer, asked: Arguments) -> Iterator[str]:
    named = {param.name: asked.get(param.wire_name) for param in question.params if param.wire}
    return iter(question.text(answer, Ink(asked={k: v for k, v in named.items() if v})))


class ServerHere(Here):
    """Where a call asks; a file by its absolute path names its codebase."""

    agent = True

    def __init__(self, server: ServerState, given: Arguments, file: str) -> None:
        path = given["path"]
        choice = TreeChoice(strict=given["strict"], at=given.get("at", ""))
        folder = os.path.dirname(file) if not path and os.path.isabs(file) else path
        worktree = server.locate(folder)
        memories = Memories(server.memory, server.lexical, server.binding)
        super().__init__(path or worktree.root, choice, memories, worktree)
        self.kept = server.kept
        self._folder = server.absolute(path) if path else ""

    def inside(self, file: str) -> str:
        """Return a file's path below the root, without following links: reading refuses those."""
        if os.path.isabs(file):
            folder, name = os.path.split(file)
            file = os.path.join(os.path.realpath(folder), name)
            if not file.startswith(self.worktree.root + "/"):
                raise GitIndexError("the file is outside the codebase", code=Exit.USAGE)
            file = file[len(self.worktree.root) + 1 :]
        return normalize_rel_path(file)

    def below(self, view: TreeView) -> tuple[str, ...]:
        """Return the folder that `path` names; none for the root, or if it is not in the tree."""
        folder = self._folder[len(self.worktree.root) + 1 :]
        if not folder:
            return ()
        raw = os.fsencode(folder)
        sql = "SELECT 1 FROM {live} l WHERE l.path=? OR (l.path>? AND l.path<?) LIMIT 1"
        return (folder,) if view.rows(sql, raw, raw + b"/", raw + b"0") else ()


@contextmanager
def _debugged(here: Here, asked: Arguments) -> Iterator[None]:
    """With `debug`, add the completion proof to a closed gate's answer."""
    try:
        yield
    except GateClosed as closed:
        if asked["debug"] and closed.envelope["status"] == GateStatus.NOT_READY:
            add_debug_hint(closed.envelope, prove(here.worktree))
        raise
