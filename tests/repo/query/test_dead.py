"""Dead code is reported only with proof, and its removal is a patch that git applies."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.support import Repo

FILES = {
    "pkg/__init__.py": "",
    "pkg/core.py": (
        "import json\n\n\ndef _unused():\n    return 1\n\n\ndef _used():\n    return 2\n\n\n"
        "def _first(n):\n    return _second(n)\n\n\ndef _second(n):\n    return _first(n - 1)\n\n\n"
        "def _recursive(n):\n    return _recursive(n - 1) if n else 0\n\n\n"
        "def public():\n    return _used()\n\n\ndef _named_in_text():\n    return 3\n\n\n"
        "def _handed():\n    return 4\n\n\nTABLE = {'handed': _handed}\n\n\n"
        "class Thing:\n    def _gone(self):\n        return 5\n\n    def _kept(self):\n"
        "        return 6\n\n\ndef make(thing):\n    return thing._kept()\n"
    ),
    "pkg/tricks.py": (
        "class Visitor:\n    def _visit_name(self):\n        return 1\n\n    def go(self, kind):\n"
        "        return getattr(self, '_visit_' + kind)()\n\n\n"
        "def _console():\n    return 0\n\n\n@register\ndef _handler():\n    return 0\n"
    ),
    "pyproject.toml": "[project]\nname = 'pkg'\n[project.scripts]\nrun = 'pkg.tricks:_console'\n",
    "settings.json": '{"call": "_named_in_text"}\n',
    "tests/test_core.py": (
        "from pkg.core import public\n\n\ndef _helper():\n    return 1\n\n\n"
        "def test_public():\n    assert public() == 2\n"
    ),
}


@pytest.fixture
def code(repo: Repo) -> Repo:
    return repo.index_files(FILES)


def found(repo: Repo, *args: str) -> dict[str, int]:
    answer = repo.answer("dead", *args)
    assert answer["status"] == "ok", answer
    return {row["qualifiedName"]: row.get("group", 0) for row in answer["dead"]}


def test_only_what_is_proven(code: Repo) -> None:
    dead = found(code)
    assert dead.keys() == {"_unused", "_first", "_second", "_recursive", "Thing._gone"}
    assert dead["_first"] == dead["_second"] != 0
    assert dead["_unused"] == dead["_recursive"] == 0
    public = found(code, "--public")
    assert "make" in public
    assert "public" not in public
    assert not public.keys() & {"_visit_name", "_console", "_handler", "_named_in_text", "_handed"}
    assert found(code, "--path", "tests") == {}


def test_an_edit_makes_it_used_at_once(code: Repo) -> None:
    code.write("pkg/more.py", "from pkg.core import _unused\n\n_unused()\n")
    assert "_unused" not in found(code)
    assert "_unused" in found(code, "--at", "HEAD")


def test_exit_codes(code: Repo, tmp_path: object) -> None:
    assert code.gitindex("dead").returncode == 0
    assert code.gitindex("dead", "--path", "tests").returncode == 1
    assert code.gitindex("dead", "--at", "nowhere").returncode == 2
    assert code.gitindex("dead", "--path", "../..").returncode == 2
    assert code.gitindex("dead", "--path", "gone").returncode == 2


def test_the_patch_applies_and_the_rest_still_works(code: Repo) -> None:
    status = code.git("status", "--porcelain")
    done = code.gitindex("dead", "--patch")
    assert done.returncode == 0
    assert code.git("status", "--porcelain") == status
    (code.path / ".git" / "dead.diff").write_text(done.stdout)
    code.git("apply", ".git/dead.diff")
    assert found(code) == {}
    left = (code.path / "pkg/core.py").read_text()
    assert "_unused" not in left
    assert "def _used():\n    return 2\n\n\ndef public" in left
    program = "import pkg.core as core; print(core.public())"
    ran = subprocess.run(
        [sys.executable, "-c", program], cwd=code.path, capture_output=True, text=True, check=True
    )
    assert ran.stdout == "2\n"


def test_what_would_not_parse_stays(repo: Repo) -> None:
    repo.index_files(
        {"a.py": "class _Only:\n    def _one(self):\n        return 1\n\n\nx = _Only()\n"}
    )
    answer = repo.answer("dead", "--patch")
    assert [row["qualifiedName"] for row in answer["dead"]] == ["_Only._one"]
    assert answer["patch"] == ""
    assert answer["notRemoved"] == ["a.py#_Only._one"]


def test_hostile_files(repo: Repo) -> None:
    deep = "def _deep():\n    return " + "(" * 3_000 + ")" * 3_000 + "\n"
    repo.index_files({"deep.py": deep, "bad.py": "def _x(:\n", "ü\n.py": "def _y():\n    pass\n"})
    done = repo.gitindex("dead", "--patch", "--json")
    assert done.returncode in (0, 1)
    assert "Traceback" not in done.stderr
    json.loads(done.stdout)


def test_strict_leaves_out_what_assumes(repo: Repo) -> None:
    repo.index_files({"a.py": "def _one():\n    pass\n", "b.py": "exec(input())\n"})
    assert found(repo) == {"_one": 0}
    assert found(repo, "--assume-nothing") == {}


def test_a_module_that_reaches_its_own_names_at_run_time_proves_nothing(repo: Repo) -> None:
    """As werkzeug's `http.py` does for deprecated functions."""
    late = "def __getattr__(name):\n    return globals()[f'_{name}']\n"
    repo.index_files({"pkg/http.py": f"def _parse():\n    return 1\n\n\n{late}"})
    assert found(repo) == {}


def test_what_a_runner_finds_by_convention_is_not_dead(repo: Repo) -> None:
    """asv runs `Time…` of benchmarks; examples are there to be copied."""
    text = "class TimeAll:\n    def time_one(self):\n        return 1\n"
    repo.index_files(
        {"benchmarks/versions.py": text, "examples/one.py": "def run_it():\n    pass\n"}
    )
    assert found(repo, "--public") == {}


def test_what_a_base_in_another_file_finds_is_not_dead(repo: Repo) -> None:
    """A visitor reaches members by computed names; a metaclass and `__init_subclass__` register classes."""
    base = (
        "class Visitor:\n    def visit(self, node):\n        return getattr(self, 'visit_' + node)()\n\n\n"
        "class Meta(type):\n    pass\n\n\nclass Tag(metaclass=Meta):\n    pass\n\n\n"
        "class Plugin:\n    def __init_subclass__(cls):\n        pass\n\n\nclass Plain:\n    pass\n"
    )
    code = (
        "from pkg import base\n\n\nclass Names(base.Visitor):\n    def visit_name(self):\n        pass\n\n\n"
        "class Text(base.Tag):\n    pass\n\n\nclass Own(base.Plugin):\n    pass\n\n\n"
        "class Lost(base.Plain):\n    def gone(self):\n        pass\n\n\ndef lost():\n    pass\n\n\n"
        "print(Names().visit('name'), Lost)\n"
    )
    use = "from pkg import more\n\nprint(more.Lost)\n"
    files = {"pkg/__init__.py": "", "pkg/base.py": base, "pkg/more.py": code, "pkg/use.py": use}
    repo.index_files(files)
    found = {one["qualifiedName"] for one in repo.answer("dead", "--public")["dead"]}
    assert "lost" in found
    assert found.isdisjoint({"Names.visit_name", "Text", "Own"})
