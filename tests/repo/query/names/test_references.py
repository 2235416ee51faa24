# ruff: noqa: E501 — sources read better on one line
"""References: import-aware tiers, aliases, positions, the absence certificate, and edits made a second ago."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gitindex.base.errors import GitIndexError
from gitindex.filestate.ambiguity import EditTarget
from gitindex.filestate.service import check_mutation_gate
from gitindex.freshness import envelope
from gitindex.query.absence import summary
from gitindex.query.names.finder import Finder
from gitindex.query.references import ReferenceQuery, brief_references, find_references
from gitindex.view.tree import NOW, TreeChoice, open_tree
from tests.support import Repo

FILES = {
    "pkg/__init__.py": "from .core import build as make\nfrom .shapes import *\n",
    "pkg/core.py": "LIMIT = 3\n\n\ndef build():\n    return LIMIT\n\n\nclass Engine:\n    def run(self):\n        return self.stop()\n\n    def stop(self):\n        return build()\n",
    "pkg/shapes.py": "from pkg.core import Engine\n\n\nclass Shape(Engine):\n    def __init__(self, motor: Engine):\n        self.motor = motor\n\n    def go(self):\n        self.motor.run()\n        return super().run()\n",
    "app.py": "import json\nimport pkg.core as core\nfrom pkg import make, Shape\n\n\ndef main(build):\n    shape = Shape(core.Engine())\n    shape.go()\n    json.run()\n    return make() + build + core.build()\n\n\ndef other(thing):\n    thing.run()\n",
    "web/util.ts": "export default function pad(s: string) { return s }\nexport const WIDTH = 2\nexport class Box { open() { return WIDTH } }\nconst inner = 1\nexport { inner as outer }\nexport function each(n: number, use: (box: Box, n: number) => void) {}\ntype Use = (box: Box) => void\nexport class Later { constructor(use?: Use | null) {} }\nexport function any<T extends Box>(use: (it: T) => void) {}\n",
    "web/app.ts": "import padding, { Box as Crate, outer } from './util'\nimport * as util from './util'\nconst box: Crate = new Crate()\nbox.open()\nexport const x = padding('a') + util.WIDTH + outer\ntest('a', () => { const padding = 1; return padding })\nutil.each(1, (one) => one.open())\nnew util.Later(it => it.open())\nutil.any(function (it) { it.open() })\n",
    "doc.txt": "call build first\n",
}


def filled(repo: Repo) -> Repo:
    return repo.index_files(FILES)


@pytest.fixture
def project(repo: Repo) -> Repo:
    """To be changed."""
    return filled(repo)


@pytest.fixture(scope="module")
def still(tmp_path_factory: pytest.TempPathFactory) -> Repo:
    """Only to be read: indexed once."""
    made = Repo(tmp_path_factory.mktemp("still") / "repo")
    made.init()
    return filled(made)


def ask(repo: Repo, name: str, how: TreeChoice = NOW, **fields: Any) -> dict[str, Any]:
    with open_tree(repo.worktree, ".", how) as view:
        return dict(find_references(view, ReferenceQuery(name, **fields)))


def places(repo: Repo, name: str, how: TreeChoice = NOW) -> set[tuple[str, int, str]]:
    answer = ask(repo, name, how)
    found = {(r["path"], r["line"], r["tier"]) for r in answer["references"]}
    return found | {
        (r["path"], r["line"], r["why"]) for r in answer["possible"] if r["why"] != "string"
    }


def test_a_list_is_cut_only_beyond_its_limit(still: Repo) -> None:
    whole = ask(still, "pkg.core.build")
    total = len(whole["references"])
    assert (whole["totalReferences"], whole["truncated"], total) == (total, False, 6)
    for limit, cut in ((total + 1, False), (total, False), (total - 1, True)):
        part = ask(still, "pkg.core.build", limit=limit)
        assert (part["truncated"], part["totalReferences"]) == (cut, total)
        assert part["references"] == whole["references"][:limit]
    assert [(row["line"], row["endLine"]) for row in whole["definitions"]] == [(4, 5)]


def test_a_brief_answer_lists_the_uses_of_the_long_one_only(still: Repo) -> None:
    whole = ask(still, "pkg.core.build")
    uses = [row for row in whole["references"] if row["role"] == "reference"]
    with open_tree(still.worktree, ".") as view:
        brief = brief_references(Finder(view, None), "pkg.core.build", 10)
        one = brief_references(Finder(view, None), "pkg.core.build", 1)
    assert [(row["path"], row["line"]) for row in brief.rows] == [
        (row["path"], row["line"]) for row in uses
    ]
    assert len(one.rows) == 1
    assert brief.possible == len(whole["possible"])


def test_a_function_that_goes_somewhere_as_a_value_is_counted(
    repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo.index_files(
        {
            "a.py": "def task():\n    pass\n\n\nclass Kind:\n    pass\n",
            "b.py": "from a import Kind, task\n\nrun = [task, Kind]\ntask()\n",
        }
    )
    assert ask(repo, "task")["handedOver"] == 1
    assert "handedOver" not in ask(repo, "Kind")
    monkeypatch.setattr("gitindex.query.references.MAX_TARGETS", 1)
    assert ask(repo, "task")["handedOver"] == 1, "as many as are examined"


def test_imports_aliases_and_modules_lead_to_a_function(still: Repo) -> None:
    assert places(still, "pkg.core.build") == {
        ("pkg/core.py", 13, "exact"),
        ("pkg/__init__.py", 1, "import"),
        ("app.py", 3, "import"),
        ("app.py", 10, "import"),
    }


def test_a_parameter_hides_a_function_of_the_same_name(still: Repo) -> None:
    columns = [r["column"] for r in ask(still, "build")["references"] if r["path"] == "app.py"]
    assert columns == [17, 12, 34]  # `make` twice and `core.build`; `build` is a parameter


def test_methods_by_declared_types_base_classes_and_by_name(still: Repo) -> None:
    assert places(still, "Engine.run") == {
        ("pkg/shapes.py", 9, "import"),
        ("pkg/shapes.py", 10, "import"),
        ("app.py", 14, "receiver"),
    }
    assert places(still, "Engine.stop") == {("pkg/core.py", 10, "exact")}
    assert places(still, "Shape.go") == {("app.py", 8, "import")}


UNIONS = {
    "either.py": """from __future__ import annotations
