# ruff: noqa: E501 — sources read better on one line
"""Files whose scopes need no look: the answer is the one that their scopes give."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gitindex.query.names.finder import Finder
from gitindex.query.names.memory import Memory
from gitindex.query.names.plain import PlainUses
from gitindex.query.names.targets import find_target
from gitindex.query.references import ReferenceQuery, find_references
from gitindex.view.tree import open_tree
from tests.misleading import PYTHON
from tests.support import Repo

_FILE = Path(__file__).parent.parent / "fixtures" / "hostile_programs.jsonl"
HEAD = "from home import work\nimport home\n"
TOLD = {
    "call": "from home import work\nwork()\n",
    "inside": "def f():\n    from home import work\n    return work()\n\n\ndef g():\n    work()\n",
    "decorator": "from home import work\n\n\n@work\ndef f(): ...\n",
    "base": "from home import Kind\n\n\nclass Sub(Kind):\n    pass\n\n\nKind()\n",
    "member": "import home\n\n\ndef f():\n    return home.work(home.work)\n",
    "under another name": "import home as h\n\nh.work()\n",
    "package": "from pkg import home\nhome.work(1)\n",
    "on a line of its own": "from home import work\nx = (\n    work(),\n    1,\n)\n",
}
NOT_TOLD = {
    "parameter": "from home import work\n\n\ndef f(work):\n    work()\n",
    "assigned": "from home import work\n\n\ndef f():\n    work = 1\n    work()\n",
    "loop": "from home import work\nfor work in ():\n    work()\n",
    "caught": "from home import work\ntry:\n    work()\nexcept OSError as work:\n    pass\n",
    "type parameter": "from home import work\n\n\ndef f[work](x: work): ...\n\n\nwork()\n",
    "pattern": "from home import work\nmatch 1:\n    case work:\n        work()\n",
    "comprehension": "from home import work\n[work() for work in ()]\n",
    "two imports": "from home import work\n\n\ndef f():\n    from other import work\n    work()\n",
    "star": "from home import work\nfrom other import *\nwork()\n",
    "receiver": "from home import work\n\n\ndef f(x):\n    x.work()\n",
    "receiver on the line before": "from home import work\n\n\ndef f(x):\n    (x.\n     work())\n",
    "receiver before a comment": "from home import work\n\n\ndef f(x):\n    (x.  # a\n     work())\n",
    "holder is a parameter": "import home\n\n\ndef f(home):\n    home.work()\n",
    "holder is handed on": "import home\nf(home)\nhome.work()\n",
    "holder has a receiver": "import home\n\n\ndef f(x):\n    x.home.work()\n",
    "holder has a receiver apart": "import home\n\n\ndef f(x):\n    (x.\n     home.work())\n    x. home.work()\n",
    "holder is called": "import home\nhome().work()\n",
    "broken": "from home import work\nwork()\ndef (\n",
}
FILES = {
    "home.py": "def work(*x):\n    pass\n\n\nclass Kind:\n    pass\n",
    "other.py": "def work():\n    pass\n",
    "pkg/__init__.py": "import home\n",
}


@pytest.fixture(scope="module")
def still(tmp_path_factory: pytest.TempPathFactory) -> Repo:
    """Only to be read: indexed once."""
    made = Repo(tmp_path_factory.mktemp("still") / "repo")
    made.init()
    cases = {**TOLD, **NOT_TOLD}
    named = {f"case{n}.py": text for n, text in enumerate(cases.values())}
    return made.index_files(FILES | named)


def _told(repo: Repo, asked: str) -> set[str]:
    with open_tree(repo.worktree, ".") as view:
        finder = Finder(view)
        target = find_target(finder.binder, asked)
        places = finder.project.places(target.name)
        plain = PlainUses(finder.project, finder.binder.names.modules)
        found = plain.find({p: at for p, at in places.items() if p.startswith("case")})
        return {path for path, meant in found.items() if meant == tuple(target.definitions)}


def test_files_are_told_where_one_import_binds_the_name(still: Repo) -> None:
    told = _told(still, "home.py#work") | _told(still, "home.py#Kind")
    missed = [case for n, case in enumerate(TOLD) if f"case{n}.py" not in told]
    assert not missed


def test_no_file_is_told_where_something_else_may(still: Repo) -> None:
    told = _told(still, "home.py#work")
    wrong = [case for n, case in enumerate(NOT_TOLD, len(TOLD)) if f"case{n}.py" in told]
    assert not wrong


def _programs() -> Iterator[tuple[str, dict[str, str]]]:
    for number, (asked, files) in enumerate(PYTHON):
        yield _placed(number, asked, files)
    hostile = [json.loads(line) for line in _FILE.read_text().splitlines()]
    for number, program in enumerate(hostile, len(PYTHON)):
        if program["language"] == "python":
            yield _placed(number, program["asked"], program["files"])


def _placed(number: int, asked: str, files: dict[str, str]) -> tuple[str, dict[str, str]]:
    name, folder = f"Name{number}x", f"pkg{number}"
    texts = {
        f"{folder}/{path}": text.replace("NAME", name).replace("PKG", folder)
        for path, text in files.items()
    }
    return asked.replace("NAME", name), texts


def _answers(repo: Repo, asked: list[str]) -> list[dict[str, Any]]:
    memory = Memory()
    with open_tree(repo.worktree, ".") as view:
        found = [dict(find_references(view, ReferenceQuery(name), memory)) for name in asked]
    return [{k: v for k, v in answer.items() if k != "receipt"} for answer in found]


def test_answers_are_those_of_scopes(
    still: Repo, repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs = list(_programs())[::3]  # a third: every name is asked for twice in all of them
    repo.index_files({path: text for _, texts in programs for path, text in texts.items()})
    asked = [(still, ["work", "home.py#work", "other.py#work", "Kind"])]
    asked.append((repo, list(dict.fromkeys(name.rpartition(".")[2] for name, _ in programs))))
    for tree, names in asked:
        told = _answers(tree, names)
        with monkeypatch.context() as patch:
            patch.setattr(PlainUses, "find", lambda *_: {})
            assert told == _answers(tree, names)
