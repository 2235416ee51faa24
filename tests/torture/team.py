"""The team's index on a real server: kills of writers and server, and questions of random roles."""

from __future__ import annotations

import hashlib
import json
import os
import random
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg

from gitindex.sharing import membership, team_questions
from tests.packs import fill
from tests.postgres import Cluster
from tests.support import Repo
from tests.team import USERS, asked_of_team, join, push
from tests.torture import Clock

REPOS = 6
WORDS = 500
"""Words that one role asks with each function before rights change."""
NAMES = [f"name_{number}" for number in range(40)]
ODD = ["name", "me_1", "%", "_", "", "\\", "NAME_1", "name\\_1", "'; --", "ñame", "name%1"]
FUNCTIONS = ("gi_definitions", "gi_like", "gi_references", "gi_search", "gi_texts")


def make_cluster(**settings: str) -> Cluster:
    """A server with a template database and the roles of a team."""
    made = Cluster(**settings)
    made.run("postgres", "CREATE DATABASE template_team")
    membership.init(made.url("template_team"))
    made.run(
        "postgres",
        "CREATE ROLE ci LOGIN IN ROLE gi_writer",
        "CREATE ROLE ci2 LOGIN IN ROLE gi_writer",
        "CREATE ROLE boss LOGIN IN ROLE gi_admin",
        *(f"CREATE ROLE {user} LOGIN IN ROLE gi_reader" for user in USERS),
    )
    return made


def team_kills(clock: Clock, rng: random.Random, folder: Path) -> None:
    """kill -9 of the writer or of the server at a random moment of a push; the next push mends it."""
    with _database(folder) as (cluster, name):
        kill_and_push(clock, rng, folder, cluster, name)


def kill_and_push(
    clock: Clock, rng: random.Random, folder: Path, cluster: Cluster, database: str
) -> None:
    """Every commit is published once, whoever is killed while it is."""
    repo = Repo(folder / "killed")
    fill(repo)
    repo.index()
    join(cluster, database, repo)
    took = _time_of(lambda: push(repo))
    made = 0
    while clock.goes_on():
        repo.write("pkg/base.py", f"def helper(x):\n    return x\n\n\ndef f{made}():\n    pass\n")
        repo.commit(f"commit {made}")
        repo.index()
        writer = _push_in_a_fork(repo)
        time.sleep(rng.uniform(0.0, 1.2 * took))
        if made % 5 == 4:
            cluster.kill()
            os.waitpid(writer, 0)
            cluster.start()
            clock.count("servers")
        else:
            os.kill(writer, signal.SIGKILL)
            code = os.waitpid(writer, 0)[1]
            clock.count("writers" if os.WIFSIGNALED(code) else "late")
        clock.count("held" if _published(cluster, database) == made + 2 else "undone")
        assert push(repo).outcome in ("published", "already")
        hits = asked_of_team(cluster, database, "ci", team_questions.definitions, f"f{made}")
        assert len(hits) == 1, made
        made += 1
        assert _published(cluster, database) == made + 1, "every commit is published once"
        clock.count()
    with psycopg.connect(cluster.url(database)) as admin:
        assert admin.execute("SELECT count(*) FROM gitindex.gi_tree").fetchone() == (8,)


def team_questions_of_roles(clock: Clock, rng: random.Random, folder: Path) -> None:
    """Members change all the time; nobody sees a row of a repository that is not theirs."""
    with _database(folder) as (cluster, name):
        ask_at_random(clock, rng, cluster, name)


def ask_at_random(clock: Clock, rng: random.Random, cluster: Cluster, database: str) -> None:
    """Each round: other rights, then every role asks every function."""
    with psycopg.connect(cluster.url(database, "ci"), autocommit=True) as writer:
        writer.execute("SET search_path = gitindex")
        for number in range(REPOS):
            _publish_made_up(writer, number, rng)
    while clock.goes_on():
        visible = _change_rights(cluster, database, rng)
        for user, repos in visible.items():
            url = cluster.url(database, user)
            with psycopg.connect(url, autocommit=True) as reader:
                reader.execute("SET search_path = gitindex")
                _ask(clock, rng, reader, repos)


def _ask(
    clock: Clock, rng: random.Random, reader: psycopg.Connection[Any], visible: set[str]
) -> None:
    for function in FUNCTIONS:
        odd = [word for word in ODD if function != "gi_texts" or len(word) > 3]
        words = [rng.choice([*NAMES, *odd]) for _ in range(WORDS - 1)] + ["name_"]
        given = {"gi_search": "ARRAY[w]", "gi_texts": _TEXTS}.get(function, "w")
        sql = f"SELECT DISTINCT f.repo FROM unnest(%s::text[]) w, LATERAL {function}({given}, 50) f"
        seen = {repo for (repo,) in reader.execute(sql, (words,)).fetchall()}
        assert seen <= visible, (function, seen - visible)
        clock.count(number=WORDS)
    rows = reader.execute("SELECT oid FROM gi_facts(%s)", ([*range(-1, REPOS * 11)],)).fetchall()
    assert {f"repo{int.from_bytes(bytes(oid)) // 10}" for (oid,) in rows} == visible
    assert {row[0] for row in reader.execute("SELECT name FROM gi_repos()")} == visible
    packages = {row[0] for name in NAMES for row in reader.execute(_PACKAGES, (name,))}
    assert packages <= visible
    clock.count(number=2 + len(NAMES))


