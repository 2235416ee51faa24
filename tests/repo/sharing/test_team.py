"""The team's index on a real PostgreSQL: exactly once, nobody sees what is not theirs, away is away."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import time
from pathlib import Path

import psycopg
import pytest

from gitindex.base.errors import GitIndexError
from gitindex.refresh.detached import _is_waiting, drain_outbox
from gitindex.sharing import membership, publish, team_questions
from gitindex.sharing.server import Unavailable, connected
from tests.packs import fill, quietly
from tests.postgres import Cluster
from tests.support import Repo, wait_for
from tests.team import asked_of_team, configure, join, push, see
from tests.torture import Clock
from tests.torture.team import ask_at_random, kill_and_push

KILLS = 20
RANDOM_QUERIES = 20_000
SEED = int(os.environ.get("GITINDEX_SEED", "11"))


@pytest.fixture(autouse=True)
def _own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def test_a_library_is_found_in_another_repository(
    cluster: Cluster, database: str, sources: tuple[Repo, Repo]
) -> None:
    for repo in sources:
        join(cluster, database, repo)
        assert push(repo).outcome == "published"
        assert push(repo).outcome == "already"
    hits = asked_of_team(cluster, database, "ci", team_questions.references, "helper")
    tiers = {(hit["repo"], hit["path"]): hit["tier"] for hit in hits}
    assert tiers["program", "main.py"] == "package"
    assert tiers["program", "other.py"] == "name"
    lines = sorted(h["line"] for h in hits if (h["repo"], h["path"]) == ("program", "main.py"))
    assert lines == [1, 3]
    found = asked_of_team(cluster, database, "ci", team_questions.definitions, "helper")
    assert {(h["repo"], h["path"], h["line"]) for h in found} == {
        ("library", "pkg/base.py", 1),
        ("program", "other.py", 1),
    }
    parts = asked_of_team(cluster, database, "ci", team_questions.definitions, "onel")
    assert [h["name"] for h in parts] == ["lonely"]
    assert asked_of_team(cluster, database, "ci", team_questions.definitions, "l_nely") == []
    assert (
        asked_of_team(cluster, database, "ci", team_questions.search, "helper print")[0]["path"]
        == "main.py"
    )
    assert asked_of_team(cluster, database, "alice", team_questions.definitions, "helper") == []
    see(cluster, database, "library", "alice")
    seen = asked_of_team(cluster, database, "alice", team_questions.definitions, "helper")
    assert {hit["repo"] for hit in seen} == {"library"}
    assert set(hits[0]) >= {"repo", "ref", "commit", "path", "line", "trust", "indexedAt"}


def test_a_delta_changes_only_what_changed(cluster: Cluster, database: str, tmp_path: Path) -> None:
    repo = Repo(tmp_path / "delta")
    fill(repo)
    repo.index()
    join(cluster, database, repo)
    first = push(repo)
    repo.write("pkg/base.py", "def renamed(x):\n    return x\n")
    (repo.path / "web/app.ts").unlink()
    repo.commit("second")
    repo.index()
    second = push(repo)
    assert (first.paths, second.paths, second.documents) == (8, 1, 1)
    assert asked_of_team(cluster, database, "ci", team_questions.definitions, "start") == []
    assert len(asked_of_team(cluster, database, "ci", team_questions.definitions, "renamed")) == 1
    with connected(cluster.url(database, "boss"), patient=True) as server:
        assert server.rows("SELECT gi_prune(interval '1 day')")[0][0] in (0, None)
        assert server.rows("SELECT gi_prune(interval '-1 second')")[0][0] == 2


def test_rights(cluster: Cluster, database: str, sources: tuple[Repo, Repo]) -> None:
    library, _ = sources
    join(cluster, database, library)
    push(library)
    tables = psycopg.connect(cluster.url(database, "ci"))
    with tables, pytest.raises(psycopg.errors.InsufficientPrivilege):
        tables.execute("SELECT * FROM gitindex.gi_tree")
    for user, statement in (
        ("alice", "SELECT gi_begin(1, 'main')"),
        ("alice", "SELECT gi_put_docs('{}')"),
        ("alice", "SELECT gi_set_member('library', 'alice', true, true)"),
        ("ci", "SELECT gi_prune(interval '0')"),
        ("ci2", "SELECT gi_begin(1, 'main')"),
        ("ci2", "SELECT gi_publish(1, 'main', 1, '{}')"),
        ("ci", "DELETE FROM gi_tree"),
    ):
        with (
            pytest.raises(GitIndexError, match=r"refused|may not|denied"),
            connected(cluster.url(database, user), patient=True) as server,
        ):
            server.rows(statement)
    with (
        pytest.raises(GitIndexError, match="not a member"),
        connected(cluster.url(database, "bob"), patient=True) as server,
    ):
        membership.join(library.worktree, server, "", "", "")
    join(cluster, database, library)


def test_an_older_writer_is_fenced_off(
    cluster: Cluster, database: str, sources: tuple[Repo, Repo]
) -> None:
    library, _ = sources
    join(cluster, database, library)
    with connected(cluster.url(database, "ci"), patient=True) as server:
        repo = membership.require_membership(library.worktree).repo
        old = server.rows("SELECT fence FROM gi_begin(%s, 'main')", repo)[0][0]
        assert push(library).outcome == "published"
        delta = '{"runId": "x", "whole": true, "put": [], "gone": [], "packages": []}'
        sql = "SELECT gi_publish(%s, 'main', %s, %s::jsonb)"
        assert server.rows(sql, repo, old, delta)[0][0] is False
    assert len(asked_of_team(cluster, database, "ci", team_questions.definitions, "lonely")) == 1


def test_killed_writers_and_servers_publish_exactly_once(
    cluster: Cluster, database: str, tmp_path: Path
) -> None:
    """kill -9 of the writer or of the server at a random moment; the next push makes it right."""
    clock = Clock(cases=KILLS)
    kill_and_push(clock, random.Random(SEED), tmp_path, cluster, database)
    assert clock.counts["cases"] == KILLS


def test_nobody_sees_a_row_of_an_invisible_repository(cluster: Cluster, database: str) -> None:
    clock = Clock(cases=RANDOM_QUERIES)
    ask_at_random(clock, random.Random(SEED), cluster, database)
    assert clock.counts["cases"] >= RANDOM_QUERIES


def test_a_server_that_is_away_is_unavailable_and_costs_a_second_once(
    cluster: Cluster, database: str, sources: tuple[Repo, Repo], monkeypatch: pytest.MonkeyPatch
) -> None:
    library, _ = sources
    join(cluster, database, library)
    gone = f"host={cluster.folder}/nowhere dbname={database} user=ci"
    with pytest.raises(Unavailable, match="No such file"), connected(gone):
        pass
    assert cluster.process is not None
    url = cluster.url(database, "alice")
    cluster.process.send_signal(signal.SIGSTOP)
    try:
        started = time.monotonic()
        with pytest.raises(Unavailable, match="no answer within"), connected(url):
            pass
        waited = time.monotonic() - started
        assert waited < 30, "libpq alone would wait for minutes"
        started = time.thread_time()
        for _ in range(100):
            with pytest.raises(Unavailable, match="tried"), connected(url):
                pass
        assert time.thread_time() - started < 5.0
        configure(monkeypatch, library, url)
        local = {"status": "ok", "symbols": []}
        answer = team_questions.add_team(library.worktree, local, "definitions", ["x"], 5)
        assert answer["status"] == "unavailable"
        assert answer["reason"]
        assert "team" not in answer
    finally:
        cluster.process.send_signal(signal.SIGCONT)


def test_the_outbox_sends_what_is_pushed_and_waits_for_the_server(
    cluster: Cluster, database: str, tmp_path: Path
) -> None:
    hub, repo = tmp_path / "hub.git", Repo(tmp_path / "outbox")
    subprocess.run(["git", "init", "-q", "--bare", str(hub)], check=True, timeout=300)
    fill(repo)
    repo.git("remote", "add", "origin", str(hub))
    repo.index()
    join(cluster, database, repo)
    assert publish.push(repo.worktree, quietly, only_pushed=True).outcome == "nothing"
    assert _is_waiting(repo.worktree)
    repo.git("push", "-q", "-u", "origin", "main")
    cluster.kill()
    try:
        with pytest.raises(Unavailable):
            publish.push(repo.worktree, quietly, only_pushed=True)
    finally:
        cluster.start()
    assert _is_waiting(repo.worktree), "nothing was lost"
    drain_outbox([repo.worktree])  # what the runner does after a refresh
    wait_for(lambda: not _is_waiting(repo.worktree), 300, repo.log)
    assert len(asked_of_team(cluster, database, "ci", team_questions.definitions, "lonely")) == 1


def test_another_version_and_half_a_schema_are_unavailable(cluster: Cluster, database: str) -> None:
    cluster.run(database, "UPDATE gitindex.gi_meta SET schema_version = 99")
    with pytest.raises(Unavailable, match="schema 99"), connected(cluster.url(database, "ci")):
        pass
    cluster.run(database, "DROP FUNCTION gitindex.gi_probe()")
    with pytest.raises(Unavailable), connected(cluster.url(database, "ci"), patient=True):
        pass


def test_init_is_repeatable_and_commands_work(
    cluster: Cluster, sources: tuple[Repo, Repo], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As an administrator and a user type it."""
    library, program = sources
    cluster.run("postgres", "CREATE DATABASE typed")
    url = cluster.url("typed")
    assert membership.init(url) == "created"
    cluster.run("typed", "REVOKE gi_reader FROM gi_writer, gi_admin")  # as after a restore
    assert membership.init(url) == "already"
    configure(monkeypatch, library, cluster.url("typed", "ci"))
    for repo in sources:
        for command in ("join", "push", "status", "repos"):
            done = repo.gitindex("team", command)
            assert done.returncode == 0, (command, done.stderr)
    done = library.gitindex("symbols", "helper", "--team")
    assert "program@main:other.py:1" in done.stdout, done.stderr
    answer = program.answer("refs", "lonely", "--team")
    assert {hit["repo"] for hit in answer["team"]["hits"]} == {"library"}
    assert library.gitindex("search", "lonely print", "--team").returncode == 0
    assert library.gitindex("callers", "lonely", "--team").returncode == 0
    done = library.gitindex("grep", "-iw", "DEF helper", "--team")
    assert "program@main:other.py:1:def helper(" in done.stdout, done.stderr
    assert library.gitindex("grep", "-w", "DEF helper", "--team").returncode == 1
    assert library.gitindex("grep", "-g", "*.py", "def helper", "--team").returncode == 2
    done = library.gitindex("team", "leave")
    assert done.returncode == 0
    assert library.gitindex("team", "push").returncode == 2
    cluster.run("typed", "DROP SCHEMA gitindex CASCADE")
    away = library.gitindex("symbols", "helper", "--team", "--json")
    assert away.returncode == 3
    assert '"unavailable"' in away.stdout
    assert "pkg/base.py" in away.stdout, "one's own repository is answered locally"


