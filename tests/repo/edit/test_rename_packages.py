"""Twelve renames of modules of Python's library; their own tests still pass. 300 of packages: torture."""

from __future__ import annotations

import shutil
import sysconfig
from pathlib import Path

import pytest

from tests.renames import rename_and_run
from tests.support import Repo

LIBRARY = Path(sysconfig.get_path("stdlib"))
MODULES = ("graphlib", "textwrap", "shlex")
RENAMES = (
    "graphlib.py#TopologicalSorter._find_cycle",
    "graphlib.py#TopologicalSorter._get_nodeinfo",
    "graphlib.py#_NodeInfo",
    "graphlib.py#CycleError",
    "textwrap.py#TextWrapper",
    "textwrap.py#TextWrapper._munge_whitespace",
    "textwrap.py#TextWrapper._wrap_chunks",
    "textwrap.py#dedent",
    "textwrap.py#shorten",
    "shlex.py#quote",
    "shlex.py#shlex.push_source",
    "shlex.py#shlex.sourcehook",
    "shlex.py#shlex.error_leader",
)
LEAST = 12


def test_the_tests_of_a_module_pass_after_a_rename(repo: Repo) -> None:
    tests = [f"test_{name}" for name in MODULES]
    if not all((LIBRARY / "test" / f"{name}.py").is_file() for name in tests):
        pytest.skip("this Python has no tests of its library: apt-get install libpython3-testsuite")
    for name in MODULES:
        shutil.copyfile(LIBRARY / f"{name}.py", repo.path / f"{name}.py")
        shutil.copyfile(LIBRARY / "test" / f"test_{name}.py", repo.path / f"test_{name}.py")
    repo.commit()
    repo.index()
    done = {
        symbol: rename_and_run(
            repo,
            symbol,
            f"renamed_{number}",
            ["-m", "unittest", "-q", f"test_{symbol.partition('.')[0]}"],
            str(repo.path),
        )
        for number, symbol in enumerate(RENAMES)
    }
    assert not [outcome.wrong for outcome in done.values() if outcome.wrong]
    assert sum(not outcome.refused for outcome in done.values()) >= LEAST, done
