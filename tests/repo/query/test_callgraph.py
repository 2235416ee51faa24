# ruff: noqa: E501 — sources read better on one line
"""The call graph: edges with site, kind and tier; notes by the contract; pictures that escape."""

from __future__ import annotations

import json
import os
from typing import Any
from xml.etree import ElementTree

import pytest

from gitindex.base.vocabulary import Direction
from gitindex.query.callgraph.answer import GraphQuery, call_graph
from gitindex.query.callgraph.drawing import to_dot, to_mermaid, to_svg
from gitindex.query.callgraph.walk import TRUNCATED, GraphNote, note_fields
from gitindex.view.tree import NOW, TreeChoice, open_tree
from tests.support import Repo

FILES = {
    "core.py": "class Base:\n    def run(self):\n        return helper()\n\n\nclass Sub(Base):\n    def run(self):\n        return super().run()\n\n\ndef helper():\n    return deep()\n\n\ndef deep():\n    return 1\n",
    "app.py": "from core import Sub, helper\n\n\ndef main(thing):\n    Sub().run()\n    thing.run()\n    return map(helper, [])\n\n\nhelper()\n",
    "many.py": "".join(f"class C{i}:\n    def poll(self):\n        pass\n\n\n" for i in range(7)),
    "use.py": "def go(x):\n    x.poll()\n    eval('1')\n    x.setdefault(1)\n",
    "store.py": "class Store:\n    def setdefault(self, key):\n        pass\n\n\ndef own():\n    Store().setdefault(1)\n",
}


def fill(repo: Repo) -> Repo:
    return repo.index_files(FILES)


@pytest.fixture(scope="module")
def still(tmp_path_factory: pytest.TempPathFactory) -> Repo:
    """Only to be read: indexed once."""
    made = Repo(tmp_path_factory.mktemp("still") / "repo")
    made.init()
    return fill(made)


def ask(repo: Repo, symbol: str, how: TreeChoice = NOW, **fields: Any) -> Any:
    with open_tree(repo.worktree, ".", how) as view:
        return call_graph(view, GraphQuery(symbol, **fields))


def edges(answer: dict[str, Any]) -> set[tuple[str, str, str, int, str]]:
    return {(e["from"], e["to"], e["kind"], e["site"]["line"], e["tier"]) for e in answer["edges"]}


def test_callers(still: Repo) -> None:
    answer = ask(still, "helper", direction=Direction.CALLERS)
    assert edges(answer) == {
        ("core.py#Base.run", "core.py#helper", "call", 3, "exact"),
        ("app.py", "core.py#helper", "call", 10, "import"),
        ("app.py#main", "core.py#helper", "dynamic", 7, "import"),
    }
    assert answer["complete"]
    assert answer["root"] == "core.py#helper"
    [module] = [n for n in answer["nodes"] if n["id"] == "app.py"]
    assert module == {
        "id": "app.py",
        "name": "app.py",
        "kind": "module",
        "path": "app.py",
        "line": 1,
    }


def test_callees_and_unknown_receivers(still: Repo) -> None:
    answer = ask(still, "main", direction=Direction.CALLEES)
    assert edges(answer) == {
        ("app.py#main", "core.py#helper", "call", 7, "import"),  # by map
        ("app.py#main", "core.py#Sub", "call", 5, "import"),
        ("app.py#main", "core.py#Sub.run", "call", 5, "import"),
        ("app.py#main", "core.py#Sub.run", "dynamic", 6, "name"),
        ("app.py#main", "core.py#Base.run", "dynamic", 6, "name"),
    }
    assert "complete" not in answer


def test_inheritance_and_super(still: Repo) -> None:
    assert ("core.py#Sub", "core.py#Base", "inherit", 6, "exact") in edges(ask(still, "Base"))
    assert ("core.py#Sub.run", "core.py#Base.run", "call", 8, "exact") in edges(
        ask(still, "Base.run")
    )


