"""A2: the stamp holds commit, tree and digest of the marker; no edited field of a marker is believed."""

from __future__ import annotations

import json
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from gitindex.base.errors import Exit
from gitindex.base.vocabulary import IndexState, ProofOutcome, ProofReason
from gitindex.freshness.marker import (
    Stamp,
    StampedRun,
    StoreIdentity,
    announce_run,
    identify_for_stamp,
    identify_store,
    parse_stamp,
    read_stamp,
)
from gitindex.freshness.observation import prove
from gitindex.install.aliases import install_aliases
from gitindex.store.connection import open_writer
from tests.support import Repo

UNSEEN = {"GITINDEX": "0"}


def _edit_marker(repo: Repo, **fields: Any) -> None:
    path = Path(repo.worktree.marker)
    path.write_text(json.dumps(json.loads(path.read_text()) | fields) + "\n")


def test_a2_a_commit_written_into_the_marker_is_not_believed(quiet: Repo) -> None:
    """The published tree is that of the first commit, whatever the marker says of the second."""
    install_aliases()
    quiet.write("b.py", "def beta(): pass\n")
    quiet.git("add", "-A")
    quiet.git("commit", "-qm", "second", env=UNSEEN)
    head = quiet.git("rev-parse", "HEAD").strip()
    for forged in ({"headCommit": head}, {"headCommit": head, "treeId": quiet.tree()}):
        _edit_marker(quiet, **forged)
        verdict = quiet.verdict()
        assert (verdict.state, verdict.code) == (IndexState.STALE, Exit.GATED)
        assert quiet.try_git("fresh").returncode == 3
        found = quiet.answer("grep", "beta")
        assert [hit["path"] for hit in found["results"]] == ["b.py"]
        assert found["freshness"]["state"] != "fresh"
    assert quiet.gitindex("run").returncode == 0
    assert quiet.verdict().state is IndexState.FRESH, "the next runner writes it again"
    assert quiet.git("fresh") == "fresh\n"


@pytest.mark.parametrize(
    "field",
    ["headCommit", "treeId", "indexedFiles", "totalChunks", "completedAt", "generation"],
)
def test_a2_every_field_is_part_of_the_digest(quiet: Repo, field: str) -> None:
    install_aliases()
    old = quiet.marker()[field]
    _edit_marker(quiet, **{field: old + 1 if isinstance(old, int) else old[::-1]})
    proof = prove(quiet.worktree)
    assert (proof.outcome, proof.reason) == (ProofOutcome.STALE_LOCAL, ProofReason.INVALID_PAYLOAD)
    assert quiet.try_git("fresh").returncode == 3
    _edit_marker(quiet, **{field: old})
    assert prove(quiet.worktree).outcome is ProofOutcome.VALID


def test_a2_the_digest_is_what_git_prints(quiet: Repo) -> None:
    stamp = read_stamp(quiet.worktree.stamp)
    assert stamp is not None
    [run] = stamp.runs
    digest = quiet.git("hash-object", "--no-filters", quiet.worktree.marker).strip()
    head = quiet.git("rev-parse", "HEAD").strip()
    assert run == StampedRun(quiet.marker()["runId"], head, quiet.tree(), digest)


def test_an_announced_run_ends_fresh_and_its_marker_serves(quiet: Repo) -> None:
    install_aliases()
    store = identify_store(quiet.worktree)
    for number in range(6):  # however many attempts fail
        announce_run(quiet.worktree, f"run{number}", store)
        proof = prove(quiet.worktree)
        assert (proof.outcome, proof.is_newest) == (ProofOutcome.VALID, False)
        assert quiet.verdict().why == "a publish was not finished"
    assert quiet.try_git("fresh").stdout == "stale: a publish was not finished\n"
    stamp = read_stamp(quiet.worktree.stamp)
    assert stamp is not None
    assert [run.run_id for run in stamp.runs] == ["run5", quiet.marker()["runId"]]


def test_only_a_whole_stamp_is_one() -> None:
    stamp = Stamp(StoreIdentity(1, 2), (StampedRun("a"), StampedRun("b", "c", "t", "d")))
    data = stamp.render()
    assert parse_stamp(data) == stamp
    for cut in range(len(data) - 1):  # the last byte is a newline
        part = parse_stamp(data[:cut])
        assert part is None or part.runs[-1].digest != "d"
    for bad in (b"", b"run 1 2\n", b"\xff", data.replace(b"v4", b"v3"), data + b"x\n"):
        assert parse_stamp(bad) is None


def test_git_fresh_leaves_the_judgement_of_a_log_to_python(quiet: Repo) -> None:
    """An old log, put back, would change every answer; that of a live or killed writer is its own."""
    install_aliases()
    assert quiet.git("fresh") == "fresh\n"
    database = open_writer(quiet.worktree.database)
    with database.write():
        database.run("UPDATE names SET text='x' || text")
    log = Path(f"{quiet.worktree.database}-wal")
    old = log.read_bytes()
    assert quiet.git("fresh").startswith("fresh: "), "by Python"
    with database.write():
        database.run("UPDATE names SET text=substr(text, 2)")
    database.close()
    assert quiet.git("fresh") == "fresh\n"
    log.write_bytes(old)
    assert quiet.try_git("fresh").returncode == 4
    assert "facts.db-wal is not what was written" in quiet.gitindex("status").stdout
    assert quiet.gitindex("grep", "helper").stderr.startswith("gitindex: answered by a live scan")
    assert quiet.gitindex("index").returncode == 0
    assert quiet.gitindex("verify", "--full").returncode == 0
    assert quiet.git("fresh") == "fresh\n"


def test_a_stamp_is_made_between_transactions(quiet: Repo) -> None:
    """SQLite commits into a log that was moved before it cuts it: the size in between is not kept."""
    named: list[StoreIdentity] = []
    stamper = Thread(target=lambda: named.append(identify_for_stamp(quiet.worktree)))
    database = open_writer(quiet.worktree.database)
    with database.write():
        database.run("UPDATE names SET text='x' || text")
        stamper.start()
        stamper.join(0.05)
        assert named == [], "it waits for the end of the transaction"
    stamper.join()
    assert named == [identify_store(quiet.worktree)]
    database.close()
