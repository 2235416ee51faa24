"""The memory of a server does not grow with the number of its answers."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import pytest

from tests.mcp_client import Agent
from tests.support import Repo, child_pids

GROWTH_KB = 500


@pytest.mark.promise("I-28")
@pytest.mark.skipif(sys.platform != "linux", reason="what is measured is glibc's malloc")
def test_answers_leave_no_memory_behind(quiet: Repo, tmp_path: Path) -> None:
    """Fifty pairs of calls left 950 kB of freed pieces; with large buffers given back, 100.

    A thread that a busy machine starts late takes its memory once: what is left behind grows each time.
    """
    with Agent(quiet.path, tmp_path / "state") as agent:
        [server] = child_pids(os.getpid(), b"gitindex\0mcp")

        def held_after(calls: int) -> int:
            for _ in range(calls):
                agent.ask("find_references", symbol="helper")
                agent.ask("search_codebase", query="helper")
            status = Path(f"/proc/{server}/status").read_text()
            found = re.search(r"RssAnon:\s+(\d+)", status)
            assert found is not None
            return int(found[1])

        held = [held_after(10)]
        for _ in range(3):
            held.append(held_after(50))
            if held[-1] - held[-2] < GROWTH_KB:
                return
        pytest.fail(f"grows with each fifty pairs of calls: {held} kB")
