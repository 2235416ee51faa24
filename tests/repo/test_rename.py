# ruff: noqa: E501 — sources read better on one line
"""Renames: a patch with its proof, applied whole or not at all; the program still does the same."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from gitindex.base.errors import GitIndexError
from gitindex.edit.apply import apply_edits
from gitindex.edit.patch import FileEdit
from gitindex.edit.rename import RenameRequest, plan_rename
from gitindex.query.references import ReferenceQuery, find_references
from gitindex.view.tree import open_tree
from tests.support import Repo

FILES = {
    "pkg/__init__.py": "from pkg.core import build as make\n",
    "pkg/core.py": "LIMIT = 3\n\n\ndef build(n):\n    return n + LIMIT\n\n\nclass Engine:\n    def run(self):\n        return self.step()\n\n    def step(self):\n        return build(1)\n",
    "pkg/fast.py": "from pkg.core import Engine\n\n\nclass Fast(Engine):\n    def step(self):\n        return 10\n",
    "main.py": "import pkg.core\nfrom pkg import make\nfrom pkg.core import Engine\nfrom pkg.fast import Fast\n\n\ndef main(build):\n    return [make(2), pkg.core.build(3), build, Engine().run(), Fast().run()]\n\n\nprint(main(7))\n",
    "notes.md": "Call build first.\n",
}


@pytest.fixture
def project(repo: Repo) -> Repo:
    return repo.index_files(FILES)


def output(repo: Repo) -> str:
    done = subprocess.run(
        [sys.executable, "-B", "main.py"], cwd=repo.path, capture_output=True, text=True, check=True
    )
    return done.stdout


RENAMES = {
    "pkg.core.build": ("assemble", {"pkg/core.py", "pkg/__init__.py", "main.py"}),
    "Engine.step": ("advance", {"pkg/core.py", "pkg/fast.py"}),
    "Fast.step": ("advance", {"pkg/core.py", "pkg/fast.py"}),
    "Engine": ("Motor", {"pkg/core.py", "pkg/fast.py", "main.py"}),
    "LIMIT": ("BOUND", {"pkg/core.py"}),
}


@pytest.mark.parametrize("symbol", RENAMES)
def test_a_renamed_program_does_the_same(project: Repo, symbol: str) -> None:
    new, files = RENAMES[symbol]
    before = output(project)
    done = project.gitindex("rename", symbol, new, "--apply", "--json")
    answer = json.loads(done.stdout)
    assert done.returncode == 0, answer["blocked"]
    assert answer["applied"]
    assert {f["path"] for f in answer["files"]} == files
    assert output(project) == before
    old = symbol.rpartition(".")[2]
    with open_tree(project.worktree, ".") as view:
        left = find_references(view, ReferenceQuery(old))
    assert (left["references"], left["definitions"], left["complete"]) == ([], [], True)
    assert project.git("status", "--porcelain").count("\n") == len(files)


def test_a_preview_writes_nothing_and_git_takes_its_patch(project: Repo) -> None:
    done = project.gitindex("rename", "pkg.core.build", "assemble", "--json")
    answer = json.loads(done.stdout)
    assert (answer["applies"], answer["applied"]) == (True, False)
    assert project.git("status", "--porcelain") == ""
    assert answer["mentions"] == {"documents": 1}
    assert all(place["proof"] and place["tier"] != "name" for place in answer["places"])
    patch = Path(project.path, "..", "p.patch").resolve()
    patch.write_text(answer["patch"])
    project.git("apply", "--check", str(patch))


def test_what_is_not_proven_is_not_applied(project: Repo) -> None:
    project.write("odd.py", "def use(thing):\n    return thing.step()\n")
    done = project.gitindex("rename", "Engine.step", "advance", "--apply")
    assert done.returncode == 1
    assert "only the name is the same" in done.stdout
    assert "def step" in (project.path / "pkg/core.py").read_text()
    done = project.gitindex("rename", "Engine.step", "advance", "--apply", "--force", "odd.py:2")
    assert done.returncode == 0, done.stdout
    assert "thing.advance()" in (project.path / "odd.py").read_text()


BLOCKED = {
    "taken": ({}, "Engine", "LIMIT", "used there already"),
    "string": (
        {"dyn.py": "import pkg.core\ngetattr(pkg.core, 'build')\n"},
        "pkg.core.build",
        "assemble",
        "not complete",
    ),
    "computed attribute": (
        {
            "visitor.py": "class Visitor:\n    def visit(self, node):\n        return getattr(self, 'visit_' + node.kind)(node)\n",
            "walk.py": "from visitor import Visitor\n\n\nclass Walk(Visitor):\n    def visit_leaf(self, node):\n        return node\n",
        },
        "Walk.visit_leaf",
        "leaf",
        "visitor.py: a class there reads attributes by computed names",
    ),
    "path in a string": (
        {"settings.py": "LOADED = ['pkg.core.Engine', 'other.Engine']\n"},
        "Engine",
        "Motor",
        "settings.py:1: a path in a text",
    ),
    "entry point": (
        {"setup.cfg": "[options.entry_points]\nconsole_scripts =\n    x = pkg.core:build\n"},
        "pkg.core.build",
        "assemble",
        "setup.cfg:3: a path in a text",
    ),
    "listed module": (
        {"all.py": "import pkg.core\n\nNAMES = sorted(vars(pkg.core))\n"},
        "pkg.core.build",
        "assemble",
        "all.py:3: names of the module are listed there",
    ),
    "listed module that passes it on": (
        {
            "pkg/__init__.py": "from .core import *\n",
            "all.py": "import pkg as p\n\n\ndef names():\n    return vars(p)\n",
        },
        "pkg.core.build",
        "assemble",
        "all.py:5: names of the module are listed there",
    ),
    "either of two classes": (
        {
            "two.py": "class One:\n    def work(self):\n        pass\n\n\nclass Two:\n    def work(self):\n        pass\n\n\nclass Both:\n    def __init__(self, own: One | Two):\n        self.own: One | Two = own\n\n    def go(self):\n        self.own.work()\n"
        },
        "One.work",
        "toil",
        "two.py:16: only the name is the same, or a type that is not proven",
    ),
    "a repr in a string": (
        {"told.py": "TEXT = 'Engine(3) was made'\n"},
        "Engine",
        "Motor",
        "told.py:1: a text as `repr` gives it",
    ),
    "a visitor": (
        {
            "visit.py": "class Visitor:\n    def visit(self, node):\n        return getattr(self, f'visit_{type(node).__name__}')(node)\n\n    def visit_Engine(self, node):\n        return node\n"
        },
        "Engine",
        "Motor",
        "visit.py:5: visit_Engine may be found by the class's name",
    ),
    "a member of a base": (
        {
            "up.py": "class Up:\n    def run(self):\n        return self.stop()\n\n    def stop(self):\n        return 1\n",
            "low.py": "from up import Up\n\n\nclass Low(Up):\n    def halt(self):\n        return 2\n",
        },
        "Low.halt",
        "stop",
        "up.py:3: stop may be a member of a class above or below",
    ),
    "a special method": (
        {"low.py": "class Low:\n    def halt(self):\n        return 0\n"},
        "Low.halt",
        "__len__",
        "__len__ is special in a class",
    ),
    "left out by a star": (
        {"low.py": "def halt():\n    pass\n", "t.py": "from low import *\n\nhalt()\n"},
        "halt",
        "_halt",
        "t.py:1: a star leaves out names",
    ),
    "given by a star": (
        {"low.py": "def halt():\n    pass\n", "t.py": "from low import *\n\nprint(len([]))\n"},
        "halt",
        "len",
        "t.py:1: the star may bring len in",
    ),
    "a submodule": (
        {
            "box/__init__.py": "from .low import halt\n",
            "box/low.py": "def halt():\n    pass\n",
            "box/end.py": "",
        },
        "halt",
        "end",
        "box/__init__.py: the package has a module end",
    ),
    "shown": (
        {"low.py": "halt = 3\nprint(f'{halt=}')\n"},
        "halt",
        "end",
        "low.py:2: the text `name=` is shown there",
    ),
    "a fixture": (
        {
            "low.py": "import pytest\n\n\n@pytest.fixture(\n    scope='module'\n)\ndef halt():\n    return 1\n"
        },
        "halt",
        "end",
        "pytest gives a fixture to parameters of its name",
    ),
    "a doctest": (
        {"low.py": 'def halt():\n    """\n    >>> halt()\n    """\n'},
        "halt",
        "end",
        "low.py:3: an example that doctest runs",
    ),
    "a built-in": ({"old.py": "zip = zip\n"}, "zip", "pairs", "the language has zip, too"),
    "outside base": (
        {
            "out.py": "import enum\n\n\nclass Odd(enum.Enum):\n    def label(self):\n        return 1\n"
        },
        "Odd.label",
        "title",
        "base class",
    ),
}


@pytest.mark.parametrize("case", BLOCKED)
def test_what_stands_in_the_way(clean: Repo, case: str) -> None:
    files, symbol, new, why = BLOCKED[case]
    for name, text in files.items():
        clean.write(name, text)
    with open_tree(clean.worktree, ".") as view:
        plan = plan_rename(view, RenameRequest(symbol, new))
    assert any(why in reason for reason in plan.blocked), plan.blocked


def test_names_are_checked(project: Repo) -> None:
    with open_tree(project.worktree, ".") as view:
        for symbol, new in (
            ("Engine", "a b"),
            ("Engine", "class"),
            ("Engine", "Engine"),
            ("nosuch", "x"),
            ("step", "x"),
        ):
            with pytest.raises(GitIndexError):
                plan_rename(view, RenameRequest(symbol, new))


def test_all_files_or_none(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("old a\n")
    (tmp_path / "b").write_text("changed meanwhile\n")
    edits = [FileEdit("a", b"old a\n", b"new a\n"), FileEdit("b", b"old b\n", b"new b\n")]
    with pytest.raises(GitIndexError, match="changed since"):
        apply_edits(str(tmp_path), edits)
    assert (tmp_path / "a").read_text() == "old a\n"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a", "b"]
    with pytest.raises(GitIndexError, match="inside"):
        apply_edits(str(tmp_path), [FileEdit(".git/config", b"", b"x")])
    (tmp_path / "link").symlink_to("a")
    with pytest.raises(GitIndexError):
        apply_edits(str(tmp_path), [FileEdit("link", b"old a\n", b"new\n")])


def test_constructors_and_prototypes_are_renamed_with_their_symbol(repo: Repo) -> None:
    repo.index_files(
        {
            "Many.java": "class Low {\n  Low(int n) { }\n  Low copy() { return new Low(2); }\n}\n",
            "f.h": "int compute(int a);\n",
            "f.c": '#include "f.h"\nint compute(int a) { return a; }\n',
        }
    )
    with open_tree(repo.worktree, ".") as view:
        java = plan_rename(view, RenameRequest("Many.java#Low", "Deep"))
        c = plan_rename(view, RenameRequest("f.c#compute", "work"))
        low = find_references(view, ReferenceQuery("Many.java:1:7"))
    assert b"Low" not in java.edits[0].new
    assert {edit.path for edit in c.edits} == {"f.c", "f.h"}
    assert [(r["line"], r["column"]) for r in low["references"]] == [(3, 3), (3, 27)]