_TEXTS = "jsonb_build_array(jsonb_build_array('%%' || w || '%%')), false"
_PACKAGES = "SELECT gi_packages_of(%s, ARRAY(SELECT generate_series(1, 66)))"


def _change_rights(cluster: Cluster, database: str, rng: random.Random) -> dict[str, set[str]]:
    """Members by name, by a group, by everybody; some repositories are archived."""
    visible: dict[str, set[str]] = {user: set() for user in USERS}
    group = rng.sample(USERS, 2)
    archived = rng.randrange(REPOS) if rng.random() < 0.5 else -1
    rights: dict[str, set[str]] = {user: {user} for user in USERS}
    rights |= {
        "gi_reader": set(USERS) | {"ci", "ci2", "boss"},
        "public": set(USERS),
        "squad": {*group},
    }
    with psycopg.connect(cluster.url(database), autocommit=True) as admin:
        if admin.execute("SELECT 1 FROM pg_roles WHERE rolname='squad'").fetchone():
            admin.execute("DROP ROLE squad")
        admin.execute("CREATE ROLE squad NOLOGIN")
        for user in group:
            admin.execute(f"GRANT squad TO {user}")
        admin.execute("DELETE FROM gitindex.gi_member WHERE NOT may_write")
        admin.execute("UPDATE gitindex.gi_repo SET archived = (name = %s)", (f"repo{archived}",))
    with psycopg.connect(cluster.url(database, "boss"), autocommit=True) as boss:
        for number in range(REPOS):
            choices = [*USERS[:-1], "squad", *(["public", "gi_reader"] if number == 0 else [])]
            for role in rng.sample(choices, rng.randrange(3)):
                sql = "SELECT gitindex.gi_set_member(%s, %s, true, false)"
                boss.execute(sql, (f"repo{number}", role))
                for user in rights[role] & visible.keys():
                    if number != archived:
                        visible[user].add(f"repo{number}")
    return visible


def _publish_made_up(writer: psycopg.Connection[Any], number: int, rng: random.Random) -> None:
    docs = []
    for at in range(10):
        chosen = rng.sample(NAMES, 8)
        docs.append(
            {
                "oid": (number * 10 + at).to_bytes(20).hex(),
                "extractor": "e",
                "size": 10,
                "names": chosen,
                "symbols": [[name, "function", 1, True, name] for name in chosen[:3]],
                "imports": [f"repo{rng.randrange(REPOS)}"],
                "payload": "",
                "content": " ".join(chosen),
            }
        )
    with writer.transaction():
        row = writer.execute(
            "SELECT gi_join(%s, '', %s, 'main')", (f"root{number}", f"repo{number}")
        ).fetchone()
        assert row is not None
        begun = writer.execute("SELECT fence FROM gi_begin(%s, 'main')", row).fetchone()
        assert begun is not None
        texts = [json.dumps(doc) for doc in docs]
        writer.execute("SELECT gi_put_docs(%s::text[])", (texts,))
        digests = [hashlib.sha256(text.encode()).hexdigest() for text in texts]
        put = [[f"file{at}", digest] for at, digest in enumerate(digests)]
        delta = {"runId": f"r{number}", "tree": "t", "whole": True, "put": put}
        delta |= {"gone": [], "packages": [["python", f"repo{number}", ""]]}
        values = (row[0], begun[0], json.dumps(delta))
        writer.execute("SELECT gi_publish(%s, 'main', %s, %s::jsonb)", values)


@contextmanager
def _database(folder: Path) -> Iterator[tuple[Cluster, str]]:
    os.environ["XDG_STATE_HOME"] = str(folder / "state")
    cluster = make_cluster()
    try:
        yield cluster, "template_team"
    finally:
        cluster.stop()
        del os.environ["XDG_STATE_HOME"]


def _push_in_a_fork(repo: Repo) -> int:
    """A writer that has imported everything: kills hit the push, not Python's start."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            push(repo)
            code = 0
        finally:
            os._exit(code)
    return child


def _published(cluster: Cluster, database: str) -> int:
    with psycopg.connect(cluster.url(database)) as admin:
        row = admin.execute("SELECT publishes FROM gitindex.gi_marker").fetchone()
    assert row is not None
    return int(row[0])


def _time_of(work: Any) -> float:
    began = time.monotonic()
    work()
    return time.monotonic() - began
