"""Semantic facts answer before syntactic ones; where they are of other bytes, the syntactic ones do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from gitindex.base.vocabulary import Direction
from gitindex.query.callgraph.answer import GraphQuery, call_graph
from gitindex.query.references import ReferenceQuery, find_references
from gitindex.view.tree import open_tree
from tests.e2e.semantic.test_jobs import RUN, fake, sem
from tests.indexers import Fake, index_semantically, refresh
from tests.support import Repo

__all__ = ["fake", "sem"]  # fixtures of the sibling module

USER = "def user(thing):\n    return thing.alpha()\n"


def listed(told: Mapping[str, Any]) -> dict[str, tuple[str, str]]:
    sure = {f"{r['path']}:{r['line']}": (r["tier"], r["layer"]) for r in told["references"]}
    maybe = {f"{r['path']}:{r['line']}": (r["why"], "possible") for r in told["possible"]}
    return maybe | sure


def references(repo: Repo) -> dict[str, tuple[str, str]]:
    with open_tree(repo.worktree, ".") as view:
        answer = find_references(view, ReferenceQuery("alpha"))
    return listed(answer)


def edges(repo: Repo, symbol: str, direction: Direction) -> list[dict[str, Any]]:
    with open_tree(repo.worktree, ".") as view:
        answer = call_graph(view, GraphQuery(symbol, direction))
    found = answer["edges"]
    assert isinstance(found, list)
    return found


def test_semantic_facts_come_first(sem: Repo, fake: Fake) -> None:
    sem.write("c.py", USER)
    sem.commit()
    refresh(sem)
    assert references(sem)["c.py:2"] == ("receiver", "possible")
    index_semantically(sem, RUN)
    assert references(sem) == {
        "b.py:1": ("semantic", "semantic"),
        "b.py:4": ("semantic", "semantic"),
        "c.py:2": ("semantic", "semantic"),
    }
    [edge] = edges(sem, "user", Direction.CALLEES)
    assert (edge["to"], edge["kind"], edge["tier"]) == ("a.py#alpha", "call", "semantic")
    callers = {(e["from"], e["tier"]) for e in edges(sem, "alpha", Direction.CALLERS)}
    assert callers == {("b.py#beta", "semantic"), ("c.py#user", "semantic")}
    sem.write("c.py", f"# moved\n{USER}")
    assert references(sem)["c.py:3"] == ("receiver", "possible")
    assert references(sem)["b.py:4"] == ("semantic", "semantic")
    with open_tree(sem.worktree, ".") as view:
        told = find_references(view, ReferenceQuery("alpha"))["semanticLayer"]
    assert told == {"current": 2, "stale": 1, "stalePaths": ["c.py"]}


BASES = """class Base:
    def run(self):
        return 1


class Impl(Base):
    def run(self):
        return 2
"""
USES = """def use(thing, table):
    thing.run()
    table.run()
    def helper():
        return 1
    return helper()


def late(thing):
    return thing.run()
"""
OTHER = """def other():
    def helper():
        return 2
    return helper()


from bases import Base

if unreachable:
    Base(1)
