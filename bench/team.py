"""The team's index at scale: `python -m bench.team REPO…` loads indexed clones and asks it.

Then the repositories are multiplied to 10,000, which share the blobs (as forks do), with 40,040 member
rows, and the same questions are asked by a member of 40 of them and by a member of all: `growth` is the
server's CPU for a question against the same question before.

A server of its own is started, with PostgreSQL's own settings, and removed. Each question is asked by two
clients at once, as a reader through the functions and as plain SQL by the administrator: what rights
and functions cost is the difference. Times are wall; `serverMs` is CPU of the server for one question,
which means something on a busy machine as well.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gitindex.base.errors import GitIndexError
from gitindex.base.worktree import find_worktree
from gitindex.query.grep.pattern import GrepPattern
from gitindex.sharing import membership, publish, team_questions
from gitindex.sharing.server import SEARCH_PATH, Server, connected, raw_connection
from tests.postgres import Cluster, Pooler, binaries, children

QUESTIONS = 300
REPOSITORIES = 10_000
PATHS_OF_A_COPY = 200
CLIENTS = 2
COMMITS = 300
LEAK_SECONDS = 60.0
CROWD, CROWD_SECONDS, MEMBERS, POOL = 200, 30, 50, 8
LEAK_FUNCTIONS = {
    "gi_definitions": "w",
    "gi_like": "w",
    "gi_references": "w",
    "gi_search": "ARRAY[w]",
    "gi_texts": "jsonb_build_array(jsonb_build_array('%%' || w || '%%')), false",
}
VISIBLE = (
    "SELECT r.name FROM gitindex.gi_repo r JOIN gitindex.gi_member m ON m.repo_id = r.id"
    " WHERE m.role = %s"
)
PLAIN = (
    "SELECT t.path, s.line FROM gitindex.gi_name n JOIN gitindex.gi_symbol s ON s.name_id = n.id"
    " JOIN gitindex.gi_tree t ON t.doc_id = s.doc_id WHERE n.text = %s LIMIT 50"
)
FACTS = "SELECT id FROM gitindex.gi_doc ORDER BY oid LIMIT 20000"
Ask = Callable[[Server, str], object]


def main(repos: list[str]) -> int:
    """Publish every repository, then ask; one JSON line."""
    cluster = Cluster(fsync="on", full_page_writes="on", shared_buffers="512MB", autovacuum="on")
    try:
        with tempfile.TemporaryDirectory() as home:
            os.environ |= {"XDG_STATE_HOME": home}
            told = measure(cluster, repos)
    finally:
        cluster.stop()
    sys.stdout.write(json.dumps(told, indent=1) + "\n")
    return 0


def measure(cluster: Cluster, repos: list[str]) -> dict[str, Any]:
    """Load, then ask each kind of question."""
    cluster.run("postgres", "CREATE DATABASE code")
    url = cluster.url("code")
    membership.init(url)
    told: dict[str, Any] = {"load": os.getloadavg()[0], "files": 0}
    told["publish"] = _publish(cluster, url, repos, told)
    with raw_connection(url) as server:
        server.run("VACUUM ANALYZE")
        told["bytes"] = server.rows("SELECT pg_database_size(current_database())")[0][0]
        names = [row[0] for row in server.rows("SELECT text FROM gitindex.gi_name ORDER BY 1")]
        facts = server.rows(FACTS)
    told["names"] = len(names)
    words = random.Random(5).sample(names, min(QUESTIONS * CLIENTS, len(names)))
    kinds: dict[str, tuple[list[str], Ask]] = {
        "definitions": (words, _function("gi_definitions")),
        "references": (words, _function("gi_references")),
        "referencesRead": (words, lambda s, w: team_questions.references(s, w, 50)),
        "part": ([word[:5] for word in words if len(word) > 4], _function("gi_like")),
        "search": (words, lambda s, w: team_questions.search(s, w, 50)),
        "plainSql": (words, lambda s, w: s.rows(PLAIN, w)),
    }
    two = [f"{a} {b}" for a, b in zip(words[::2], words[1::2], strict=False)]
    kinds["search2"] = (two, lambda s, w: team_questions.search(s, w, 50))
    kinds["regex"] = (two[: QUESTIONS // 2], _regex)
    for name, (asked, ask) in kinds.items():
        told[name] = _times(cluster, url, asked, ask)
        sys.stderr.write(f"{name} {told[name]}\n")
    told["growth"] = _grow(cluster, kinds)
    sys.stderr.write(f"{told['growth']}\n")
    told["crowd"] = _crowd(cluster, words)
    sys.stderr.write(f"crowd {told['crowd']}\n")
    told["leakQuestions"] = _ask_for_leaks(url, names)
    sys.stderr.write(f"leakQuestions {told['leakQuestions']}\n")
    before = _server_cpu(cluster)
    told["factsPerSecond"] = _pull(url, facts)
    told["factServerMs"] = round(1e3 * (_server_cpu(cluster) - before) / max(1, len(facts)), 3)
    before = _server_cpu(cluster)
    told["commitsPerSecond"] = _commits(url)
    told["commitServerMs"] = round(1e3 * (_server_cpu(cluster) - before) / COMMITS, 2)
    return told


def _publish(
    cluster: Cluster, url: str, repos: list[str], told: dict[str, Any]
) -> list[dict[str, Any]]:
    rows = []
    for repo in repos:
        worktree = find_worktree(repo)
        with connected(url, patient=True) as server:
            membership.join(worktree, server, url, "", "")
        started, cpu, before = time.perf_counter(), time.process_time(), _server_cpu(cluster)
        done = publish.push(worktree, lambda _phase, _percent: None)
        row = {"repo": Path(repo).name, "paths": done.paths, "documents": done.documents}
        row["wallSeconds"] = round(time.perf_counter() - started, 1)
        row["clientCpu"] = round(time.process_time() - cpu, 1)
        row["serverCpu"] = round(_server_cpu(cluster) - before, 1)
        rows.append(row)
        sys.stderr.write(f"{row}\n")
        listed = subprocess.check_output(["git", "-C", repo, "ls-files", "-z"])
        told["files"] += listed.count(b"\0")
    return rows


def _grow(cluster: Cluster, kinds: dict[str, tuple[list[str], Ask]]) -> dict[str, dict[str, float]]:
    """Ask members of the loaded repositories, multiply these, and ask again."""
    cluster.run(
        "code",
        "CREATE ROLE member_of_40 LOGIN IN ROLE gi_reader",
        "CREATE ROLE member_of_all LOGIN IN ROLE gi_reader",
        "INSERT INTO gitindex.gi_member SELECT r, id FROM gitindex.gi_repo,"
        " unnest('{member_of_40,member_of_all}'::name[]) r",
    )
    asked = {
        kind: value for kind, value in kinds.items() if kind not in ("plainSql", "referencesRead")
    }
    members = {user: cluster.url("code", user) for user in ("member_of_40", "member_of_all")}
    before = {
        (user, kind): _times(cluster, address, *asked[kind])["serverMs"]
        for user, address in members.items()
        for kind in asked
    }
    cluster.run(
        "code",
        "SET search_path = gitindex",
        "INSERT INTO gi_repo (identity, name, default_ref)"
        f" SELECT 'copy ' || n, 'copy' || n, 'main' FROM generate_series(1, {REPOSITORIES}) n",
        "INSERT INTO gi_marker (repo_id, ref, commit, tree, writer, completed_at)"
        " SELECT id, 'main', 'c', 't', 'ci', now() FROM gi_repo WHERE identity LIKE 'copy %'",
        "INSERT INTO gi_tree SELECT r.id, 'main', d.path, d.doc_id FROM gi_repo r,"
        " LATERAL (SELECT DISTINCT ON (path) path, doc_id FROM gi_tree"
        "          WHERE repo_id = 1 + r.id % (SELECT count(*) FROM gi_repo WHERE identity NOT LIKE 'copy %')"
        f"         LIMIT {PATHS_OF_A_COPY}) d WHERE r.identity LIKE 'copy %'",
        "INSERT INTO gi_member SELECT 'member_of_all', id FROM gi_repo WHERE identity LIKE 'copy %'",
        "INSERT INTO gi_member SELECT 'dev' || (n % 1000), r.id FROM gi_repo r, generate_series(1, 3) g,"
        " LATERAL (SELECT r.id * 3 + g AS n) k WHERE r.identity LIKE 'copy %' ON CONFLICT DO NOTHING",
        "VACUUM ANALYZE",
    )
    after = {(user, kind): _times(cluster, members[user], *asked[kind]) for user, kind in before}
    return {
        f"{user} {kind}": {
            **took,
            "ratio": round(took["serverMs"] / max(before[user, kind], 0.01), 2),
        }
        for (user, kind), took in after.items()
    }


def _ask_for_leaks(url: str, names: list[str]) -> int:
    """Members with tokens ask about random names; each hit must be of a repository of theirs."""
    rng, asked, until = random.Random(7), 0, time.monotonic() + LEAK_SECONDS
    with raw_connection(url) as server:
        while time.monotonic() < until:
            member = f"dev{rng.randrange(1000)}"
            visible = server.rows(VISIBLE, member)
            with server.transaction():
                token = server.rows("SELECT gitindex.gi_issue(%s, '{}', 600)", member)[0][0]
                server.rows("SELECT set_config('gitindex.token', %s, true)", token)
                for function, given in LEAK_FUNCTIONS.items():
                    words = [word for word in rng.sample(names, 100) if len(word) > 3]
                    sql = "SELECT DISTINCT f.repo FROM unnest(%s::text[]) w,"
                    sql += f" LATERAL {function}({given}, 50) f"
                    seen = set(server.rows(sql, words))
                    assert seen <= set(visible), (member, function, seen - set(visible))
                    asked += len(words)
    return asked


def _crowd(cluster: Cluster, words: list[str]) -> dict[str, float]:
    """200 clients with tokens of 50 members ask for definitions through a pooler, by PostgreSQL's pgbench."""
    cluster.run("code", "CREATE ROLE gi_pool LOGIN IN ROLE gi_reader")
    with raw_connection(cluster.url("code")) as server, tempfile.TemporaryDirectory() as folder:
        files = []
        for number, word in enumerate(words[:MEMBERS]):
            row = server.rows("SELECT gitindex.gi_issue(%s, '{}', 3600)", f"dev{number}")[0]
            name = word.replace("'", "''")
            files += ["-f", f"{folder}/{number}.sql"]
            Path(files[-1]).write_text(
                "\\startpipeline\nBEGIN;\n"
                f"SELECT set_config('gitindex.token', '{row[0]}', true),"
                f" set_config('search_path', '{SEARCH_PATH}', true);\n"
                f"SELECT * FROM gi_definitions('{name}', 50);\nCOMMIT;\n\\endpipeline\n"
            )
        with Pooler(cluster, "code", "gi_pool", POOL) as pooler:
            place = ["-h", str(pooler.folder), "-p", "6432", "-U", "gi_pool", "code"]
            work = ["-n", "-M", "extended", "-c", str(CROWD), "-j", "2", "-T", str(CROWD_SECONDS)]
            command = [f"{binaries()}/pgbench", *work, "-l", *files, *place]
            before = _server_cpu(cluster)
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
            used = _server_cpu(cluster) - before
        logs = (log.read_text().splitlines() for log in Path(folder).glob("pgbench_log.*"))
        took = sorted(int(line.split()[2]) / 1e3 for log in logs for line in log)
    failed = re.search(r"failed transactions: (\d+)", done.stdout)
    return {
        "perSecond": round(len(took) / CROWD_SECONDS),
        "p99ms": round(took[int(len(took) * 0.99) - 1], 1),
        "serverMs": round(1e3 * used / len(took), 2),
        "failed": int(failed[1]) if failed else -1,
    }


