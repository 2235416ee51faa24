"""A progress bar on a terminal, nothing in a pipe."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

WIDTH = 30
Report = Callable[[str, float | None], None]


@contextmanager
def progress_bar(title: str) -> Iterator[Report]:
    """A function that shows phase and percentage on stderr; it redraws ten times a second."""
    if not sys.stderr.isatty():
        yield lambda _phase, _percent: None
        return
    last = 0.0

    def report(phase: str, percent: float | None) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last < 0.1:
            return
        last = now
        done = int(WIDTH * (percent or 0.0) / 100)
        bar = "█" * done + "·" * (WIDTH - done)
        number = f"{percent:3.0f} %" if percent is not None else "     "
        sys.stderr.write(f"\r{title} {bar} {number} {phase}\x1b[K")
        sys.stderr.flush()

    try:
        yield report
    finally:
        sys.stderr.write("\r\x1b[K")
        sys.stderr.flush()
