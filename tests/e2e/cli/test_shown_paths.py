"""Paths are printed as they can be pasted back, from wherever one stands."""

from __future__ import annotations

import pytest

from tests.support import Repo

FILES = {
    "src/pkg/util.py": "def helper():\n    return 1\n",
    "src/pkg/app.py": "from pkg.util import helper\n\n\ndef main():\n    return helper()\n",
    "docs/guide.md": "---\ntags: [howto]\n---\n# Guide\n\nhelper words\n",
}


@pytest.fixture
def project(repo: Repo) -> Repo:
    return repo.index_files(FILES)


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        (["search", "helper"], "util.py:1"),
        (["grep", "return helper"], "app.py:5:"),
        (["symbols", "helper"], "util.py:1"),
        (["refs", "helper"], "app.py:5:"),
        (["callers", "helper"], "app.py#main"),
        (["outline", "util.py"], "util.py"),
        (["docs", "--tag", "howto"], "../../docs/guide.md"),
        (["state", "util.py"], "util.py"),
    ],
)
def test_paths_are_relative_to_the_folder(project: Repo, args: list[str], expected: str) -> None:
    done = project.gitindex(*args, cwd=project.path / "src/pkg")
    assert expected in done.stdout, done.stderr
    assert "src/pkg/" not in done.stdout
    full = project.gitindex(*args, "--full-name", cwd=project.path / "src/pkg")
    assert "../" not in full.stdout
    assert full.returncode == done.returncode


@pytest.mark.parametrize("name", ["util.py", "src/pkg/util.py", "./util.py"])
def test_both_forms_are_accepted(project: Repo, name: str) -> None:
    folder = project.path / "src/pkg"
    for args in (["outline", name], ["read", f"{name}:1"], ["refs", f"{name}#helper"]):
        done = project.gitindex(*args, cwd=folder)
        assert (done.returncode, "helper" in done.stdout) == (0, True), (args, done.stderr)
    assert project.gitindex("grep", "def", name, cwd=folder).returncode == 0
    assert project.gitindex("callers", f"{name}:1", cwd=folder).returncode == 0


def test_a_printed_place_can_be_pasted_back(project: Repo) -> None:
    folder = project.path / "src/pkg"
    [line] = project.gitindex("grep", "return helper", cwd=folder).stdout.splitlines()
    place = ":".join(line.split(":")[:2])
    assert "return helper()" in project.gitindex("read", place, cwd=folder).stdout


def test_json_stays_relative_to_the_root(project: Repo) -> None:
    done = project.gitindex("symbols", "helper", "--json", cwd=project.path / "src/pkg")
    assert '"src/pkg/util.py"' in done.stdout


def test_a10_the_folder_option_before_the_verb(project: Repo) -> None:
    inside = project.gitindex("-C", "src/pkg", "grep", "return helper")
    assert inside.stdout.startswith("app.py:5:")
    missing = project.gitindex("-C", "nosuchdir", "status")
    assert (missing.returncode, missing.stdout) == (2, "")
    assert missing.stderr.startswith("gitindex: cannot change to 'nosuchdir': No such file")
