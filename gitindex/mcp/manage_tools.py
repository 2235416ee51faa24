"""The tools that list codebases and manage their indexes."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import Any

from gitindex.base.errors import Exit, GitIndexError
from gitindex.base.escape import counted, safe_text
from gitindex.base.vocabulary import ManageOutcome
from gitindex.base.worktree import Worktree, check_owner, find_worktree, worktree_at
from gitindex.freshness.observation import prove, read_progress
from gitindex.freshness.verdict import (
    RETRY_MS,
    GateInput,
    add_probe_hint,
    decide_gate,
    indexing_fields,
)
from gitindex.mcp.dispatch import Answer, Arguments
from gitindex.mcp.server_state import ServerState
from gitindex.questions.table import Ink, question
from gitindex.refresh import lifecycle as manage
from gitindex.refresh.lifecycle import ManageResult

_KEPT = (ManageOutcome.STARTED, ManageOutcome.COALESCED)


def list_codebases(server: ServerState, _arguments: Arguments) -> Answer:
    """List every codebase this server may read, sorted; only lifecycle actions change the list."""
    return {"status": "ok", "codebases": [_codebase(root) for root in server.roots()]}


def manage_index(server: ServerState, arguments: Arguments) -> Answer:
    """Run one action on one codebase."""
    action, path = arguments["action"], arguments["path"]
    if action == "status":
        return _status(server, arguments)
    if action == "clear":
        return _clear(server, path)
    worktree = _worktree(server, path, action)
    if action == "sync":
        state = manage.describe(worktree, path)
        if state["status"] in ("not_indexed", "requires_reindex"):
            return state
        return _answer(server, arguments, worktree, manage.sync(worktree))
    check_owner(worktree)
    if action == "repair":
        done = manage.repair(worktree)
        if done.outcome in (ManageOutcome.ADOPTED, ManageOutcome.ALREADY_PROVEN):
            server.registry.add(worktree.root)
    else:
        server.registry.add(worktree.root)  # first: it must be readable once started
        done = manage.create(worktree) if action == "create" else manage.reindex(worktree)
    return _answer(server, arguments, worktree, done)


def _worktree(server: ServerState, path: str, action: str) -> Worktree:
    """Return the codebase to act on. Only create and repair accept one that is not registered yet.

    That may be a repository inside a registered one.
    """
    if action in ("create", "repair"):
        with contextlib.suppress(GitIndexError):
            return find_worktree(server.absolute(path))
    return server.locate(path)


def _answer(
    server: ServerState, arguments: Arguments, worktree: Worktree, done: ManageResult
) -> Answer:
    root = safe_text(worktree.root)
    answer: Answer = {
        "status": "ok",
        "action": arguments["action"],
        "path": safe_text(arguments["path"]),
        "codebaseRoot": root,
        "outcome": str(done.outcome),
        "message": safe_text(done.message),
        "indexing": indexing_fields(read_progress(worktree)),
    }
    status: dict[str, Any] = {"action": "status", "path": root}
    if done.outcome in _KEPT:
        answer["operationId"] = server.note(arguments["action"], worktree, done).id
        status["operationId"] = answer["operationId"]
    answer["hints"] = {"status": {"tool": "manage_index", "args": status}}
    if done.outcome is ManageOutcome.NOT_ADOPTABLE:
        answer["hints"]["create"] = _call("create", worktree.root)
    if done.outcome in (*_KEPT, ManageOutcome.SKIPPED_INDEXING):
        answer["retryAfterMs"] = RETRY_MS
    return answer


def _status(server: ServerState, arguments: Arguments) -> Answer:
    worktree = server.locate(arguments["path"])
    answer = manage.describe(worktree, arguments["path"]) | {"action": "status"}
    name = arguments["operationId"]
    if name:
        operation = server.operation(name, worktree)
        unknown = {"id": safe_text(name), "state": "unknown"}
        answer["operation"] = server.tell(operation) if operation else unknown
    return answer


def _clear(server: ServerState, path: str) -> Answer:
    """Remove an index; requires the exact root as registered, no other spelling."""
    root = path
    if root not in server.roots():
        raise GitIndexError(
            "clear needs the exact root of a registered codebase", "see list_codebases", Exit.USAGE
        )
    message = "The codebase was forgotten; nothing was there to remove."
    outcome = ManageOutcome.CLEARED
    if os.path.realpath(root) == root and os.path.lexists(os.path.join(root, ".git")):
        done = manage.clear(worktree_at(root), root)
        outcome, message = done.outcome, done.message
    if outcome is ManageOutcome.CLEARED:
        server.registry.discard(root)
    return {
        "status": "ok",
        "action": "clear",
        "path": safe_text(path),
        "codebaseRoot": safe_text(root),
        "outcome": str(outcome),
        "message": message,
        "hints": {"create": _call("create", root), "status": _call("status", root)},
    }


def _call(action: str, root: str) -> dict[str, Any]:
    return {"tool": "manage_index", "args": {"action": action, "path": safe_text(root)}}


def _codebase(root: str) -> dict[str, Any]:
    """Return one entry of the list: the gate's status, without running git."""
    fields: dict[str, Any] = {"root": safe_text(root)}
    try:
        worktree = worktree_at(root)
    except (GitIndexError, OSError):
        return fields | {"status": "not_found"}
    proof = prove(worktree)
    gate = GateInput(os.path.exists(worktree.stamp), proof, read_progress(worktree))
    fields["status"] = str(decide_gate(gate) or "ok")
    if proof.marker is not None:
        fields["indexedFiles"] = proof.marker.indexed_files
        fields["completedAt"] = proof.marker.completed_at
    add_probe_hint(fields, proof)
    return fields


def codebases_text(answer: Answer, _ink: Ink) -> Iterator[str]:
    """Yield a line for each codebase."""
    for row in answer["codebases"]:
        files = f"  {counted(row['indexedFiles'], 'files')}" if "indexedFiles" in row else ""
        yield f"{row['status']:<12} {row['root']}{files}"


def manage_text(answer: Answer, _ink: Ink) -> Iterator[str]:
    """Yield the state, the outcome and what runs."""
    if "state" in answer:
        yield f"{answer['state']}: {answer['why']}"
    if "outcome" in answer:
        yield f"{answer['outcome']}: {answer['message']}"
    if "operationId" in answer:
        yield f"operationId {answer['operationId']}"
    for name in ("warning", "error"):
        if name in answer:
            yield f"{name}: {answer[name]}"
    operation = answer.get("operation")
    if operation:
        outcome = operation.get("outcome", "")
        yield f"operation {operation['id']}: {operation['state']} {outcome}".rstrip()
    running = answer.get("indexing") or {}
    if running.get("phase"):
        yield f"{running['phase']} {running['progressPct'] or 0:.0f} %"


TABLE = """
manage_index | tool=manage_index listed writes
  > Status of an index; or create, reindex, sync to HEAD, repair, clear (exact root).
    mcp | action ! create/reindex/sync/clear/status/repair
    mcp | path path
    mcp | waitSeconds integer ..600
    mcp | operationId ..64
"""
LIST_TABLE = """
list_codebases | tool=list_codebases listed pages=codebases reach=1000
  > Codebases that can be asked about.
    mcp | limit integer =50 1..200
"""
QUESTIONS = (
    question(TABLE, manage_index, manage_text, example={"action": "status"}),
    question(LIST_TABLE, list_codebases, codebases_text),
)
"""Asked of the server itself, not of a tree; so no other door has them."""
