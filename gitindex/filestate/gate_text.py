"""Formats the mutation gate's verdict on one place as lines for people and models."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any


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
        found = ", ".join(failed["found"]) if failed["invariant"] == "one_meaning" else ""
        tail = f": {found}" if found else ""
        yield f"  {failed['invariant']}: {of}: {failed['message']}{tail}"
    for candidate in packet["candidates"]:
        yield f"  candidate {candidate['id']} at line {candidate['line']}"
    yield from (f"  - {step}" for step in packet["checklist"])
    if packet["suggestedRefresh"]:
        remedy = packet["suggestedRefresh"]
        call = remedy["call"] if agent else None
        told = f"{call['tool']} {json.dumps(call['args'])}" if call else remedy["command"]
        yield f"  refresh: {told}"
    if "proof" in packet:
        yield f"  choices: {', '.join(packet['choices'])}"
        yield f"  proof: {json.dumps(packet['proof'], ensure_ascii=True)}"
