"""File states by path, and the mutation gate: is it safe to edit without review?

Each of the 15 states has a verdict; one that is not ok comes with a witness, its reasons and next steps.
"""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from gitindex.base.errors import Exit, GitIndexError
from gitindex.base.escape import path_fields, safe_text
from gitindex.base.vocabulary import Certainty, Freshness, Layer, Mutation
from gitindex.base.worktree import find_worktree, inside_root
from gitindex.filestate.ambiguity import (
    Ambiguity,
    EditTarget,
    Interpretation,
    decision_fields,
    definitions,
    find_ambiguity,
    meant,
    parse_target,
    replayed,
)
from gitindex.filestate.core import REFERENCE, TO_FILES, TOOL, UNKNOWN, FileState, States
from gitindex.filestate.graph import DependencyGraph
from gitindex.filestate.inputs import FileInputs
from gitindex.store.decisions import Decision
from gitindex.store.history import Seen
from gitindex.view.overlay import WORKTREE
from gitindex.view.tree import TreeView, open_tree

if TYPE_CHECKING:
    from gitindex.base.answers import GateAnswer


def gate_lines(
    one: Mapping[str, Any], shown: Callable[[str], str] = str, agent: bool = False
) -> Iterator[str]:
    """Return the verdict and, unless it is ok, open questions, next steps and a proof template."""
    place = one.get("symbol") or one.get("line") or ""
    limits = ", ".join(str(one[name]) for name in ("basis", "layer", "scope") if name in one)
    where = shown(one["path"]) + (f":{place}" if place else "")
    yield f"{one['status']}: {where} ({one['freshness']}, {one['certainty']}; {limits})"
    if "decision" in one:
        yield f"  decided: {one['decision']['id']}"
    for note in one.get("notes", ()):
        yield f"  note: {note}; ask about a symbol there"
    if "witness" in one:
        yield from _packet(one["witness"], agent)


def _packet(packet: Mapping[str, Any], agent: bool) -> Iterator[str]:
    for failed in packet["failedInvariants"]:
        of = failed.get("dependency", failed["path"])
        flags = ", ".join(failed["found"]) if failed["invariant"] == "one_meaning" else ""
        tail = f": {flags}" if flags else ""
        yield f"  {failed['invariant']}: {of}: {failed['message']}{tail}"
    for candidate in packet["candidates"]:
        yield f"  candidate {candidate['id']} at line {candidate['line']}"
    yield from (f"  - {step}" for step in packet["checklist"])
    if packet["suggestedRefresh"]:
        remedy = packet["suggestedRefresh"]
        call = remedy["call"] if agent else None
        how = f"{call['tool']} {json.dumps(call['args'])}" if call else remedy["command"]
        yield f"  refresh: {how}"
    if "proof" in packet:
        yield f"  choices: {', '.join(packet['choices'])}"
        yield f"  proof: {json.dumps(packet['proof'], ensure_ascii=True)}"


MAX_LISTED = 50
"""Most invariants, candidates and files listed in one packet."""

_ADVICE = {
    "multiple_definitions": "Say which of the definitions of the name is meant.",
    "overload_set": "Say which signatures of the name are meant.",
    "conditional_definition": "Look at the condition under which a definition exists.",
    "star_import": "Look up which names the star brings in, and that none is the one you edit.",
    "dynamic_import": "Find out which modules are loaded by a computed name.",
    "dynamic_attribute": "Find out which members are reached by a computed name.",
    "eval_exec": "Read the text that is run as code.",
    "monkey_patch": "Check that nobody replaces what you edit from outside.",
    "generated_member": "Find the tool or decorator that makes members no line defines.",
    "unresolved_receiver": "Find out what the objects are whose methods are called.",
    "reexport_chain": "Follow the name to the module that defines it.",
    "context_divergence": "Check the file in each of the contexts it is read in.",
    "macro_or_generated": "Edit the source of the macro or of the generator, not its output.",
    "parse_error": "Fix the syntax error first, or check that it is not where you edit.",
    "encoding_lossy": "Check the bytes that are not valid text.",
}