from typing import Optional, Union


class Box:
    def open(self):
        pass


class One:
    box: Box

    def work(self) -> One:
        return self


class Two:
    box: Box

    def work(self) -> Two:
        return self


class Three:
    def work(self):
        pass


class Both:
    own: Union[One, Two]

    def go(self):
        self.own.work()
        self.own.box.open()


def plain(x: One | Two):
    x.work()
    x.work().work()


def perhaps(x: Optional[One | Two], kind: type[One] | type[Two]):
    x.work()
    kind().work()


def not_known(x: One | missing.Two):
    x.work()


def one(x: One | None | str):
    x.work()
""",
    "either.ts": "class One { work() {} }\nclass Two { work() {} }\nfunction f(x: One | Two | null) { x.work() }\nfunction g(x: One | 'none' | (() => void)) { x.work() }\n",
}


def test_a_value_of_several_types_refers_to_the_members_of_all(repo: Repo) -> None:
    repo.index_files(UNIONS)
    lines = UNIONS["either.py"].splitlines()
    uses = [n for n, line in enumerate(lines, 1) if line.endswith(".work()")]
    for name in ("One.work", "Two.work"):
        told = ask(repo, name, path="either.py")
        found = {(r["line"], r["tier"]) for r in told["references"] if r["path"] == "either.py"}
        only = {(uses[-1], "exact")} if name == "One.work" else set()
        assert found == {(n, "exact") for n in uses[:-2]} | only, name
        maybe = {r["line"]: r["why"] for r in told["possible"] if r["path"] == "either.py"}
        assert maybe == {uses[-2]: "receiver"}, name
    three = ask(repo, "Three.work")
    assert (three["references"], three["accounted"]["possible"]) == ([], 1)
    assert [r["text"] for r in ask(repo, "Box.open")["references"]] == ["self.own.box.open()"]
    for line, expected in ((1, {3, 4}), (2, {3})):
        told = ask(repo, f"either.ts:{line}:13")
        assert {r["line"] for r in told["references"]} == expected, line


def test_a_star_import_passes_names_on(still: Repo) -> None:
    assert ("app.py", 7, "import") in places(still, "Shape")


def test_typescript_default_renamed_and_namespaces(still: Repo) -> None:
    assert places(still, "pad") == {("web/app.ts", 1, "import"), ("web/app.ts", 5, "import")}
    assert places(still, "WIDTH") == {("web/util.ts", 3, "exact"), ("web/app.ts", 5, "import")}
    assert ("web/app.ts", 5, "import") in places(still, "inner")
    assert places(still, "Box.open") == {
        *(("web/app.ts", line, "import") for line in (4, 7)),
        *(("web/app.ts", line, "receiver") for line in (8, 9)),
    }
    assert places(still, "Later.constructor") == {("web/app.ts", 8, "import")}
    assert ("web/app.ts", 3, "import") in places(still, "Box")


def test_the_envelope(still: Repo) -> None:
    answer = ask(still, "Engine.stop")
    [found] = answer["references"]
    assert found == {
        "path": "pkg/core.py",
        "line": 10,
        "column": 21,
        "endColumn": 25,
        "columnUtf16": 21,
        "endColumnUtf16": 25,
        "role": "reference",
        "use": "call",
        "tier": "exact",
        "text": "return self.stop()",
        "enclosing": "Engine.run",
        "layer": "syntactic",
        "source": f"index@{still.tree()}",
    }
    [definition] = answer["definitions"]
    assert (definition["qualifiedName"], definition["line"]) == ("Engine.stop", 12)
    assert answer["complete"]
    assert answer["possible"] == answer["unexplained"] == []
    assert answer["accounted"] == {
        "definitions": 1,
        "references": 1,
        "possible": 0,
        "unlikely": 0,
        "elsewhere": 0,
        "prose": 0,
        "total": 2,
        "aliased": 0,
        "decoded": 0,
    }
    assert (answer["accountedFor"], answer["absent"], answer["assumes"]) == (True, False, [])
    assert not answer["truncated"]
    assert answer["freshness"]["state"] == "fresh"
    assert answer["receipt"]["treeId"] == still.tree()


def test_a_place_names_what_stands_there(still: Repo) -> None:
    shape = ask(still, "app.py:7:8")
    assert (shape["definitions"][0]["line"], shape["references"][0]["line"]) == (7, 8)
    local = ask(still, "app.py:10:21")
    assert [(r["line"], r["column"]) for r in local["references"]] == [(10, 21)]
    [declared] = local["definitions"]
    assert (declared["kind"], declared["line"], declared["column"]) == ("parameter", 6, 10)
    assert (declared["endLine"], declared["exported"]) == (6, False)
    assert local["complete"]
    through = ask(still, "app.py:10:34")
    assert [d["path"] for d in through["definitions"]] == ["pkg/core.py"]


def test_roles_paths_and_limits(still: Repo) -> None:
    assert {r["path"] for r in ask(still, "build", role="import")["references"]} == {
        "pkg/__init__.py",
        "app.py",
    }
    assert {r["path"] for r in ask(still, "build", path="pkg")["references"]} == {
        "pkg/core.py",
        "pkg/__init__.py",
    }
    cut = ask(still, "build", limit=1)
    assert len(cut["references"]) == 1
    assert cut["truncated"]
    assert cut["totalReferences"] == 6


def test_columns_in_bytes_and_in_utf16(repo: Repo) -> None:
    repo.write("a.py", "def f(x):\n    pass\n\n\ny = '\U0001f600é' + f('é')\n")
    repo.commit()
    repo.index()
    [found] = ask(repo, "f")["references"]
    assert (found["column"], found["columnUtf16"], found["endColumnUtf16"]) == (16, 13, 14)


def test_a_line_that_begins_with_a_wide_character(repo: Repo) -> None:
    repo.index_files({"a.py": "def f():\n    pass\n\n\né = f()\n"})
    [found] = ask(repo, "f")["references"]
    assert (found["column"], found["columnUtf16"], found["endColumnUtf16"]) == (6, 5, 6)


def test_a_list_is_bounded_and_what_is_unlikely_is_counted_only(repo: Repo) -> None:
    calls = "f()\n" * 1_001
    other = "class A:\n    def f(self):\n        pass\n\n\nA().f()\n"
    repo.index_files({"a.py": f"def f():\n    pass\n\n\n{calls}", "b.py": other})
    assert len(ask(repo, "a.f")["references"]) == 100
    whole = ask(repo, "a.f", limit=5_000)
    assert (len(whole["references"]), whole["totalReferences"]) == (1_000, 1_001)
    assert whole["accounted"]["unlikely"] > 0
    assert not whole.get("unlikely")
    assert ask(repo, "a.f", everything=True)["unlikely"]


def test_a_certificate_lists_what_no_fact_explains(project: Repo) -> None:
    answer = ask(project, "build")
    assert answer["complete"], answer["unexplained"]
    assert answer["mentions"] == {"documents": 1}
    assert not answer.get("mentioned"), "they are counted; listed where they are asked for"
    project.write("dyn.py", "# build is fine in a comment\nname = 'pkg.core.build'\n")
    project.write("conf.json", '{"run": "build"}\n')
    project.write("page.html", "<p>build</p>\n")
    project.write("told.py", "x = 'we build it, build first'\n")
    answer = ask(project, "build", mentions=True)
    assert answer["mentions"] == {"comments": 1, "strings": 2, "documents": 1}
    assert {m["path"] for m in answer["mentioned"]} == {"dyn.py", "told.py", "doc.txt"}
    strings = {("dyn.py", "string"), ("conf.json", "string"), ("page.html", "string")}
    assert {(m["path"], m["why"]) for m in answer["possible"]} == strings
    project.write("broken.py", "def broken(:\n    build((\n")
    project.write("reads.py", "import pkg\ngetattr(pkg, 'build')\n")
    project.write("odd.pl", "build();\n")
    project.write("notes.ipynb", '{"cells": [{"source": ["from pkg.core import build"]}]}\n')
    answer = ask(project, "build")
    assert not answer["complete"]
    found = {(m["path"], m["why"]) for m in answer["unexplained"]}
    assert found == strings | {
        ("broken.py", "not_parsed"),
        ("reads.py", "string"),
        ("odd.pl", "not_parsed"),
        ("notes.ipynb", "not_parsed"),
    }


def test_many_files_that_only_look_alike_leave_nothing_unchecked(repo: Repo) -> None:
    """They hold the name as a part of other words, the name itself is nowhere else."""
    repo.write("a.py", "def session_store():\n    pass\n\n\nsession_store()\n")
    for number in range(450):
        repo.write(f"m{number}.py", f"# sessions restored: {number}; station_store\nx = 1\n")
    repo.commit()
    repo.index()
    answer = ask(repo, "session_store")
    assert (answer["complete"], answer["coverage"]["unchecked"]) == (True, 0)


def test_no_references_is_said_with_a_proof(project: Repo) -> None:
    project.write("lonely.py", "def nobody_calls_this():\n    pass\n")
    answer = ask(project, "nobody_calls_this")
    assert answer["reasons"] == ["no file imports its module: what loads it may use it"]
    project.write("loads.py", "import lonely\n")
    answer = ask(project, "nobody_calls_this")
    assert answer["references"] == []
    assert answer["absent"]
    assert summary(answer) == "nobody uses it: its only occurrence accounted for"
    shown = project.gitindex("refs", "nobody_calls_this").stdout
    assert "-- nobody uses it: its only occurrence accounted for" in shown
    project.write(".gitattributes", "old.py linguist-vendored\n")
    project.write("old.py", "nobody_calls_this()\n")
    project.commit()
    answer = ask(project, "nobody_calls_this")
    assert answer["references"] == []
    assert not answer["complete"]
    assert [(m["path"], m["why"]) for m in answer["unexplained"]] == [("old.py", "not_parsed")]
    assert answer["coverage"]["skipped"] == 1


def test_annotations_in_strings(repo: Repo) -> None:
    repo.write(
        "a.py",
        "class Late: pass\n\n\ndef f(x: 'Late') -> 'list[Late]':\n    return {'Late': x['Late']}\n",
    )
    repo.commit()
    repo.index()
    answer = ask(repo, "Late")
    assert [(r["line"], r["column"], r["use"]) for r in answer["references"]] == [
        (4, 11, "type"),
        (4, 27, "type"),
    ]
    assert [m["why"] for m in answer["possible"]] == ["string", "string"]


DISPATCH = {
    "python": (
        {
            "base.py": "class Base:\n    def run(self):\n        return self.step()\n\n    def step(self):\n        raise NotImplementedError\n",
            "child.py": "from base import Base as Root\n\n\nclass Child(Root):\n    def step(self):\n        return 1\n",
        },
        "Child.step",
        {("base.py", 3)},
    ),
    "java": (
        {
            "p/Shape.java": "package p;\ninterface Shape { int area(); }\n",
            "p/Square.java": "package p;\nclass Square implements Shape { public int area() { return 1; } }\n",
            "p/Use.java": "package p;\nclass Use { int use(Shape s) { return s.area(); } }\n",
        },
        "Square.area",
        {("p/Use.java", 2)},
    ),
    "go": (
        {
            "go.mod": "module m\n",
            "a.go": "package m\n\ntype Shape interface{ Area() int }\n\ntype Square struct{}\n\nfunc (s Square) Area() int { return 1 }\n\nfunc use(s Shape) int {\n\treturn s.Area()\n}\n",
        },
        "Square.Area",
        {("a.go", 10)},
    ),
    "typescript": (
        {
            "a.ts": "export interface Shape { area(): number }\nexport class Square { area() { return 1 } }\nexport function use(s: Shape) {\n  return s.area()\n}\n",
        },
        "Square.area",
        {("a.ts", 4)},
    ),
    "csharp": (
        {
            "a.cs": "class Base { public virtual int Area() { return 0; } }\nclass Square : Base { public override int Area() { return 1; } }\nclass Use { int Go(Base b) {\nreturn b.Area(); } }\n",
        },
        "Square.Area",
        {("a.cs", 4)},
    ),
    "diamond": (
        {
            "a.py": "class One:\n    def go(self):\n        return self.step()\n\n    def step(self):\n        pass\n\n\nclass Two:\n    def step(self):\n        pass\n\n\nclass Both(Two, One):\n    pass\n",
        },
        "Two.step",
        {("a.py", 3)},
    ),
}


@pytest.mark.parametrize("case", DISPATCH)
def test_a_call_of_a_base_is_a_reference_of_what_overrides_it(repo: Repo, case: str) -> None:
    files, name, expected = DISPATCH[case]
    repo.index_files(files)
    assert places(repo, name) == {(path, line, "dispatch") for path, line in expected}


UNPROVEN = {
    "exec": ({"rules.py": "def build():\n    pass\n", "S.py": "build()\n"}, "unbound"),
    "path tricks": (
        {
            "pkg/__init__.py": "",
            "pkg/rules.py": "def build():\n    pass\n",
            "pkg/run.py": "from rules import build\nbuild()\n",
        },
        "unbound",
    ),
    "inferred type": (
        {
            "a.py": "class A:\n    def build(self):\n        pass\n\n\nclass B:\n    def build(self):\n        pass\n\n\ndef use(b: B):\n    b.build()\n"
        },
        "unlikely",
    ),
}


@pytest.mark.parametrize("case", UNPROVEN)
def test_what_is_only_inferred_is_no_proof(repo: Repo, case: str) -> None:
    files, why = UNPROVEN[case]
    repo.index_files(files)
    answer = ask(repo, "A.build" if case == "inferred type" else "build", everything=True)
    assert not answer["complete"]
    assert {m["why"] for m in answer["possible"]} == ({why} - {"unlikely"})
    assert bool(answer["unlikely"]) == (why == "unlikely")


def test_an_item_of_all_is_a_reference(repo: Repo) -> None:
    repo.write("pkg/core.py", "def build():\n    pass\n")
    repo.write("pkg/__init__.py", "from .core import build\n\n__all__ = ['build']\n")
    repo.write("other.py", "def build():\n    pass\n\n\n__all__ = ['build']\n")
    repo.commit()
    repo.index()
    assert ("pkg/__init__.py", 3, "import") in places(repo, "pkg.core.build")
    answer = ask(repo, "pkg.core.build")
    assert answer["complete"], answer["unexplained"]
    assert "other.py" not in {r["path"] for r in answer["references"]}


def edit(repo: Repo) -> None:
    repo.write("app.py", "from pkg.core import build\n\nbuild()\n")


def new_file(repo: Repo) -> None:
    repo.write("fresh.py", "from pkg.core import build\n\nbuild()\n")


def delete(repo: Repo) -> None:
    (repo.path / "app.py").unlink()


def stash(repo: Repo) -> None:
    edit(repo)
    repo.git("stash", "-q")


def reset(repo: Repo) -> None:
    edit(repo)
    repo.commit("second")
    repo.git("reset", "-q", "--hard", "HEAD~1")


def amend(repo: Repo) -> None:
    edit(repo)
    repo.git("commit", "-q", "-a", "--amend", "-m", "amended")


def commit(repo: Repo) -> None:
    edit(repo)
    repo.commit("second")


BEFORE = {("app.py", 3), ("app.py", 10), ("pkg/__init__.py", 1), ("pkg/core.py", 13)}
EDITED = {("app.py", 1), ("app.py", 3), ("pkg/__init__.py", 1), ("pkg/core.py", 13)}
SILENT: list[tuple[Callable[[Repo], None], set[tuple[str, int]]]] = [
    (edit, EDITED),
    (new_file, BEFORE | {("fresh.py", 1), ("fresh.py", 3)}),
    (delete, {("pkg/__init__.py", 1), ("pkg/core.py", 13)}),
    (stash, BEFORE),
    (reset, BEFORE),
    (amend, EDITED),
    (commit, EDITED),
]


@pytest.mark.parametrize(("operate", "expected"), SILENT, ids=[f.__name__ for f, _ in SILENT])
def test_q24_the_next_answer_sees_it(
    project: Repo, operate: Callable[[Repo], None], expected: set[tuple[str, int]]
) -> None:
    operate(project)
    assert {(path, line) for path, line, _ in places(project, "build")} == expected


def test_an_edit_says_that_it_comes_from_the_worktree(project: Repo) -> None:
    new_file(project)
    sources = {r["path"]: r["source"] for r in ask(project, "build")["references"]}
    assert sources["fresh.py"] == "worktree"
    assert sources["app.py"].startswith("index@")


def test_a_definition_moved_a_second_ago(project: Repo) -> None:
    project.write("pkg/core.py", FILES["pkg/core.py"].replace("def build", "def assemble"))
    assert places(project, "assemble") == set()
    assert ask(project, "build")["definitions"] == []


def test_any_commit_and_the_staged_tree(project: Repo) -> None:
    edit(project)
    project.git("add", "app.py")
    project.write("app.py", "")
    at = TreeChoice(at="HEAD")
    assert {p for p, _, _ in places(project, "build", at)} == {
        "app.py",
        "pkg/core.py",
        "pkg/__init__.py",
    }
    assert ("app.py", 1, "import") in places(project, "build", TreeChoice(staged=True))
    assert "app.py" not in {p for p, _, _ in places(project, "build")}


def test_the_command(still: Repo) -> None:
    done = still.gitindex("refs", "Engine.stop")
    assert done.returncode == 0
    assert "[exact call in Engine.run]" in done.stdout
    assert "pkg/core.py:10:21  " in done.stdout
    assert still.gitindex("refs", "core.py:10:21", cwd=Path(still.path, "pkg")).returncode == 0
    assert json.loads(still.gitindex("refs", "nosuchname", "--json").stdout)["complete"]
    assert still.gitindex("refs", "nosuchname").returncode == 1
    assert still.gitindex("refs", "x", "--role", "wrong").returncode == 2
    assert still.gitindex("refs", "app.py:999:1").returncode == 2
    assert still.gitindex("refs", "build", "--at", "nosuchrevision").returncode == 2


def test_a_closed_gate_is_an_answer(repo: Repo) -> None:
    repo.write("a.py", "")
    repo.commit()
    done = repo.gitindex("refs", "a", "--json")
    assert (done.returncode, json.loads(done.stdout)["status"]) == (3, "not_indexed")


def test_what_is_no_name_is_refused_and_never_called_absent(still: Repo) -> None:
    """The text cannot show that something is nowhere which is no identifier."""
    called = ask(still, "build()")
    assert called["references"] == ask(still, "build")["references"]
    for asked in ("def build", "build(", "core.build + 1", "nope.py:1:1", "pkg/gone.py:3"):
        with pytest.raises(GitIndexError, match=r"not a name|not in the tree"):
            ask(still, asked)


def test_an_odd_name_is_never_complete(repo: Repo) -> None:
    repo.write("a.md", "# Getting started\n\nAs in Getting started.\n")
    repo.commit()
    repo.index()
    answer = ask(repo, "Getting started")
    assert (len(answer["definitions"]), answer["complete"]) == (1, False)


MENTIONS = {
    "module of an import": ("web/b.ts", "import { Knob } from './Knob'\nnew Knob()\n", True),
    "module of an export": ("web/b.ts", "export { Knob } from './Knob'\n", True),
    "line comment": ("web/b.ts", "// a `Knob`, or 'Knob'\n", True),
    "block comment": ("web/b.ts", "/**\n * A `Knob`.\n */\nexport const b = 1\n", True),
    "python comment": ("b.py", "# a 'Knob'\n", True),
    "dynamic import": ("web/b.ts", "const m = import('./Knob')\n", False),
    "string": ("web/b.ts", "make('Knob')\n", False),
    "words of a text": ("web/b.ts", "make('a Knob, or a Knob.')\n", True),
    "index": ("web/b.ts", "export const k = window['Knob']\n", False),
    "index after a comment": ("web/b.ts", "/* x */ make(all['Knob'])\n", False),
    "expression in a string": ("web/b.ts", "const s = `\n// ${all['Knob']}`\n", False),
    "code in a string": ("web/b.ts", "const s = `${Knob}`\n", False),
    "python string": ("b.py", "x = getattr(m, 'Knob')  # yes\n", False),
    "exported list": ("b.py", "__all__ = ['a', 'Knob']\n", False),
    "patch": ("b.py", "mock.patch('web.Knob')\n", False),
    "string beside eval": ("b.py", "eval(x)\ny = 'Knob'\n", False),
}


@pytest.mark.parametrize("case", MENTIONS)
def test_comments_are_explained_and_strings_that_some_access_reads_are_not(
    repo: Repo, case: str
) -> None:
    path, text, complete = MENTIONS[case]
    repo.write("web/Knob.ts", "export class Knob {}\n")
    repo.write(path, text)
    repo.commit()
    repo.index()
    answer = ask(repo, "Knob")
    assert answer["complete"] is complete, answer["unexplained"]


def test_an_unexplained_place_has_both_columns(repo: Repo) -> None:
    repo.write("a.py", "def Knob(): pass\nx = '😀', getattr(y, 'Knob')\n")
    repo.commit()
    repo.index()
    [found] = ask(repo, "Knob")["unexplained"]
    assert (found["line"], found["column"], found["columnUtf16"]) == (2, 25, 23)
    assert (found["endColumn"], found["endColumnUtf16"]) == (29, 27)


def test_the_last_line_says_how_many_uses_there_are_and_of_what_kind(still: Repo) -> None:
    assert summary(ask(still, "build")) == "6 references; all 7 occurrences accounted for"
    assert summary(ask(still, "Engine.run")) == (
        "2 references, 1 possible; all 5 occurrences accounted for"
    )


def test_a_path_narrows_everything_that_is_printed(repo: Repo) -> None:
    repo.write("a/core.py", "def widget():\n    return 1\n")
    repo.write("a/use.py", "from a.core import widget\n\nwidget()\n# widget\n")
    repo.write("b/other.py", "def f(x):\n    return x.widget()\n\n# widget\n")
    repo.write("b/notes.txt", "the widget\n")
    repo.commit()
    repo.index()
    whole, part = ask(repo, "a/core.py#widget"), ask(repo, "a/core.py#widget", path="a")
    open_below_b = [row for row in whole["unexplained"] if row["path"].startswith("b/")]
    assert not [row for row in part["unexplained"] if row["path"].startswith("b/")]
    assert open_below_b
    for field in ("complete", "accounted", "absent", "mentions"):
        assert part[field] == whole[field], "said of the whole tree"
    shown = repo.gitindex("refs", "a/core.py#widget", "--path", "a", "--mentions").stdout
    assert "b/" not in shown


IMPLICIT = """class Box:
    def __init__(self):
        self.held = {}

    def __setitem__(self, key, value):
        self.held[key] = value

    def plain(self):
        return 1


