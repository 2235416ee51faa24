"""Names that are spelled otherwise than they are defined: no answer that leaves them out says complete.

Python reads identifiers in their NFKC form (PEP 3131), JavaScript and Java read escapes in them, PHP and
SQL do not tell capital letters from small ones.
"""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from gitindex.query.names import project
from gitindex.query.references import ReferenceQuery, find_references
from gitindex.view.footprint import plain
from gitindex.view.tree import open_tree
from tests.support import Repo

FILES = {
    "wide.py": "def build():\n    return 1\n\n\ndef straße():\n    return 2\n"
    "\n\ndef quiet():\n    return 3\n",
    "use.py": "import wide\nfrom wide import ｂｕｉｌｄ\n\nｂｕｉｌｄ()\nwide.bｕild()\nwide.quiet()\n",
    "a.js": "function fetchIt() {}\nfunction other() { \\u0066etchIt(); f\\u{65}tchIt(); }\n"
    "function alone() {}\nalone();\n",
    "M.java": "class M {\n  static int stop() { return 1; }\n  static int halt() { return 1; }\n"
    "  static int go() { return \\u0073top() + M\\u002ehalt(); }\n  static int rest() { return 2; }\n}\n",
    "a.php": "<?php\nfunction load_it() { return 1; }\nfunction loadXit() { return 2; }\n"
    "function one() { return 2; }\n",
    "b.php": "<?php\nLOAD_IT();\nLOADXIT();\none();\n",
    "q.sql": "CREATE FUNCTION total() RETURNS int AS 'select 1' LANGUAGE sql;\nSELECT TOTAL();\n",
}
RESPELLED = ["build", "fetchIt", "stop", "halt", "load_it", "total"]


@pytest.fixture(scope="module")
def respelled(tmp_path_factory: pytest.TempPathFactory) -> Repo:
    made = Repo(tmp_path_factory.mktemp("respelled") / "repo")
    made.init()
    return made.index_files(FILES)


def _ask(repo: Repo, name: str) -> Any:
    with open_tree(repo.worktree, ".") as view:
        return find_references(view, ReferenceQuery(name))


@pytest.mark.parametrize("name", RESPELLED)
def test_a_name_that_is_spelled_otherwise_is_never_absent(respelled: Repo, name: str) -> None:
    told = _ask(respelled, name)
    assert told["accountedFor"]
    assert not told["absent"]
    assert "other spellings of its name are in the tree" in told["reasons"]


@pytest.mark.parametrize("name", ["quiet", "straße", "alone", "rest", "one"])
def test_names_that_nothing_spells_otherwise_are_complete(respelled: Repo, name: str) -> None:
    told = _ask(respelled, name)
    assert told["complete"]
    assert not told["reasons"] or name == "rest"  # some name of its language has escapes


def test_a_name_with_a_mark_against_keywords_is_possible(repo: Repo) -> None:
    repo.index_files(
        {
            "a.cs": "class C { public int Size; int Of(C c) { return c.@Size; } }\n",
            "a.rs": "fn plain() {}\nfn main() { r#plain(); }\n",
        }
    )
    for name, path in (("Size", "a.cs"), ("plain", "a.rs")):
        answer = _ask(repo, name)
        assert [(p["path"], p["why"]) for p in answer["possible"]] == [(path, "not_parsed")]
        assert not answer["absent"]


def test_a_list_of_all_says_the_same(respelled: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    before = {name: _ask(respelled, name)["reasons"] for name in RESPELLED}
    monkeypatch.setattr(project, "MANY", 0)
    assert {name: _ask(respelled, name)["reasons"] for name in RESPELLED} == before


def test_an_edit_may_spell_it_otherwise(repo: Repo) -> None:
    repo.index_files({"wide.py": FILES["wide.py"], "loads.py": "import wide\n"})
    assert _ask(repo, "quiet")["absent"]
    repo.write("new.py", "import wide\n\nwide.ｑuiet()\n")
    assert not _ask(repo, "quiet")["absent"]


def test_python_means_what_is_taken_for_it(respelled: Repo) -> None:
    code = "import wide\nwide.build = lambda: print('called')\nimport use\n"
    ran = subprocess.run(
        [sys.executable, "-c", code], cwd=respelled.path, capture_output=True, text=True, check=True
    )
    assert ran.stdout.split() == ["called", "called"]


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("ｂuild", "build"),
        ("\\u0062uild", "build"),
        ("\\uu0062uild", "build"),
        ("b\\u{75}ild", "build"),
    ],
)
def test_plain_is_what_compilers_read(text: str, meant: str) -> None:
    assert plain(text) == meant
