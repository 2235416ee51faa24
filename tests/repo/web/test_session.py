"""What a server keeps between answers."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitindex.base.worktree import Worktree, find_worktree
from gitindex.view.tree import NOW
from gitindex.web import session as sessions
from gitindex.web.session import WebSession
from tests.support import Repo


def test_names_are_forgotten_when_the_process_is_large(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After the answer, not inside of it; and not once more for answers that follow no names."""
    repo = Repo(tmp_path / "repo")
    repo.init()
    worktree: Worktree = find_worktree(str(repo.path))
    session = WebSession(worktree)
    before, given = session.names, []
    monkeypatch.setattr(sessions, "_give_back", lambda: given.append(1))
    monkeypatch.setattr(sessions, "resident_bytes", lambda: sessions.MAX_RESIDENT + 1)
    session.shrink(False)
    assert session.names is before
    with session.page(NOW, names=True):
        assert session.names is before
    session.shrink(False)
    assert session.names is not before
    session.shrink(False)
    assert given == [1]