def use():
    box = Box()
    box["a"] = box.plain()
"""


@pytest.mark.parametrize("name", ["__setitem__", "__init__"])
def test_what_syntax_calls_without_its_name_is_never_absent(repo: Repo, name: str) -> None:
    repo.write("box.py", IMPLICIT)
    repo.commit("box")
    repo.index()
    for command in ("refs", "callers"):
        answer = repo.answer(command, f"box.py#Box.{name}")
        assert answer["absent"] is False, command
        assert answer["reasons"] == ["syntax or a framework calls it without its name"]
    assert repo.answer("refs", "box.py#Box.plain")["complete"] is True
    targets = [
        EditTarget("box.py", f"Box.{symbol}") for symbol in ("__setitem__", "__init__", "plain")
    ]
    with open_tree(repo.worktree, str(repo.path)) as view:
        verdicts = [check_mutation_gate(view, [target])["status"] for target in targets]
    assert verdicts == ["needs_decision", "ok", "ok"]


def test_a_function_that_is_handed_over_is_told_as_such(repo: Repo) -> None:
    """What calls it from there does not name it: the mutation gate's samples found such callers."""
    repo.write(
        "a.py",
        "def helper():\n    return 1\n\n\ndef plain():\n    return helper()\n\n\nhook = helper\n\n\n"
        "@register\ndef wrapped():\n    return plain()\n",
    )
    repo.commit()
    repo.index()
    told = {
        name: repo.answer("refs", name).get("handedOver") for name in ("helper", "plain", "wrapped")
    }
    assert told == {"helper": 1, "plain": None, "wrapped": 1}
    assert "passed as a value in 1 place" in repo.gitindex("refs", "helper").stdout
    assert "passed as a value" not in repo.gitindex("refs", "plain").stdout