def test_search_ranks_definitions_and_takes_filters(
    cluster: Cluster, database: str, tmp_path: Path
) -> None:
    repo = Repo(tmp_path / "ranked")
    repo.init()
    repo.write("zz/parser.py", "def parse_header():\n    pass\n")
    repo.write("a/use.py", "from zz.parser import parse_header\n\nparse_header()\n")
    repo.write("tests/a.py", "def parse_header_twice():\n    parse_header()\n")
    repo.write("web/page.ts", "export class ParseHeader {}\n")
    repo.commit("first")
    repo.index()
    join(cluster, database, repo)
    push(repo)

    def paths(text: str) -> list[str]:
        hits = asked_of_team(cluster, database, "ci", team_questions.search, text)
        return [hit["path"] for hit in hits]

    found = paths("parse_header")
    assert found[0] == "zz/parser.py", "the definition that is the word comes first"
    assert set(found) == {"zz/parser.py", "a/use.py", "tests/a.py"}
    assert paths('"parse header"')[0] in ("zz/parser.py", "web/page.ts")
    assert "web/page.ts" in paths('"parse header"')
    assert paths("parse header lang:typescript") == ["web/page.ts"]
    assert paths("parse_header path:tests") == ["tests/a.py"]
    assert paths("parse header kind:class") == ["web/page.ts"]
    assert paths("parse_header repo:ranked") == found
    assert paths("parse_header repo:nowhere") == []
    assert paths("parse absent_word") == []


