"""What to do about a refusal, as a call of another tool: an agent has no shell here."""

from __future__ import annotations

from typing import Any

_CALLS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("-F looks", "grep_codebase", {"literal": True}),
    ("`gitindex index --force", "manage_index", {"action": "reindex"}),
    ("`gitindex index", "manage_index", {"action": "create"}),
    ("`gitindex wait", "manage_index", {"action": "sync"}),
    ("`gitindex outline", "file_outline", {}),
    ("`gitindex symbols", "find_symbols", {}),
    ("`gitindex state", "check_mutation_gate", {}),
    ("`git ls-files", "grep_codebase", {}),
    ("list_codebases", "list_codebases", {}),
    ("`gitindex ", "manage_index", {"action": "status"}),
)
"""Words of a hint, and the tool that does the same; the first that is found counts."""


def with_tool_calls(envelope: dict[str, Any], asked: object) -> dict[str, Any]:
    """Replace a shell command in `hints.remedy` by the tool call that does the same."""
    hints = envelope.get("hints", {})
    remedy = hints.get("remedy", "")
    for words, tool, args in _CALLS:
        if words in remedy:
            told = asked if isinstance(asked, dict) else {}
            kept = ("path", "pattern") if "literal" in args else ("path",)
            known = {n: told[n] for n in kept if isinstance(told.get(n), str) and told[n]}
            others = {name: hint for name, hint in hints.items() if name != "remedy"}
            call = {"tool": tool, "args": args | known}
            return envelope | {"hints": others | {"remedy": call}}
    return envelope
