"""Decisions: proven answers to open questions, reused while their files stay the same."""

from __future__ import annotations

import json
from typing import NamedTuple

from gitindex.base.errors import Exit, GitIndexError
from gitindex.base.escape import safe_text
from gitindex.base.vocabulary import Certainty, Freshness
from gitindex.base.worktree import normalize_rel_path
from gitindex.filestate.ambiguity import EditTarget, Interpretation, find_ambiguity
from gitindex.filestate.inputs import FileInputs
from gitindex.filestate.service import FileStateService
from gitindex.store import decisions as table
from gitindex.store.connection import Database

MAX_PROOF_BYTES = 1 << 18  # of a proof that somebody hands in
MAX_ANCHORS = 100  # quoted lines that are compared with files


class Anchor(NamedTuple):
    """A quoted line of a file: shows that the person who decides has read it."""

    path: str
    line: int  # 1-based
    text: str


class DecisionProof(NamedTuple):
    """A decision, and the evidence that it was made on the current bytes."""

    target: EditTarget
    signature: str
    selected: list[str]
    anchors: list[Anchor]
    file_hashes: dict[str, str]


def parse_proof(text: str) -> DecisionProof:
    """Parse a proof from JSON: {path, symbol?, line?, signature, selected, anchors, fileHashes}."""
    if len(text) > MAX_PROOF_BYTES:
        raise _refused("the proof is too long")
    try:
        fields = json.loads(text)
        target = EditTarget(
            normalize_rel_path(_text(fields["path"])),
            _text(fields.get("symbol", "")),
            _number(fields.get("line", 0)),
        )
        anchors = [
            Anchor(normalize_rel_path(_text(a["path"])), _number(a["line"]), _text(a["text"]))
            for a in fields["anchors"][:MAX_ANCHORS]
        ]
        hashes = {_text(path): _text(oid) for path, oid in fields["fileHashes"].items()}
        selected = [_text(name) for name in fields["selected"]]
        return DecisionProof(target, _text(fields["signature"]), selected, anchors, hashes)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise _refused(f"not a proof: {safe_text(repr(error))}") from error


def check(service: FileStateService, proof: DecisionProof) -> dict[str, str]:
    """Return the hashes of a proof's files, computed from disk. Refuses an invalid proof."""
    inputs, target = service.inputs, proof.target
    state = service.get_file_state(target.path)
    if state.freshness is not Freshness.CLEAN or state.certainty is Certainty.UNKNOWN:
        raise _refused(
            f"{safe_text(target.path)} is {state.freshness}, {state.certainty}:"
            " there is nothing to decide"
        )
    ambiguity = find_ambiguity(inputs, target)
    if ambiguity is None or ambiguity.signature != proof.signature:
        raise _refused("the question is not open, or is another one now")
    if not ambiguity.is_answered_by(proof.selected):
        raise _refused(f"it does not answer the question; select of {ambiguity.choices}")
    chosen = [d for d in ambiguity.definitions if d.id in proof.selected]
    paths = {target.path, *(d.path for d in ambiguity.definitions)}
    hashes = {path: inputs.disk_id(path) or "" for path in sorted(paths)}
    if proof.file_hashes != hashes:
        raise _refused("its file hashes are not those of the files on disk")
    _check_anchors(inputs, proof, chosen, hashes)
    return hashes


def commit(database: Database, proof: DecisionProof, hashes: dict[str, str], head: str) -> int:
    """Store a decision whose proof was checked. A question has at most one decision."""
    payload = {"anchors": [anchor._asdict() for anchor in proof.anchors], **proof.target._asdict()}
    made = table.add(database, proof.signature, head, hashes, proof.selected, payload)
    if made is None:
        raise GitIndexError(
            "this question is decided already", "`gitindex decide forget` re-opens it", Exit.NO
        )
    return made


def _check_anchors(
    inputs: FileInputs, proof: DecisionProof, chosen: list[Interpretation], hashes: dict[str, str]
) -> None:
    """Check that every quoted line exists, and that the file and each chosen definition has one."""
    if not any(anchor.path == proof.target.path for anchor in proof.anchors):
        raise _refused("no anchor quotes the file")
    for anchor in proof.anchors:
        data = inputs.read(anchor.path) if anchor.path in hashes else None
        if not _is_quoted(anchor, data or b""):
            raise _refused(f"line {anchor.line} of {safe_text(anchor.path)} is not as quoted")
    for definition in chosen:
        if not any(_is_in(anchor, definition) for anchor in proof.anchors):
            raise _refused(f"no anchor quotes {safe_text(definition.id)}")


def _is_quoted(anchor: Anchor, data: bytes) -> bool:
    lines = data.decode("utf-8", "replace").split("\n")
    here = lines[anchor.line - 1].strip() if 0 < anchor.line <= len(lines) else ""
    return bool(here) and here == anchor.text.strip()


def _is_in(anchor: Anchor, definition: Interpretation) -> bool:
    inside = definition.line <= anchor.line <= definition.end_line
    return anchor.path == definition.path and inside


def _refused(why: str) -> GitIndexError:
    return GitIndexError(
        f"decision refused: {why}", "`gitindex state --gate` shows what is open", Exit.USAGE
    )


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("text expected")
    return value


def _number(value: object) -> int:
    if type(value) is not int:
        raise TypeError("number expected")
    return value