def test_a_text_that_spells_a_nul_is_published(
    cluster: Cluster, database: str, tmp_path: Path
) -> None:
    """Six characters of a program, and a backslash before them: JSON escapes both alike."""
    repo = Repo(tmp_path / "spelled")
    repo.init()
    repo.write("a.py", 'def alpha():\n    return "needle\\u0000", r"\\\\u0000"\n')
    repo.commit("one")
    repo.index()
    join(cluster, database, repo)
    assert push(repo).outcome == "published"
    hits = asked_of_team(cluster, database, "ci", team_questions.grep, "needle")
    assert [hit["text"] for hit in hits] == ['    return "needle\\u0000", r"\\\\u0000"']


def test_lines_of_other_repositories_are_found_by_a_pattern(
    cluster: Cluster, database: str, tmp_path: Path
) -> None:
    texts = {
        "a.py": "def alpha():\n    return 'Needle 42'\n",
        "b.md": "a needle 7\nno\n",
        "ü.txt": "nädel\n",
        "long.md": "filler\n" * 3_000 + "pinpoint\n",  # stored in parts
    }
    for name in ("first", "fork"):
        repo = Repo(tmp_path / name)
        repo.init()
        for path, text in texts.items():
            repo.write(path, text)
        repo.commit(name)
        repo.index()
        join(cluster, database, repo)
        push(repo)
    see(cluster, database, "fork", "alice")
    with psycopg.connect(cluster.url(database)) as admin:
        row = admin.execute("SELECT count(*) FROM gitindex.gi_text").fetchone()
        assert row == (4,), "a fork shares the texts"

    def lines(pattern: str, user: str = "ci") -> set[tuple[str, str, int, str]]:
        hits = asked_of_team(cluster, database, user, team_questions.grep, pattern)
        return {(hit["repo"], hit["path"], hit["line"], hit["text"]) for hit in hits}

    both = {("first", "b.md", 1, "a needle 7"), ("fork", "b.md", 1, "a needle 7")}
    assert lines(r"needle \d") == both
    assert lines(r"needle \d", "alice") == {("fork", "b.md", 1, "a needle 7")}
    assert lines(r"needle \d", "bob") == set()
    assert {line[1] for line in lines(r"(?i)needle \d+")} == {"a.py", "b.md"}
    assert {line[3] for line in lines(r"alpha|needle")} == {"def alpha():", "a needle 7"}
    assert {line[1] for line in lines(r"(?i:NEEDLE) \d+")} == {"a.py", "b.md"}
    assert lines(r"NEEDLE \d+") == set()
    assert (
        {line[1] for line in lines("nädel")}
        == {line[1] for line in lines("(?i)NÄDEL")}
        == {"ü.txt"}
    )
    assert {line[2] for line in lines(r"(alpha|pinpoint|nee_dle|nee%le)[ (:]")} == {1}, (
        "_ and % are letters"
    )
    assert lines(r"return.*absent") == set()
    assert lines("pinpoint", "alice") == {("fork", "long.md", 3_001, "pinpoint")}
    with pytest.raises(GitIndexError, match="three letters"):
        lines(r"\d+")
