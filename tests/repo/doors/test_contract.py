"""The shapes of contract.md, field by field, as the command line prints them; the MCP tools share them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support import Repo

FRESHNESS = {
    "state",
    "exact",
    "edits",
    "branch",
    "servedCommit",
    "headCommit",
    "pendingPaths",
    "overlayPaths",
    "mode",
}
RECEIPT = {"treeId", "overlayDigest", "generation", "fingerprint"}
SYMBOL = {
    "name",
    "qualifiedName",
    "kind",
    "path",
    "line",
    "column",
    "endLine",
    "signature",
    "exported",
    "layer",
}
REFERENCE = {"path", "line", "column", "endColumn", "role", "tier", "text", "layer", "source"}
NODE = {"id", "name", "kind", "path", "line"}
COUNTS = {"notesTruncated", "totalNoteCount", "returnedNoteCount", "warnings", "notes"}

QUESTIONS: dict[str, list[str]] = {
    "search": ["search", "helper"],
    "grep": ["grep", "helper"],
    "symbols": ["symbols", "helper"],
    "outline": ["outline", "lib/util.py"],
    "refs": ["refs", "helper"],
    "callers": ["callers", "helper"],
    "graph": ["graph", "helper"],
    "impact": ["impact", "HEAD~1..HEAD"],
    "dangling": ["impact", "--staged", "--dangling"],
    "tests": ["impact", "--staged", "--tests"],
    "map": ["map"],
    "read": ["read", "app.py:1-2"],
    "slice": ["slice", "app.py:6"],
    "docs": ["docs", "--tag", "howto"],
    "verify": ["verify"],
    "contexts": ["contexts"],
    "state": ["state", "app.py"],
    "gate": ["state", "--gate", "lib/util.py"],
    "skipped": ["status", "--skipped"],
}


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """One answer to every kind of question."""
    repo = Repo(tmp_path_factory.mktemp("contract") / "repo")
    repo.init()
    repo.write("how.md", "---\ntags: [howto]\n---\n# How\n")
    repo.commit()
    repo.write("lib/util.py", 'def helper():\n    """Help."""\n    return 42\n')
    body = "class App:\n    def main(self):\n        return helper()\n"
    repo.write("app.py", f"from lib.util import helper\n\n\n{body}")
    repo.write("odd.py", "x = getattr('é', 'helper')\n")
    repo.commit()
    repo.index()
    return {name: repo.answer(*words) for name, words in QUESTIONS.items()}


def keys_of(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from keys_of(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from keys_of(inner)


def objects_of(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
        for inner in value.values():
            yield from objects_of(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from objects_of(inner)


@pytest.mark.parametrize("name", QUESTIONS)
def test_every_answer_says_how_fresh_it_is_and_what_proves_it(
    answers: dict[str, dict[str, Any]], name: str
) -> None:
    answer = answers[name]
    assert answer["status"] == "ok"
    assert answer["freshness"].keys() == FRESHNESS
    assert answer["receipt"].keys() - {"footprint"} == RECEIPT
    assert answer["codebaseRoot"].startswith("/")


@pytest.mark.parametrize("name", QUESTIONS)
def test_names_are_in_camel_case_and_columns_in_both_units(
    answers: dict[str, dict[str, Any]], name: str
) -> None:
    paths = {"how.md", "app.py", "lib/util.py", "odd.py"}
    names = {key for key in keys_of(answers[name]) if key not in paths}
    assert not [key for key in names if not re.fullmatch(r"[a-z][A-Za-z0-9]*", key)]
    for found in objects_of(answers[name]):
        assert ("column" in found) == ("columnUtf16" in found), found


def test_search(answers: dict[str, dict[str, Any]]) -> None:
    results = answers["search"]["results"]
    wanted = {"path", "startLine", "endLine", "score", "snippet", "matched", "source"}
    assert all(wanted <= result.keys() for result in results)
    assert (results[0]["name"], results[0]["kind"]) == ("helper", "function")
    assert [r["score"] for r in results] == sorted((r["score"] for r in results), reverse=True)


def test_symbols_and_outline(answers: dict[str, dict[str, Any]]) -> None:
    for name in ("symbols", "outline"):
        [symbol] = answers[name]["symbols"]
        assert symbol.keys() >= SYMBOL
        assert symbol["doc"] == "Help."


def test_references(answers: dict[str, dict[str, Any]]) -> None:
    answer = answers["refs"]
    assert len(answer["definitions"]) == 1
    assert all(found.keys() >= REFERENCE for found in answer["references"])
    assert {found["role"] for found in answer["references"]} == {"reference", "import"}
    [called] = [found for found in answer["references"] if found["role"] == "reference"]
    assert called["enclosing"] == "App.main"
    assert answer["complete"] is False
    [left] = answer["unexplained"]
    assert (left["path"], left["column"], left["columnUtf16"]) == ("odd.py", 20, 19)


def test_call_graph(answers: dict[str, dict[str, Any]]) -> None:
    for name in ("callers", "graph"):
        answer = answers[name]
        assert answer.keys() >= COUNTS
        assert all(node.keys() >= NODE for node in answer["nodes"])
        [edge] = answer["edges"]
        assert edge == {
            "from": "app.py#App.main",
            "to": "lib/util.py#helper",
            "kind": "call",
            "site": {"path": "app.py", "line": 6},
            "tier": "import",
            "layer": "syntactic",
        }
