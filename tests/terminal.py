"""What a command prints on a pseudo-terminal."""

from __future__ import annotations

import os
import pty
import select
import time

from tests.command import start_command
from tests.support import TIMEOUT, Repo


def on_a_terminal(repo: Repo, *args: str, codes: tuple[int, ...] = (0, 1), **env: str) -> str:
    """Run the command, forked from one that is imported already, and return all that it prints."""
    ours, theirs = pty.openpty()
    process = start_command(args, repo.path, {**os.environ, "TERM": "xterm", **env}, theirs)
    os.close(theirs)
    said = b""
    deadline = time.monotonic() + TIMEOUT
    while time.monotonic() < deadline and select.select([ours], [], [], TIMEOUT)[0]:
        try:
            chunk = os.read(ours, 1 << 16)
        except OSError:  # the other end is closed
            break
        if not chunk:
            break
        said += chunk
    os.close(ours)
    assert process.wait(TIMEOUT) in codes
    return said.decode()
