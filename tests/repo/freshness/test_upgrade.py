"""After an upgrade, until the index is rebuilt: people get answers from the files on disk, and are told."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import TIMEOUT, Repo

OLDER = """
import sys
import gitindex.freshness.marker, gitindex.store.connection
gitindex.freshness.marker.SCHEMA_VERSION, gitindex.store.connection.CURRENT = "1", 1
from gitindex.__main__ import main
sys.argv = ["gitindex", "index"]
sys.exit(main())
"""


@pytest.fixture(params=["extractor", "store"])
def outdated(repo: Repo, request: pytest.FixtureRequest) -> Repo:
    """Indexed by a gitindex whose extractor, or whose store, was another one."""
    repo.write("lib/util.py", "def helper():\n    return 42\n")
    repo.write("app.py", "from lib.util import helper\n")
    repo.commit()
    if request.param == "store":
        subprocess.run([sys.executable, "-c", OLDER], cwd=repo.path, check=True, timeout=TIMEOUT)
        return repo
    repo.index()
    path = Path(repo.worktree.marker)
    marker = json.loads(path.read_text())
    marker["fingerprint"]["extractorVersion"] = "0"
    path.write_text(json.dumps(marker))
    return repo


@pytest.mark.parametrize(
    ("args", "shown"),
    [
        (("search", "helper"), "lib/util.py:1"),
        (("grep", "return 42"), "lib/util.py:2"),
        (("symbols", "helper"), "lib/util.py:1"),
        (("read", "lib/util.py:2"), "return 42"),
    ],
)
def test_people_are_answered_from_disk(outdated: Repo, args: tuple[str, ...], shown: str) -> None:
    assert outdated.state() == "stale" or outdated.gitindex("status").returncode == 3
    done = outdated.gitindex(*args)
    assert (done.returncode, shown in done.stdout) == (0, True), done
    assert "answered by a live scan: " in done.stderr
    answer = outdated.answer(*args)
    assert (answer["status"], answer["source"]) == ("ok", "LOCAL_FALLBACK")
    assert answer["gate"]["status"] == "requires_reindex"
    assert answer["freshness"]["state"] == "unknown"


def test_who_insists_on_the_index_is_refused(outdated: Repo) -> None:
    done = outdated.gitindex("symbols", "helper", "--at", "HEAD", "--json")
    assert (done.returncode, json.loads(done.stdout)["status"]) == (3, "requires_reindex")
    assert outdated.gitindex("refs", "helper").returncode == 3, "a graph cannot be scanned"


def test_the_rebuild_ends_it(outdated: Repo) -> None:
    outdated.index()
    answer = outdated.answer("symbols", "helper")
    assert answer["freshness"]["state"] == "fresh"
    assert "gate" not in answer
