# ruff: noqa: E501 — sources read better on one line
"""Renames: a patch with its proof, applied whole or not at all; the program still does the same."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from gitindex.base.errors import GitIndexError
from gitindex.edit.patch import FileEdit
from gitindex.edit.rename import RenameRequest, apply_edits, plan_rename
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


def test_the_count_is_what_changes(clean: Repo) -> None:
    clean.write("a.py", "def f():\n    return 1\n\n\nf()\nf()\n")
    clean.commit()
    clean.index()
    assert "-- 3 places in 1 file;" in clean.gitindex("rename", "f", "g").stdout


def test_a_possible_place_blocks_until_it_is_included(project: Repo) -> None:
    project.write("odd.py", "def use(thing):\n    return thing.step()\n")
    done = project.gitindex("rename", "Engine.step", "advance", "--apply")
    assert done.returncode == 1
    assert "odd.py:2: a member of something of unknown type: return thing.step()" in done.stdout
    assert "def step" in (project.path / "pkg/core.py").read_text()
    command = done.stdout.splitlines()[-1]
    assert command == "gitindex rename Engine.step advance --include-possible --apply"
    done = project.gitindex("rename", "Engine.step", "advance", "--include", "odd.py:2", "--apply")
    assert done.returncode == 0, done.stdout
    assert "thing.advance()" in (project.path / "odd.py").read_text()
    project.git("checkout", "-q", "--", ".")
    project.write("odd.py", "def use(thing):\n    return thing.step()\n")
    done = project.gitindex(*shlex.split(command)[1:])
    assert done.returncode == 0, done.stdout
    assert "thing.advance()" in (project.path / "odd.py").read_text()


def test_what_inference_gives_to_others_is_shown_and_left_alone(repo: Repo) -> None:
    files = {
        "a.py": "class A:\n    def run(self):\n        return 1\n",
        "b.py": "class B:\n    def run(self):\n        return 2\n",
        "main.py": "from a import A\nfrom b import B\n\n\ndef both(a: A, b: B):\n    return a.run(), b.run()\n\n\nprint(both(A(), B()))\n",
    }
    repo.index_files(files)
    done = repo.gitindex("rename", "A.run", "go", "--apply")
    assert done.returncode == 0, done.stdout
    assert "1 on other types is left alone" in done.stdout
    assert "a.go(), b.run()" in (repo.path / "main.py").read_text()


ASSUMED = {
    "a computed attribute": {
        "dyn.py": "import pkg.core\n\n\ndef get(name):\n    return getattr(pkg.core, name)\n"
    },
    "a docstring": {"told.py": 'def told():\n    """Calls build to make one."""\n'},
}


@pytest.mark.parametrize("case", ASSUMED)
def test_what_is_only_assumed_is_no_refusal(clean: Repo, case: str) -> None:
    for name, text in ASSUMED[case].items():
        clean.write(name, text)
    with open_tree(clean.worktree, ".") as view:
        plan = plan_rename(view, RenameRequest("pkg.core.build", "assemble"))
    assert plan.blocked == []
    told = [one["assumption"] for one in plan.answer["assumes"]]
    assert (told == ["computed_names"]) == (case == "a computed attribute")


BLOCKED = {
    "taken": ({}, "Engine", "LIMIT", "used there already"),
    "string": (
        {"dyn.py": "import pkg.core\ngetattr(pkg.core, 'build')\n"},
        "pkg.core.build",
        "assemble",
        "dyn.py:2: a text that may be read as the name: getattr(pkg.core, 'build')",
    ),
    "computed attribute": (
        {
            "visitor.py": "class Visitor:\n    def visit(self, node):\n        return getattr(self, 'visit_' + node.kind)(node)\n",
            "walk.py": "from visitor import Visitor\n\n\nclass Walk(Visitor):\n    def visit_leaf(self, node):\n        return node\n",
        },
        "Walk.visit_leaf",
        "leaf",
        "visitor.py:3: names with visit_ are put together",
    ),
    "path in a string": (
        {"settings.py": "LOADED = ['pkg.core.Engine', 'other.Engine']\n"},
        "Engine",
        "Motor",
        "settings.py:1: a text that may be read as the name",
    ),
    "entry point": (
        {"setup.cfg": "[options.entry_points]\nconsole_scripts =\n    x = pkg.core:build\n"},
        "pkg.core.build",
        "assemble",
        "setup.cfg:3: a text that may be read as the name",
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
        "two.py:16: may mean Two.work, too",
    ),
    "a repr in a string": (
        {"told.py": "TEXT = 'Engine(3) was made'\n"},
        "Engine",
        "Motor",
        "told.py:1: a text that may be read as the name",
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
    "a doctest of a member": (
        {"low.py": 'def halt(x):\n    """\n    >>> x.halt()\n    """\n'},
        "halt",
        "end",
        "low.py:3: a text that may be read as the name",
    ),
    "a built-in": ({"old.py": "zip = zip\n"}, "zip", "pairs", "the language has zip, too"),
    "a base outside": (
        {
            "out.py": "import nosuch\n\n\nclass Odd(nosuch.Base):\n    def label(self):\n        return 1\n"
        },
        "Odd.label",
        "title",
        "out.py:4: nosuch.Base, a base of Odd, may use label",
    ),
    "a member of the library": (
        {
            "out.py": "import threading\n\n\nclass Odd(threading.Thread):\n    def run(self):\n        return 1\n"
        },
        "Odd.run",
        "go",
        "out.py:4: threading.Thread, a base of Odd, may use run",
    ),
    "a name that the library puts together": (
        {
            "out.py": "from ast import NodeVisitor\n\n\nclass Odd(NodeVisitor):\n    def visit_Call(self, node):\n        return 1\n"
        },
        "Odd.visit_Call",
        "go",
        "out.py:4: ast.NodeVisitor, a base of Odd, may use visit_Call",
    ),
    "a test": (
        {"low.py": "def test_halt():\n    pass\n"},
        "test_halt",
        "halt",
        "test runners look for names that begin with test",
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


def test_examples_of_doctest_with_names_of_their_own_are_left_alone(clean: Repo) -> None:
    own = 'def other():\n    """\n    >>> def halt(): return 1\n    >>> halt()\n    1\n    """\n'
    clean.write("low.py", "def halt():\n    return 1\n\n\nhalt()\n")
    clean.write("own.py", own)
    with open_tree(clean.worktree, ".") as view:
        plan = plan_rename(view, RenameRequest("low.py#halt", "end"))
        assert plan.blocked == []
        assert [edit.path for edit in plan.edits] == ["low.py"]
    clean.write("own.py", own.replace(">>> def halt(): return 1", ">>> from low import halt"))
    with open_tree(clean.worktree, ".") as view:
        plan = plan_rename(view, RenameRequest("low.py#halt", "end"))
    assert any(reason.startswith("own.py:4") for reason in plan.blocked), plan.blocked


def test_examples_of_doctest_follow_their_module(clean: Repo) -> None:
    text = 'def halt():\n    """\n    >>> halt() + pkg.halt()\n    2\n    """\n    return 1\n'
    clean.write("pkg/low.py", text)
    with open_tree(clean.worktree, ".") as view:
        plan = plan_rename(view, RenameRequest("halt", "end"))
    assert plan.blocked == []
    assert b">>> end() + pkg.end()" in plan.edits[0].new


def test_members_of_the_library_are_known(clean: Repo) -> None:
    """Bases of Python's library that have no such member, and do not call one, block nothing."""
    bases = ("enum.Enum", "threading.Thread", "collections.abc.Mapping", "json.JSONEncoder", "dict")
    for number, base in enumerate(bases):
        loaded = f"import {base.rpartition('.')[0]}\n\n\n" if "." in base else ""
        clean.write(
            f"out{number}.py",
            f"{loaded}class Odd{number}({base}):\n    def label(self):\n        return 1\n",
        )
        with open_tree(clean.worktree, ".") as view:
            plan = plan_rename(view, RenameRequest(f"Odd{number}.label", "title"))
        assert plan.blocked == [], base


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


def test_all_files_or_none(clean: Repo) -> None:
    clean.write("a", "old a\n")
    clean.write("b", "changed meanwhile\n")
    before = sorted(p.name for p in clean.path.iterdir())
    edits = [FileEdit("a", b"old a\n", b"new a\n"), FileEdit("b", b"old b\n", b"new b\n")]
    with pytest.raises(GitIndexError, match="changed since"):
        apply_edits(clean.worktree, edits)
    assert (clean.path / "a").read_text() == "old a\n"
    assert sorted(p.name for p in clean.path.iterdir()) == before
    with pytest.raises(GitIndexError, match="inside"):
        apply_edits(clean.worktree, [FileEdit(".git/config", b"", b"x")])
    (clean.path / "link").symlink_to("a")
    with pytest.raises(GitIndexError):
        apply_edits(clean.worktree, [FileEdit("link", b"old a\n", b"new\n")])
    assert not (Path(clean.worktree.store) / "edit").exists()


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
