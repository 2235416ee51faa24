"""Rings of tests on what macOS lacks: `python -m tests.macos SHELL [pytest's arguments]`, as root.

In a mount namespace of its own: `/proc` is empty (and with it what inotify says of itself), and `/bin/sh`
is the given shell, `dash` or `bash`. Tests, which look for processes, see them at another place.
Not covered: a file system that folds case.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from typing import NoReturn

RINGS = ("tests/repo/freshness", "tests/repo/view", "tests/e2e/install/test_hook.py")


def main(argv: list[str]) -> NoReturn:
    """Run pytest in the namespace."""
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
    with tempfile.TemporaryDirectory() as seen:
        os.environ["GITINDEX_TEST_PROC"] = seen
        hide = f"mount --bind /proc {seen} && mount -t tmpfs none /proc"
        script = f"{mounts} && {hide} && {shlex.join(tests)}"
        sys.exit(
            subprocess.run(["unshare", "--mount", "bash", "-c", script], check=False).returncode
        )


if __name__ == "__main__":
    main(sys.argv[1:])
