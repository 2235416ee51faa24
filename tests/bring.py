"""`python -m tests.bring` installs the programs that tests need besides Python and git.

Each program is taken from PATH or from this environment, else installed with apt-get where that is
allowed. Tests of a program that cannot be had are skipped, and said to be; with CI set on Linux the
exit code is 1 instead: there everything is tested.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple


class Program(NamedTuple):
    """One program: its names, the Debian package that holds it, and what is not tested without it."""

    names: tuple[str, ...]
    package: str
    tests: str = ""
    says: str = ""


PROGRAMS = (
    Program(("rg",), "ripgrep", "agreement with ripgrep"),
    Program(("strace",), "strace", "faults of system calls"),
    Program(("postgres", "pg_ctlcluster"), "postgresql", "the team's index"),
    Program(
        ("ctags-universal", "ctags"), "universal-ctags", "agreement with ctags", "Universal Ctags"
    ),
    Program((os.environ.get("CHROMIUM") or "chromium",), "chromium", "the page in a browser"),
    Program(("go",), "golang-go"),
    Program(("javac",), "default-jdk-headless"),
    Program(("node",), "nodejs"),
    Program(("pgbouncer",), "pgbouncer"),
    Program(("vim",), "vim-tiny"),
    Program(("nvim",), "neovim"),
    Program(("zsh",), "zsh"),
    Program(("fish",), "fish"),
    Program(("busybox",), "busybox"),
    Program(("ksh93", "ksh"), "ksh93u+m"),
    Program(("mksh",), "mksh"),
    Program(("yash",), "yash"),
)

HERE = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
LOCK_SECONDS = 600
"""How long another apt may hold its lock."""
LOCKED = b"Could not get lock"


def is_here(program: Program) -> bool:
    """Is it on PATH, or beside this interpreter, and the right program of that name?"""
    for found in filter(None, (shutil.which(name, path=HERE) for name in program.names)):
        if not program.says:
            return True
        said = subprocess.run([found, "--version"], capture_output=True, check=False, timeout=300)
        if program.says.encode() in said.stdout:
            return True
    return False


def install(packages: list[str]) -> None:
    """apt-get, as root or by a sudo that asks nothing; one by one where some package is unknown."""
    apt, sudo = shutil.which("apt-get"), shutil.which("sudo")
    prefix = [] if os.geteuid() == 0 else [str(sudo), "-n"]
    if apt is None or (prefix and not _may_sudo(sudo)):
        return

    def run(*args: str) -> bool:
        command = [*prefix, apt, "-o", f"DPkg::Lock::Timeout={LOCK_SECONDS}", *args]
        return run_apt([*command, "-y", "-qq", "--no-install-recommends"], LOCK_SECONDS)

    if run("install", *packages):
        return
    run("update")
    if not run("install", *packages):
        for package in packages:
            run("install", package)


def _may_sudo(sudo: str | None) -> bool:
    """Does it let this user become root without a question?"""
    asked = [str(sudo), "-n", "true"]
    return (
        sudo is not None and not subprocess.run(asked, capture_output=True, check=False).returncode
    )


def run_apt(command: list[str], patience: float) -> bool:
    """Run apt-get and show its own error; its option waits for one lock, for the others we do."""
    print(f"{' '.join(command)} …", flush=True)
    deadline = time.monotonic() + patience
    while True:
        done = subprocess.run(
            command,
            env={**os.environ, "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C"},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            check=False,
        )
        if done.returncode == 0:
            return True
        if LOCKED not in done.stderr or time.monotonic() > deadline:
            sys.stderr.write(done.stderr.decode(errors="replace"))
            return False
        time.sleep(1)


def report(missing: list[Program], needs_all: bool) -> int:
    """Say what is not tested here; an exit code of 1 where everything has to be."""
    for program in missing:
        tests = program.tests or f"what needs {program.names[0]}"
        print(f"not tested here: {tests} (install {program.package})", file=sys.stderr)
    if missing and needs_all:
        print("CI is set: nothing may be missing", file=sys.stderr)
        return 1
    return 0


def main() -> int:
    missing = [program for program in PROGRAMS if not is_here(program)]
    if missing and os.environ.get("GITINDEX_NO_INSTALL") != "1":
        install([program.package for program in missing])
    needs_all = os.environ.get("CI", "") not in ("", "0", "false") and sys.platform == "linux"
    return report([program for program in missing if not is_here(program)], needs_all)


if __name__ == "__main__":
    sys.exit(main())
