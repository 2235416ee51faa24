"""The witness packet: known facts, their origin, failed invariants and a possible remedy."""

from __future__ import annotations

import shlex
from typing import Any, NamedTuple

from gitindex.base.escape import safe_text
from gitindex.base.vocabulary import Certainty, Freshness, Layer
from gitindex.filestate import FileState
from gitindex.filestate.ambiguity import Ambiguity, EditTarget, Interpretation, definitions, meant
from gitindex.filestate.core import REFERENCE, TO_FILES, TOOL, UNKNOWN, States
from gitindex.filestate.world import World

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
    "parse_error": "Mend the syntax error first, or check that it is not where you edit.",
    "encoding_lossy": "Check the bytes that are not valid text.",
}


class PacketInputs(NamedTuple):
    """The inputs of a packet."""

    world: World
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
        packet["proof"] = _proof(seen.world, ambiguity)
    return packet


def _bounds(seen: PacketInputs) -> dict[str, Any]:
    """Return the lines an edit is confined to: of the one definition meant, or of the file."""
    path = seen.target.path
    bounds: dict[str, Any] = {"path": safe_text(path)}
    if seen.state.freshness in (Freshness.DIRTY, Freshness.UNINDEXED):
        return bounds | {"startLine": None, "endLine": None}
    named = meant(seen.target, definitions(seen.world, path))
    if len(named) == 1:
        return bounds | {"startLine": named[0].line, "endLine": named[0].end_line}
    facts = seen.world.facts(path)
    return bounds | {"startLine": 1, "endLine": max(1, facts.lines if facts else 1)}


def _facts(seen: PacketInputs) -> list[dict[str, Any]]:
    """Return the facts about the file and about the files that cause its state."""
    paths = dict.fromkeys((*seen.states.chain(seen.target.path), *_culprits(seen)))
    return [_fact(seen, path) for path in list(paths)[:MAX_LISTED]]


def _fact(seen: PacketInputs, path: str) -> dict[str, Any]:
    row = seen.world.row(path)
    overlaid = seen.world.overlaid(path) is not None
    state = seen.states.of(path)
    known: dict[str, Any] = {
        "path": safe_text(path),
        "freshness": str(state.freshness),
        "certainty": str(state.certainty),
        "onDisk": seen.world.disk_id(path) or None,
    }
    if row is None:
        return known | {"source": "worktree"}
    return known | {
        "indexed": row.oid.hex(),
        "status": row.status or row.reason,
        "flags": list(seen.world.flags(path)),
        "refreshedAt": seen.world.history.refreshed(path) or 1,
        "layer": str(Layer.SEMANTIC if seen.world.semantics.covers(path) else Layer.SYNTACTIC),
        "source": "worktree" if overlaid else seen.world.view.source(),
    }


def _failed(seen: PacketInputs) -> list[dict[str, Any]]:
    """Return the invariants of a clean and certain file that do not hold."""
    path, world = seen.target.path, seen.world
    row = world.files.get(path)
    match seen.state.freshness:
        case Freshness.UNINDEXED:
            why = row.reason or row.status if row else "not part of the published tree"
            return [_invariant("facts_exist", path, why)]
        case Freshness.DIRTY:
            assert row is not None
            found = {"expected": row.oid.hex(), "found": world.disk_id(path) or None}
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
    found = []
    for edge in seen.states.causes(chain[-1]):
        if stale:
            why = f"its {edge.kind} changed since {safe_text(chain[-1])} was refreshed"
            values: dict[str, Any] = {"expected": edge.seen, "found": edge.now}
        else:
            known = UNKNOWN if edge.now == UNKNOWN else str(seen.states.of(edge.target).freshness)
            values = {"expected": "clean", "found": known}
            why = "what it offers now is not known"
        dependency = {"dependency": safe_text(edge.target), "via": [safe_text(p) for p in chain]}
        found.append(_invariant(name, chain[-1], why, **values, **dependency))
    return found


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


def _checklist(seen: PacketInputs, failed: list[dict[str, Any]]) -> list[str]:
    if seen.ambiguity is not None:
        advice = [_ADVICE[flag] for flag in seen.ambiguity.flags if flag in _ADVICE]
        if seen.ambiguity.definitions and not advice:
            advice = [_ADVICE["multiple_definitions"]]
        return [
            *advice,
            "Then `gitindex decide commit` with the proof below, selection and anchors filled in.",
        ]
    match seen.state.freshness:
        case Freshness.CLEAN:
            return ["No grammar reads this file, or it is not in this checkout: edit it as text."]
        case Freshness.UNINDEXED:
            return ["Commit the file, or see `gitindex status --skipped` for why it is left out."]
        case Freshness.DIRTY:
            return ["Commit the edit or take it back, then `gitindex wait`."]
        case Freshness.PENDING_CHECK:
            return [_mend(one) for one in failed]
        case Freshness.STALE:
            looked = [f"Read what changed in {one['dependency']}." for one in failed]
            return [*looked, "Then refresh the file, or edit and commit it."]


def _mend(failed: dict[str, Any]) -> str:
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
            if kinds & {REFERENCE, TOOL}:  # the indexer must look again, no reader can
                command, call = "gitindex semantic run", None
        case Freshness.DIRTY | Freshness.UNINDEXED:
            files, command = [seen.target.path], "gitindex wait"
    listed = [safe_text(path) for path in files[:MAX_LISTED]]
    return {"scope": {"files": listed}, "command": command, "call": call}


def _call(tool: str, **args: Any) -> dict[str, Any] | None:
    return {"tool": tool, "args": args}


def _quoted(path: str) -> str:
    return shlex.quote(safe_text(path))


def _proof(world: World, ambiguity: Ambiguity) -> dict[str, Any]:
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
        "fileHashes": {path: world.disk_id(path) for path in sorted(paths)},
    }