class PacketInputs(NamedTuple):
    """The inputs of a packet."""

    inputs: FileInputs
    states: States
    target: EditTarget
    state: FileState
    ambiguity: Ambiguity | None


def witness(seen: PacketInputs) -> dict[str, Any]:
    """Return the packet for a target that the gate does not let through."""
    ambiguity = seen.ambiguity
    failed = _failed(seen)
    packet: dict[str, Any] = {
        "bounds": _bounds(seen),
        "facts": _facts(seen),
        "failedInvariants": failed[:MAX_LISTED],
        "candidates": [_candidate(d) for d in _candidates(seen)][:MAX_LISTED],
        "checklist": _checklist(seen, failed),
        "suggestedRefresh": _refresh(seen),
    }
    if ambiguity is not None:
        packet["signature"] = ambiguity.signature
        packet["choices"] = ambiguity.choices
        packet["proof"] = _proof(seen.inputs, ambiguity)
    return packet


def _bounds(seen: PacketInputs) -> dict[str, Any]:
    """Return the lines an edit is confined to: of the one definition meant, or of the file."""
    path = seen.target.path
    bounds: dict[str, Any] = {"path": safe_text(path)}
    if seen.state.freshness in (Freshness.DIRTY, Freshness.UNINDEXED):
        return bounds | {"startLine": None, "endLine": None}
    named = meant(seen.target, definitions(seen.inputs, path))
    if len(named) == 1:
        return bounds | {"startLine": named[0].line, "endLine": named[0].end_line}
    facts = seen.inputs.facts(path)
    return bounds | {"startLine": 1, "endLine": max(1, facts.lines if facts else 1)}


def _facts(seen: PacketInputs) -> list[dict[str, Any]]:
    """Return the facts about the file and about the files that cause its state."""
    paths = dict.fromkeys((*seen.states.chain(seen.target.path), *_culprits(seen)))
    return [_fact(seen, path) for path in list(paths)[:MAX_LISTED]]


def _fact(seen: PacketInputs, path: str) -> dict[str, Any]:
    row = seen.inputs.row(path)
    overlaid = seen.inputs.overlaid(path) is not None
    state = seen.states.of(path)
    known: dict[str, Any] = {
        "path": safe_text(path),
        "freshness": str(state.freshness),
        "certainty": str(state.certainty),
        "onDisk": seen.inputs.disk_id(path) or None,
    }
    if row is None:
        return known | {"source": "worktree"}
    return known | {
        "indexed": row.oid.hex(),
        "status": row.status or row.reason,
        "flags": list(seen.inputs.flags(path)),
        "refreshedAt": seen.inputs.history.refreshed(path) or 1,
        "layer": str(Layer.SEMANTIC if seen.inputs.semantics.covers(path) else Layer.SYNTACTIC),
        "source": "worktree" if overlaid else seen.inputs.view.source(),
    }


def _failed(seen: PacketInputs) -> list[dict[str, Any]]:
    """Return the invariants of a clean and certain file that do not hold."""
    path, inputs = seen.target.path, seen.inputs
    row = inputs.files.get(path)
    match seen.state.freshness:
        case Freshness.UNINDEXED:
            why = row.reason or row.status if row else "not part of the published tree"
            return [_invariant("facts_exist", path, why)]
        case Freshness.DIRTY:
            assert row is not None
            found = {"expected": row.oid.hex(), "found": inputs.disk_id(path) or None}
            return [_invariant("bytes_are_indexed", path, "the file on disk is another", **found)]
        case Freshness.STALE | Freshness.PENDING_CHECK:
            return _failed_dependencies(seen)
        case Freshness.CLEAN:
            if seen.state.certainty is Certainty.UNKNOWN:
                return [_invariant("facts_are_sure", path, "nothing is known of its meaning")]
            flags = list(seen.ambiguity.flags) if seen.ambiguity else []
            return [_invariant("one_meaning", path, "the language leaves it open", found=flags)]


