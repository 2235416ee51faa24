"""Runs one indexer; when its parent ends, stdin closes and the whole process group is killed."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading


def main(argv: list[str]) -> int:
    """Run the command and return its exit code as a shell reports it."""
    with contextlib.suppress(OSError):
        os.nice(10)
    try:
        process = subprocess.Popen(argv, stdin=subprocess.DEVNULL)
    except OSError as error:
        sys.stderr.write(f"{argv[0]}: {error.strerror}\n")
        return 127
    threading.Thread(target=_end_with_parent, daemon=True).start()
    code = process.wait()
    return code if code >= 0 else 128 - code


def _end_with_parent() -> None:
    while os.read(0, 1):
        continue
    os.killpg(0, signal.SIGKILL)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
