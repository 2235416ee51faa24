# ruff: noqa: E501 — sources read better on one line
"""Renamed modules: the file moves, every import follows it, and the program does the same."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from gitindex.base.errors import GitIndexError
from gitindex.edit.patch import FileEdit, diff
from gitindex.edit.rename import RenameRequest, apply_edits, plan_rename
from gitindex.query.references import ReferenceQuery, find_references
from gitindex.view.tree import open_tree
from tests.mcp_client import Inside
from tests.support import Repo

FILES = {
    "pkg/__init__.py": "from pkg import core\nfrom .core import build as make\n",
    "pkg/core.py": "def build(n):\n    return n + 1\n\n\ndef deep():\n    from . import core\n    return core.build(5)\n\n\ndef odd(thing):\n    return thing.run()\n",
    "pkg/other.py": "from .core import (\n    build,\n)\n\n\ndef twice(core):\n    return build(core) * 2\n",
    "pkg/sub/__init__.py": "",
    "pkg/sub/near.py": "from .. import core as engine\nfrom ..core import build\n\nBOTH = engine.build(1) + build(2)\n",
    "tools/core.py": "def build(n):\n    return -n\n",
    "main.py": "import pkg.core\nimport pkg.core as core\nfrom pkg import core as third, make\nfrom pkg.sub.near import BOTH\nfrom tools import core as mine\n\n\ndef run(core):\n    return core\n\n\nprint(pkg.core.build(1), core.build(2), third.deep(), make(3), BOTH, mine.build(4), run(core=7))\n",
    "notes.md": "See pkg/core.py.\n",
}
WANTED = {
    "pkg/__init__.py",
    "pkg/core.py",
    "pkg/other.py",
    "pkg/sub/near.py",
    "main.py",
}


@pytest.fixture
def project(repo: Repo) -> Repo:
    return repo.index_files(FILES)


def output(repo: Repo) -> str:
    argv = [sys.executable, "-B", "main.py"]
    done = subprocess.run(argv, cwd=repo.path, capture_output=True, text=True, check=True)
    return done.stdout


def test_imports_follow_a_module(project: Repo) -> None:
    before = output(project)
    answer = json.loads(project.gitindex("rename", "pkg/core.py", "engine_room", "--json").stdout)
    assert answer["blocked"] == []
    assert answer["complete"]
    assert {f["path"] for f in answer["files"]} == WANTED
    assert answer["mentions"] == {"documents": 1}
    patch = Path(project.path, "..", "p.patch").resolve()
    patch.write_text(answer["patch"])
    project.git("apply", "--check", str(patch))
    done = project.gitindex("rename", "pkg/core.py", "engine_room.py", "--apply")
    assert done.returncode == 0, done.stdout
    assert not (project.path / "pkg/core.py").exists()
    assert output(project) == before
    with open_tree(project.worktree, ".") as view:
        left = find_references(view, ReferenceQuery("core"))
    places = {(r["path"], r["line"]) for r in left["possible"]}
    assert places == {("main.py", 5), ("main.py", 12)}  # of tools/core.py, and a keyword
    assert "from tools import core as mine" in (project.path / "main.py").read_text()


BLOCKED = {
    "exists": ({"pkg/new.py": ""}, "pkg/new.py exists already"),
    "a folder": ({"pkg/new/x.py": ""}, "pkg/new exists already"),
    "a stub": ({"pkg/core.pyi": ""}, "pkg/core is more than one file"),
    "patched": (
        {"t.py": "from unittest import mock\nmock.patch('pkg.core.build')\n"},
        "t.py:2: a text that may be read as the name",
    ),
    "in sys.modules": ({"t.py": "import sys\nsys.modules.pop('core')\n"}, "t.py:2: a text"),
    "by name": (
        {"t.py": "import importlib\nimportlib.import_module('.core', 'pkg')\n"},
        "t.py:2: a text that may be read as the name",
    ),
    "computed": (
        {
            "pkg/t.py": "import importlib\n\n\ndef load(n):\n    return importlib.import_module('pkg.' + n)\n"
        },
        "pkg/t.py: modules are loaded by computed names",
    ),
    "computed from a folder": (
        {
            "t/a.py": "import importlib, os\nALL = [importlib.import_module('pkg.' + n[:-3]) for n in os.listdir('pkg')]\n"
        },
        "t/a.py: modules are loaded by computed names",
    ),
    "walked": (
        {"t.py": "import pkg, pkgutil\nprint(list(pkgutil.iter_modules(pkg.__path__)))\n"},
        "t.py: modules are found by iter_modules",
    ),
    "entry point": ({"setup.cfg": "[x]\ny = pkg.core:build\n"}, "setup.cfg:2: a text"),
    "a value": ({"t.py": "import pkg\n\n\ndef of(p):\n    return p.core\n"}, "t.py:5: "),
    "shadowed": (
        {"pkg/__init__.py": "from . import core\ncore = 3\n"},
        "the package has core, too",
    ),
    "shadowed by an import": (
        {"pkg/__init__.py": "from .core import core\n", "pkg/core.py": "def core():\n    pass\n"},
        "pkg/__init__.py:1: the package has core, too",
    ),
    "bound twice": (
        {"t.py": "try:\n    from pkg import core\nexcept ImportError:\n    core = None\n"},
        "t.py:4: nothing in reach defines this name",
    ),
    "imported elsewhere": (
        {"t.py": "try:\n    import new\nexcept ImportError:\n    pass\n"},
        "t.py: new is imported there already",
    ),
    "the package's": ({"pkg/__init__.py": "new = 3\n"}, "pkg/__init__.py: the package has new"),
    "brought in by a star": (
        {"c.py": "new = 3\n", "t.py": "from pkg import core\nfrom c import *\n"},
        "t.py:2: the star may bring new in",
    ),
    "used": ({"pkg/other.py": "from .core import build\n\nnew = build\n"}, "new is used there"),
}


@pytest.mark.parametrize("case", BLOCKED)
def test_what_stands_in_the_way_of_a_module(clean: Repo, case: str) -> None:
    files, why = BLOCKED[case]
    for name, text in files.items():
        clean.write(name, text)
    with open_tree(clean.worktree, ".") as view:
        plan = plan_rename(view, RenameRequest("pkg/core.py", "new"))
    assert any(why in reason for reason in plan.blocked), plan.blocked


def test_modules_that_cannot_be_renamed(project: Repo) -> None:
    project.write("web/a.js", "export const a = 1;\n")
    for name in ("test_x.py", "app/models.py", "app/commands/run.py"):
        project.write(name, "x = 1\n")
    with open_tree(project.worktree, ".") as view:
        for path, new in (
            ("pkg/__init__.py", "new"),
            ("test_x.py", "new"),
            ("app/models.py", "new"),
            ("app/commands/run.py", "new"),
            ("web/a.js", "new"),
            ("pkg/core.py", "class"),
            ("pkg/core.py", "a.b"),
            ("pkg/core.py", "a$b"),
            ("pkg/core.py", "\ufb01x"),  # Python would look for `fix`
        ):
            with pytest.raises(GitIndexError):
                plan_rename(view, RenameRequest(path, new))
        told = plan_rename(view, RenameRequest("pkg/core.py", "json")).blocked
    assert "Python has a module json of its own" in told


def test_a_moved_file_takes_nobodys_place(project: Repo) -> None:
    for name, text in (("a", "old a\n"), ("b", "old b\n"), ("taken", "mine\n")):
        project.write(name, text)
    both = [
        FileEdit("a", b"old a\n", b"new a\n", "moved"),
        FileEdit("b", b"old b\n", b"new b\n", "taken"),
    ]
    before = project.git("status", "--porcelain")
    with pytest.raises(GitIndexError, match="exists"):
        apply_edits(project.worktree, both)
    assert project.git("status", "--porcelain") == before
    assert [(project.path / name).read_text() for name in ("a", "b", "taken")] == [
        "old a\n",
        "old b\n",
        "mine\n",
    ]


def test_a_patch_ends_lines_as_git_does() -> None:
    edit = FileEdit("a.py", b"x\n\x0cold\r\nend\x0b", b"x\n\x0cnew\r\nend\x0b")
    assert diff(edit).endswith(
        "@@ -1,3 +1,3 @@\n x\n-\x0cold\r\n+\x0cnew\r\n end\x0b\n\\ No newline at end of file\n"
    )


def test_a_patch_quotes_paths_as_git_does(tmp_path: Path) -> None:
    for name in ("a\tb", 'q"\\', "n\nl", "\udcff", "a b", "é"):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "old.py").write_text("old\n")
        text = diff(FileEdit(f"{name}/old.py", b"old\n", b"new\n", f"{name}/new.py"))
        patch = tmp_path / "p.patch"
        patch.write_bytes(text.encode())
        subprocess.run(["git", "apply", str(patch)], cwd=tmp_path, check=True)
        assert (folder / "new.py").read_text() == "new\n"


def test_an_agent_writes_only_where_the_user_allows_it(project: Repo, tmp_path: Path) -> None:
    agent = Inside(str(project.path), tmp_path / "state")
    asked = {"symbol": "deep", "newName": "deeper", "apply": True}
    project.git("config", "gitindex.mcp.write", "true")  # the repository's own: does not count
    answer = agent.ask("rename_symbol", **asked)
    assert (answer["applied"], answer["applies"]) == (False, False)
    assert "gitindex.mcp.write" in answer["blocked"][-1]
    assert project.git("status", "--porcelain") == ""
    project.git("config", "--global", "gitindex.mcp.write", "true")
    assert agent.ask("rename_symbol", **{**asked, "apply": False})["applied"] is False
    assert project.git("status", "--porcelain") == ""
    assert agent.ask("rename_symbol", **asked)["applied"]
    assert "def deeper" in (project.path / "pkg/core.py").read_text()
