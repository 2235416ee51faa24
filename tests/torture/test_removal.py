"""A3 at full size: remove worktrees, clones and repositories a moment after a git command."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from gitindex.install.git_template import write_template
from tests import removal
from tests.support import Repo

ROUNDS = int(os.environ.get("GITINDEX_ROUNDS", "100"))

pytestmark = [pytest.mark.torture, pytest.mark.timeout(3600)]


@pytest.mark.parametrize("remover", removal.REMOVERS)
@pytest.mark.parametrize("race", [removal.race_new_worktree, removal.race_known_worktree])
def test_a3_worktrees(quiet: Repo, race: removal.Race, remover: str) -> None:
    assert _failures(quiet, race, remover) == []


@pytest.mark.parametrize("remover", ["rm", "python"])
@pytest.mark.parametrize("race", [removal.race_clone, removal.race_repository])
def test_a3_repositories(quiet: Repo, tmp_path: Path, race: removal.Race, remover: str) -> None:
    write_template(str(tmp_path / "template"), temporary=True)
    assert _failures(quiet, race, remover) == []


def _failures(repo: Repo, race: removal.Race, remover: str) -> list[list[str]]:
    rng = random.Random(9)
    ran = [race(repo, removal.REMOVERS[remover], number, rng) for number in range(ROUNDS)]
    return [failed for failed in ran if failed]