UNNAMED = {
    "web.py": "import flask\napp = flask.Flask()\n\n\n@app.before_request\ndef hooked(): pass\n",
    "plain.py": "import functools\n\n\n@functools.cache\ndef cached_only(): pass\n",
    "m_test.go": 'package m\n\nimport "testing"\n\nfunc TestRun(t *testing.T) {}\n',
    "lib.rs": "#[test]\nfn checks() {}\n\n#[inline]\nfn inlined_only() {}\n",
    "use.js": "app.use(function handed (a) {})\nfunction make () {\n  return function returned () {}\n}\nmake()\nfunction declared_only () {}\n",
    "split.c": "static int\nsplit_only(void)\n{ return 1; }\n",
    "ci.yml": "permissions: read\n",
    "loads.py": "import plain, web\n",
    "loads.js": "import './use.js'\n",
}


def test_what_is_used_where_it_stands_is_never_absent(repo: Repo) -> None:
    repo.index_files(UNNAMED)
    for name in ("hooked", "TestRun", "checks", "handed", "returned", "permissions"):
        answer = ask(repo, name)
        assert (answer["absent"], len(answer["reasons"])) == (False, 1), name
    for name in ("cached_only", "inlined_only", "declared_only", "split_only"):
        assert ask(repo, name)["absent"], name
    assert "handedOver" not in ask(repo, "split_only")


