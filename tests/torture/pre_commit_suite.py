"""pre-commit's own test suite with our hooks opted in through a template, against hooks that do nothing.

    python -m tests.torture.pre_commit_suite /path/to/pre-commit.git [tests/git_test.py …] [--tag v4.6.2]

The suite sets a template of its own, an empty one; here that is our template, or one with silent hooks.
A test that fails only with ours is printed, and the exit code is 1.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from gitindex.install.git_template import write_template
from tests.support import stop_runners
from tests.torture.git_suite import TIMEOUT, write_silent

TESTS = (
    "tests/commands",
    "tests/git_test.py",
    "tests/main_test.py",
    "tests/repository_test.py",
    "tests/staged_files_only_test.py",
    "tests/store_test.py",
    "tests/meta_hooks",
)
NEEDED = ("pytest", "pytest-env", "re-assert", "distlib", "covdefaults")
_TEMPLATE = "tdir = str(tmpdir_factory.mktemp('git_template_dir'))"


def prepare(source: Path, tag: str, work: Path) -> Path:
    """The suite's source, told which template to use, and a Python that has what it needs."""
    subprocess.run(["git", "clone", "-q", str(source), str(work)], check=True, timeout=TIMEOUT)
    subprocess.run(["git", "-C", str(work), "checkout", "-q", tag], check=True, timeout=TIMEOUT)
    settings = work / "tests/conftest.py"
    text = settings.read_text()
    assert _TEMPLATE in text, "this version sets its template elsewhere"
    settings.write_text(text.replace(_TEMPLATE, "tdir = os.environ['SUITE_TEMPLATE']"))
    python = work / "venv/bin/python"
    subprocess.run([sys.executable, "-m", "venv", str(work / "venv")], check=True, timeout=TIMEOUT)
    install = [str(python), "-m", "pip", "install", "-q", "-e", str(work), *NEEDED]
    subprocess.run(install, check=True, timeout=TIMEOUT)
    return python


def failures(python: Path, work: Path, template: Path, tests: list[str]) -> set[str]:
    """The tests that fail or break."""
    root = template.parent / f"{template.name}-root"
    keep = {name: os.environ[name] for name in ("LANG", "USER", "HOME") if name in os.environ}
    path = os.pathsep.join((str(python.parent), os.environ["PATH"]))
    done = subprocess.run(
        [str(python), "-m", "pytest", "-q", "-rfE", "--tb=no", f"--basetemp={root}", *tests],
        cwd=work,
        env={**keep, "PATH": path, "SUITE_TEMPLATE": str(template)},
        capture_output=True,
        text=True,
        errors="replace",
        timeout=TIMEOUT,
        check=False,
    )
    stop_runners(root)
    shutil.rmtree(root, ignore_errors=True)
    print(done.stdout.strip().splitlines()[-1], flush=True)
    return set(re.findall(r"^(?:FAILED|ERROR) (\S+)", done.stdout, re.MULTILINE))


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("source", type=Path)
    parser.add_argument("tests", nargs="*", default=TESTS)
    parser.add_argument("--tag", default="v4.6.2")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="pre-commit-suite-") as scratch:
        work = Path(scratch, "suite")
        python = prepare(given.source, given.tag, work)
        silent, ours = Path(scratch, "silent"), Path(scratch, "ours")
        write_silent(silent)
        write_template(str(ours), temporary=True)
        before = failures(python, work, silent, list(given.tests))
        new = failures(python, work, ours, list(given.tests)) - before
    for failed in sorted(new):
        print(f"  {failed}")
    print(f"{len(before)} fail with silent hooks, {len(new)} new")
    return int(bool(new))


if __name__ == "__main__":
    sys.exit(main())
