"""`python -m bench.dead [--folder DIR] [NAME…]`: remove what `dead` reports, and run the tests.

Packages of PyPI with their own tests. Of each: what `gitindex dead --public --patch` removes is applied at
once, then the tests that passed before run again. Every finding is printed with the other lines that have its
name, to be read.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from gitindex.query.dead import Dead, DeadQuery, RemovalPatch, find_dead
from gitindex.query.names.finder import Finder
from gitindex.view.tree import open_tree
from tests.renames import run_tests
from tests.support import Repo
from tests.torture.renames import NEEDS, PACKAGES, Package, candidates, source_paths

MORE = (
    Package("attrs", "24.2.0", "src/attr", "tests"),
    Package("boltons", "24.0.0", "boltons", "tests"),
    Package("bottle", "0.13.1", "bottle.py", "test"),
    Package("flask", "3.0.3", "src/flask", "tests"),
    Package("funcy", "2.0", "funcy", "tests"),
    Package("idna", "3.8", "idna", "tests"),
    Package("iniconfig", "2.0.0", "src/iniconfig", "testing"),
    Package("inflection", "0.5.1", "inflection", "test_inflection.py"),
    Package("mako", "1.3.5", "mako", "test"),
    Package("marshmallow", "3.22.0", "src/marshmallow", "tests"),
    Package("more-itertools", "10.4.0", "more_itertools", "tests"),
    Package("natsort", "8.4.0", "natsort", "tests"),
    Package("packaging", "24.1", "src/packaging", "tests"),
    Package("parso", "0.8.4", "parso", "test"),
    Package("pathspec", "0.12.1", "pathspec", "tests"),
    Package("pluggy", "1.5.0", "src/pluggy", "testing"),
    Package("prettytable", "3.11.0", "src/prettytable", "tests"),
    Package("pyflakes", "3.2.0", "pyflakes", "pyflakes/test"),
    Package("pyparsing", "3.1.4", "pyparsing", "tests"),
    Package("pyrsistent", "0.20.0", "pyrsistent", "tests"),
    Package("python-slugify", "8.0.4", "slugify", "test.py"),
    Package("sortedcontainers", "2.4.0", "src/sortedcontainers", "tests"),
    Package("sqlparse", "0.5.1", "sqlparse", "tests"),
    Package("tinycss2", "1.3.0", "tinycss2", "tests"),
    Package("wcwidth", "0.2.13", "wcwidth", "tests"),
    Package("werkzeug", "3.0.4", "src/werkzeug", "tests"),
    Package("wtforms", "3.1.2", "src/wtforms", "tests"),
    Package("zipp", "3.20.1", "zipp", "tests"),
)
WANTED = (
    "hypothesis",
    "pretend",
    "webencodings",
    "blinker",
    "click",
    "itsdangerous",
    "jinja2",
    "werkzeug",
)
MAX_LINES = 8


class Outcome(NamedTuple):
    """What became of one package."""

    found: int
    removed: int
    failed: str  # what its tests say afterwards; empty where they pass


def remove_and_run(package: Package, folder: Path) -> Outcome | None:
    """Apply the patch of a package and run its tests; None where its own tests do not run."""
    known = candidates(package, folder)
    if not known:
        return None
    repo, command = known[0].repo, known[0].command
    with open_tree(repo.worktree, ".") as view:
        finder = Finder(view)
        found = find_dead(view, DeadQuery(public=True), finder).found
        patch = RemovalPatch(finder.project, [one.definition for one in found])
    for one in found:
        _show(package, repo, one)
    if patch.text:
        apply = ["git", "-C", str(repo.path), "apply", "-"]
        subprocess.run(apply, input=patch.text.encode(), check=True)
    failed = run_tests(repo.path, command, source_paths(package, repo.path, folder))
    repo.git("reset", "-q", "--hard")
    return Outcome(len(found), len(found) - len(patch.left), failed)


def _show(package: Package, repo: Repo, one: Dead) -> None:
    definition = one.definition
    place = f"{definition.path}:{definition.line + 1}"
    print(f"  {package.name} {place} {definition.kind} {definition.qualified}")
    command = ["git", "-C", str(repo.path), "grep", "-nwIF", "-e", definition.name]
    lines = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    for line in lines.stdout.splitlines()[:MAX_LINES]:
        if not line.startswith(f"{place}:"):
            print(f"      {line[:160]}")


def main() -> int:
    """Print every finding, and how many suites pass."""
    parser = argparse.ArgumentParser(prog="python -m bench.dead", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--folder", default="")
    asked = parser.parse_args()
    folder = Path(asked.folder or tempfile.mkdtemp(prefix="gitindex-dead-"))
    pip = [sys.executable, "-m", "pip", "install", "-q", "--target", str(folder / "needs")]
    subprocess.run([*pip, *NEEDS, *WANTED], check=True, capture_output=True)
    done: list[Outcome] = []
    for package in (*PACKAGES, *MORE):
        if asked.names and package.name not in asked.names:
            continue
        outcome = remove_and_run(package, folder)
        if outcome is None:
            continue
        done.append(outcome)
        said = f"its tests fail: {outcome.failed}" if outcome.failed else "its tests pass"
        print(
            f"{package.name}: {outcome.found} unused, {outcome.removed} removed; {said}", flush=True
        )
    passed = sum(not one.failed for one in done)
    found, removed = sum(one.found for one in done), sum(one.removed for one in done)
    print(f"{passed} of {len(done)} suites pass; {found} unused, {removed} removed")
    return int(passed < len(done))


if __name__ == "__main__":
    sys.exit(main())