LOCAL_IMPORTS = {
    "src/lib.rs": "mod a;\nmod b;\nfn f() {\n    use crate::a::same;\n    same();\n}\nfn g() {\n    use crate::b::same;\n    same();\n}\n",
    "src/a.rs": "pub fn same() {}\n",
    "src/b.rs": "pub fn same() {}\n",
    "Cargo.toml": '[package]\nname = "q"\nversion = "0.1.0"\n',
    "m.go": "package m\n\ntype Match struct{ Found int }\n\nfunc read(m *Match) int {\n\tgot := m.Found\n\treturn got + got\n}\n",
}


def test_an_import_inside_a_function_of_rust_ends_with_it(repo: Repo) -> None:
    repo.index_files(LOCAL_IMPORTS)
    lines = [row["line"] for row in ask(repo, "src/a.rs#same")["references"]]
    assert lines == [4, 5]
    assert [row["line"] for row in ask(repo, "src/b.rs#same")["references"]] == [8, 9]


def test_a_variable_with_the_value_of_a_field_is_not_the_field(repo: Repo) -> None:
    repo.index_files(LOCAL_IMPORTS)
    assert [row["line"] for row in ask(repo, "Match.Found")["references"]] == [6]


def test_what_a_submodule_may_use_is_not_absent(repo: Repo) -> None:
    repo.write("lone.py", "def lone(): pass\n")
    repo.git("update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},lib")
    repo.git("add", "lone.py")
    repo.git("commit", "-qm", "with a submodule")
    repo.index()
    answer = ask(repo, "lone")
    assert (answer["complete"], answer["absent"]) == (True, False)
    assert answer["leftOut"] == {"submodules": ["lib"]}


