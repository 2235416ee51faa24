"""IndexCoordinator: the same answers for a program that embeds gitindex."""

from __future__ import annotations

import pytest

from gitindex.coordinator import IndexCoordinator
from gitindex.view.snapshot import GateClosed
from tests.support import Repo


def test_a_program_indexes_asks_and_sees_edits(repo: Repo) -> None:
    repo.write("lib/util.py", "def helper():\n    return 42\n")
    repo.write("app.py", "from lib.util import helper\n\n\ndef main():\n    return helper()\n")
    repo.commit()
    index = IndexCoordinator(str(repo.path / "lib"))
    with pytest.raises(GateClosed):
        index.search("helper")
    assert index.reindex_incremental().generation == 1
    repo.assert_published()
    assert index.search("helper")["results"][0]["path"] == "lib/util.py"
    found = index.get_symbol("helper")
    assert found is not None
    assert (found["path"], found["line"]) == ("lib/util.py", 1)
    assert index.get_symbol("helper", "app.py") is None
    assert [r["path"] for r in index.get_references("helper")["references"]] == ["app.py"] * 2
    assert "def helper()" in index.get_map(["languages"])["map"]
    repo.write("lib/util.py", "def renamed():\n    return 42\n")
    assert index.get_symbol("helper") is None
    assert index.get_symbol("renamed") is not None
    assert index.reindex_full().generation == 2
    assert repo.jobs()[0]["extracted"] == 2
