"""The two gates through pre-commit and prek: they judge the staged tree, whatever lies on disk."""

from __future__ import annotations

import pytest

from tests.e2e.conftest import TOOLS
from tests.e2e.install.test_precommit import configure, install
from tests.support import Repo


@pytest.fixture
def project(repo: Repo) -> Repo:
    repo.write("pkg/core.py", "def build():\n    return 1\n")
    repo.write("pkg/cli.py", "from pkg.core import build\n\n\ndef main():\n    return build()\n")
    repo.write("tests/test_cli.py", "from pkg.cli import main\n\n\ndef test_it():\n    main()\n")
    repo.commit()
    repo.index()
    return repo


@pytest.mark.parametrize("tool", TOOLS)
def test_a_dangling_reference_blocks_the_commit(
    project: Repo, source: Repo, env: dict[str, str], tool: str
) -> None:
    configure(project, source, "gitindex-dangling")
    install(project, tool)
    project.write("pkg/core.py", "def make():\n    return 1\n")
    project.git("add", "pkg/core.py")
    project.write("pkg/cli.py", "")  # not staged: it must not be misread as a mended importer
    done = project.try_git("commit", "-m", "rename")
    assert done.returncode == 1
    assert "pkg/cli.py:1: `build` is gone from pkg/core.py" in done.stdout + done.stderr
    assert (project.path / "pkg/cli.py").read_text() == ""
    project.write("pkg/cli.py", "from pkg.core import make\n\n\ndef main():\n    return make()\n")
    project.git("add", "pkg/cli.py")
    done = project.try_git("commit", "-m", "rename")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("tool", TOOLS)
def test_affected_tests_are_printed(
    project: Repo, source: Repo, env: dict[str, str], tool: str
) -> None:
    configure(project, source, "gitindex-affected-tests")
    install(project, tool)
    project.write("pkg/core.py", "def build():\n    return 2\n")
    project.git("add", "pkg/core.py")
    done = project.try_git("commit", "-m", "change")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "tests/test_cli.py" in done.stdout + done.stderr