def _regex(server: Server, words: str) -> object:
    """Lines with one of two names before a bracket, a blank or a dot."""
    one, other = (re.escape(word) for word in words.rsplit(" ", 1))
    pattern = GrepPattern(f"({one}|{other})[ (.]")
    try:
        return team_questions.grep(server, pattern, 50)
    except GitIndexError:
        return None  # no part of three letters: refused, as by the command


def _function(name: str) -> Ask:
    return lambda server, word: server.rows(f"SELECT * FROM {name}(%s, 50)", word)


def _times(cluster: Cluster, url: str, words: list[str], ask: Ask) -> dict[str, float]:
    """Two clients, each with a half of the words and its own connection."""
    taken: list[float] = []

    def client(part: list[str]) -> None:
        with connected(url, 60_000, patient=True) as server:
            for word in part:
                started = time.perf_counter()
                ask(server, word)
                taken.append(1e3 * (time.perf_counter() - started))

    before = _server_cpu(cluster)
    threads = [threading.Thread(target=client, args=(words[at::CLIENTS],)) for at in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    used = _server_cpu(cluster) - before
    taken.sort()
    return {
        "p50ms": round(statistics.median(taken), 2),
        "p99ms": round(taken[int(len(taken) * 0.99) - 1], 2),
        "serverMs": round(1e3 * used / len(taken), 2),
    }


def _pull(url: str, facts: list[tuple[Any, ...]]) -> int:
    with connected(url, 60_000, patient=True) as server:
        started, got = time.perf_counter(), 0
        for at in range(0, len(facts), 1_000):
            part = [document for (document,) in facts[at : at + 1_000]]
            got += len(server.rows("SELECT oid, payload FROM gi_facts(%s)", part))
    return int(got / (time.perf_counter() - started))


def _commits(url: str) -> int:
    """Small commits of one writer: a document, a path, a marker, one transaction each."""
    with connected(url, 60_000, patient=True) as server:
        repo = server.rows("SELECT gi_join('bench', '', 'bench', 'main')")[0][0]
        started = time.perf_counter()
        tree = None
        for number in range(COMMITS):
            oid = (1 << 100 | number).to_bytes(20).hex()
            names = [f"bench_{number}", "self", "name"]
            doc: dict[str, Any] = {
                "oid": oid,
                "extractor": "e",
                "size": 1,
                "names": names,
                "imports": [],
            }
            doc |= {"symbols": [[names[0], "function", 1, True, names[0]]], "payload": ""}
            delta: dict[str, Any] = {
                "commit": oid,
                "tree": oid,
                "fingerprint": "f",
                "runId": oid,
                "base": tree,
            }
            text = json.dumps(doc)
            digest = hashlib.sha256(text.encode()).hexdigest()
            delta |= {"whole": tree is None, "put": [["a.py", digest]], "gone": []}
            delta["packages"] = []
            fence = server.rows("SELECT fence FROM gi_begin(%s, 'main')", repo)[0][0]
            with server.transaction():
                server.rows("SELECT gi_put_docs(%s::text[])", [text])
                values = (repo, fence, json.dumps(delta))
                done = server.rows("SELECT gi_publish(%s, 'main', %s, %s::jsonb)", *values)
            assert done[0][0] is True
            tree = oid
    return int(COMMITS / (time.perf_counter() - started))


def _server_cpu(cluster: Cluster) -> float:
    """CPU seconds of the server's processes, those that have ended included."""
    assert cluster.process is not None
    total, pid = 0, cluster.process.pid
    for number, first in ((pid, 11), *((child, 11) for child in children(pid))):
        try:
            fields = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        last = 15 if number == pid else 13  # the postmaster counts its dead children
        total += sum(int(field) for field in fields[first:last])
    return total / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    sys.exit(main([str(Path(name)) for name in sys.argv[1:]]))
