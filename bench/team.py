"""The team's index at scale: `python -m bench.team URL REPO…` loads indexed clones and asks it.

URL names an empty database of a server that is not used otherwise. Each question is also asked as plain
SQL without the functions, as the administrator: what rights and functions cost is the difference.
"""

from __future__ import annotations

import json
import random
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gitindex.base.worktree import find_worktree
from gitindex.sharing import administration, membership, publish, team_questions
from gitindex.sharing.server import Server, connected, raw_connection

QUESTIONS = 300
PLAIN = (
    "SELECT t.path, s.line FROM gitindex.gi_name n JOIN gitindex.gi_symbol s ON s.name_id = n.id"
    " JOIN gitindex.gi_tree t ON t.doc_id = s.doc_id WHERE n.text = %s LIMIT 50"
)


def main(url: str, repos: list[str]) -> int:
    """Publish every repository, then ask; one JSON line."""
    administration.init(url)
    told: dict[str, Any] = {"publishSeconds": 0.0, "documents": 0, "paths": 0}
    for repo in repos:
        worktree = find_worktree(repo)
        with connected(url, patient=True) as server:
            membership.join(worktree, server, url, "", "")
        started = time.perf_counter()
        done = publish.push(worktree, lambda _phase, _percent: None)
        told["publishSeconds"] += time.perf_counter() - started
        told["documents"] += done.documents
        told["paths"] += done.paths
    with raw_connection(url) as server:
        server.run("ANALYZE")
        told["bytes"] = server.rows("SELECT pg_database_size(current_database())")[0][0]
        names = [row[0] for row in server.rows("SELECT text FROM gitindex.gi_name")]
    rng = random.Random(5)
    words = rng.sample(names, min(QUESTIONS, len(names)))
    with connected(url, patient=True) as server:
        told["definitions"] = _times(server, words, _function("gi_definitions"))
        told["references"] = _times(server, words, _function("gi_references"))
        told["part"] = _times(
            server, [word[:5] for word in words if len(word) > 4], _function("gi_like")
        )
        told["search"] = _times(server, words, lambda s, w: team_questions.search(s, w, 50))
        told["plainSql"] = _times(server, words, lambda s, w: s.rows(PLAIN, w))
    sys.stdout.write(json.dumps(told) + "\n")
    return 0


def _function(name: str) -> Callable[[Server, str], object]:
    return lambda server, word: server.rows(f"SELECT * FROM {name}(%s, 50)", word)


def _times(
    server: Server, words: list[str], ask: Callable[[Server, str], object]
) -> dict[str, float]:
    taken = []
    for word in words:
        started = time.perf_counter()
        ask(server, word)
        taken.append(1e3 * (time.perf_counter() - started))
    taken.sort()
    return {
        "p50ms": round(statistics.median(taken), 2),
        "p99ms": round(taken[int(len(taken) * 0.99) - 1], 2),
    }


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], [str(Path(name)) for name in sys.argv[2:]]))
