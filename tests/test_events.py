"""Every event of git, fired by real commands, ends fresh: published equals git's own tree."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.support import Repo


def _commit(repo: Repo) -> None:
    repo.write("new.py", "def brand_new():\n    pass\n")
    repo.commit("second")


EVENTS: dict[str, Callable[[Repo], None]] = {"commit": _commit}


@pytest.mark.parametrize("operation", EVENTS.values(), ids=EVENTS.keys())
def test_event_ends_fresh(indexed: Repo, operation: Callable[[Repo], None]) -> None:
    operation(indexed)
    indexed.wait_fresh()
    indexed.assert_published()
    assert indexed.marker()["treeId"] == indexed.tree()
