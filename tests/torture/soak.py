"""A soak: commits and calls of one MCP server go on; memory and descriptors of both sides stay flat.

This process refreshes, as a program does that imports gitindex; a server of its own answers over stdio.
Flat means: in the second half of a soak the resident memory grows by less than `SLOPE` per commit, by least
squares, and at no time after the warm-up is it more than `GROWTH` above what it was then.
"""

from __future__ import annotations

import os
import random
import re
import statistics
from pathlib import Path

from gitindex.coordinator import IndexCoordinator
from tests.mcp_client import Agent, make_quiet
from tests.support import Repo, child_pids
from tests.torture import Clock

WARM_UP = 40
GROWTH = 40_000_000
SLOPE = 20_000
LONG = 400
"""A soak of so many commits has a slope worth the name."""
DESCRIPTORS = 4


class Watched:
    """One process: its memory and descriptors after each round."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._memory: list[int] = []
        self._first = 0

    def look(self) -> None:
        status = Path(f"/proc/{self._pid}/status").read_text()
        found = re.search(r"VmRSS:\s+(\d+)", status)
        assert found is not None
        self._memory.append(int(found[1]) * 1024)
        descriptors = len(os.listdir(f"/proc/{self._pid}/fd"))
        rounds = len(self._memory)
        if rounds == WARM_UP:
            self._first = descriptors
        elif rounds > WARM_UP:
            start = self._memory[WARM_UP - 1]
            assert self._memory[-1] < start + GROWTH, (rounds, start, self._memory[-1])
            assert descriptors <= self._first + DESCRIPTORS, (rounds, self._first, descriptors)

    def slope(self) -> int:
        """Bytes per commit over the second half."""
        half = self._memory[len(self._memory) // 2 :]
        return round(statistics.linear_regression(range(len(half)), half).slope)


def soak(clock: Clock, rng: random.Random, folder: Path) -> None:
    """A commit, a refresh and ten calls per round."""
    repo = make_quiet(Repo(folder / "repo"))
    with Agent(repo.path, folder / "state") as agent:
        [server] = child_pids(os.getpid(), b"gitindex\0mcp")
        watched = {"own": Watched(os.getpid()), "server": Watched(server)}
        while clock.goes_on():
            _round(repo, agent, clock.counts["cases"], rng)
            for process in watched.values():
                process.look()
            clock.count("calls", 10)
            clock.count()
    if clock.counts["cases"] >= LONG:
        for name, process in watched.items():
            clock.counts[f"{name}_slope"] = process.slope()
            assert process.slope() < SLOPE, (name, process.slope())


def _round(repo: Repo, agent: Agent, number: int, rng: random.Random) -> None:
    repo.write(f"s{number % 50}.py", f"def soaked_{number}():\n    return {rng.random()}\n")
    repo.commit(f"soak {number}")
    IndexCoordinator(str(repo.path)).reindex_incremental()
    for _ in range(5):
        found = agent.ask("find_references", symbol=f"soaked_{number}")
        assert [d["name"] for d in found["definitions"]] == [f"soaked_{number}"], found
        assert agent.ask("search_codebase", query=f"soaked_{number}")["results"], number
