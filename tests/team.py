"""Clones and roles of a team's index on a real PostgreSQL server, for tests."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from gitindex.sharing import membership, publish
from gitindex.sharing.server import connected
from tests.packs import quietly
from tests.postgres import Cluster
from tests.support import Repo

USERS = ("alice", "bob", "carol", "nobody_yet")


def join(cluster: Cluster, database: str, repo: Repo, user: str = "ci") -> None:
    url = cluster.url(database, user)
    with connected(url, patient=True) as server:
        membership.join(repo.worktree, server, url, "", "")


def push(repo: Repo) -> publish.PublishResult:
    return publish.push(repo.worktree, quietly)


def see(cluster: Cluster, database: str, repo: str, user: str) -> None:
    with connected(cluster.url(database, "boss"), patient=True) as server:
        assert server.rows("SELECT gi_set_member(%s, %s, true, false)", repo, user)[0][0]


def asked_of_team(
    cluster: Cluster, database: str, user: str, ask: Any, word: str
) -> list[dict[str, Any]]:
    with connected(cluster.url(database, user)) as server:
        found = ask(server, word, 50)
    assert isinstance(found, list)
    return found


def configure(monkeypatch: pytest.MonkeyPatch, repo: Repo, url: str) -> None:
    home = repo.path.parent / "home"
    home.mkdir(exist_ok=True)
    text = Path(os.environ["HOME"], ".gitconfig").read_text()
    (home / ".gitconfig").write_text(f'{text}[gitindex "team"]\n\turl = {url}\n')
    monkeypatch.setenv("HOME", str(home))
