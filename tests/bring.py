"""`python -m tests.bring` installs the programs that tests need besides Python and git.

Each program is taken from PATH or from this environment, else installed with apt-get where that is
allowed. Where none can be had, one line names what to install and the exit code is 1.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple


class Program(NamedTuple):
    """One program: its names, the Debian package that holds it, and whether tests skip without it."""

    names: tuple[str, ...]
    package: str
    required: bool = True
    says: str = ""


PROGRAMS = (
    Program(("rg",), "ripgrep"),
    Program(("strace",), "strace"),
    Program(("postgres", "pg_ctlcluster"), "postgresql"),
    Program(("ctags-universal", "ctags"), "universal-ctags", says="Universal Ctags"),
    Program((os.environ.get("CHROMIUM") or "chromium",), "chromium"),
    Program(("go",), "golang-go", required=False),
    Program(("javac",), "default-jdk-headless", required=False),
    Program(("node",), "nodejs", required=False),
    Program(("vim",), "vim-tiny", required=False),
    Program(("zsh",), "zsh", required=False),
    Program(("fish",), "fish", required=False),
    Program(("busybox",), "busybox", required=False),
    Program(("ksh93", "ksh"), "ksh93u+m", required=False),
    Program(("mksh",), "mksh", required=False),
    Program(("yash",), "yash", required=False),
)

HERE = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}"


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
    if apt is None or (os.geteuid() != 0 and sudo is None):
        return
    prefix = [] if os.geteuid() == 0 else [str(sudo), "-n"]

    def run(*args: str) -> bool:
        print(f"apt-get {' '.join(args)} …", flush=True)
        command = [*prefix, apt, *args, "-y", "-qq", "--no-install-recommends"]
        environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        done = subprocess.run(command, env=environment, capture_output=True, check=False)
        return done.returncode == 0

    if run("install", *packages):
        return
    run("update")
    if not run("install", *packages):
        for package in packages:
            run("install", package)


def main() -> int:
    missing = [program for program in PROGRAMS if not is_here(program)]
    if missing and os.environ.get("GITINDEX_NO_INSTALL") != "1":
        install([program.package for program in missing])
    missing = [program for program in missing if not is_here(program)]
    lacking = [program.package for program in missing if program.required]
    if lacking:
        print(f"tests need {', '.join(lacking)}: install them and run again", file=sys.stderr)
        return 1
    skipped = [program.names[0] for program in missing]
    if skipped:
        print(f"not available, their tests are skipped: {', '.join(skipped)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
