"""The completion marker: every outcome and reason of its judge, and that no other file has a say."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gitindex.base.atomic_file import write_atomic
from gitindex.base.vocabulary import IndexState, ProofOutcome, ProofReason
from gitindex.freshness.index_status import IndexStatus, load_status, save_status
from gitindex.freshness.marker import (
    KIND,
    CompletionMarker,
    CompletionProof,
    Fingerprint,
    parse_fingerprint,
    read_marker,
    render_marker,
    runtime_fingerprint,
)
from gitindex.freshness.observation import observe, prove
from gitindex.freshness.verdict import judge
from tests.support import Repo, stop_runners

Fields = dict[str, Any]


@pytest.fixture
def proven(repo: Repo) -> Repo:
    """A repository whose marker is valid; nothing else of an index is there."""
    Path(repo.worktree.llmc).mkdir()
    write_atomic(repo.worktree.marker, render_marker(marker_of(repo)))
    return repo


def marker_of(repo: Repo) -> CompletionMarker:
    return CompletionMarker(
        codebase_path=repo.worktree.root,
        fingerprint=runtime_fingerprint(),
        indexed_files=3,
        total_chunks=7,
        completed_at="2026-01-02T03:04:05Z",
        run_id="0123456789abcdef",
        head_commit="c" * 40,
        tree_id="d" * 40,
        generation=2,
    )


def look(repo: Repo) -> CompletionProof:
    return read_marker(str(repo.path))[0]


def rewrite(repo: Repo, change: Callable[[Fields], object]) -> CompletionProof:
    """What the judge says after the marker was changed by hand."""
    fields = repo.marker()
    change(fields)
    Path(repo.worktree.marker).write_text(json.dumps(fields))
    return look(repo)


def assert_stale(proof: CompletionProof, reason: ProofReason) -> None:
    assert (proof.outcome, proof.reason) == (ProofOutcome.STALE_LOCAL, reason)


def test_saved_marker_is_valid_and_round_trips(proven: Repo) -> None:
    assert look(proven) == CompletionProof(ProofOutcome.VALID, None, marker_of(proven))


def test_stored_form_is_the_contracts(proven: Repo) -> None:
    stored = proven.marker()
    assert stored["kind"] == "gitindex_completion_v1"
    assert set(stored) == {
        "kind",
        "codebasePath",
        "fingerprint",
        "indexedFiles",
        "totalChunks",
        "completedAt",
        "runId",
        "headCommit",
        "treeId",
        "generation",
    }
    assert set(stored["fingerprint"]) == {
        "embeddingProvider",
        "embeddingModel",
        "embeddingDimension",
        "vectorStoreProvider",
        "schemaVersion",
        "extractorVersion",
        "grammarSet",
        "policyHash",
    }
    assert list(stored["fingerprint"].values())[:4] == [None] * 4
    assert stat.S_IMODE(os.stat(proven.worktree.marker).st_mode) == 0o600


def test_root_is_compared_in_canonical_form(proven: Repo, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(proven.path)
    for spelling in (f"{proven.path}/", f"{proven.path}/../repo/.", str(tmp_path / "link")):
        assert read_marker(spelling)[0].outcome is ProofOutcome.VALID
    linked = rewrite(proven, lambda f: f.update(codebasePath=f"{tmp_path}/link/"))
    assert linked.outcome is ProofOutcome.VALID


def test_no_marker_is_missing_marker_doc(repo: Repo) -> None:
    assert_stale(look(repo), ProofReason.MISSING_MARKER_DOC)
    Path(repo.worktree.llmc).mkdir()
    assert_stale(look(repo), ProofReason.MISSING_MARKER_DOC)


def test_llmc_that_is_a_file_holds_no_marker(repo: Repo) -> None:
    Path(repo.worktree.llmc).write_text("")
    assert_stale(look(repo), ProofReason.MISSING_MARKER_DOC)


@pytest.mark.parametrize(
    "kind",
    ["", "gitindex", "other_v1", "GITINDEX_COMPLETION_V1", None, 1, [], ["a"], {}, True],
    ids=repr,
)
def test_foreign_kind_is_invalid_marker_kind(proven: Repo, kind: Any) -> None:
    proof = rewrite(proven, lambda f: f.update(kind=kind))
    assert_stale(proof, ProofReason.INVALID_MARKER_KIND)
    assert "upgrade" not in proof.message
    assert proof.marker is None


def test_absent_kind_is_invalid_marker_kind(proven: Repo) -> None:
    assert_stale(rewrite(proven, lambda f: f.pop("kind")), ProofReason.INVALID_MARKER_KIND)


@pytest.mark.parametrize("version", ["2", "3", "10", "2_beta"])
def test_newer_kind_says_upgrade_and_never_reindex(proven: Repo, version: str) -> None:
    proof = rewrite(proven, lambda f: f.update(kind=f"gitindex_completion_v{version}", new=1))
    assert_stale(proof, ProofReason.INVALID_MARKER_KIND)
    assert "upgrade gitindex" in proof.message
    assert "reindex" not in proof.message


def test_satori_kind_is_accepted(proven: Repo) -> None:
    proof = rewrite(proven, lambda f: f.update(kind="satori_index_completion_v1"))
    assert proof.outcome is ProofOutcome.VALID
    assert KIND != "satori_index_completion_v1"


REQUIRED = (
    "codebasePath",
    "fingerprint",
    "indexedFiles",
    "totalChunks",
    "completedAt",
    "runId",
    "treeId",
    "generation",
)


@pytest.mark.parametrize("key", REQUIRED)
def test_absent_field_is_invalid_payload(proven: Repo, key: str) -> None:
    assert_stale(rewrite(proven, lambda f: f.pop(key)), ProofReason.INVALID_PAYLOAD)


@pytest.mark.parametrize("value", [None, [], {}, True, 1.5, -1, ""], ids=repr)
@pytest.mark.parametrize("key", REQUIRED)
def test_ill_typed_field_is_invalid_payload(proven: Repo, key: str, value: Any) -> None:
    proof = rewrite(proven, lambda f: f.update({key: value}))
    assert_stale(proof, ProofReason.INVALID_PAYLOAD)


@pytest.mark.parametrize("value", [1, [], {}, True], ids=repr)
def test_ill_typed_head_is_invalid_payload(proven: Repo, value: Any) -> None:
    proof = rewrite(proven, lambda f: f.update(headCommit=value))
    assert_stale(proof, ProofReason.INVALID_PAYLOAD)


def test_head_may_be_null_before_the_first_commit(proven: Repo) -> None:
    proof = rewrite(proven, lambda f: f.update(headCommit=None))
    assert proof.outcome is ProofOutcome.VALID
    assert proof.marker is not None
    assert proof.marker.head_commit is None


@pytest.mark.parametrize(
    "data", [b"", b"{", b"null", b"[]", b"\xff", b'{"kind":1,"kind":1}', b"[" * 100_000], ids=len
)
def test_garbage_is_invalid_payload(proven: Repo, data: bytes) -> None:
    Path(proven.worktree.marker).write_bytes(data)
    assert_stale(look(proven), ProofReason.INVALID_PAYLOAD)


def test_f11_no_truncation_is_taken_for_a_proof(proven: Repo) -> None:
    path = Path(proven.worktree.marker)
    whole = path.read_bytes()
    for n in range(len(whole) - 1):
        for damaged in (whole[:n], whole[:n] + b"\0" * 9, whole[:n] + b"\xff" * 9):
            path.unlink()  # ext4 flushes a file that is truncated
            path.write_bytes(damaged)
            assert look(proven).reason is ProofReason.INVALID_PAYLOAD


@pytest.mark.parametrize("elsewhere", ["/", "/somewhere/else", "relative", "/x" * 3000])
def test_other_root_is_path_mismatch_and_keeps_the_marker(proven: Repo, elsewhere: str) -> None:
    proof = rewrite(proven, lambda f: f.update(codebasePath=elsewhere))
    assert_stale(proof, ProofReason.PATH_MISMATCH)
    assert proof.marker is not None


@pytest.mark.parametrize("impossible", ["/nul\0byte", "/lone\ud800surrogate"], ids=ascii)
def test_root_that_no_folder_can_have_is_path_mismatch(proven: Repo, impossible: str) -> None:
    proof = rewrite(proven, lambda f: f.update(codebasePath=impossible))
    assert_stale(proof, ProofReason.PATH_MISMATCH)


def test_g7_moved_repository_is_path_mismatch(proven: Repo, tmp_path: Path) -> None:
    moved = proven.path.rename(tmp_path / "repo2")
    assert_stale(read_marker(str(moved))[0], ProofReason.PATH_MISMATCH)


@pytest.mark.parametrize("field", Fingerprint._fields)
def test_each_field_of_the_fingerprint_counts(proven: Repo, field: str) -> None:
    proof = rewrite(proven, lambda f: f["fingerprint"].update({field: "other"}))
    assert proof.outcome is ProofOutcome.FINGERPRINT_MISMATCH
    assert proof.reason is ProofReason.FINGERPRINT_MISMATCH
    assert proof.marker is not None


@pytest.mark.parametrize("field", Fingerprint._fields)
def test_fingerprint_without_a_field_is_invalid_payload(proven: Repo, field: str) -> None:
    proof = rewrite(proven, lambda f: f["fingerprint"].pop(field))
    assert_stale(proof, ProofReason.INVALID_PAYLOAD)


@pytest.mark.parametrize("value", [[], {}, 1.5], ids=repr)
@pytest.mark.parametrize("field", Fingerprint._fields)
def test_fingerprint_with_an_ill_typed_field_is_none(field: str, value: Any) -> None:
    assert parse_fingerprint(runtime_fingerprint()._asdict() | {field: value}) is None


def test_fingerprint_ignores_what_it_does_not_know() -> None:
    fields = runtime_fingerprint()._asdict()
    assert parse_fingerprint(fields | {"later": "x"}) == runtime_fingerprint()


def test_path_is_judged_before_the_fingerprint(proven: Repo) -> None:
    def both(fields: Fields) -> None:
        fields["codebasePath"] = "/elsewhere"
        fields["fingerprint"]["schemaVersion"] = "0"

    assert_stale(rewrite(proven, both), ProofReason.PATH_MISMATCH)


def as_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def as_link(path: Path) -> None:
    path.rename(path.with_suffix(".real"))
    path.symlink_to(path.with_suffix(".real"))


def as_loop(path: Path) -> None:
    path.unlink()
    path.symlink_to(path)


@pytest.mark.parametrize("spoil", [as_folder, as_link, as_loop])
def test_look_up_that_cannot_be_completed_is_probe_failed(
    proven: Repo, spoil: Callable[[Path], None]
) -> None:
    spoil(Path(proven.worktree.marker))
    proof = look(proven)
    assert (proof.outcome, proof.reason) == (ProofOutcome.PROBE_FAILED, ProofReason.PROBE_FAILED)
    assert proof.message
    assert proof.marker is None


def test_root_without_a_repository_is_probe_failed(tmp_path: Path) -> None:
    assert read_marker(str(tmp_path))[0].outcome is ProofOutcome.PROBE_FAILED


def test_looking_changes_nothing(proven: Repo) -> None:
    before = {p: p.stat().st_mtime_ns for p in proven.path.rglob("*")}
    for _ in range(50):
        look(proven)
    assert {p: p.stat().st_mtime_ns for p in proven.path.rglob("*")} == before


def test_marker_without_its_store_proves_nothing(indexed: Repo) -> None:
    worktree = indexed.worktree
    assert prove(worktree).outcome is ProofOutcome.VALID
    stamp = Path(worktree.stamp)
    run_id = stamp.read_bytes()
    for spoil in (stamp.unlink, lambda: stamp.write_bytes(b"another run")):
        spoil()
        assert_stale(prove(worktree), ProofReason.MISSING_MARKER_DOC)
        stamp.write_bytes(run_id)
    for path in (worktree.database, f"{worktree.lexical}/meta.json"):
        os.rename(path, f"{path}.away")
        assert_stale(prove(worktree), ProofReason.MISSING_MARKER_DOC)
        os.rename(f"{path}.away", path)
    assert prove(worktree).outcome is ProofOutcome.VALID


def test_unreadable_stamp_is_probe_failed(indexed: Repo) -> None:
    stamp = Path(indexed.worktree.stamp)
    as_folder(stamp)
    assert prove(indexed.worktree).outcome is ProofOutcome.PROBE_FAILED


def test_i02_forged_status_changes_no_verdict(indexed: Repo) -> None:
    stop_runners(indexed.path)
    old = indexed.git("rev-parse", "HEAD").strip()
    told = {}
    for moment in ("fresh", "dirty", "moved", "unproven"):
        if moment == "dirty":
            indexed.write("app.py", "changed = True\n")
        elif moment == "moved":
            indexed.git("-c", "core.hooksPath=/dev/null", "commit", "-qam", "silent")
        elif moment == "unproven":
            os.unlink(indexed.worktree.marker)
        told[moment] = judge(observe(indexed.worktree))
        for state in IndexState:
            for commit in (old, indexed.git("rev-parse", "HEAD").strip(), "f" * 40, None):
                forged = IndexStatus(str(indexed.path), state, "2099-01-01T00:00:00Z", commit, "1")
                save_status(indexed.path, forged)
                assert load_status(indexed.path) == forged
                assert judge(observe(indexed.worktree)) == told[moment], (moment, state, commit)
    assert [v.state for v in told.values()] == ["fresh", "fresh", "stale", "stale"]


def test_newer_marker_is_left_alone_by_everyone(indexed: Repo) -> None:
    stop_runners(indexed.path)
    rewrite(indexed, lambda f: f.update(kind="gitindex_completion_v2"))
    before = Path(indexed.worktree.marker).read_bytes()
    assert "index`" not in indexed.gitindex("status").stdout
    search = ["search", "helper", "--strict"]
    for command in (["status"], search, ["run"], ["index"], ["index", "--force"]):
        done = indexed.gitindex(*command)
        assert done.returncode in (3, 4), command
        assert "upgrade gitindex" in done.stdout + done.stderr, command
        assert Path(indexed.worktree.marker).read_bytes() == before, command