def test_depth_and_limits(still: Repo) -> None:
    near = ask(still, "deep", direction=Direction.CALLERS)
    far = ask(still, "deep", direction=Direction.CALLERS, depth=3)
    assert near["nodeCount"] == 2
    assert far["nodeCount"] > 4
    cut = ask(still, "deep", direction=Direction.CALLERS, depth=3, limit=3)
    assert (cut["nodeCount"], cut["truncated"]) == (3, True)
    assert far == ask(still, "deep", direction=Direction.CALLERS, depth=3)


def test_a_place_a_node_and_a_file(still: Repo) -> None:
    assert ask(still, "core.py:12")["root"] == "core.py#helper"
    assert ask(still, "core.py#helper")["root"] == "core.py#helper"
    answer = ask(still, "core.py", direction=Direction.CALLERS)
    assert edges(answer) == {("app.py", "core.py", "import", 1, "import")}


def test_an_ambiguous_name_is_a_choice(still: Repo) -> None:
    answer = ask(still, "run")
    assert answer["status"] == "ambiguous"
    assert {c["id"] for c in answer["candidates"]} == {"core.py#Base.run", "core.py#Sub.run"}
    assert ask(still, "nosuch")["status"] == "not_found"


def test_notes_tell_what_is_not_known(still: Repo) -> None:
    answer = ask(still, "go", direction=Direction.CALLEES)
    assert answer["edges"] == []
    notes = {(n["type"], n["symbolId"], n["startLine"]) for n in answer["notes"]}
    assert {("unresolved_receiver", "use.py#go", line) for line in (2, 4)} <= notes
    callers = edges(ask(still, "setdefault", direction=Direction.CALLERS))
    assert {(start, kind) for start, _, kind, _, _ in callers} == {
        ("use.py#go", "dynamic"),
        ("store.py#own", "call"),
    }
    assert ("eval_exec", None, None) in notes
    cut = ask(still, "go", direction=Direction.CALLEES, note_limit=1)
    assert (cut["notesTruncated"], cut["returnedNoteCount"]) == (True, 1)
    assert cut["totalNoteCount"] == answer["totalNoteCount"]
    assert cut["warnings"] == [TRUNCATED]


def test_g14_the_order_of_notes_is_that_of_bytes() -> None:
    notes = [
        GraphNote("z.py", "star_import", None, None, "a"),
        GraphNote("ä.py", "eval_exec", None, None, "b"),
        GraphNote("I.py", "eval_exec", None, None, "c"),
        GraphNote("ı.py", "eval_exec", None, None, "d"),
        GraphNote("z.py", "eval_exec", "z.py#b", None, "e"),
        GraphNote("z.py", "eval_exec", "z.py#a", 9, "f"),
        GraphNote("z.py", "eval_exec", "z.py#a", None, "g"),
        GraphNote("z.py", "eval_exec", None, 1, "h"),
        GraphNote("gone.py", "eval_exec", None, 1, "not a file of the graph"),
        GraphNote("z.py", "eval_exec", "gone", 1, "not a symbol of the graph"),
    ]
    files = {"z.py", "ä.py", "I.py", "ı.py"}
    fields = note_fields(reversed(notes), files, {"z.py#a", "z.py#b"}, 100)
    assert [n["detail"] for n in fields["notes"]] == ["c", "f", "g", "e", "h", "a", "b", "d"]
    assert (fields["notesTruncated"], fields["totalNoteCount"]) == (False, 8)


def test_g14_same_bytes_in_every_locale(repo: Repo) -> None:
    repo.write("İstanbul.py", "from ısı import ılık\n\n\ndef Iş():\n    ılık()\n    eval('1')\n")
    repo.write("ısı.py", "def ılık():\n    exec('1')\n")
    repo.commit()
    repo.index()
    told = [
        repo.gitindex("graph", "ılık", "--format", form, env={"LC_ALL": locale}).stdout
        for form in ("json", "svg")
        for locale in ("C", "tr_TR.UTF-8")
    ]
    assert told[0] == told[1]
    assert told[2] == told[3]
    assert json.loads(told[0])["edgeCount"] == 1


HOSTILE = 'a"];<script>alert(1)</script>&\\n]-->.py'


