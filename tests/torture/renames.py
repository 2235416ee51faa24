"""Renames in packages of PyPI, each followed by the package's own tests."""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import NamedTuple

from tests.renames import rename_and_run, run_tests, symbols_of
from tests.support import Repo
from tests.torture import Clock


class Package(NamedTuple):
    """A source distribution: where its code is, and where its tests are."""

    name: str
    version: str
    code: str
    tests: str


PACKAGES = (
    Package("blinker", "1.8.2", "src/blinker", "tests"),
    Package("itsdangerous", "2.2.0", "src/itsdangerous", "tests"),
    Package("h11", "0.14.0", "h11", "h11/tests"),
    Package("sortedcontainers", "2.4.0", "sortedcontainers", "tests"),
)


def renames(clock: Clock, rng: random.Random, folder: Path) -> None:
    """Packages in turn; a rename that is refused is no case."""
    ready = [(package, _prepare(package, folder)) for package in PACKAGES]
    todo = [
        (package, repo, symbol)
        for package, repo in ready
        if repo is not None
        for symbol in symbols_of(repo, package.code)
    ]
    assert todo, "no package came from PyPI, or none passes its own tests"
    rng.shuffle(todo)
    for number, (package, repo, symbol) in enumerate(todo):
        if not clock.goes_on():
            return
        command, paths = _command(package, repo.path)
        wrong = rename_and_run(repo, symbol, f"renamed_{number}", command, paths)
        clock.count("cases" if wrong is not None else "refused")
        assert not wrong, wrong


def _prepare(package: Package, folder: Path) -> Repo | None:
    """A repository of the package with an index; None where it cannot be had or fails as it is."""
    into = folder / package.name
    into.mkdir(parents=True)
    argv = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", ":all:"]
    wanted = f"{package.name}=={package.version}"
    done = subprocess.run([*argv, "-d", str(into), wanted], check=False, capture_output=True)
    if done.returncode:
        return None
    with tarfile.open(next(iter(into.glob("*.tar.gz")))) as archive:
        archive.extractall(into, filter="data")
    repo = Repo(into / "repo")
    repo.init()
    shutil.copytree(next(iter(into.glob(f"{package.name}-*/"))), repo.path, dirs_exist_ok=True)
    if run_tests(repo.path, *_command(package, repo.path)):
        return None
    repo.commit()
    repo.index()
    return repo


def _command(package: Package, root: Path) -> tuple[list[str], str]:
    options = ["-q", "-x", "-p", "no:cacheprovider", "-p", "no:randomly", "-p", "no:xdist"]
    options += ["-c", "/dev/null", "--rootdir", str(root)]
    command = ["-m", "pytest", *options, package.tests]
    return command, str((root / package.code).parent)
