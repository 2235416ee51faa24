"""Fuzzed MCP calls: every one is answered with a valid envelope, and nothing is written."""

from __future__ import annotations

import os
import random
from pathlib import Path

from gitindex.mcp.dispatch import call
from gitindex.mcp.question_tools import BY_NAME, TOOLS
from tests.e2e.mcp.test_hostile import ELSEWHERE, any_arguments, check, quick
from tests.mcp_client import Inside, digests, make_quiet
from tests.support import Repo
from tests.torture import Clock


def fuzzed_requests(clock: Clock, rng: random.Random, folder: Path) -> None:
    """Mostly shaped like the schema with something wrong; one in twenty reaches git and the store."""
    repo = make_quiet(Repo(folder / "repo"))
    inside = Inside(os.path.realpath(repo.path), folder / "state")
    before = digests(repo.worktree.store, repo.worktree.llmc)
    while clock.goes_on():
        tool = rng.choice(TOOLS).name
        arguments = any_arguments(rng, tool)
        if isinstance(arguments, dict) and rng.random() < 0.95:
            arguments["path"] = rng.choice(ELSEWHERE)
        with quick():
            check(call(inside.server, BY_NAME[tool], arguments))
        clock.count()
    assert digests(repo.worktree.store, repo.worktree.llmc) == before
