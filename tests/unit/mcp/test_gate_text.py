"""A verdict of the gate is an answer and not a refusal; hints are calls of tools."""

from __future__ import annotations

from gitindex.filestate.service import gate_lines
from gitindex.mcp.dispatch import content_of, with_tool_calls
from gitindex.mcp.question_tools import BY_NAME

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


def test_a_remedy_takes_over_what_was_asked() -> None:
    asked = {"symbol": "lib/util.py#Tool.helper", "file": "lib/nope.py", "path": "/r", "limit": 3}
    for hint, remedy in {
        "is it tracked? see `git ls-files`": ("search_codebase", {"query": "nope.py"}),
        "see `gitindex symbols`": ("find_symbols", {"name": "helper"}),
    }.items():
        refused = {"message": "not in the tree: lib/nope.py", "hints": {"remedy": hint}}
        told = with_tool_calls(refused, asked)["hints"]["remedy"]
        assert (told["tool"], told["args"]) == (remedy[0], {**remedy[1], "path": "/r"})
    told = with_tool_calls({"hints": {"remedy": "see list_codebases"}}, asked)["hints"]["remedy"]
    assert told == {"tool": "list_codebases", "args": {}}


def test_what_is_open_is_said_once_and_a_page_says_of_how_many() -> None:
    text = "!function(" * 30
    place = {"path": "a.min.js", "line": 2, "why": "not_parsed", "text": text}
    use = {"path": "b.py", "line": 3, "tier": "exact", "use": "call", "text": "f()"}
    answer = {
        "status": "ok",
        "definitions": [],
        "references": [use],
        "totalReferences": 7,
        "possible": [place] * 31,
        "accounted": {"references": 7, "possible": 31, "unlikely": 0, "aliased": 0, "total": 40},
        "accountedFor": True,
        "absent": False,
        "reasons": [],
        "assumes": [],
    }
    lines = content_of(BY_NAME["find_references"], answer).splitlines()
    assert lines[1] == f"? a.min.js:2  not_parsed: {text[:120]}  (31 ×)"
    assert lines[2:] == ["-- 1 of 7 references, 31 possible; all 40 occurrences accounted for"]


def test_a_kind_is_said_once() -> None:
    row = {"path": "a.py", "line": 1, "kind": "class", "signature": "class A(B)"}
    method = row | {"kind": "method", "signature": "def f(self)"}
    told = content_of(BY_NAME["find_symbols"], {"status": "ok", "symbols": [row, method]})
    assert told == "a.py:1  class A(B)\na.py:1  method def f(self)"
