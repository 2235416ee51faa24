"""File states, the mutation gate and decisions: plain functions that return an exit code."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from gitindex.base.errors import Exit, GitIndexError, NotIndexed
from gitindex.base.escape import path_fields, safe_text
from gitindex.base.vocabulary import Freshness, Mutation
from gitindex.base.worktree import Worktree, find_worktree, inside_root
from gitindex.cli.printing import any_of, in_tree, print_answer
from gitindex.cli.shown_path import shown_path
from gitindex.cli.terminal import say
from gitindex.filestate import FileStateService
from gitindex.filestate.ambiguity import EditTarget, parse_target
from gitindex.filestate.core import OPAQUE
from gitindex.filestate.decisions import (
    MAX_PROOF_BYTES,
    check,
    commit,
    decision_fields,
    parse_proof,
)
from gitindex.filestate.gate_text import gate_lines
from gitindex.filestate.mutation_gate import check_mutation_gate
from gitindex.store import decisions as table
from gitindex.store import history
from gitindex.store.connection import Database, open_reader, open_writer
from gitindex.view.tree import NOW, TreeView, open_tree

if TYPE_CHECKING:
    from gitindex.base.answers import StatesAnswer, TargetRow

_GATE_EXITS = {
    Mutation.OK: Exit.OK,
    Mutation.NEEDS_DECISION: Exit.NO,
    Mutation.BLOCKED: Exit.GATED,
}


def show_states(
    files: Sequence[str], path: str = ".", refresh: bool = False, as_json: bool = False
) -> int:
    """Print freshness and certainty of some files; exit 0 if all of them are clean."""
    worktree = find_worktree(path)
    named = [_inside(worktree, path, file) for file in files]

    def question() -> StatesAnswer:
        if refresh:
            _refresh(worktree, named, path)
        with open_tree(worktree, path) as view:
            return file_states(view, named)

    def code(answer: StatesAnswer) -> int:
        clean = all(file["freshness"] == Freshness.CLEAN for file in answer["files"])
        return Exit.OK if clean else Exit.NO

    def text(answer: StatesAnswer) -> None:
        _say_states(answer, everything=bool(files))

    return print_answer(question, as_json, text, code)


def _inside(worktree: Worktree, start: str, file: str) -> str:
    if os.path.realpath(os.path.join(start, file)) == worktree.root:
        return "."
    return inside_root(worktree.root, start, file)


def file_states(view: TreeView, named: Sequence[str]) -> StatesAnswer:
    """Return the states of files and of all files below folders; of the whole tree by default."""
    service = FileStateService(view)
    paths = _expand(service, named or ["."])
    states = service.states(paths)
    files = []
    for file in paths:
        state = states.of(file)
        fields: dict[str, Any] = {
            **path_fields(os.fsencode(file)),
            "freshness": str(state.freshness),
            "certainty": str(state.certainty),
        }
        chain = states.chain(file)
        because = [edge.target for edge in states.causes(chain[-1])]
        if because:
            fields["via"] = [safe_text(name) for name in chain[1:]]
            fields["because"] = [safe_text(name) for name in because[:10]]
        files.append(fields)
    return cast("StatesAnswer", view.envelope(files=files))


def _expand(service: FileStateService, named: Sequence[str]) -> list[str]:
    """Return files as named, and for a folder the files below it that have facts."""
    known = service.world.files
    indexed = sorted(path for path, row in known.items() if row.has_facts)
    found: dict[str, None] = {}
    for name in named:
        below = "" if name == "." else f"{name}/"
        inside = [] if name in known else [path for path in indexed if path.startswith(below)]
        found |= dict.fromkeys(inside or [name])
    return list(found)


def _refresh(worktree: Worktree, named: Sequence[str], path: str) -> None:
    """Record that files have been reviewed against the published generation."""
    with open_tree(worktree, path) as view:
        service = FileStateService(view)
        states = service.states(paths := _expand(service, named))
        opaque = [file for file in paths if states.of(file).freshness in OPAQUE]
        if not paths or set(opaque) & set(named):
            shown = safe_text(opaque[0]) if opaque else "no file was named"
            raise GitIndexError(
                f"cannot be refreshed: {shown}",
                "only files whose bytes are indexed can: commit them",
                Exit.USAGE,
            )
        seen = view.served.published
    database = open_writer(worktree.database)
    try:
        chosen = [os.fsencode(file) for file in paths if file not in opaque]
        history.refresh(database, seen.worktree_id, chosen, seen.generation)
    finally:
        database.close()


def _say_states(answer: StatesAnswer, everything: bool) -> None:
    for file in answer["files"]:
        if everything or file["freshness"] != Freshness.CLEAN:
            why = " → ".join((*file.get("via", ()), ", ".join(file.get("because", ()))))
            tail = f"  ← {why}" if why else ""
            told = f"{file['freshness']:<13} {file['certainty']:<9} {shown_path(file['path'])}"
            say(told + safe_text(tail))


def gate(targets: Sequence[str], path: str = ".", as_json: bool = False) -> int:
    """Decide whether edits need review: 0 none needed, 1 a person has to decide, 3 refused."""
    worktree = find_worktree(path)
    asked = [_target(worktree, path, text) for text in targets]

    return print_answer(
        in_tree(path, NOW, lambda view: check_mutation_gate(view, asked)),
        as_json,
        lambda found: [*map(_say_gate, found["targets"])],
        lambda found: _GATE_EXITS[Mutation(found["status"])],
    )


def _target(worktree: Worktree, start: str, text: str) -> EditTarget:
    found = parse_target(text, lambda name: os.path.lexists(os.path.join(start, name)))
    return found._replace(path=inside_root(worktree.root, start, found.path))


def _say_gate(one: TargetRow) -> None:
    for line in gate_lines(dict(one), shown_path):
        say(safe_text(line))


def decide_commit(proof: str, path: str = ".", as_json: bool = False) -> int:
    """Store a decision if its proof is valid."""
    parsed = parse_proof(_read_proof(proof))
    worktree = find_worktree(path)

    def decide() -> dict[str, Any]:
        with open_tree(worktree, path) as view:
            hashes = check(FileStateService(view), parsed)
            head = view.served.seen.head.commit or ""
        database = open_writer(worktree.database)
        try:
            made = commit(database, parsed, hashes, head)
        finally:
            database.close()
        return {"status": "ok", "id": made, "signature": parsed.signature}

    return print_answer(decide, as_json, lambda made: say(f"decision {made['id']} accepted"))


def _read_proof(name: str) -> str:
    try:
        if name == "-":
            return sys.stdin.read(MAX_PROOF_BYTES + 1)
        with open(name, encoding="utf-8") as file:
            return file.read(MAX_PROOF_BYTES + 1)
    except (OSError, ValueError) as error:
        raise GitIndexError(f"cannot read {safe_text(name)}", code=Exit.USAGE) from error


def decide_list(path: str = ".", limit: int = 50, as_json: bool = False) -> int:
    """List the newest decisions."""
    database = _reader(path)
    try:
        found = table.newest(database, limit)
    finally:
        database.close()
    answer = {"status": "ok", "decisions": [decision_fields(decision) for decision in found]}

    def text(answer: dict[str, Any]) -> None:
        for one in answer["decisions"]:
            say(safe_text(f"{one['id']:>5}  {one['signature']}  {', '.join(one['fileHashes'])}"))

    return print_answer(lambda: answer, as_json, text, any_of("decisions"))


def decide_show(decision_id: int, path: str = ".", as_json: bool = False) -> int:
    """Print one decision in full."""
    database = _reader(path)
    try:
        found = table.by_id(database, decision_id)
    finally:
        database.close()
    if found is None:
        raise GitIndexError(f"no decision {decision_id}", "see `gitindex decide list`", Exit.NO)
    answer = {"status": "ok", "decision": decision_fields(found)}

    def text(answer: dict[str, Any]) -> None:
        for name, value in answer["decision"].items():
            told = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            say(safe_text(f"{name}: {told}"))

    return print_answer(lambda: answer, as_json, text)


def decide_forget(decision_id: int, path: str = ".") -> int:
    """Re-open the question that a decision answered."""
    _reader(path).close()
    database = open_writer(find_worktree(path).database)
    try:
        gone = table.forget(database, decision_id)
    finally:
        database.close()
    if not gone:
        raise GitIndexError(f"no decision {decision_id}", "see `gitindex decide list`", Exit.NO)
    return int(Exit.OK)


def _reader(path: str) -> Database:
    database = open_reader(find_worktree(path).database)
    if database is None:
        raise NotIndexed
    return database
