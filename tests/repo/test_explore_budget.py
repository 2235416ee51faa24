"""explore binds the uses in as many files as it has a budget for; what is beyond is counted, never denied."""

from __future__ import annotations

from typing import Any

import pytest

from gitindex.query.explore import FILES, USES, explore
from gitindex.view.tree import open_tree
from tests.support import Repo


def _place(repo: Repo) -> dict[str, Any]:
    with open_tree(repo.worktree, str(repo.path)) as view:
        answer = explore(view, "settle the account", 4_000)
    return next(p for p in answer["places"] if p.get("name") == "settle_account")


@pytest.mark.parametrize("beyond", [0, 3])
def test_uses_beyond_the_budget_are_possible(repo: Repo, beyond: int) -> None:
    repo.write("bank.py", 'def settle_account():\n    """Settle the account."""\n')
    for number in range(FILES - 1 + beyond):
        repo.write(f"use{number}.py", "from bank import settle_account\nsettle_account()\n")
    repo.commit()
    repo.index()
    place = _place(repo)
    assert len(place["callers"]) == USES
    assert place.get("unexamined", 0) == beyond
    assert place.get("uncertain", 0) == 2 * beyond  # an import and a call in each
    assert place["complete"] is (beyond == 0)
    assert not place["absent"]
    assert place["moreCallers"] == FILES - 1 - USES
