"""Semantic facts answer before syntactic ones; where they are of other bytes, the syntactic ones do."""

from __future__ import annotations

from typing import Any

from gitindex.callgraph import Wanted as WantedGraph
from gitindex.callgraph import call_graph
from gitindex.lens import answering
from gitindex.references import Wanted, find_references
from gitindex.words import Direction
from tests.indexers import Fake, index_semantically, refresh
from tests.support import Repo
from tests.test_semantic import RUN, fake, sem

__all__ = ["fake", "sem"]  # fixtures of the sibling module

USER = "def user(thing):\n    return thing.alpha()\n"


def references(repo: Repo) -> dict[str, tuple[str, str]]:
    with answering(repo.worktree, ".") as lens:
        found = find_references(lens, Wanted("alpha"))["references"]
    return {f"{r['path']}:{r['line']}": (r["tier"], r["layer"]) for r in found}


def edges(repo: Repo, symbol: str, direction: Direction) -> list[dict[str, Any]]:
    with answering(repo.worktree, ".") as lens:
        answer = call_graph(lens, WantedGraph(symbol, direction))
    found = answer["edges"]
    assert isinstance(found, list)
    return found


def test_semantic_facts_come_first(sem: Repo, fake: Fake) -> None:
    sem.write("c.py", USER)
    sem.commit()
    refresh(sem)
    assert references(sem)["c.py:2"] == ("name", "syntactic")
    index_semantically(sem, RUN)
    assert references(sem) == {
        "b.py:1": ("exact", "semantic"),
        "b.py:4": ("exact", "semantic"),
        "c.py:2": ("exact", "semantic"),
    }
    [edge] = edges(sem, "user", Direction.CALLEES)
    assert (edge["to"], edge["kind"], edge["tier"]) == ("a.py#alpha", "call", "exact")
    callers = {(e["from"], e["tier"]) for e in edges(sem, "alpha", Direction.CALLERS)}
    assert callers == {("b.py#beta", "exact"), ("c.py#user", "exact")}
    sem.write("c.py", f"# moved\n{USER}")
    assert references(sem)["c.py:3"] == ("name", "syntactic")
    assert references(sem)["b.py:4"] == ("exact", "semantic")
    with answering(sem.worktree, ".") as lens:
        told = find_references(lens, Wanted("alpha"))["semanticLayer"]
    assert told == {"current": 2, "stale": 1}