def _failed_dependencies(seen: PacketInputs) -> list[dict[str, Any]]:
    chain = seen.states.chain(seen.target.path)
    stale = seen.state.freshness is Freshness.STALE
    name = "dependencies_as_seen" if stale else "dependencies_known"
    failed = []
    for edge in seen.states.causes(chain[-1]):
        if stale:
            why = f"its {edge.kind} changed since {safe_text(chain[-1])} was refreshed"
            values: dict[str, Any] = {"expected": edge.seen, "found": edge.now}
        else:
            known = UNKNOWN if edge.now == UNKNOWN else str(seen.states.of(edge.target).freshness)
            values = {"expected": "clean", "found": known}
            why = "what it offers now is not known"
        dependency = {"dependency": safe_text(edge.target), "via": [safe_text(p) for p in chain]}
        failed.append(_invariant(name, chain[-1], why, **values, **dependency))
    return failed


def _invariant(name: str, path: str, why: str, **values: Any) -> dict[str, Any]:
    return {"invariant": name, "path": safe_text(path), "message": why, **values}


def _candidates(seen: PacketInputs) -> tuple[Interpretation, ...]:
    return seen.ambiguity.definitions if seen.ambiguity else ()


def _candidate(definition: Interpretation) -> dict[str, Any]:
    return {
        "id": definition.id,
        "path": safe_text(definition.path),
        "qualifiedName": definition.qualified,
        "kind": definition.kind,
        "line": definition.line,
        "endLine": definition.end_line,
        "signature": definition.signature,
    }


_NEXT_STEPS = {
    Freshness.CLEAN: "No grammar reads this file, or it is not in this checkout: edit it as text.",
    Freshness.UNINDEXED: "Commit the file, or see `gitindex status --skipped` for why it is left out.",
    Freshness.DIRTY: "Commit the edit or take it back, then `gitindex wait`.",
}


def _checklist(seen: PacketInputs, failed: list[dict[str, Any]]) -> list[str]:
    if seen.ambiguity is not None:
        advice = [_ADVICE[flag] for flag in seen.ambiguity.flags if flag in _ADVICE]
        if seen.ambiguity.definitions and not advice:
            advice = [_ADVICE["multiple_definitions"]]
        return [
            *advice,
            "Then `gitindex decide commit` with the proof below, selection and anchors filled in.",
        ]
    if seen.state.freshness is Freshness.PENDING_CHECK:
        return [_remedy(one) for one in failed]
    if seen.state.freshness is Freshness.STALE:
        read = [f"Read what changed in {one['dependency']}." for one in failed]
        return [*read, "Then refresh the file, or edit and commit it."]
    return [_NEXT_STEPS[seen.state.freshness]]


def _remedy(failed: dict[str, Any]) -> str:
    match failed["found"]:
        case Freshness.DIRTY:
            return f"Commit {failed['dependency']} or take its edit back."
        case Freshness.UNINDEXED:
            return f"Nothing is known of {failed['dependency']}: read it, or have it indexed."
        case _:
            return f"`gitindex semantic run`: its indexer has not seen {failed['dependency']} yet."


def _culprits(seen: PacketInputs) -> list[str]:
    """Return the files that cause the state."""
    chain = seen.states.chain(seen.target.path)
    known = (edge.target for edge in seen.states.causes(chain[-1]) if edge.kind in TO_FILES)
    return list(known)


def _refresh(seen: PacketInputs) -> dict[str, Any] | None:
    """Return the smallest scope whose refresh could open the gate; None if no refresh can."""
    call = _call("manage_index", action="sync")
    match seen.state.freshness:
        case Freshness.CLEAN:
            return None
        case Freshness.PENDING_CHECK:
            files, command = _culprits(seen), "gitindex wait"
        case Freshness.STALE:
            files = seen.states.sources(seen.target.path)[:MAX_LISTED]
            command = f"gitindex state --refresh {' '.join(map(_quoted, files))}"
            call = _call("file_states", files=[safe_text(path) for path in files], refresh=True)
            kinds = {edge.kind for path in files for edge in seen.states.causes(path)}
            if kinds & {REFERENCE, TOOL}:  # the indexer must check again, no reader can
                command, call = "gitindex semantic run", None
        case Freshness.DIRTY | Freshness.UNINDEXED:
            files, command = [seen.target.path], "gitindex wait"
    listed = [safe_text(path) for path in files[:MAX_LISTED]]
    return {"scope": {"files": listed}, "command": command, "call": call}


