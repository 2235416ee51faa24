# ruff: noqa: E501 — sources read better on one line
"""The report of a change: one text, whatever names a repository has, and what it says."""

from __future__ import annotations

import json

import pytest

from tests.support import Repo

FILES = {
    "pyproject.toml": "[tool.pytest.ini_options]\ntestpaths = ['tests']\npython_files = ['test_*.py']\n",
    "m/__init__.py": "",
    "m/core.py": 'def build(name, size=1):\n    """Builds."""\n    return name\n\n\ndef spare():\n    return 1\n',
    "m/use.py": "from m.core import build, spare\n\n\ndef main():\n    return build('x', size=2)\n\n\nX = spare()\n",
    "tests/helper.py": "from m.use import main\n\n\ndef helped():\n    return main()\n",
    "tests/test_use.py": "from tests.helper import helped\n\n\ndef test_use():\n    assert helped()\n",
    "tests/test_other.py": "def test_other():\n    pass\n",
    "extra/test_out.py": "from m.use import main\n\n\ndef test_out():\n    main()\n",
    "sub/pytest.ini": "[pytest]\npython_files = check_*.py\n",
    "sub/tests/check_it.py": "from m.core import build\n\n\ndef test_it():\n    build('x')\n",
    "sub/tests/test_it.py": "from m.core import build\n\n\ndef test_it():\n    build('x')\n",
}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Repo:
    made = Repo(tmp_path_factory.mktemp("report") / "repo")
    made.init()
    return made.index_files(FILES)


@pytest.fixture
def branch(world: Repo) -> Repo:
    world.git("switch", "-q", "main")
    world.git("branch", "-qD", "topic", check=False) if "topic" in world.git("branch") else None
    world.git("switch", "-qc", "topic")
    return world


def edit(repo: Repo, path: str, old: str, new: str) -> None:
    text = (repo.path / path).read_text()
    assert old in text
    repo.write(path, text.replace(old, new))
    repo.commit("edit")


def test_it_says_what_breaks_with_a_witness_and_the_tests(branch: Repo) -> None:
    edit(branch, "m/core.py", "def build(name, size=1)", "def build(name)")
    done = branch.gitindex("report")
    assert done.returncode == 0
    assert done.stdout.startswith("<!-- gitindex report -->\n### gitindex: `")
    assert "no longer works: `from m.core import build; build(name, size=size)`" in done.stdout
    assert "used at `m/use.py:5`: `return build('x', size=2)`" in done.stdout
    assert "pytest tests/test_use.py" in done.stdout
    assert "cd sub && pytest tests/check_it.py" in done.stdout
    assert "extra/test_out.py" not in branch.answer("report")["tests"], "pytest does not collect it"
    assert branch.gitindex("report", "--check").returncode == 1


def test_a_dangling_reference_is_a_row_and_a_finding(branch: Repo) -> None:
    edit(branch, "m/core.py", "def spare", "def other")
    done = branch.gitindex("report", "main..topic")
    assert "| `spare` | `m/core.py` | `m/use.py` | 1, 8 |" in done.stdout
    log = json.loads(branch.gitindex("report", "--format", "sarif").stdout)
    rules = {result["ruleId"] for result in log["runs"][0]["results"]}
    assert rules == {"dangling-reference", "api-removed", "api-added"}
    answer = branch.answer("report")
    assert [row["name"] for row in answer["dangling"]] == ["spare", "spare"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Builds.", "Builds it."),
        ("    return name", "    # why\n    return name"),
        ("\n\n\n", "\n\n\n\n"),
    ],
)
def test_comments_and_docstrings_reach_nothing(branch: Repo, old: str, new: str) -> None:
    edit(branch, "m/core.py", old, new)
    answer = branch.answer("report")
    assert (answer["tests"], answer["reached"], answer["files"]) == ([], [], [])
    assert "No test reaches the change." in branch.gitindex("report").stdout


def test_a_string_that_is_no_docstring_is_code(branch: Repo) -> None:
    edit(branch, "m/core.py", "    return 1", "    return (\n        'one'\n    )")
    branch.git("branch", "-f", "main", "topic")
    edit(branch, "m/core.py", "'one'", "'two'")
    answer = branch.answer("report")
    assert "tests/test_use.py" in answer["tests"]
    branch.git("branch", "-f", "main", "HEAD^^")


def test_indentation_is_code_in_python(branch: Repo) -> None:
    edit(
        branch, "m/core.py", "    return 1", "    if 0:\n        x = 1\n        y = 2\n    return 1"
    )
    branch.git("branch", "-f", "main", "topic")
    edit(branch, "m/core.py", "        y = 2", "    y = 2")
    assert branch.answer("report")["tests"]
    branch.git("branch", "-f", "main", "HEAD^^")


def test_names_of_a_repository_are_never_markdown(branch: Repo) -> None:
    branch.write("m/a|b`<img>.py", "def helper():\n    return 1\n")
    branch.commit("odd")
    shown = branch.gitindex("report").stdout
    assert "`` m/a\\|b`<img>.py:1 ``" in shown
