"""A verdict of the gate is an answer and not a refusal; hints are calls of tools."""

from __future__ import annotations

from gitindex.filestate.gate_text import gate_lines
from gitindex.mcp.hints import with_tool_calls

OPEN = {
    "path": "a.py",
    "status": "needs_decision",
    "freshness": "clean",
    "certainty": "ambiguous",
    "basis": "index",
    "layer": "syntactic",
    "scope": "local",
    "witness": {
        "failedInvariants": [
            {"invariant": "one_meaning", "path": "a.py", "message": "open", "found": ["eval_exec"]}
        ],
        "candidates": [],
        "checklist": ["Read it."],
        "suggestedRefresh": None,
        "choices": ["flag:eval_exec"],
        "proof": {"path": "a.py"},
    },
}


def test_a_verdict_is_told_line_by_line() -> None:
    assert list(gate_lines(OPEN, lambda path: f"../{path}")) == [
        "needs_decision: ../a.py (clean, ambiguous; index, syntactic, local)",
        "  one_meaning: a.py: open: eval_exec",
        "  - Read it.",
        "  choices: flag:eval_exec",
        '  proof: {"path": "a.py"}',
    ]


def test_a_bad_pattern_is_answered_with_a_call_that_works() -> None:
    refused = {"hints": {"remedy": "-F looks for the text as it is"}}
    told = with_tool_calls(refused, {"pattern": "(", "limit": 3, "path": "/r"})["hints"]["remedy"]
    assert told == {
        "tool": "grep_codebase",
        "args": {"literal": True, "path": "/r", "pattern": "("},
    }