def _call(tool: str, **args: Any) -> dict[str, Any] | None:
    return {"tool": tool, "args": args}


def _quoted(path: str) -> str:
    return shlex.quote(safe_text(path))


def _proof(inputs: FileInputs, ambiguity: Ambiguity) -> dict[str, Any]:
    """Return a proof template; the selection and the quoted lines are left to fill in."""
    paths = {ambiguity.target.path, *(d.path for d in ambiguity.definitions)}
    fields: dict[str, Any] = {"path": ambiguity.target.path}
    if ambiguity.target.symbol:
        fields["symbol"] = ambiguity.target.symbol
    if ambiguity.target.line:
        fields["line"] = ambiguity.target.line
    return fields | {
        "signature": ambiguity.signature,
        "selected": [],
        "anchors": [],
        "fileHashes": {path: inputs.disk_id(path) for path in sorted(paths)},
    }


NOT_OWNED = FileState(Freshness.UNINDEXED, Certainty.UNKNOWN)


class FileStateService:
    """Answers for one view. Writes nothing."""

    def __init__(self, view: TreeView) -> None:
        if view.overlay.source != WORKTREE:
            raise GitIndexError("file states are of the files on disk", code=Exit.USAGE)
        self.inputs = FileInputs(view)
        self._root = view.worktree.root
        self._opened = ExitStack()
        self._graph = DependencyGraph(self.inputs)

    @classmethod
    def open(cls, root: str) -> FileStateService:
        """Return the service of the worktree around a folder; `close` it, or use it in `with`."""
        opened = ExitStack()
        service = cls(opened.enter_context(open_tree(find_worktree(root), root)))
        service._opened = opened
        return service

    def close(self) -> None:
        """Close the snapshot that `open` opened."""
        self._opened.close()

    def __enter__(self) -> FileStateService:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def get_file_state(self, path: str, context: str | int | None = None) -> FileState:
        """Return the state of one file, by its path below the root or an absolute one in it."""
        return self.get_file_states_batch([path], context)[path]

    def get_file_states_batch(
        self, paths: Iterable[str], context: str | int | None = None
    ) -> dict[str, FileState]:
        """Return the states of many files. A named context has none for files it does not own."""
        files = {path: inside_root(self._root, self._root, path) for path in paths}
        states = self.states(files.values())
        return {
            path: states.of(file) if self._owned(file, context) else NOT_OWNED
            for path, file in files.items()
        }

    def check_mutation_gate(
        self, targets: Iterable[EditTarget | str], context: str | int | None = None
    ) -> MutationGateResult:
        """Return whether each FILE, FILE:LINE or FILE#SYMBOL may be edited without asking."""
        texts = [targets] if isinstance(targets, str) else targets
        named = (parse_target(one, self._exists) if isinstance(one, str) else one for one in texts)
        places = [one._replace(path=inside_root(self._root, self._root, one.path)) for one in named]
        foreign = [target for target in places if not self._owned(target.path, context)]
        return judge_targets(self, places, foreign)

    def states(self, paths: Iterable[str]) -> States:
        """Return the states of many files and of everything they depend on, with the reasons."""
        return States(*self._graph.reach(paths))

    def reviewed(self, paths: Iterable[str]) -> dict[str, Seen]:
        """Return what published files see of edits that are not published: what a review has seen."""
        return self._graph.reviewed(paths, self.inputs.view.served.published.generation)

    def _exists(self, path: str) -> bool:
        return os.path.lexists(os.path.join(self._root, path))

    def _owned(self, path: str, context: str | int | None) -> bool:
        if not context:  # the seed's context 0 is the syntactic one
            return True
        owner = self._graph.owner(path)
        return owner is not None and owner.name == context


_ORDER = (Mutation.OK, Mutation.NEEDS_DECISION, Mutation.BLOCKED)


class MutationGateResult(NamedTuple):
    """The gate's verdict on some targets: the worst of them, and each with its reasons."""

    status: Mutation
    targets: list[dict[str, Any]]


