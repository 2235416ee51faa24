"""Tokens of the team's index: identity through a real PgBouncer in transaction mode, and upgrades."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from gitindex.base.errors import GitIndexError
from gitindex.sharing import membership, team_questions
from gitindex.sharing.membership import forget_membership
from gitindex.sharing.server import (
    Unavailable,
    close_idle,
    connected,
    log_in,
    log_out,
    read_token,
)
from tests.postgres import Cluster, Pooler
from tests.support import Repo
from tests.team import configure, join, push, see


@pytest.fixture(autouse=True)
def _own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture
def published(cluster: Cluster, database: str, sources: tuple[Repo, Repo]) -> str:
    """A database with two repositories: alice sees one of them, bob the other."""
    for repo, user in zip(sources, ("alice", "bob"), strict=True):
        join(cluster, database, repo)
        push(repo)
        see(cluster, database, repo.path.name, user)
    return database


@pytest.fixture
def pooler(cluster: Cluster, published: str) -> Iterator[Pooler]:
    """A pooler with ONE connection to the server, shared by everybody."""
    with psycopg.connect(cluster.url("postgres"), autocommit=True) as admin:
        if not admin.execute("SELECT 1 FROM pg_roles WHERE rolname = 'gi_pool'").fetchone():
            admin.execute("CREATE ROLE gi_pool LOGIN IN ROLE gi_writer")
    with Pooler(cluster, published, "gi_pool", 1) as pooler:
        yield pooler


@pytest.fixture
def pooled(pooler: Pooler) -> str:
    return pooler.address


def ask(address: str, name: str) -> set[str]:
    with connected(address, patient=True) as server:
        return {hit["repo"] for hit in team_questions.definitions(server, name, 50)}


def test_two_members_share_one_pooled_connection_and_see_their_own(
    cluster: Cluster, pooled: str, published: str
) -> None:
    names = {"alice": ("lonely", {"library"}), "bob": ("helper", {"program"})}
    wrong: list[Any] = []

    def member(user: str) -> None:
        own = f"{pooled} application_name={user}"
        log_in(own, cluster.url(published, user), 600)
        for _ in range(40):
            for name, _mine in names.values():
                if ask(own, name) - names[user][1]:
                    wrong.append((user, name))

    threads = [threading.Thread(target=member, args=(user,)) for user in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert ask(f"{pooled} application_name=alice", "lonely") == {"library"}
    assert ask(pooled, "lonely") == set(), "the pooler's own role is nobody"


def test_a_forged_expired_or_revoked_token_is_refused(
    cluster: Cluster, pooled: str, published: str, tmp_path: Path
) -> None:
    log_in(pooled, cluster.url(published, "alice"), 600)
    (kept,) = (tmp_path / "state" / "gitindex").glob("*.token")
    assert kept.stat().st_mode & 0o777 == 0o600
    token = read_token(pooled)
    with psycopg.connect(cluster.url(published)) as admin:
        admin.execute("SET search_path = gitindex")
        row = admin.execute("SELECT gi_sign('alice', '{}', -1)").fetchone()
        forged = admin.execute("SELECT gi_sign('bob', '{}', 600)").fetchone()
    assert row is not None
    assert forged is not None
    body, _, signature = token.partition(".")
    bad = {
        "expired": row[0],
        "not of this server": f"{forged[0].partition('.')[0]}.{signature}",
        "not of this server ": f"{body}.{'0' * 64}",
    }
    for message, text in bad.items():
        kept.write_text(text)
        with pytest.raises(GitIndexError, match=message.strip()) as refused:
            ask(pooled, "lonely")
        assert "team login" in refused.value.message
    kept.write_text("no token at all")
    with pytest.raises(GitIndexError):
        ask(pooled, "lonely")
    kept.write_text(token)
    assert ask(pooled, "lonely") == {"library"}
    with psycopg.connect(cluster.url(published, "boss"), autocommit=True) as boss:
        boss.execute("SELECT gitindex.gi_revoke('alice')")
    with pytest.raises(GitIndexError, match="revoked"):
        ask(pooled, "lonely")
    log_in(pooled, cluster.url(published, "alice"), 600)
    assert ask(pooled, "lonely") == {"library"}
    log_out(pooled)
    assert ask(pooled, "lonely") == set()


def test_login_logout_and_revoke_as_they_are_typed(
    cluster: Cluster,
    pooled: str,
    published: str,
    sources: tuple[Repo, Repo],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _, program = sources
    forget_membership(program.worktree)
    configure(monkeypatch, program, pooled)
    typed = program.gitindex

    def repos() -> list[str]:
        return [row["repo"] for row in program.answer("team", "repos")["repos"]]

    assert repos() == [], "the pooler's own role is nobody"
    done = typed("team", "login", "--account", cluster.url(published, "alice"), "--hours", "1")
    assert (done.returncode, done.stdout) == (0, "logged in for 1 h\n"), done.stderr
    assert repos() == ["library"]
    done = typed("team", "revoke", "alice")
    assert done.returncode != 0
    assert "refused" in done.stderr, "alice is no administrator"
    done = typed("team", "revoke", "alice", "--account", cluster.url(published, "boss"))
    assert (done.returncode, done.stdout) == (0, "alice must log in again\n"), done.stderr
    done = typed("team", "repos")
    assert done.returncode != 0
    assert "was revoked: `gitindex team login`" in done.stderr
    assert typed("team", "logout").returncode == 0
    assert repos() == []
    assert typed("team", "login", "--hours", "13").returncode == 2


def test_a_token_issues_no_other_and_only_administrators_issue_for_others(
    cluster: Cluster, pooled: str, published: str
) -> None:
    log_in(pooled, cluster.url(published, "alice"), 600)
    with (
        pytest.raises(GitIndexError, match="own account"),
        connected(pooled, patient=True) as server,
    ):
        server.rows("SELECT gi_login(600)")
    with (
        pytest.raises(psycopg.errors.InsufficientPrivilege),
        psycopg.connect(cluster.url(published, "alice")) as alice,
    ):
        alice.execute("SELECT gitindex.gi_issue('bob', '{}', 600)")


def test_a_push_works_through_the_pooler(
    cluster: Cluster, pooled: str, published: str, tmp_path: Path
) -> None:
    repo = Repo(tmp_path / "third")
    repo.init()
    repo.write("third.py", "def third_function():\n    pass\n")
    repo.commit("first")
    repo.index()
    log_in(pooled, cluster.url(published, "ci"), 600)
    with connected(pooled, patient=True) as server:
        from gitindex.sharing import membership

        membership.join(repo.worktree, server, pooled, "", "")
    assert push(repo).outcome == "published"
    assert ask(pooled, "third_function") == {"third"}


def test_one_connection_serves_the_questions_of_a_process(cluster: Cluster, published: str) -> None:
    address = cluster.url(published, "alice")
    pids = set()
    for _ in range(3):
        with connected(address) as server:
            pids.add(server.rows("SELECT pg_backend_pid()")[0][0])
    assert len(pids) == 1
    with psycopg.connect(cluster.url(published), autocommit=True) as admin:
        admin.execute("SELECT pg_terminate_backend(%s, 60000)", (*pids,))
    assert ask(address, "lonely") == {"library"}, "a line that was cut is replaced"
    close_idle()


def test_a_pooler_that_is_away_is_unavailable_and_is_found_again(
    cluster: Cluster, pooler: Pooler, published: str
) -> None:
    log_in(pooler.address, cluster.url(published, "alice"), 600)
    assert ask(pooler.address, "lonely") == {"library"}
    pooler.kill()
    with pytest.raises(Unavailable):
        ask(pooler.address, "lonely")
    pooler.start()
    assert ask(pooler.address, "lonely") == {"library"}
    close_idle()


BACK_TO_7: tuple[str, ...] = (
    "ALTER TABLE gi_text ADD COLUMN content text",
    "UPDATE gi_text SET content = (SELECT string_agg(content, E'\\n' ORDER BY line) FROM gi_part"
    " WHERE text_id = id)",
    "CREATE INDEX gi_text_parts ON gi_text USING gin (content gin_trgm_ops)",
    "DROP TABLE gi_part",
    "DROP FUNCTION parts_of",
)
BACK_TO_4: tuple[str, ...] = (  # the schemas 4 to 6 differ in functions
    *BACK_TO_7,
    "CREATE TABLE gi_pack (id int PRIMARY KEY)",
    "CREATE TABLE gi_pack_part (pack_id int REFERENCES gi_pack)",
)
BACK_TO_3: tuple[str, ...] = (
    *BACK_TO_4,
    "DROP TABLE gi_key, gi_revoked",
    "ALTER TABLE gi_doc DROP COLUMN text_id",
    "DROP TABLE gi_text",
    "DROP INDEX gi_symbol_name, gi_symbol_doc, gi_package_name",
    "CREATE INDEX gi_symbol_name ON gi_symbol (name_id, doc_id)",
    "CREATE INDEX gi_symbol_doc ON gi_symbol (doc_id)",
)


@pytest.mark.parametrize(
    ("version", "undo"), [(3, BACK_TO_3), *((n, BACK_TO_4) for n in (4, 5, 6)), (7, BACK_TO_7)]
)
def test_a_database_of_an_older_schema_is_upgraded_in_place(
    cluster: Cluster, sources: tuple[Repo, Repo], version: int, undo: tuple[str, ...]
) -> None:
    """Its tables are those of the release that made it; what was published stays."""
    library, _ = sources
    name = f"schema_{version}"
    cluster.run("postgres", f"CREATE DATABASE {name}")
    url = cluster.url(name)
    membership.init(url)
    join(cluster, name, library)
    push(library)
    now = f"UPDATE gi_meta SET schema_version = {version}"
    cluster.run(name, "SET search_path = gitindex", *undo, now)
    with pytest.raises(Unavailable, match=f"schema {version}") as away:
        ask(cluster.url(name, "ci"), "lonely")
    assert "team init" in str(away.value.hint)
    assert membership.init(url) == f"upgraded from schema {version}"
    assert membership.init(url) == "already"
    assert ask(cluster.url(name, "ci"), "lonely") == {"library"}
    with connected(cluster.url(name, "ci")) as server:
        lines = team_questions.grep(server, "def lonely", 50)
    assert bool(lines) == (version > 3), "texts are stored since schema 4"