Base(2)
"""
MARKS = {
    "bases.py:1:Base": "=`bases`/Base#",
    "bases.py:2:run": "=`bases`/Base#run().",
    "bases.py:6:Impl": "=`bases`/Impl#",
    "bases.py:6:Base": "`bases`/Base#",
    "bases.py:7:run": "=`bases`/Impl#run().",
    "uses.py:1:use": "=`uses`/use().",
    "uses.py:2:run": "`bases`/Base#run().",
    "uses.py:3:run": "`tables`/Table#run().",
    "uses.py:4:helper": "=local 0",
    "uses.py:6:helper": "local 0",
    "uses.py:9:late": "=`uses`/late().",
    "other.py:1:other": "=`other`/other().",
    "other.py:2:helper": "=local 0",
    "other.py:4:helper": "local 0",
    "other.py:7:Base": "`bases`/Base#",
    "other.py:11:Base": "local 5",
}
KIN = {"`bases`/Impl#": "`bases`/Base#", "`bases`/Impl#run().": "`bases`/Base#run()."}


@pytest.fixture
def kin(sem: Repo, fake: Fake) -> Repo:
    """A class, one made from it, and calls that only an indexer understands."""
    for name, text in (("bases.py", BASES), ("uses.py", USES), ("other.py", OTHER)):
        sem.write(name, text)
    sem.commit("classes")
    refresh(sem)
    fake.say(sem.path.resolve(), MARKS, KIN)
    index_semantically(sem, RUN)
    return sem


def answer(repo: Repo, asked: str) -> dict[str, Any]:
    with open_tree(repo.worktree, ".") as view:
        return dict(find_references(view, ReferenceQuery(asked)))


def found(repo: Repo, asked: str) -> dict[str, tuple[str, str]]:
    return listed(answer(repo, asked))


def test_what_the_layer_knows_to_be_another_symbol_is_no_reference(kin: Repo) -> None:
    """Line 3 has the same name and is of a library; of line 10 the layer says nothing."""
    assert found(kin, "Base.run") == {
        "uses.py:2": ("semantic", "semantic"),
        "uses.py:10": ("receiver", "possible"),
    }


def test_where_the_layer_says_nothing_it_is_no_witness(kin: Repo) -> None:
    """Indexers skip what they cannot reach: line 10. Of line 11 it knows better."""
    assert found(kin, "bases.py#Base") == {
        "bases.py:6": ("semantic", "semantic"),
        "other.py:7": ("semantic", "semantic"),
        "other.py:10": ("import", "syntactic"),
    }


def test_a_call_of_the_base_may_mean_what_overrides_it(kin: Repo) -> None:
    assert found(kin, "Impl.run") == {
        "uses.py:2": ("dispatch", "semantic"),
        "uses.py:10": ("receiver", "possible"),
    }
    callers = {
        (e["from"], e["kind"], e["layer"]) for e in edges(kin, "Impl.run", Direction.CALLERS)
    }
    assert callers == {
        ("uses.py#use", "dynamic", "semantic"),
        ("uses.py#late", "dynamic", "syntactic"),
    }


def test_implementations_are_told(kin: Repo) -> None:
    def names(asked: str, field: str) -> list[str]:
        return [d["qualifiedName"] for d in answer(kin, asked).get(field, [])]

    assert names("Base", "implementedBy") == ["Impl"]
    assert names("Base.run", "implementedBy") == ["Impl.run"]
    assert names("Impl.run", "implements") == ["Base.run"]
    assert names("Impl.run", "implementedBy") == []
    assert "implements" not in answer(kin, "use")


def test_a_place_means_what_the_layer_says(kin: Repo) -> None:
    (definition,) = answer(kin, "uses.py:2:11")["definitions"]
    assert definition["qualifiedName"] == "Base.run"


def test_x6_a_local_of_one_file_is_never_that_of_another(kin: Repo) -> None:
    """Both files have a `local 0`."""
    assert found(kin, "uses.py:6:12") == {"uses.py:6": ("exact", "syntactic")}
    assert found(kin, "other.py#other.helper") == {"other.py:4": ("exact", "syntactic")}
    (edge,) = edges(kin, "other.py#other", Direction.CALLEES)
    assert (edge["to"], edge["layer"]) == ("other.py#other.helper", "syntactic")


def test_what_is_of_a_library_is_no_callee(kin: Repo) -> None:
    called = {
        (e["to"], e["kind"], e["tier"], e["layer"]) for e in edges(kin, "use", Direction.CALLEES)
    }
    assert called == {
        ("bases.py#Base.run", "call", "semantic", "semantic"),
        ("uses.py#use.helper", "call", "exact", "syntactic"),
    }


SOURCE_LAYOUT = {
    "src/pkg/core.py": "def build():\n    return 1\n\n\nclass Box:\n    def open(self):\n        return 2\n",
    "checks/check_core.py": "from pkg.core import Box, build\n\n\ndef check(box):\n"
    "    build()\n    Box().open()\n    box.open()\n",
}
TWO_IDENTITIES = {
    "src/pkg/core.py:1:build": "=`src.pkg.core`/build().",
    "src/pkg/core.py:5:Box": "=`src.pkg.core`/Box#",
    "src/pkg/core.py:6:open": "=`src.pkg.core`/Box#open().",
    "checks/check_core.py:1:Box": "`pkg.core`/Box#",
    "checks/check_core.py:1:build": "`pkg.core`/build().",
    "checks/check_core.py:4:check": "=`checks.check_core`/check().",
    "checks/check_core.py:5:build": "`pkg.core`/build().",
    "checks/check_core.py:6:Box": "`pkg.core`/Box#",
    "checks/check_core.py:6:open": "`pkg.core`/Box#open().",
    "checks/check_core.py:7:open": "`pkg.core`/Box#open().",
}


def test_the_two_identities_of_a_source_folder_are_one_symbol(sem: Repo, fake: Fake) -> None:
    for name, text in SOURCE_LAYOUT.items():
        sem.write(name, text)
    sem.commit("a source folder")
    refresh(sem)
    before = {name: set(found(sem, name)) for name in ("build", "Box", "Box.open")}
    calls = {e["to"] for e in edges(sem, "check", Direction.CALLEES)}
    fake.say(sem.path.resolve(), TWO_IDENTITIES, {})
    index_semantically(sem, RUN)
    for name, places in before.items():
        after = found(sem, name)
        assert places <= set(after)
        assert {tier for tier, _ in after.values()} == {"semantic"}, name
    assert calls <= {e["to"] for e in edges(sem, "check", Direction.CALLEES)}


def test_what_is_outside_says_the_indexer_is_kept_if_imports_lead_to_the_tree(
    sem: Repo, fake: Fake
) -> None:
    sem.write("lib/tool.py", "def make():\n    return 1\n")
    sem.write("lib/user.py", "from tool import make\n\n\ndef work():\n    make()\n")
    sem.commit("an import the indexer does not find")
    refresh(sem)
    marks = {
        "lib/tool.py:1:make": "=`lib.tool`/make().",
        "lib/user.py:1:make": "`elsewhere`/make().",
        "lib/user.py:4:work": "=`lib.user`/work().",
        "lib/user.py:5:make": "`elsewhere`/make().",
    }
    fake.say(sem.path.resolve(), marks, {})
    index_semantically(sem, RUN)
    assert set(found(sem, "make")) == {"lib/user.py:1", "lib/user.py:5"}
    assert [e["to"] for e in edges(sem, "work", Direction.CALLEES)] == ["lib/tool.py#make"]


def test_a_semantic_reference_may_begin_before_the_name(sem: Repo, fake: Fake) -> None:
    sem.write("c.py", USER)
    sem.commit()
    refresh(sem)
    fake.say(sem.path, {"a.py:1:alpha": "=`a`/alpha().", "c.py:2:thing.alpha": "`a`/alpha()."})
    index_semantically(sem, RUN)
    with open_tree(sem.worktree, ".") as view:
        answer = find_references(view, ReferenceQuery("alpha"))
    assert listed(answer)["c.py:2"] == ("semantic", "semantic")
    assert answer["accounted"]["aliased"] == 0
    assert answer["possible"] == []