class _Judged(NamedTuple):
    """The verdict on one target, before it is formatted."""

    state: FileState
    gate: Mutation
    ambiguity: Ambiguity | None = None
    decision: Decision | None = None


def behaviour(state: FileState) -> Mutation:
    """Return what a state allows: only clean files are editable, only certain ones unreviewed."""
    if state.freshness is not Freshness.CLEAN:
        return Mutation.BLOCKED
    match state.certainty:
        case Certainty.CERTAIN:
            return Mutation.OK
        case Certainty.AMBIGUOUS:
            return Mutation.NEEDS_DECISION
        case Certainty.UNKNOWN:
            return Mutation.BLOCKED


def check_mutation_gate(view: TreeView, targets: Sequence[EditTarget]) -> GateAnswer:
    """Return the gate's envelope for some targets; `status` is the worst of them."""
    result = FileStateService(view).check_mutation_gate(targets)
    answer = {**view.envelope(targets=result.targets), "status": str(result.status)}
    return cast("GateAnswer", answer)


def judge_targets(
    service: FileStateService, targets: Sequence[EditTarget], foreign: Sequence[EditTarget] = ()
) -> MutationGateResult:
    """Judge each target; `foreign` ones belong to another context and have no facts in this one."""
    states = service.states([target.path for target in targets if target not in foreign])
    judged = [_judge(service, states, target) for target in targets]
    worst = max((verdict.gate for verdict in judged), key=_ORDER.index, default=Mutation.BLOCKED)
    answers = [
        _answer(service, states, target, verdict)
        for target, verdict in zip(targets, judged, strict=True)
    ]
    return MutationGateResult(worst, answers)


def _judge(service: FileStateService, states: States, target: EditTarget) -> _Judged:
    state = states.of(target.path)
    gate = behaviour(state)
    named = bool(target.symbol or target.line)
    if gate is Mutation.BLOCKED or not (named or gate is Mutation.NEEDS_DECISION):
        return _Judged(state, gate)
    ambiguity = find_ambiguity(service.inputs, target)
    if ambiguity is None:
        return _Judged(state._replace(certainty=Certainty.CERTAIN), Mutation.OK)
    decision = replayed(service.inputs, ambiguity)
    # A whole file names no place that could be meant otherwise: what is open there is noted.
    gate = Mutation.NEEDS_DECISION if named and not decision else Mutation.OK
    return _Judged(state._replace(certainty=Certainty.AMBIGUOUS), gate, ambiguity, decision)


def _answer(
    service: FileStateService, states: States, target: EditTarget, verdict: _Judged
) -> dict[str, Any]:
    fields: dict[str, Any] = {
        **path_fields(target.path.encode("utf-8", "surrogateescape")),
        "status": str(verdict.gate),
        "freshness": str(verdict.state.freshness),
        "certainty": str(verdict.state.certainty),
        **_limits(service, target.path),
    }
    if target.symbol:
        fields["symbol"] = target.symbol
    if target.line:
        fields["line"] = target.line
    if verdict.decision:
        fields["decision"] = decision_fields(verdict.decision)
    if verdict.ambiguity and not (target.symbol or target.line):
        fields["notes"] = _notes(verdict.ambiguity)
    if verdict.gate is not Mutation.OK:
        fields["witness"] = witness(
            PacketInputs(service.inputs, states, target, verdict.state, verdict.ambiguity)
        )
    return fields


def _notes(ambiguity: Ambiguity) -> list[str]:
    """Return what the language leaves open somewhere in a file: its flags, and names defined twice."""
    names = dict.fromkeys(one.qualified for one in ambiguity.definitions)
    return [*ambiguity.flags, *(f"several definitions of {safe_text(name)}" for name in names)]


def _limits(service: FileStateService, path: str) -> dict[str, str]:
    """Return the layer that the answer is based on, and how far an edit based on it may reach."""
    overlaid = service.inputs.overlaid(path) is not None
    semantic = not overlaid and service.inputs.semantics.covers(path)
    return {
        "basis": "worktree" if overlaid else "index",
        "layer": str(Layer.SEMANTIC if semantic else Layer.SYNTACTIC),
        "scope": "cross-file" if semantic else "local",
    }
