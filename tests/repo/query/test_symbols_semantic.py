"""Definitions as an indexer knows them come before what the grammar says; edited files fall back."""

from __future__ import annotations

from typing import Any

from gitindex.query.symbols import SymbolQuery, list_symbols, outline
from gitindex.view.tree import open_tree
from tests.e2e.semantic.test_jobs import RUN, A, fake, sem
from tests.indexers import Fake, index_semantically, refresh
from tests.support import Repo

__all__ = ["fake", "sem"]  # fixtures of the sibling module


def symbols(repo: Repo, **wanted: Any) -> list[tuple[str, str, str]]:
    """Path and line, layer and signature."""
    return [
        (f"{s['path']}:{s['line']}", s["layer"], s["signature"])
        for s in answer(repo, **wanted)["symbols"]
    ]


def answer(repo: Repo, **wanted: Any) -> Any:
    with open_tree(repo.worktree, ".") as view:
        return list_symbols(view, SymbolQuery(**wanted))


def test_the_layer_answers_first_and_a_stale_file_falls_back(sem: Repo) -> None:
    assert symbols(sem, name="alpha") == [("a.py:1", "syntactic", "def alpha()")]
    assert "semanticLayer" not in answer(sem, name="alpha")
    index_semantically(sem, RUN)
    assert symbols(sem, name="alpha") == [("a.py:1", "semantic", "def alpha():")]
    assert symbols(sem, path="b.py") == [("b.py:3", "semantic", "def beta():")]
    assert answer(sem, name="alpha")["semanticLayer"] == {"current": 2, "stale": 0}
    sem.write("a.py", f"# moved\n{A}")
    assert symbols(sem, name="alpha") == [("a.py:2", "syntactic", "def alpha()")]
    told = answer(sem, name="alpha")["semanticLayer"]
    assert told == {"current": 1, "stale": 1, "stalePaths": ["a.py"]}
    assert "stalePaths" not in answer(sem, name="beta")["semanticLayer"]


def test_a_type_keeps_what_its_source_says_of_it(sem: Repo, fake: Fake) -> None:
    sem.write("c.py", "class Shape(Base):\n    pass\n")
    sem.commit("a class")
    refresh(sem)
    index_semantically(sem, RUN)
    assert symbols(sem, name="Shape") == [("c.py:1", "semantic", "class Shape(Base)")]


def test_members_that_no_grammar_sees(sem: Repo, fake: Fake) -> None:
    """And no parameters, no locals, nothing that was not asked for."""
    marks = {
        "a.py:1:alpha": "=`a`/alpha().",
        "a.py:2:tmp": "=`a`/alpha().made.",
        "b.py:3:beta": "=`b`/beta().",
        "b.py:4:tmp": "=local 1",
        "b.py:4:alpha": "=`b`/beta().(made)",
    }
    fake.say(sem.path.resolve(), marks)
    index_semantically(sem, RUN)
    assert [place for place, *_ in symbols(sem, name="made")] == ["a.py:2"]
    assert [place for place, *_ in symbols(sem, name="alpha.made", kind="variable")] == ["a.py:2"]
    for other in (
        {"name": "other.made"},
        {"name": "made", "path": "b.py"},
        {"name": "made", "kind": "class"},
    ):
        assert symbols(sem, **other) == [], other
    with open_tree(sem.worktree, ".") as view:
        listed = outline(view, "a.py")["symbols"] + outline(view, "b.py")["symbols"]
    assert [(s["qualifiedName"], s["layer"]) for s in listed] == [
        ("alpha", "semantic"),
        ("alpha.made", "semantic"),
        ("beta", "semantic"),
    ]
