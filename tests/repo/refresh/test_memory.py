"""A program that refreshes again and again keeps nothing of the writers' buffers."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.support import TIMEOUT, Repo

GIVEN_BACK_KB = 10_000
REFRESH = """
import re, sys
from pathlib import Path
from gitindex.coordinator import IndexCoordinator
from gitindex.store.lexical import trim_memory

def held():
    return int(re.search(r"RssAnon:\\s+(\\d+)", Path("/proc/self/status").read_text())[1])

root = sys.argv[1]
for number in range(8):
    IndexCoordinator(root).reindex_full()
before = held()
trim_memory()
print(before - held())
"""


@pytest.mark.slow
@pytest.mark.promise("I-28")
@pytest.mark.skipif(sys.platform != "linux", reason="the heap is glibc's")
def test_i28_a_program_that_refreshes_keeps_no_buffers(quiet: Repo) -> None:
    """After 350 small refreshes a process held 114 MB, 19 kB more with each; now 62 MB, and 1 kB."""
    command = [sys.executable, "-c", REFRESH, str(quiet.path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT, check=True)
    assert int(done.stdout) < GIVEN_BACK_KB
