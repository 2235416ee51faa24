"""A scripted editor drives `gitindex lsp` on a real repository, unsaved text included."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.lsp_client import LspClient
from tests.support import Repo

UTIL = (
    "class Box:\n    def open(self):\n        return helper()\n\n\ndef helper():\n    return 42\n"
)
APP = "from lib.util import helper\n\n\ndef main():\n    wörter = 'ä€😀'; helper()\n    return helper()\n"


@pytest.fixture
def project(repo: Repo) -> Repo:
    repo.write("lib/__init__.py", "")
    repo.write("lib/util.py", UTIL)
    repo.write("app.py", APP)
    repo.commit()
    repo.index()
    return repo


@pytest.fixture
def editor(project: Repo) -> Iterator[LspClient]:
    client = LspClient(project.path)
    yield client
    client.kill()


@pytest.fixture(scope="module")
def shapes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LspClient]:
    repo = Repo(tmp_path_factory.mktemp("shapes") / "repo")
    repo.init()
    repo.index_files(SHAPES)
    client = LspClient(repo.path)
    yield client
    client.kill()


def at(uri: str, line: int, character: int) -> dict[str, Any]:
    return {"textDocument": {"uri": uri}, "position": {"line": line, "character": character}}


def places(found: list[dict[str, Any]]) -> list[tuple[str, int, int]]:
    return sorted((one["uri"].rpartition("/")[2], *one["range"]["start"].values()) for one in found)


def test_symbols_of_the_workspace_and_of_a_file(editor: LspClient) -> None:
    found = editor.ask("workspace/symbol", query="help")
    assert [(one["name"], one["location"]["range"]["start"]) for one in found] == [
        ("helper", {"line": 5, "character": 4})
    ]
    uri = editor.open("lib/util.py")
    tree = editor.ask("textDocument/documentSymbol", textDocument={"uri": uri})
    assert [(one["name"], [c["name"] for c in one.get("children", [])]) for one in tree] == [
        ("Box", ["open"]),
        ("helper", []),
    ]


def test_definition_counts_utf16_units(editor: LspClient) -> None:
    uri = editor.open("app.py")
    column = len("    wörter = 'ä€😀'; ".encode("utf-16-le")) // 2
    assert places(editor.ask("textDocument/definition", **at(uri, 4, column + 1))) == [
        ("util.py", 5, 4)
    ]
    found = editor.ask(
        "textDocument/references", **at(uri, 5, 12), context={"includeDeclaration": True}
    )
    assert ("app.py", 4, column) in places(found)
    assert ("util.py", 5, 4) in places(found)


def test_calls_in_both_directions(editor: LspClient) -> None:
    uri = editor.open("lib/util.py")
    [item] = editor.ask("textDocument/prepareCallHierarchy", **at(uri, 5, 5))
    assert item["name"] == "helper"
    callers = editor.ask("callHierarchy/incomingCalls", item=item)
    assert sorted(one["from"]["name"] for one in callers) == ["main", "open"]
    [main] = [one["from"] for one in callers if one["from"]["name"] == "main"]
    called = editor.ask("callHierarchy/outgoingCalls", item=main)
    assert [one["to"]["name"] for one in called] == ["helper"]


def test_unsaved_text_is_answered_from_and_nothing_is_written(
    editor: LspClient, project: Repo
) -> None:
    uri = editor.open("lib/util.py")
    editor.change(uri, UTIL.replace("helper", "rescuer") + "\n\ndef brand_new():\n    pass\n")
    [found] = editor.ask("workspace/symbol", query="brand_new")
    assert found["location"]["range"]["start"] == {"line": 9, "character": 4}
    assert editor.ask("workspace/symbol", query="rescuer")
    tree = editor.ask("textDocument/documentSymbol", textDocument={"uri": uri})
    assert [one["name"] for one in tree] == ["Box", "rescuer", "brand_new"]
    editor.notify("textDocument/didClose", textDocument={"uri": uri})
    assert not editor.ask("workspace/symbol", query="brand_new")
    assert project.git("status", "--porcelain") == ""


def test_nonsense_is_answered_and_the_server_ends(editor: LspClient, project: Repo) -> None:
    uri = editor.open("app.py")
    assert editor.ask("textDocument/definition", **at(uri, 900, 4)) == []
    assert editor.ask("textDocument/definition", **at("file:///nowhere/x.py", 0, 0)) == []
    assert editor.ask("workspace/symbol", query="") == []
    assert editor.close() == 0


def test_without_an_index_there_are_no_answers_and_no_errors(repo: Repo) -> None:
    repo.write("a.py", "def one():\n    pass\n")
    repo.commit()
    editor = LspClient(repo.path)
    assert editor.ask("workspace/symbol", query="one") == []
    assert editor.close() == 0


def test_hover_and_highlights(editor: LspClient) -> None:
    uri = editor.open("app.py")
    shown = editor.ask("textDocument/hover", **at(uri, 5, 12))
    assert shown["contents"]["value"] == "`def helper()` — lib/util.py:6"
    assert editor.ask("textDocument/hover", **at(uri, 2, 0)) is None
    found = editor.ask("textDocument/documentHighlight", **at(uri, 5, 12))
    assert sorted(one["range"]["start"]["line"] for one in found) == [0, 4, 5]


def test_any_question_is_asked_with_unsaved_text(editor: LspClient, project: Repo) -> None:
    uri = editor.open("app.py", APP + "\n\ndef unsaved_function():\n    pass\n")

    def ask(question: str, **params: Any) -> dict[str, Any]:
        answer: dict[str, Any] = editor.ask(
            "workspace/executeCommand", command="gitindex.ask", arguments=[question, params, uri]
        )
        return answer

    found = ask("symbols", name="unsaved_function")
    assert [row["path"] for row in found["symbols"]] == ["app.py"]
    assert "app.py:9" in found["text"][0]
    assert ask("search", query="helper")["results"]
    assert "no such question" in ask("nonsense")["message"]
    assert ask("refs")["message"] == "refs needs symbol"
    assert ask("refs", nme="x")["message"] == "refs has no parameter nme"
    state = editor.ask("workspace/executeCommand", command="gitindex.status", arguments=[uri])
    assert state["state"] == "fresh"
    outside = editor.ask(
        "workspace/executeCommand", command="gitindex.status", arguments=["file:///"]
    )
    assert outside["state"] == "none"


def test_letters_in_order_find_a_symbol(editor: LspClient) -> None:
    [found] = editor.ask("workspace/symbol", query="hlpr")
    assert (found["name"], found["location"]["range"]["start"]["line"]) == ("helper", 5)


def test_rename_edits_what_the_editor_holds(editor: LspClient, project: Repo) -> None:
    uri = editor.open("app.py", f"# ä€😀 unsaved\n{APP}")
    edit = editor.ask("textDocument/rename", **at(uri, 6, 12), newName="rescue")
    lines = {
        file.rpartition("/")[2]: [(one["range"]["start"]["line"], one["newText"]) for one in edits]
        for file, edits in edit["changes"].items()
    }
    assert lines == {
        "util.py": [(2, "        return rescue()"), (5, "def rescue():")],
        "app.py": [
            (1, "from lib.util import rescue"),
            (5, "    wörter = 'ä€😀'; rescue()"),
            (6, "    return rescue()"),
        ],
    }
    assert project.git("status", "--porcelain") == ""


def test_a_blocked_rename_says_why(editor: LspClient) -> None:
    uri = editor.open("app.py")
    answer = editor.answer("textDocument/rename", **at(uri, 5, 12), newName="main")
    assert "main" in answer["error"]["message"]
    answer = editor.answer("textDocument/rename", **at(uri, 2, 0), newName="other")
    assert answer["error"]["message"]


@pytest.mark.parametrize("wanted", [False, True])
def test_code_lenses_count_callers(project: Repo, wanted: bool) -> None:
    editor = LspClient(project.path, codeLens=wanted)
    uri = editor.open("lib/util.py")
    found = editor.ask("textDocument/codeLens", textDocument={"uri": uri})
    titles = [(one["range"]["start"]["line"], one["command"]["title"]) for one in found]
    assert titles == ([(0, "0 callers"), (1, "0 callers"), (5, "2 callers")] if wanted else [])
    assert editor.close() == 0


SHAPES = {
    "shapes.py": "class Shape:\n    def area(self): ...\n\n\nclass Square(Shape):\n"
    "    def area(self): return 1\n\n\nclass Tiny(Square):\n    def area(self): return 0\n\n\n"
    "class Plot:\n    def area(self): return 5\n\n\ndef total(one: Shape):\n    return one.area()\n",
    "s.go": "package s\n\ntype Shape interface { Area() int; Name() string }\ntype Sq struct{}\n"
    'func (s Sq) Area() int { return 1 }\nfunc (s *Sq) Name() string { return "" }\n'
    "type Plot struct{}\nfunc (p Plot) Area() int { return 2 }\n",
    "s.ts": "interface Shape { area(): number }\nclass Sq implements Shape { area() { return 1 } }\n"
    "class Big extends Sq { area() { return 9 } }\n",
    "src/lib.rs": "trait Shape { fn area(&self) -> i32; }\nstruct Sq;\nstruct Plot;\n"
    "impl Shape for Sq { fn area(&self) -> i32 { 1 } }\nimpl Plot { pub fn area(&self) -> i32 { 2 } }\n"
    "impl Sq { pub fn area(&self) -> i32 { 2 } }\n",
}


@pytest.mark.parametrize(
    ("file", "line", "character", "found"),
    [
        ("shapes.py", 0, 7, [(4, 6), (8, 6)]),
        ("shapes.py", 1, 9, [(5, 8), (9, 8)]),
        ("shapes.py", 5, 9, [(9, 8)]),
        ("shapes.py", 9, 9, []),
        ("shapes.py", 13, 9, []),
        ("shapes.py", 17, 16, [(5, 8), (9, 8)]),
        ("shapes.py", 2, 0, []),
        ("s.go", 2, 6, [(3, 5)]),
        ("s.go", 2, 24, [(4, 12)]),
        ("s.ts", 0, 11, [(1, 6), (2, 6)]),
        ("s.ts", 0, 19, [(1, 28), (2, 23)]),
        ("src/lib.rs", 0, 7, [(1, 7)]),
        ("src/lib.rs", 0, 18, [(3, 23)]),
    ],
)
def test_implementations_are_what_overrides_or_implements(
    shapes: LspClient, file: str, line: int, character: int, found: list[tuple[int, int]]
) -> None:
    uri = shapes.open(file)
    answer = places(shapes.ask("textDocument/implementation", **at(uri, line, character)))
    assert answer == [(file.rpartition("/")[2], *place) for place in found]


def test_an_implementation_that_is_not_saved_is_found(shapes: LspClient) -> None:
    text = SHAPES["shapes.py"].replace("class Plot:", "class Plot(Shape):")
    uri = shapes.open("shapes.py", text)
    answer = places(shapes.ask("textDocument/implementation", **at(uri, 1, 9)))
    assert answer == [("shapes.py", line, 8) for line in (5, 9, 13)]
