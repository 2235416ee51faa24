"""Renames in packages of PyPI, each followed by the package's own tests."""

from __future__ import annotations

import random
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import NamedTuple

from gitindex.query.names.memory import Memory
from tests.renames import (
    NO_SYMBOL,
    apply_rename,
    left_of,
    put_back,
    rename_and_run,
    run_tests,
    symbols_of,
)
from tests.support import Repo
from tests.torture import Clock

_OPTIONS = ("-q", "-p", "no:cacheprovider", "-c", "/dev/null")
_FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+?)(?:\[.*)?(?: - .*)?$", re.MULTILINE)
MOST_FAILING = 5
"""Tests that fail before any rename are left out; with more of them, the package is."""
TOGETHER = 8
"""Renames that are applied one upon the other before the tests of a package run."""
NEEDS = ("freezegun", "h11", "markupsafe")
"""What some packages and their tests import; installed into a folder of the suite."""


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
    Package("cachetools", "5.5.0", "src/cachetools", "tests"),
    Package("hyperframe", "6.0.1", "src/hyperframe", "test"),
    Package("jmespath", "1.0.1", "jmespath", "tests"),
    Package("mistune", "3.0.2", "src/mistune", "tests"),
    Package("semver", "3.0.2", "src/semver", "tests"),
    Package("toolz", "0.12.1", "toolz", "toolz/tests"),
    Package("voluptuous", "0.15.2", "voluptuous", "voluptuous/tests/tests.py"),
    Package("tabulate", "0.9.0", "tabulate", "test"),
    Package("wsproto", "1.2.0", "src/wsproto", "test"),
    Package("jinja2", "3.1.4", "src/jinja2", "tests"),
    Package("click", "8.1.7", "src/click", "tests"),
)


class Candidate(NamedTuple):
    """One symbol of a package that may be renamed, and how the package's tests are run."""

    package: Package
    repo: Repo
    symbol: str
    command: list[str]
    memory: Memory


def renames(clock: Clock, rng: random.Random, folder: Path) -> None:
    """Symbols at random, some of each package in turn; a refused rename is no case. Names all failures.

    A package's tests run once after several renames, one upon the other; where they fail, each is
    applied alone. Refusals are counted by kind, each kind once a rename, and apart where it was the
    only one.
    """
    needs = folder / "needs"
    argv = [sys.executable, "-m", "pip", "install", "-q", "--target", str(needs), *NEEDS]
    subprocess.run(argv, check=True, capture_output=True)
    by_package = [found for package in PACKAGES if (found := candidates(package, folder))]
    assert by_package, "no package came from PyPI, or none passes its own tests"
    for found in by_package:
        rng.shuffle(found)
    failures: list[str] = []
    while clock.goes_on() and any(by_package):
        for found in filter(None, by_package):
            applied = _apply_some(clock, found)
            failures += _wrong_of(applied, folder) if applied else []
            clock.count("cases", len(applied))
            told = ", ".join(one.symbol for one, _ in applied)
            print(f"{clock.counts['cases']}: {told}", flush=True)
            clock.count("modules", sum("#" not in one.symbol for one, _ in applied))
            if not clock.goes_on():
                break
    assert not failures, f"{len(failures)} renames went wrong"


def _apply_some(clock: Clock, found: list[Candidate]) -> list[tuple[Candidate, str]]:
    """Apply renames of one package until there are enough; each with its new name."""
    applied: list[tuple[Candidate, str]] = []
    while found and len(applied) < TOGETHER:
        one, new = found.pop(), fresh_name(len(found))
        refused = apply_rename(one.repo, one.symbol, new, one.memory)
        if not refused:
            applied.append((one, new))
        elif refused != (NO_SYMBOL,):  # its class may have been renamed just now
            clock.count("refused")
            for kind in refused:
                clock.count(f"refused_{kind}")
            if len(refused) == 1:
                clock.count(f"refused_only_{refused[0]}")
    return applied


def _wrong_of(applied: list[tuple[Candidate, str]], folder: Path) -> list[str]:
    """What went wrong with renames that were applied one upon the other; puts all files back."""
    package, repo, _, command, memory = applied[0][0]
    paths = source_paths(package, repo.path, folder)
    told = f"{package.name} {package.version}"
    try:
        wrong = run_tests(repo.path, command, paths)
        left = [] if wrong else [left_of(repo, one.symbol, memory) for one, _ in applied]
    finally:
        put_back(repo)
    failures = [f"{told}: {text}" for text in left if text]
    if wrong:
        alone = (
            rename_and_run(repo, one.symbol, new, command, paths, memory) for one, new in applied
        )
        failures = [f"{told}: {done.wrong}" for done in alone if done.wrong]
        failures = failures or [f"{told}: only together: {[o.symbol for o, _ in applied]}: {wrong}"]
    for failure in failures:
        print(failure, flush=True)
    return failures


def candidates(package: Package, folder: Path) -> list[Candidate]:
    """All symbols of a package; none where it cannot be had, or too much fails as it is."""
    repo, memory = _prepare(package, folder), Memory()
    if repo is None:
        print(f"{package.name}: not to be had", flush=True)
        return []
    command = ["-m", "pytest", *_OPTIONS, "--rootdir", str(repo.path), package.tests]
    paths = source_paths(package, repo.path, folder)
    failing = _FAILED.findall(run_tests(repo.path, command, paths))
    without = [word for test in sorted(set(failing)) for word in ("--deselect", test)]
    command += ["-x", *without]
    if len(failing) > MOST_FAILING or (failing and run_tests(repo.path, command, paths)):
        print(f"{package.name}: its tests fail as they are", flush=True)
        return []
    repo.commit("package", "--allow-empty")
    repo.index()
    symbols = symbols_of(repo, package.code)
    return [Candidate(package, repo, symbol, command, memory) for symbol in symbols]


def _prepare(package: Package, folder: Path) -> Repo | None:
    """A repository of the package's sources; None where they cannot be had."""
    into = folder / package.name
    if (into / "repo" / ".git").exists():  # of an earlier run
        repo = Repo(into / "repo")
        repo.git("reset", "-q", "--hard")
        repo.git("clean", "-fdq")
        return repo
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
    [sources] = (found for found in into.iterdir() if found.is_dir() and found.name != "repo")
    shutil.copytree(sources, repo.path, dirs_exist_ok=True)
    return repo


def fresh_name(number: int) -> str:
    """A name of letters alone, as a package's tests may expect of names in messages."""
    return "renamed_" + "".join(chr(ord("a") + int(digit)) for digit in str(number))


def source_paths(package: Package, root: Path, folder: Path) -> str:
    return f"{(root / package.code).parent}:{folder / 'needs'}"