def test_a_repository_inside_that_is_no_submodule_is_no_part_of_this_one(repo: Repo) -> None:
    repo.index_files({"a.py": "def alone():\n    pass\n", "loads.py": "import a\n"})
    inner = Repo(repo.path / "inner")
    inner.init()
    inner.write("use.py", "from a import alone\n")
    inner.commit()
    assert repo.git("status", "--porcelain").split() == ["??", "inner/"]
    answer = ask(repo, "alone")
    assert (answer["complete"], answer["absent"]) == (True, True)
    repo.git("add", "inner")
    answer = ask(repo, "alone")
    assert not answer["absent"]
    assert answer["leftOut"] == {"submodules": ["inner"]}


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("no.such", "no symbol no.such"),
        ("gorilla/mux", "no symbol gorilla/mux"),
        ("Engine.build", "no symbol Engine.build"),
        ("pkg/core.py#nothing", "no symbol pkg/core.py#nothing"),
        ("two words", "not a name: two words"),
    ],
)
def test_what_is_no_symbol_is_no_absence(still: Repo, asked: str, said: str) -> None:
    done = still.gitindex("refs", asked)
    assert said in done.stderr
    assert done.returncode == (2 if "not a name" in said else 1)
    assert done.stdout == ""


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("9x", "not a name: 9x"),
        ("nofile.py#helper", "not in the tree: nofile.py"),
        ("pkg#helper", "not in the tree: pkg"),
        ("nofile.py:3", "not in the tree: nofile.py"),
        ("nofile.py:3:1", "not in the tree: nofile.py"),
        ("app.py:0", "no line 0: "),
        ("app.py:999", "no line 999: "),
        ("app.py:999:1", "no line 999: "),
    ],
)
@pytest.mark.parametrize("command", ["refs", "callers", "callees", "graph", "rename"])
def test_what_cannot_be_asked_is_a_wrong_request(
    still: Repo, command: str, asked: str, said: str
) -> None:
    done = still.gitindex(command, asked, *(["new"] if command == "rename" else []))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"gitindex: {said}")