def test_pictures_escape_what_a_repository_calls_things(repo: Repo) -> None:
    repo.write(HOSTILE, "def f():\n    g()\n\n\ndef g():\n    pass\n")
    repo.commit()
    repo.index()
    answer = ask(repo, "g")
    assert answer["edgeCount"] == 1
    svg = to_svg(answer)
    titles = [e.text for e in ElementTree.fromstring(svg).iter() if e.tag.endswith("title")]
    assert f"{HOSTILE}#g" in titles
    assert "<script" not in svg + to_mermaid(answer)
    assert to_mermaid(answer).count('"') == 2 * answer["nodeCount"]
    labels = [line for line in to_dot(answer).splitlines() if "label=" in line]
    assert all(line.replace("\\\\", "").replace('\\"', "").count('"') == 2 for line in labels)


def test_odd_names_and_paths(repo: Repo) -> None:
    odd = os.fsdecode(b"caf\xe9\x1b[31m.py")
    (repo.path / odd).write_bytes(b"def f():\n    f()\n")
    repo.commit()
    repo.index()
    answer = ask(repo, "f")
    assert answer["nodes"][0]["path"] == "caf\\xe9\\x1b[31m.py"
    assert "pathBytes" in answer["nodes"][0]
    done = repo.gitindex("callers", "f")
    assert "\x1b" not in done.stdout
    assert done.returncode == 0


def test_the_next_answer_sees_an_edit(repo: Repo) -> None:
    fill(repo)
    repo.write("app.py", "from core import deep\n\n\ndef fresh():\n    deep()\n")
    assert ("app.py#fresh", "core.py#deep", "call", 5, "import") in edges(ask(repo, "deep"))
    assert ask(repo, "helper", direction=Direction.CALLERS)["nodeCount"] == 2
    repo.git("checkout", "-q", "app.py")
    assert ask(repo, "helper", direction=Direction.CALLERS)["nodeCount"] == 4
    (repo.path / "core.py").unlink()
    assert ask(repo, "helper")["status"] == "not_found"
    assert ask(repo, "helper", TreeChoice(at="HEAD"))["status"] == "ok"


def test_the_commands(still: Repo) -> None:
    done = still.gitindex("callers", "helper")
    assert done.returncode == 0
    assert "<- core.py#Base.run" in done.stdout
    assert "occurrences accounted for" in done.stdout
    assert still.gitindex("callees", "deep").returncode == 1
    assert "digraph" in still.gitindex("graph", "helper", "-f", "dot").stdout
    assert still.gitindex("graph", "run").returncode == 1
    assert still.gitindex("graph", "run", "--format", "png").returncode == 2
    assert still.gitindex("graph", "run", "--direction", "up").returncode == 2


def test_an_overload_set_is_asked_by_its_body(repo: Repo) -> None:
    repo.write(
        "a.ts",
        "export function f(a: string): void;\nexport function f(a: number): void;\nexport function f(a: any) { g() }\nfunction g() {}\n",
    )
    repo.write(
        "b.py",
        "import typing\n\n\n@typing.overload\ndef h(a: int) -> None: ...\n@typing.overload\ndef h(a: str) -> None: ...\ndef h(a):\n    return k()\n\n\ndef k():\n    pass\n",
    )
    repo.commit()
    repo.index()
    for name, called in (("f", "a.ts#g"), ("h", "b.py#k")):
        answer = ask(repo, name, direction=Direction.CALLEES)
        assert [edge["to"] for edge in answer["edges"]] == [called]


def test_a_picture_has_a_ground_and_the_root_in_the_middle(still: Repo) -> None:
    picture = ElementTree.fromstring(to_svg(ask(still, "helper")))
    rects = picture.findall("{http://www.w3.org/2000/svg}rect")
    assert rects[0].get("fill") == "#fff"
    [root] = [
        g for g in picture.iter("{http://www.w3.org/2000/svg}g") if g[0].text == "core.py#helper"
    ]
    middle = float(root[1].get("y", 0)) + float(root[1].get("height", 0)) / 2
    assert abs(middle - float(picture.get("height", 0)) / 2) < 10
