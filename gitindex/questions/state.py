"""`gitindex state`: is the index of a file up to date and unambiguous; `--gate`: may it be edited?"""

from __future__ import annotations

import os

from gitindex.base.errors import Exit, GitIndexError
from gitindex.base.escape import counted, path_fields, safe_text
from gitindex.base.light_types import TYPE_CHECKING
from gitindex.questions.ink import Aside
from gitindex.questions.table import Answer, Here, Ink, Lines, Params, Row, question

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gitindex.filestate import FileStateService
    from gitindex.view.tree import TreeView

EXITS = {"ok": 0, "needs_decision": 1, "blocked": 3}


def ask(here: Here, params: Params) -> Answer:
    """Return the states of files; with `gate`, whether they may be edited."""
    if params["gate"] and (params["refresh"] or not params["files"]):
        raise GitIndexError("--gate wants files, and not --refresh", code=Exit.USAGE)
    if params["gate"]:
        return _gate(here, params["files"])
    named = [_inside(here, file) for file in params["files"]]
    if params["refresh"]:
        _refresh(here, named)
    with here.tree() as view:
        return file_states(view, named)


def _gate(here: Here, targets: Sequence[str]) -> Row:
    from gitindex.base.worktree import inside_root
    from gitindex.filestate.ambiguity import parse_target
    from gitindex.filestate.service import check_mutation_gate

    def on_disk(name: str) -> bool:
        return os.path.lexists(os.path.join(here.path, name))

    parsed = [parse_target(text, on_disk) for text in targets]
    root = here.worktree.root
    placed = [one._replace(path=inside_root(root, here.path, one.path)) for one in parsed]
    with here.tree() as view:
        return dict(check_mutation_gate(view, placed))


def _inside(here: Here, file: str) -> str:
    from gitindex.base.worktree import inside_root

    root = here.worktree.root
    if os.path.realpath(os.path.join(here.path, file)) == root:
        return "."
    return inside_root(root, here.path, file)


def file_states(view: TreeView, named: Sequence[str]) -> Row:
    """Return the states of files and of all files below folders; of the whole tree by default."""
    from gitindex.filestate import FileStateService

    service = FileStateService(view)
    paths = _expand(service, named or ["."])
    states = service.states(paths)
    files = []
    for file in paths:
        state = states.of(file)
        fields: Row = {
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
    return view.envelope(files=files)


def _expand(service: FileStateService, named: Sequence[str]) -> list[str]:
    """Return files as named, and for a folder the files below it that have facts."""
    known = service.inputs.files
    indexed = sorted(path for path, row in known.items() if row.has_facts)
    paths: dict[str, None] = {}
    for name in named:
        below = "" if name == "." else f"{name}/"
        inside = [] if name in known else [path for path in indexed if path.startswith(below)]
        paths |= dict.fromkeys(inside or [name])
    return list(paths)


def _refresh(here: Here, named: Sequence[str]) -> None:
    """Record that files have been reviewed against the published generation and the edits on disk."""
    from gitindex.filestate import FileStateService
    from gitindex.filestate.core import OPAQUE
    from gitindex.store import history
    from gitindex.store.connection import open_writer

    with here.tree() as view:
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
        edits = service.reviewed(file for file in paths if file not in opaque)
    database = open_writer(here.worktree.database)
    try:
        chosen = [os.fsencode(file) for file in paths if file not in opaque]
        beside = {os.fsencode(file): edited for file, edited in edits.items()}
        history.refresh(database, seen.worktree_id, chosen, seen.generation, beside)
    finally:
        database.close()


def code(answer: Answer, _params: Params) -> int:
    """Return 0 if all files are clean; of the gate 0 yes, 1 decide first, 3 no."""
    if "targets" in answer:
        return EXITS[answer["status"]]
    return 0 if all(file["freshness"] == "clean" for file in answer["files"]) else 1


def text(answer: Answer, ink: Ink) -> Lines:
    """Yield the files that were named, or those that are not clean, and why they are not."""
    if "targets" in answer:
        yield from gate_text(answer, ink)
        return
    if all(file["freshness"] == "clean" for file in answer["files"]) and not ink.params.get(
        "files"
    ):
        yield Aside(f"all {counted(len(answer['files']), 'files')} are clean")
    for file in answer["files"]:
        if ink.params.get("files") or file["freshness"] != "clean":
            why = " → ".join((*file.get("via", ()), ", ".join(file.get("because", ()))))
            tail = f"  ← {why}" if why else ""
            row = f"{file['freshness']:<13} {file['certainty']:<9} {ink.path(file['path'])}"
            yield row + safe_text(tail)


def ask_gate(here: Here, params: Params) -> Answer:
    """Return the verdict on a file, or on a definition in it."""
    from gitindex.filestate.ambiguity import EditTarget
    from gitindex.filestate.service import check_mutation_gate

    file, _, symbol = params["file"].partition("#")
    target = EditTarget(here.inside(file), params["symbol"] or symbol, params["line"])
    with here.tree() as view:
        check_live(view, target.path)
        return dict(check_mutation_gate(view, [target]))


def check_live(view: TreeView, file: str) -> None:
    """Refuse a file that is not in the tree, or whose content the policy excludes."""
    rows = view.rows("SELECT f.skip FROM {live} f WHERE f.path=?", os.fsencode(file))
    if not rows or rows[0][0] is not None:
        raise GitIndexError(
            "not in the tree, or its content is left out",
            "see `gitindex status --skipped`",
            Exit.NO,
        )


def gate_text(answer: Answer, ink: Ink) -> Lines:
    """Yield the verdict of each place."""
    from gitindex.filestate.service import gate_lines

    for row in answer["targets"]:
        yield from map(safe_text, gate_lines(row, ink.path, "file" in ink.params))


TABLE = """
Change: state | tool=file_states writes
  Is the index of this file up to date and unambiguous?
  .
  Exit 1: one of them is not up to date.
  > Is what is known of files current? `refresh`: they were reviewed against what is on disk.
    * | files texts = <[FILE…]> @paths | Files or folders; with --gate FILE[:LINE|#SYMBOL]. | :
    --refresh | refresh flag | They have been checked again: stale no more. | same
    --gate | gate flag | May they be edited? 0 yes, 1 decide first, 3 no.
"""
QUESTION = question(TABLE, ask, text, code=code, example={"files": ["app.py"]})
GATE_TABLE = """
state gate | tool=check_mutation_gate
  May a place be edited without review?
  > Before an edit: is what is known of it current and certain? `ok` with the scope allowed,
    + `needs_decision` or `blocked`.
    mcp | file path !
    mcp | symbol ..512
    mcp | line integer ..10000000
"""
GATE = question(
    GATE_TABLE, ask_gate, gate_text, example={"file": "lib/util.py", "symbol": "helper"}
)
QUESTIONS = (QUESTION, GATE)
