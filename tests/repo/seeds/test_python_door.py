"""The seeds' own snippets in Python: what a program that imports gitindex relies on."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

import gitindex
from gitindex import (
    FULL,
    ContextRouter,
    FileStateService,
    GateClosed,
    GitIndexError,
    IndexCoordinator,
    IndexState,
    JobStatus,
    RefreshJobService,
    RefreshScope,
    SearchMode,
    validate_completion_proof,
)
from tests.support import Repo


@pytest.fixture
def known(quiet: Repo) -> Repo:
    return quiet


def proof_of(repo: Repo) -> tuple[str, str | None]:
    proof = validate_completion_proof(str(repo.path))
    return proof.outcome.value, proof.reason.value if proof.reason else None


def test_a_proof_is_the_one_that_status_uses(known: Repo) -> None:
    assert proof_of(known) == ("valid", None)
    marker = Path(known.worktree.marker)
    text = marker.read_text()
    marker.write_text(text.replace('"indexedFiles": 3', '"indexedFiles": 4'))
    assert marker.read_text() != text
    assert proof_of(known) == ("stale_local", "invalid_payload")
    assert known.gitindex("status").returncode == 3
    marker.write_text(text)
    assert proof_of(known) == ("valid", None)


def test_a_damaged_and_a_removed_store_prove_nothing(known: Repo) -> None:
    database = Path(known.worktree.database)
    data = bytearray(database.read_bytes())
    data[len(data) // 2] ^= 0xFF
    database.write_bytes(data)
    assert proof_of(known) == ("probe_failed", "probe_failed")
    shutil.rmtree(known.worktree.store)
    assert proof_of(known) == ("stale_local", "missing_marker_doc")
    assert known.gitindex("status").returncode == 3


def test_a_marker_of_the_seed_with_other_tools_asks_for_a_reindex(known: Repo) -> None:
    fields = {
        "kind": "satori_index_completion_v1",
        "codebasePath": known.worktree.root,
        "fingerprint": {"embeddingProvider": "X", "embeddingModel": "y", "schemaVersion": "v3"},
        "indexedFiles": 3,
        "totalChunks": 3,
        "completedAt": "2025-01-01T00:00:00Z",
        "runId": "r1",
    }
    Path(known.worktree.marker).write_text(json.dumps(fields))
    assert proof_of(known) == ("fingerprint_mismatch", "fingerprint_mismatch")
    with pytest.raises(GateClosed) as closed:
        IndexCoordinator(str(known.path)).search("helper")
    assert closed.value.envelope["status"] == "requires_reindex"
    done = known.gitindex("status")
    assert (done.returncode, "requires_reindex" in done.stdout) == (3, True)
    assert known.gitindex("index").returncode == 0
    assert proof_of(known) == ("valid", None)


def test_services_open_by_a_root(known: Repo) -> None:
    root = str(known.path)
    with FileStateService.open(root) as states:
        assert states.get_file_state("lib/util.py").freshness == "clean"
        for spelling in ("./lib/util.py", "lib/../lib/util.py", os.path.join(root, "lib/util.py")):
            assert states.get_file_state(spelling) == states.get_file_state("lib/util.py")
            verdict = states.check_mutation_gate([spelling])
            assert (verdict.status, verdict.targets[0]["path"]) == ("ok", "lib/util.py")
        [one] = states.check_mutation_gate("lib/util.py#helper").targets
        assert (one["status"], one["symbol"]) == ("ok", "helper")
        assert states.get_file_state("lib/util.py", 0) == states.get_file_state("lib/util.py")
        for outside in ("../x.py", "/etc/passwd"):
            with pytest.raises(GitIndexError, match="outside"):
                states.get_file_state(outside)
            with pytest.raises(GitIndexError, match="outside"):
                states.check_mutation_gate([outside])
    jobs = RefreshJobService.open(root)
    jobs.enqueue_refresh(None, "asked")
    assert [job.status for job in jobs.history(1)] == [JobStatus.QUEUED]
    known.write("pkg/pyproject.toml", '[project]\nname = "p"\n')
    known.write("pkg/a.py", "x = 1\n")
    route = ContextRouter.open(root).route("pkg/a.py")
    assert route.context is not None
    assert route.context.root == "pkg"


def test_a_symbol_that_one_call_returned_is_accepted_by_the_next(known: Repo) -> None:
    index = IndexCoordinator(str(known.path))
    symbol = index.get_symbol("helper")
    assert symbol is not None
    found = index.get_references(symbol)
    assert [(r["path"], r["line"]) for r in found["references"]] == [("app.py", 5)]


def test_a_scope_of_the_seeds_json_is_that_scope() -> None:
    text = '{"files": ["a.py"], "packages": null, "changed_since": null}'
    assert RefreshScope.from_json(text) == RefreshScope(files=("a.py",))
    assert RefreshScope.from_json('{"files": null, "packages": null}') == FULL
    assert RefreshScope.from_json('{"files": ["a.py"], "other": null}') == FULL
    with pytest.raises(TypeError):
        RefreshScope(files="a.py")
    with pytest.raises(TypeError):
        RefreshScope(packages="lib")


def test_enumerations_behave_as_enumerations() -> None:
    assert IndexState.FRESH.value == "fresh"
    assert IndexState["FRESH"] is IndexState.FRESH is IndexState("fresh")
    assert [state.value for state in IndexState] == ["fresh", "stale", "rebuilding", "error"]
    assert list(JobStatus.__members__) == ["QUEUED", "RUNNING", "COMPLETED", "SUPERSEDED", "FAILED"]
    assert SearchMode["RANKED"].name == "RANKED"
    with pytest.raises(KeyError):
        IndexState["NOTHING"]


def test_a_closed_gate_is_the_exported_error(repo: Repo) -> None:
    repo.write("a.py", "x = 1\n")
    repo.commit()
    with pytest.raises(GateClosed) as closed:
        IndexCoordinator(str(repo.path)).search("x")
    assert closed.value.envelope["status"] == "not_indexed"
    assert issubclass(gitindex.GitIndexError, Exception)
