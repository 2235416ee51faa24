# ruff: noqa: E501 — sources read better on one line
"""Questions over several local repositories: by package identity, each with its own freshness."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.mcp_client import Inside
from tests.support import Repo

LIB = {
    "pyproject.toml": '[project]\nname = "lib"\nversion = "1.0"\n',
    "src/lib/__init__.py": "from .core import build as build\n",
    "src/lib/core.py": "class Shape:\n    def area(self): ...\n\n\ndef build():\n    return Shape()\n",
    "src/lib/other.py": "def build():\n    return 2\n",
}
APP = {
    "pyproject.toml": '[project]\nname = "app"\n',
    "app.py": (
        "import lib\nimport lib.other as o\nfrom lib.core import Shape, build as make\n\n\n"
        "def main():\n    lib.build()\n    make()\n    o.build()\n    Shape.area\n    return build\n"
    ),
    "own.py": "def build():\n    return 3\n\n\nbuild()\n",
}


@pytest.fixture
def pair(tmp_path: Path) -> tuple[Repo, Repo]:
    lib, app = Repo(tmp_path / "lib"), Repo(tmp_path / "app")
    lib.init()
    app.init()
    lib.index_files(LIB)
    app.index_files(APP)
    assert lib.gitindex("link", "add", os.fspath(app.path)).returncode == 0
    assert app.gitindex("link", "add", "../lib").returncode == 0
    return lib, app


def linked(repo: Repo, *args: str) -> dict[str, Any]:
    rows: list[dict[str, Any]] = repo.answer(*args, "--linked")["linked"]
    assert len(rows) == 1
    return rows[0]


def lines(row: dict[str, Any]) -> list[tuple[str, int]]:
    return [(one["path"], one["line"]) for one in row["references"]]


def test_uses_in_another_repository_are_found_through_imports_and_aliases(
    pair: tuple[Repo, Repo],
) -> None:
    lib, _ = pair
    row = linked(lib, "refs", "src/lib/core.py#build")
    assert lines(row) == [("app.py", 3), ("app.py", 3), ("app.py", 7), ("app.py", 8)]
    assert {one["tier"] for one in row["references"]} == {"package"}
    assert row["freshness"]["state"] == "fresh"
    assert lines(linked(lib, "refs", "src/lib/other.py#build")) == [("app.py", 9)]
    assert lines(linked(lib, "refs", "Shape.area")) == [("app.py", 10)]
    assert lines(linked(lib, "callers", "src/lib/core.py#build")) == [("app.py", 7), ("app.py", 8)]


def test_the_definition_of_what_is_used_here_is_in_the_other_repository(
    pair: tuple[Repo, Repo],
) -> None:
    _, app = pair
    row = linked(app, "refs", "Shape")
    assert [(one["path"], one["line"]) for one in row["definitions"]] == [("src/lib/core.py", 1)]
    done = app.gitindex("refs", "Shape", "--linked")
    assert "lib/src/lib/core.py:1  class Shape" in done.stdout
    assert "-- lib: fresh" in done.stdout


def test_search_grep_and_symbols_are_asked_there_too(pair: tuple[Repo, Repo]) -> None:
    _, app = pair
    assert linked(app, "symbols", "Shape")["symbols"][0]["path"] == "src/lib/core.py"
    assert "lib/src/lib/core.py" in app.gitindex("grep", "class Shape", "--linked").stdout
    assert app.gitindex("grep", "class Shape").returncode == 1
    assert app.gitindex("grep", "class Shape", "--linked").returncode == 0
    assert "lib/src/lib/core.py" in app.gitindex("search", "Shape area", "--linked").stdout


def test_edits_of_the_other_repository_are_overlaid(pair: tuple[Repo, Repo]) -> None:
    lib, app = pair
    app.write("late.py", "from lib import build\n\nbuild()\n")
    row = linked(lib, "refs", "src/lib/core.py#build")
    assert ("late.py", 3) in lines(row)
    assert row["freshness"]["overlayPaths"] == 1


def test_a_change_reaches_the_other_repository(pair: tuple[Repo, Repo]) -> None:
    lib, _ = pair
    lib.write("src/lib/core.py", LIB["src/lib/core.py"].replace("return Shape()", "return 1"))
    assert ("app.py", 7) in lines(linked(lib, "impact"))


def test_a_locked_version_is_asked_of_its_tag(pair: tuple[Repo, Repo]) -> None:
    lib, app = pair
    lib.git("tag", "v1.0")
    lib.write("src/lib/core.py", "def renamed(): ...\n")
    lib.commit("later")
    lib.index()
    app.write("uv.lock", '[[package]]\nname = "lib"\nversion = "1.0"\n')
    row = linked(app, "refs", "Shape")
    assert row["tag"] == "v1.0"
    assert [one["path"] for one in row["definitions"]] == ["src/lib/core.py"]
    assert linked(app, "symbols", "renamed")["symbols"] == []


def test_a_repository_that_is_gone_or_not_indexed_is_one_line(
    pair: tuple[Repo, Repo], tmp_path: Path
) -> None:
    _, app = pair
    Repo(tmp_path / "bare").init()
    assert app.gitindex("link", "add", "../bare").returncode == 0
    shutil.rmtree(tmp_path / "lib")
    done = app.gitindex("refs", "Shape", "--linked")
    told = [line for line in (done.stdout + done.stderr).splitlines() if "not asked" in line]
    assert len(told) == 2
    answer = app.answer("refs", "Shape", "--linked")
    assert [set(row) for row in answer["linked"]] == [{"repository", "root", "message"}] * 2
    states = {row["root"]: row["state"] for row in app.answer("link", "list")["links"]}
    assert states[os.fspath(tmp_path / "lib")] == "gone"


def test_links_are_the_users_and_stay_out_of_the_repository(pair: tuple[Repo, Repo]) -> None:
    _, app = pair
    assert app.git("status", "--porcelain") == ""
    assert app.gitindex("link", "add", ".").returncode == 2
    assert app.gitindex("link", "add", "/nowhere").returncode == 2
    assert app.gitindex("link", "add", "/").returncode == 2
    assert app.gitindex("link", "remove", "none").returncode == 2
    assert app.gitindex("link", "remove", "lib").returncode == 0
    assert app.answer("link", "list")["links"] == []
    store = app.path / ".git" / "gitindex" / "links.json"
    assert json.loads(store.read_text()) == []
    store.write_text("{")
    assert "damaged" in app.gitindex("refs", "Shape", "--linked").stderr
    assert app.gitindex("link", "remove", "--all").returncode == 0


def test_an_agent_asks_the_linked_repositories_by_scope(
    pair: tuple[Repo, Repo], tmp_path: Path
) -> None:
    lib, _ = pair
    client = Inside(str(lib.path), tmp_path / "mcp")
    answer = client.ask("find_references", symbol="src/lib/core.py#build", scope="linked")
    assert lines(answer["linked"][0]) == [
        ("app.py", 3),
        ("app.py", 3),
        ("app.py", 7),
        ("app.py", 8),
    ]


JAVA_HOME = "src/main/java/org/acme"
PAIRS: dict[str, tuple[dict[str, str], dict[str, str], str, str]] = {
    "npm": (
        {"package.json": '{"name": "greet", "main": "lib/index.js"}',
         "lib/index.js": "exports.hail = function hail() { return 1; };\n"},
        {"package.json": '{"name": "app"}',
         "use.js": "const { hail } = require('greet');\nhail();\n",
         "package-lock.json": '{"packages": {"node_modules/greet": {\n "version": "1.2.0"}}}'},
        "hail", "use.js:2",
    ),
    "go": (
        {"go.mod": "module example.org/greet\n", "greet.go": "package greet\n\nfunc Hail() int { return 1 }\n"},
        {"go.mod": "module example.org/app\n\nrequire example.org/greet v1.2.0\n",
         "use.go": 'package app\n\nimport "example.org/greet"\n\nvar x = greet.Hail()\n'},
        "Hail", "use.go:5",
    ),
    "cargo": (
        {"Cargo.toml": '[package]\nname = "greet"\nversion = "1.2.0"\n', "src/lib.rs": "pub fn hail() -> u8 { 1 }\n"},
        {"Cargo.toml": '[package]\nname = "app"\n', "src/main.rs": "use greet::hail;\n\nfn main() { hail(); }\n\nfn all() -> u8 { greet::hail() }\n",
         "Cargo.lock": '[[package]]\nname = "greet"\nversion = "1.2.0"\n'},
        "hail", "src/main.rs:5",
    ),
    "maven": (
        {"pom.xml": "<project><parent><artifactId>all</artifactId></parent>\n<artifactId>acme-greet</artifactId></project>\n",
         f"{JAVA_HOME}/greet/Hail.java": "package org.acme.greet;\n\npublic class Hail { public int run() { return 1; } }\n"},
        {"pom.xml": "<project><artifactId>app</artifactId><dependencies><dependency>\n"
                    "<artifactId>acme-greet</artifactId>\n<version>1.2.0</version></dependency></dependencies></project>\n",
         f"{JAVA_HOME}/Use.java": "package org.acme;\n\nimport org.acme.greet.Hail;\n\nclass Use { Hail a = new Hail(); }\n"},
        "Hail", f"{JAVA_HOME}/Use.java:5",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", PAIRS.values(), ids=PAIRS)
def test_packages_of_each_ecosystem_and_the_versions_they_lock(
    tmp_path: Path, case: tuple[dict[str, str], dict[str, str], str, str]
) -> None:
    there, here, name, place = case
    lib, app = Repo(tmp_path / "lib"), Repo(tmp_path / "app")
    lib.init()
    app.init()
    lib.index_files(there)
    app.index_files(here)
    lib.git("tag", "v1.2.0")
    lib.gitindex("link", "add", "../app")
    app.gitindex("link", "add", "../lib")
    uses = [f"{path}:{line}" for path, line in lines(linked(lib, "refs", name))]
    assert place in uses
    row = linked(app, "refs", name)
    assert row["tag"] == "v1.2.0"
    assert row["definitions"]
