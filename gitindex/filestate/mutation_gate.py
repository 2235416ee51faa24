"""The mutation gate: is it safe to edit without review? Each of the 15 states has a verdict."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from gitindex.base.escape import path_fields, safe_text
from gitindex.base.vocabulary import Certainty, Freshness, Layer, Mutation
from gitindex.filestate import FileState, FileStateService
from gitindex.filestate.ambiguity import Ambiguity, EditTarget, find_ambiguity
from gitindex.filestate.core import States
from gitindex.filestate.decisions import decision_fields, replayed
from gitindex.filestate.witness import PacketInputs, witness
from gitindex.store.decisions import Decision
from gitindex.view.tree import TreeView

if TYPE_CHECKING:
    from gitindex.base.answers import GateAnswer

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
    found = FileStateService(view).check_mutation_gate(targets)
    answer = {**view.envelope(targets=found.targets), "status": str(found.status)}
    return cast("GateAnswer", answer)


def judge_targets(
    service: FileStateService, targets: Sequence[EditTarget], foreign: Sequence[EditTarget] = ()
) -> MutationGateResult:
    """Judge each target; `foreign` ones belong to another context and have no facts in this one."""
    states = service.states([target.path for target in targets if target not in foreign])
    judged = [_judge(service, states, target) for target in targets]
    worst = max((found.gate for found in judged), key=_ORDER.index, default=Mutation.BLOCKED)
    answers = [
        _answer(service, states, target, found)
        for target, found in zip(targets, judged, strict=True)
    ]
    return MutationGateResult(worst, answers)


def _judge(service: FileStateService, states: States, target: EditTarget) -> _Judged:
    state = states.of(target.path)
    gate = behaviour(state)
    named = bool(target.symbol or target.line)
    if gate is Mutation.BLOCKED or not (named or gate is Mutation.NEEDS_DECISION):
        return _Judged(state, gate)
    ambiguity = find_ambiguity(service.world, target)
    if ambiguity is None:
        return _Judged(state._replace(certainty=Certainty.CERTAIN), Mutation.OK)
    decision = replayed(service.world, ambiguity)
    # A whole file names no place that could be meant otherwise: what is open there is noted.
    gate = Mutation.NEEDS_DECISION if named and not decision else Mutation.OK
    return _Judged(state._replace(certainty=Certainty.AMBIGUOUS), gate, ambiguity, decision)


def _answer(
    service: FileStateService, states: States, target: EditTarget, found: _Judged
) -> dict[str, Any]:
    fields: dict[str, Any] = {
        **path_fields(target.path.encode("utf-8", "surrogateescape")),
        "status": str(found.gate),
        "freshness": str(found.state.freshness),
        "certainty": str(found.state.certainty),
        **_limits(service, target.path),
    }
    if target.symbol:
        fields["symbol"] = target.symbol
    if target.line:
        fields["line"] = target.line
    if found.decision:
        fields["decision"] = decision_fields(found.decision)
    if found.ambiguity and not (target.symbol or target.line):
        fields["notes"] = _notes(found.ambiguity)
    if found.gate is not Mutation.OK:
        fields["witness"] = witness(
            PacketInputs(service.world, states, target, found.state, found.ambiguity)
        )
    return fields


def _notes(ambiguity: Ambiguity) -> list[str]:
    """Return what the language leaves open somewhere in a file: its flags, and names defined twice."""
    names = dict.fromkeys(one.qualified for one in ambiguity.definitions)
    return [*ambiguity.flags, *(f"several definitions of {safe_text(name)}" for name in names)]


def _limits(service: FileStateService, path: str) -> dict[str, str]:
    """Return the layer that the answer is based on, and how far an edit based on it may reach."""
    overlaid = service.world.overlaid(path) is not None
    semantic = not overlaid and service.world.semantics.covers(path)
    return {
        "basis": "worktree" if overlaid else "index",
        "layer": str(Layer.SEMANTIC if semantic else Layer.SYNTACTIC),
        "scope": "cross-file" if semantic else "local",
    }
