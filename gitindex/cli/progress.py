"""A progress bar or a one-line notice on a terminal; in a pipe a line every few seconds."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

WIDTH = 30
PATIENCE_SECONDS = 1.0
LINE_SECONDS = 4.0
"""Between two lines in a pipe, and before the first: short work says nothing there."""
Report = Callable[[str, float | None], None]


@contextmanager
def progress_bar(title: str) -> Iterator[Report]:
    """Yield a function that shows phase and percentage on stderr, redrawn ten times a second."""
    if not sys.stderr.isatty():
        yield _lines(title)
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
        _show(f"{title} {bar} {number} {phase}")

    try:
        yield report
    finally:
        _show("")


def _lines(title: str) -> Report:
    """Return a report for a pipe or a file, in which nothing can be redrawn."""
    last = time.monotonic()

    def report(phase: str, percent: float | None) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= LINE_SECONDS:
            last = now
            number = f"{percent:.0f} % " if percent is not None else ""
            sys.stderr.write(f"{title}: {number}{phase}\n")
            sys.stderr.flush()

    return report


@contextmanager
def patience(doing: str) -> Iterator[None]:
    """Print what is being done if it takes long."""
    if not sys.stderr.isatty():
        yield
        return
    from threading import Timer

    shown: list[str] = []

    def tell() -> None:
        shown.append(doing)
        _show(f"{doing} …")

    timer = Timer(PATIENCE_SECONDS, tell)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
        if shown:
            _show("")


def _show(text: str) -> None:
    sys.stderr.write(f"\r{text}\x1b[K")
    sys.stderr.flush()
