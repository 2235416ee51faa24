"""Rings of tests on what macOS lacks: `python -m tests.macos SHELL [pytest's arguments]`, as root.

In a mount namespace of its own: `/proc` is empty (and with it what inotify says of itself), and `/bin/sh`
is the given shell, `dash` or `bash`. Not covered: a file system that folds case.
"""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from typing import NoReturn

RINGS = ("tests/repo/freshness", "tests/repo/view")


def main(argv: list[str]) -> NoReturn:
    """Replace this process by pytest in the namespace."""
    shell = shutil.which(argv[0] if argv else "dash")
    if shell is None:
        sys.exit(f"no such shell: {argv[0]}")
    tests = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-n",
        "2",
        *(argv[1:] or RINGS),
    ]
    mounts = f"mount --bind {shlex.quote(os.path.realpath(shell))} {os.path.realpath('/bin/sh')}"
    script = f"{mounts} && mount -t tmpfs none /proc && exec {shlex.join(tests)}"
    os.execvp("unshare", ["unshare", "--mount", "bash", "-c", script])


if __name__ == "__main__":
    main(sys.argv[1:])
