"""`/reach/<id>`: test files that reach a symbol, directly or through calls; loaded later."""

from __future__ import annotations

from typing import Any

from gitindex.base.path_kind import is_test
from gitindex.questions.graph import QUESTION as GRAPH
from gitindex.web.html import Html, element, join, link, shorten
from gitindex.web.session import Answer, WebPage, WebQuestion, WebSession

DEPTH = 4
NODES = 200


def _answer(session: WebSession, asked: WebQuestion) -> Answer:
    bounds = {"direction": "callers", "depth": DEPTH, "limit": NODES, "note_limit": 0}
    with session.page(asked.choice, names=True) as here:
        answer = here.ask(GRAPH, symbol=asked.path, **bounds)
    answer["tests"] = tests_of(answer)
    return answer


def tests_of(graph: Answer) -> list[dict[str, Any]]:
    """Return the test files in a graph of callers, nearest first, with their call distance."""
    callers: dict[str, list[str]] = {}
    for edge in graph.get("edges", ()):
        callers.setdefault(edge["to"], []).append(edge["from"])
    distance = {graph.get("root", ""): 0}
    waiting = list(distance)
    for node in waiting:  # grows during the loop
        for caller in callers.get(node, ()):
            if caller not in distance:
                distance[caller] = distance[node] + 1
                waiting.append(caller)
    found: dict[str, int] = {}
    for node in graph.get("nodes", ()):
        if node["id"] in distance and is_test(node["path"]):
            calls = distance[node["id"]]
            found[node["path"]] = min(calls, found.get(node["path"], calls))
    return [{"path": p, "calls": n} for p, n in sorted(found.items(), key=lambda row: row[::-1])]


def _render(asked: WebQuestion, answer: Answer) -> Html:
    rows = [
        element(
            "li",
            element(
                "a",
                shorten(row["path"], 64),
                href=link("file", row["path"], at=asked.text("at")),
                class_="place",
            ),
            element("span", _away(row["calls"]), class_="kind"),
            class_="hit one",
        )
        for row in answer["tests"]
    ]
    told = f"Only the nearest {NODES} callers were looked at." if answer.get("truncated") else ""
    nothing = f"No test reaches it within {DEPTH} calls."
    if answer.get("candidates"):
        nothing = "Several definitions have this name: open one of them."
    return join(
        element("ol", rows, class_="hits uses") if rows else element("p", nothing, class_="hint"),
        element("p", told, class_="hint") if told else None,
    )


def _away(calls: int) -> str:
    return "direct" if calls <= 1 else f"through {calls - 1} call{'' if calls == 2 else 's'}"


REACH = WebPage("reach", "Tests", _answer, _render)
