"""git's own test suite with our hooks opted in through a template, against hooks that do nothing.

    python -m tests.torture.git_suite /path/to/git.git [t2400 t7508 …] [--work DIR]

The path is a repository of git's source that has the tag of the installed version. Only the helpers of
the suite are built; the git under test is the installed one. Each script runs twice, from a template
with silent hooks and from ours; a test that fails only with ours is printed, and the exit code is 1.
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
from gitindex.install.hooks.block import EVENTS
from tests.gits import git_version
from tests.support import stop_runners

NAMED = ("t2400", "t2406", "t3200", "t4150", "t5601", "t6500", "t7400", "t7506", "t7508")
HOOKS = ("t1350", "t1800", "t5401", "t5403", "t7503", "t7504", "t7505")
CHECKOUT = ("t2007", "t2010", "t2013", "t2018", "t2020", "t2060", "t2401", "t2402", "t2403")
REBASE = ("t3400", "t3403", "t3404", "t3406", "t3415", "t3418", "t3420", "t5407", "t5520", "t7600")
SCRIPTS = (*NAMED, *HOOKS, *CHECKOUT, *REBASE)
FLAGS = (
    "CFLAGS=-O0",
    *(f"NO_{what}=1" for what in ["OPENSSL", "CURL", "EXPAT", "GETTEXT", "TCLTK", "PYTHON"]),
)
TIMEOUT = 3_600


def prepare(source: Path, work: Path) -> Path:
    """The source of the installed version, with the helpers that its suite needs."""
    git = shutil.which("git")
    assert git is not None
    tag = "v" + ".".join(map(str, git_version(git)))
    if not (work / "Makefile").exists():
        work.mkdir(parents=True, exist_ok=True)
        packed = subprocess.run(
            ["git", "-C", str(source), "archive", tag], capture_output=True, check=True, timeout=600
        ).stdout
        subprocess.run(["tar", "x", "-C", str(work)], input=packed, check=True, timeout=600)
    command = ["make", "-j2", *FLAGS, "t/helper/test-tool", "GIT-BUILD-OPTIONS"]
    subprocess.run(command, cwd=work, check=True, timeout=TIMEOUT, stdout=subprocess.DEVNULL)
    return work


def set_template(work: Path, ours: bool) -> None:
    """The template of every repository that the suite makes."""
    template = work / "templates/blt"
    shutil.rmtree(template, ignore_errors=True)
    for folder in ("branches", "hooks", "info"):
        (template / folder).mkdir(parents=True)
    (template / "info/exclude").write_text("")
    (template / "description").write_text("a repository of the suite\n")
    if ours:
        write_template(str(template), temporary=True)
        return
    write_silent(template)


def write_silent(template: Path) -> None:
    """Hooks of the same names that do nothing."""
    (template / "hooks").mkdir(parents=True, exist_ok=True)
    for name in EVENTS:
        (template / "hooks" / name).write_text("#!/bin/sh\nexit 0\n")
        (template / "hooks" / name).chmod(0o755)


def failures(work: Path, script: Path, root: Path) -> set[str]:
    """The tests of one script that fail, by number and name."""
    root.mkdir()
    keep = {name: os.environ[name] for name in ("PATH", "LANG", "USER") if name in os.environ}
    git = shutil.which("git")
    assert git is not None
    done = subprocess.run(
        ["sh", script.name, f"--root={root}"],
        cwd=script.parent,
        env={**keep, "GIT_TEST_INSTALLED": os.path.dirname(git), "SHELL_PATH": "/bin/sh"},
        capture_output=True,
        text=True,
        errors="replace",
        timeout=TIMEOUT,
        check=False,
    )
    failed = set(re.findall(r"^not ok (\d+ - .*?)(?: # TODO.*)?$", done.stdout, re.MULTILINE))
    known = set(re.findall(r"^not ok (\d+ - .*?) # TODO.*$", done.stdout, re.MULTILINE))
    if not re.search(r"^1\.\.\d+", done.stdout, re.MULTILINE):
        failed.add(f"did not end: {done.returncode} {done.stderr[-300:]}")
    stop_runners(root)
    shutil.rmtree(root, ignore_errors=True)
    return failed - known


def compare(work: Path, name: str, scratch: Path) -> set[str]:
    """What fails with our hooks and not with silent ones."""
    (script,) = (work / "t").glob(f"{name}-*.sh")
    set_template(work, ours=False)
    silent = failures(work, script, scratch / f"{name}-silent")
    set_template(work, ours=True)
    new = failures(work, script, scratch / f"{name}-ours") - silent
    print(f"{script.name}: {len(silent)} fail with silent hooks, {len(new)} new", flush=True)
    for failed in sorted(new):
        print(f"  {failed}", flush=True)
    return new


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("source", type=Path)
    parser.add_argument("scripts", nargs="*", default=SCRIPTS)
    parser.add_argument("--work", type=Path, help="where git is built, and found again")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="git-suite-") as scratch:
        work = prepare(given.source, (given.work or Path(scratch, "git")).absolute())
        new = [failed for name in given.scripts for failed in compare(work, name, Path(scratch))]
    print(f"{len(given.scripts)} scripts, {len(new)} new failures")
    return int(bool(new))


if __name__ == "__main__":
    sys.exit(main())
