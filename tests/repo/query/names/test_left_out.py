"""Files without facts are searched for a name as git does: all but those that it takes as binary."""

from __future__ import annotations

import sqlite3
from contextlib import closing

from gitindex.query.references import ReferenceQuery, find_references
from gitindex.view.tree import TreeChoice, open_tree
from tests.support import Repo


def test_a_binary_of_git_is_not_read_and_one_of_ours_is(repo: Repo) -> None:
    repo.write("a.py", "def asked(): pass\n")
    (repo.path / "early.bin").write_bytes(b"\0\n asked \n")
    (repo.path / "late.bin").write_bytes(b"asked\n" + b"x\n" * 5_000 + b"\0\n asked \n")
    repo.commit()
    repo.index()
    with closing(sqlite3.connect(repo.worktree.database)) as connection:
        rows = connection.execute(
            "SELECT reason, lines FROM blobs WHERE status='skipped' ORDER BY 2"
        )
        assert rows.fetchall() == [("binary", 0), ("binary", 5_004)]
    listed = repo.git("grep", "-I", "-c", "-w", "asked").splitlines()
    assert listed == ["a.py:1", "late.bin:2"]
    for choice in (TreeChoice(), TreeChoice(at="HEAD"), TreeChoice(staged=True)):
        with open_tree(repo.worktree, str(repo.path), choice) as view:
            answer = find_references(view, ReferenceQuery("asked"))
        assert answer["accounted"]["total"] == 3, choice
        assert {row["path"] for row in answer["possible"]} == {"late.bin"}
    (repo.path / "early.bin").write_bytes(b" asked \n")
    with open_tree(repo.worktree, str(repo.path)) as view:
        answer = find_references(view, ReferenceQuery("asked"))
    assert answer["accounted"]["total"] == 4
