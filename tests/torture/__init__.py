"""Fault suites that run for a share of time: `make torture SECONDS=3600 SEED=1`.

A suite is a function of a clock, a random generator and an empty folder. It raises AssertionError
at the first wrong thing, naming what happened; the clock counts its cases.
"""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path


class Clock:
    """How long a suite goes on, by time or by cases, and what it has done."""

    def __init__(self, seconds: float | None = None, cases: int | None = None) -> None:
        self._end = None if seconds is None else time.monotonic() + seconds
        self._cases = cases
        self.counts: Counter[str] = Counter()

    def goes_on(self) -> bool:
        """Is there time, or are there cases, left? The first case is always run."""
        if self._cases is not None:
            return self.counts["cases"] < self._cases
        return not self.counts["cases"] or self._end is None or time.monotonic() < self._end

    def count(self, what: str = "cases", number: int = 1) -> None:
        self.counts[what] += number


Suite = Callable[[Clock, random.Random, Path], None]
