"""Runs an indexer in its own session, with a time limit; no process of it survives the run."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

POLL_SECONDS = 0.05
SUPERVISOR = (sys.executable, "-I", "-m", "gitindex.semantic.scip.supervisor")


class Ended(NamedTuple):
    """How a run ended."""

    code: int | None  # None: it was killed at its time limit
    seconds: float


def run_tool(
    argv: list[str],
    folder: str,
    env: dict[str, str],
    log: str,
    seconds: float,
    tick: Callable[[float], None] = lambda _seconds: None,
) -> Ended:
    """Run a tool until it ends or the limit; kills its whole process group before returning."""
    started = time.monotonic()
    with open(log, "wb") as output:
        process = subprocess.Popen(
            [*SUPERVISOR, *argv],
            cwd=folder,
            env=env,
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    assert process.stdin is not None
    try:
        while not _has_ended(process.pid):
            spent = time.monotonic() - started
            if spent > seconds:
                return Ended(None, spent)
            tick(spent)
            time.sleep(POLL_SECONDS)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # before it is reaped: its id is not reused yet
        process.stdin.close()
        code = process.wait()
    return Ended(code, time.monotonic() - started)


def last_words(log: str) -> str:
    """Return the last line of a tool's output."""
    with open(log, "rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - 4096))
        lines = file.read().decode("utf-8", "replace").strip().splitlines()
    return lines[-1].strip()[:300] if lines else "it said nothing"


def _has_ended(pid: int) -> bool:
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