@pytest.mark.parametrize("command", ["refs", "callers", "callees", "graph"])
def test_a_proper_name_that_is_nowhere_is_not_found(still: Repo, command: str) -> None:
    for asked in ("unheard_of", "_", "émile", "app.py#unheard_of"):
        assert still.gitindex(command, asked).returncode == 1


def test_a_name_that_nothing_defines_is_not_absent(still: Repo) -> None:
    done = still.gitindex("refs", "unheard_of")
    assert (done.stdout, done.returncode) == ("", 1)
    assert "no symbol unheard_of" in done.stderr
    answer = ask(still, "unheard_of")
    assert answer["complete"]
    assert not answer["absent"]


def test_a_variable_of_a_function_is_none_of_a_name_that_nothing_defines(repo: Repo) -> None:
    source = (
        "def f(thing):\n    flash = 1\n    return flash\n\n\ndef g(thing):\n    thing.flash()\n"
    )
    repo.index_files({"a.py": source})
    answer = ask(repo, "flash")
    assert not answer["absent"]
    assert [(row["line"], row["why"]) for row in answer["possible"]] == [(7, "receiver")]
    assert answer["accounted"]["elsewhere"] == 2


def test_local_imports_without_scopes_leave_a_name_open(repo: Repo) -> None:
    """Scala imports inside functions, PHP names functions by their namespace."""
    repo.index_files(
        {
            "lib.scala": "package lib\nobject Util { def helper(x: Int): Int = x }\n",
            "use.scala": "class Main {\n  def run(): Int = { import lib.Util._; helper(1) }\n"
            "  def helper(): Int = 3\n}\n",
            "A/f.php": "<?php\nnamespace A;\nfunction go() {}\n",
            "m.php": "<?php\nnamespace B;\nfunction main() { \\A\\go(); }\n",
        }
    )
    for name in ("Util.helper", "go"):
        answer = ask(repo, name)
        assert not answer["accounted"]["unlikely"]
        assert answer["references"] or answer["possible"]


def test_a_name_with_more_definitions_than_are_examined_is_possible(repo: Repo) -> None:
    """Each place would mean any of them; 30,000 definitions took longer than 100 s."""
    one = "class C{0}:\n    def same(self):\n        return {0}\n\n"
    files = {f"m{f}.py": "".join(one.format(i) for i in range(1000)) for f in range(6)}
    repo.index_files(files | {"use.py": "import m0\n\nm0.C1().same()\n"})
    answer = ask(repo, "same")
    assert answer["accounted"]["definitions"] == 6000
    assert [(p["path"], p["why"]) for p in answer["possible"]] == [("use.py", "budget")]
    assert answer["accountedFor"]
    assert not answer["complete"]
    assert "it has more definitions than are examined" in answer["reasons"]
    assert [r["path"] for r in ask(repo, "m0.py#C1.same")["references"]] == ["use.py"]


