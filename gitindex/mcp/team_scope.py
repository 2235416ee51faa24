"""`scope: "team"`: a tool's answer plus the hits of the team's other repositories."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gitindex.sharing.team_questions import add_team

if TYPE_CHECKING:
    from gitindex.base.worktree import Worktree

_QUESTIONS = {
    "search_codebase": ("search", "query"),
    "find_symbols": ("definitions", "name"),
    "find_references": ("references", "symbol"),
    "call_graph": ("references", "symbol"),
    "impact": ("references", ""),
}
"""Per tool: the question to the team's index, and the argument that names what to ask for."""
HITS = 50


def with_team(
    worktree: Worktree, tool: str, asked: dict[str, Any], answer: dict[str, Any]
) -> dict[str, Any]:
    """Add the hits of other repositories; status `unavailable` if the server cannot answer."""
    kind, argument = _QUESTIONS[tool]
    words = [asked[argument]] if argument else _changed(answer)
    if kind != "search":
        words = [word.rpartition("#")[2].rpartition(".")[2] for word in words]
    return add_team(worktree, answer, kind, words, HITS)


def _changed(answer: dict[str, Any]) -> list[str]:
    return [str(symbol["qualifiedName"]) for symbol in answer.get("changedSymbols", ())]
