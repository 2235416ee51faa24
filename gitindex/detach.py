"""Turns a process that a hook started into one that git and the terminal can forget."""

from __future__ import annotations

import contextlib
import os
import resource

MEMORY_BYTES = 8 << 30


def become_background() -> None:
    """Own session, no inherited descriptor, no git environment, cwd `/`, low priority, private files."""
    with contextlib.suppress(OSError):
        os.setsid()
    os.closerange(3, 4096)
    null = os.open(os.devnull, os.O_RDWR)
    for fd in range(3):
        os.dup2(null, fd)
    if null > 2:
        os.close(null)
    os.chdir("/")
    os.umask(0o077)
    for name in [n for n in os.environ if n.startswith(("GIT_", "PYTHON"))]:
        del os.environ[name]
    with contextlib.suppress(OSError):
        os.nice(10)
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
