"""A soak: commits and MCP calls go on in one server; memory and descriptors stay flat."""

from __future__ import annotations

import os
import random
import re
from pathlib import Path

from gitindex.coordinator import IndexCoordinator
from tests.mcp_client import Inside, make_quiet
from tests.support import Repo
from tests.torture import Clock

WARM_UP = 40
GROWTH_KB = 60_000


def _usage() -> tuple[int, int]:
    """Resident kilobytes and open descriptors of this process."""
    status = Path("/proc/self/status").read_text()
    found = re.search(r"VmRSS:\s+(\d+)", status)
    assert found is not None
    return int(found[1]), len(os.listdir("/proc/self/fd"))


def soak(clock: Clock, rng: random.Random, folder: Path) -> None:
    """A commit, a refresh and ten calls per round."""
    repo = make_quiet(Repo(folder / "repo"))
    inside = Inside(os.path.realpath(repo.path), folder / "state")
    start = (0, 0)
    number = 0
    while clock.goes_on():
        number += 1
        repo.write(f"s{number % 50}.py", f"def soaked_{number}():\n    return {rng.random()}\n")
        repo.commit(f"soak {number}")
        IndexCoordinator(str(repo.path)).reindex_incremental()
        for _ in range(5):
            found = inside.ask("find_references", symbol=f"soaked_{number}")
            assert [d["name"] for d in found["definitions"]] == [f"soaked_{number}"], found
            assert inside.ask("search_codebase", query=f"soaked_{number}")["results"], number
            clock.count("calls", 2)
        if number == WARM_UP:
            start = _usage()
        elif number > WARM_UP:
            memory, descriptors = _usage()
            assert memory < start[0] + GROWTH_KB, (number, start, memory)
            assert descriptors <= start[1] + 4, (number, start, descriptors)
        clock.count()
