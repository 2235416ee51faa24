# ruff: noqa: E501 — sources read better on one line
"""Impact of any two trees: changed symbols, and the symbols, files and tests they reach."""

from __future__ import annotations

from typing import Any

import pytest

from gitindex.query.impact.change import comparing, parse_range
from gitindex.query.impact.reach import impact
from tests.support import Repo

FILES = {
    "pkg/__init__.py": "",
    "pkg/core.py": "def build(a):\n    return a\n\n\ndef spare():\n    return 1\n\n\nclass Box:\n    def open(self):\n        return 1\n\n    def close(self):\n        return 2\n",
    "pkg/cli.py": "from pkg.core import build\n\n\ndef main():\n    return build(1)\n\n\ndef idle():\n    pass\n",
    "pkg/far.py": "from pkg.cli import main\n\n\ndef run():\n    return main()\n",
    "tests/test_far.py": "from pkg.far import run\n\n\ndef test_run():\n    assert run()\n",
    "tests/test_other.py": "def test_nothing():\n    pass\n",
}


@pytest.fixture
def project(repo: Repo) -> Repo:
    return repo.index_files(FILES)


def ask(repo: Repo, between: str = "", staged: bool = False, depth: int = 2) -> dict[str, Any]:
    with comparing(repo.worktree, ".", parse_range(between, staged)) as change:
        return dict(impact(change, depth))


def changed(answer: dict[str, Any]) -> set[tuple[str, str]]:
    return {(s["qualifiedName"], s["change"]) for s in answer["changedSymbols"]}


def reached(answer: dict[str, Any]) -> list[tuple[str, int]]:
    return [(s["qualifiedName"], s["distance"]) for s in answer["reached"]]


def replace(repo: Repo, name: str, old: str, new: str) -> None:
    text = (repo.path / name).read_text()
    assert old in text
    repo.write(name, text.replace(old, new))


def test_a_body_an_interface_and_what_they_reach(project: Repo) -> None:
    assert ask(project)["changedFiles"] == []
    replace(project, "pkg/core.py", "return a", "return a + 1")
    answer = ask(project)
    assert changed(answer) == {("build", "body")}
    assert reached(answer) == [("main", 1), ("run", 2)]
    assert answer["files"] == ["pkg/cli.py", "pkg/far.py", "tests/test_far.py"]
    assert answer["tests"] == ["tests/test_far.py"]
    assert answer["freshness"]["overlayPaths"] == 1
    assert answer["base"] == project.git("rev-parse", "HEAD").strip()
    assert reached(ask(project, depth=3)) == [("main", 1), ("run", 2), ("test_run", 3)]
    replace(project, "pkg/core.py", "def build(a):", "def build(a, b=2):")
    assert changed(ask(project)) == {("build", "interface")}


def test_added_removed_and_formatted(project: Repo) -> None:
    replace(project, "pkg/core.py", "def spare():\n    return 1\n", "def extra():\n    return 1\n")
    replace(project, "pkg/core.py", "        return 2", "\n        return  2")
    assert changed(ask(project)) == {("extra", "added"), ("spare", "removed")}


def test_a_method_changes_not_its_class(project: Repo) -> None:
    replace(project, "pkg/core.py", "        return 2", "        return 3")
    assert changed(ask(project)) == {("Box.close", "body")}


def test_a_deleted_file_reaches_its_old_importers(project: Repo) -> None:
    (project.path / "pkg/core.py").unlink()
    answer = ask(project)
    assert answer["changedFiles"] == [{"path": "pkg/core.py", "change": "deleted"}]
    assert "main" in {name for name, _ in reached(answer)}
    assert answer["tests"] == ["tests/test_far.py"]


def test_staged_commits_and_ranges(project: Repo) -> None:
    replace(project, "pkg/core.py", "return a", "return -a")
    assert ask(project, staged=True)["changedFiles"] == []
    project.git("add", "-A")
    assert changed(ask(project, staged=True)) == {("build", "body")}
    project.git("commit", "-q", "-m", "second")  # no runner: nothing is refreshed
    assert ask(project)["changedFiles"] == []
    assert changed(ask(project, "HEAD~1..HEAD")) == {("build", "body")}
    assert changed(ask(project, "HEAD~1")) == {("build", "body")}
    project.git("reset", "-q", "--hard", "HEAD~1")
    assert ask(project)["changedFiles"] == []


def test_the_command(project: Repo) -> None:
    assert project.gitindex("impact").returncode == 1
    replace(project, "pkg/core.py", "return a", "return -a")
    done = project.gitindex("impact")
    assert done.returncode == 0
    assert "pkg/core.py\n      1  body      build\n" in done.stdout
    assert "tests/test_far.py" in done.stdout
    assert project.gitindex("impact", "--tests").stdout == "tests/test_far.py\n"
    assert project.gitindex("impact", "--dangling").returncode == 0
    assert project.gitindex("impact", "HEAD..", "--json").returncode == 2
    assert project.gitindex("impact", "nosuch..HEAD").returncode == 2
