"""Random programs of four languages, run by their own implementations: no certificate is false."""

from __future__ import annotations

import random
from pathlib import Path

from tests.repo.query.names.test_random_programs import check
from tests.torture import Clock

BATCH = 250
"""Programs of one tree: one start of a compiler is shared by all of them."""


def python_programs(clock: Clock, rng: random.Random, folder: Path) -> None:
    _run("python", clock, rng, folder)


def typescript_programs(clock: Clock, rng: random.Random, folder: Path) -> None:
    _run("typescript", clock, rng, folder)


def go_programs(clock: Clock, rng: random.Random, folder: Path) -> None:
    _run("go", clock, rng, folder)


def java_programs(clock: Clock, rng: random.Random, folder: Path) -> None:
    _run("java", clock, rng, folder)


def _run(language: str, clock: Clock, rng: random.Random, folder: Path) -> None:
    """Batches until the clock ends; every function of every program is asked about."""
    while clock.goes_on():
        asked, complete = check(
            folder / rng.randbytes(8).hex(), language, BATCH, rng.getrandbits(32)
        )
        clock.count("cases", BATCH)
        clock.count("asked", asked)
        clock.count("complete", complete)
