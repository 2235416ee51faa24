"""Remedies of a refusal as tool calls, because an agent has no shell here."""

from __future__ import annotations

import os
import re
from typing import Any

_CALLS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("-F looks", "grep_codebase", {"literal": True}),
    ("`gitindex index --force", "manage_index", {"action": "reindex"}),
    ("`gitindex index", "manage_index", {"action": "create"}),
    ("`gitindex wait", "manage_index", {"action": "sync"}),
    ("`gitindex outline", "file_outline", {}),
    ("`gitindex symbols", "find_symbols", {}),
    ("`gitindex state", "check_mutation_gate", {}),
    ("`git ls-files", "search_codebase", {}),
    ("list_codebases", "list_codebases", {}),
    ("`gitindex ", "manage_index", {"action": "status"}),
)
"""Text in a hint and the equivalent tool call; the first match counts."""

_KEPT: dict[str, tuple[str, ...]] = {
    "grep_codebase": ("path", "pattern"),
    "search_codebase": ("path", "file"),
    "find_symbols": ("path", "symbol"),
    "file_outline": ("path", "file"),
    "check_mutation_gate": ("path", "file"),
    "list_codebases": (),
}
"""Arguments of the refused call that the remedy takes over; `path` for the others."""


def with_tool_calls(envelope: dict[str, Any], asked: object) -> dict[str, Any]:
    """Replace a shell command in `hints.remedy` by the equivalent tool call."""
    hints = envelope.get("hints", {})
    remedy = hints.get("remedy", "")
    for words, tool, args in _CALLS:
        if words in remedy:
            told = asked if isinstance(asked, dict) else {}
            kept = _KEPT.get(tool, ("path",))
            known = {n: told[n] for n in kept if isinstance(told.get(n), str) and told[n]}
            if tool == "search_codebase":
                known["query"] = os.path.basename(known.pop("file", "")) or "."
            if "symbol" in known:
                known["name"] = re.split(r"[#.:]+", known.pop("symbol"))[-1]
            others = {name: hint for name, hint in hints.items() if name != "remedy"}
            call = {"tool": tool, "args": args | known}
            return envelope | {"hints": others | {"remedy": call}}
    return envelope