TYPED = {
    "shapes.py": "class Box:\n    def open(self): ...\n\n\nclass Lid:\n    def close(self): ...\n",
    "use.py": """from typing import Optional, TypeVar
import shapes
from shapes import Box, Lid

T = TypeVar("T", bound="Box")


async def made() -> "Optional[shapes.Box]": ...


def of(one: T, many: "list[Box]", pair: tuple[Lid, Box], it: Box | None = None):
    one.open()  # bound
    for each in many:
        each.open()  # each
    lid, box = pair
    box.open()  # second
    (it or Box()).open()


async def later(it=None):
    box = await made()
    box.open()  # awaited
    self_box = it or Box()
    either = Box() if it else None
    either.open()  # first choice
    try:
        pass
    except (Box, Lid) as error:
        error.open()  # one of two
""",
    "shapes.ts": "export class Box { open() {} }\nexport interface Has { box: Box, all: readonly Box[], make(): Promise<Box> }\n",
    "use.ts": """import { Box, Has } from './shapes'
class Holder {
  private box = new Box()
  other?: Box | undefined
  run(has: Has, [one, two]: [number, Box]) {
    this.box.open() // field
    this.other!.open() // optional
    has.box.open() // of an interface
    for (const each of has.all) each.open() // each
  }
  async later(has: Has) { (await has.make()).open() } // awaited
}
function boxed(has: Has) {
  const { box, all: many } = has
  box.open() // destructured
  return many
}
const made = (): Box => new Box()
made().open() // result of an arrow
""",
}


def test_types_of_python_and_typescript_are_read_from_the_tree(repo: Repo) -> None:
    repo.index_files(TYPED)
    for path in ("shapes.py", "shapes.ts"):
        answer = ask(repo, f"{path}#Box.open")
        lines = {(r["path"], r["text"]) for r in answer["references"]}
        use = path.replace("shapes", "use")
        told = [line.strip() for line in TYPED[use].splitlines() if ".open() " in line]
        assert {text for where, text in lines if where == use} == set(told)


def test_a_key_of_a_literal_with_a_declared_type_is_a_field(repo: Repo) -> None:
    repo.index_files(
        {
            "a.ts": "export interface Size { wide: number, high: number }\nexport interface Other { wide: number }\n",
            "b.ts": "import { Size, Other } from './a'\nconst high = 1\nexport const one: Size = { wide: 1, high }\nexport function two(): Other { return { wide: 2 } }\n",
        }
    )
    assert places(repo, "Size.wide") == {("b.ts", 3, "import")}
    assert places(repo, "Other.wide") == {("b.ts", 4, "import")}


def test_a_key_of_a_foreign_struct_of_go_is_no_function(repo: Repo) -> None:
    """`&sync.Pool{New: …}`: the tree does not have the type; its exported keys are fields."""
    use = 'package z\n\nimport "sync"\n\nvar pool = &sync.Pool{New: nil}\nvar all = map[any]int{New: 1}\n'
    repo.index_files(
        {
            "go.mod": "module x.y/z\n",
            "m.go": "package z\n\nfunc New() any { return 1 }\n",
            "u.go": use,
        }
    )
    answer = repo.answer("refs", "m.go:3:6")
    assert [row["line"] for row in answer["references"]] == [6]
    assert [row["line"] for row in answer["possible"]] == [5]
    repo.write("m.go", "package z\n\nfunc Make() any { return 1 }\n")
    dangling = repo.answer("impact", "--dangling")["dangling"]
    assert [row["line"] for row in dangling] == [6]


def test_a_definition_says_where_its_name_ends(repo: Repo) -> None:
    """In bytes, and in UTF-16 units as editors count."""
    repo.index_files({"a.py": "x = 'é'; größe = 1\n\n\ndef later():\n    return größe\n"})
    [defined] = ask(repo, "größe")["definitions"]
    assert (defined["line"], defined["column"], defined["endColumn"]) == (1, 11, 18)
    assert (defined["columnUtf16"], defined["endColumnUtf16"]) == (10, 15)


def test_a_word_in_a_comment_of_any_grammar_is_prose(repo: Repo) -> None:
    repo.index_files({"a.rs": "fn alone() {}\n// alone in a comment\n"})
    answer = ask(repo, "alone")
    assert (answer["possible"], answer["mentions"]) == ([], {"comments": 1})
    assert answer["complete"]


def test_an_assumption_says_where_code_breaks_it(repo: Repo) -> None:
    repo.index_files({"web.py": "import app\n\n\n@app.route\ndef handler():\n    pass\n"})
    [assumed] = ask(repo, "handler")["assumes"]
    assert assumed == {"assumption": "framework", "places": 1, "first": "web.py:4"}


def test_a_line_is_shown_from_its_first_word(repo: Repo) -> None:
    deep = " " * 900 + "print(alone(), '" + "é" * 300 + "')"
    repo.index_files({"a.py": f"def alone():\n    pass\n\n\nif alone:\n{deep}\n"})
    texts = [row["text"] for row in ask(repo, "alone")["references"]]
    assert texts == ["if alone:", "print(alone(), '" + "é" * 184]


def test_edits_beyond_the_limit_are_not_searched(
    repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo.index_files({"a.py": "def alone():\n    pass\n", "b.py": "x = 1\n", "c.py": "x = 2\n"})
    monkeypatch.setattr(envelope, "MAX_PATHS", 1)
    repo.write("b.py", "from a import alone\n")
    repo.write("c.py", "from a import alone\n")
    answer = ask(repo, "alone")
    assert answer["coverage"]["unchecked"] == 1
    assert not answer["accountedFor"]
    assert summary(answer).endswith("found, 1 file not searched")
