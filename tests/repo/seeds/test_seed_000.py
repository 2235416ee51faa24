"""Seed 000, index status metadata: each test carries the ids of the sentences it holds.

Other rows are held by tests/unit/freshness/test_status_file.py (R2-R7, R10-R14, R27: fields, path,
missing and garbage files, one atomic and durable write) and tests/repo/freshness/test_fresh.py,
test_marker.py, tests/e2e/refresh/test_faults.py (R15-R24: what each state means and when it is written).
"""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, get_type_hints

import pytest

from gitindex.base.errors import GitIndexError, StoreError
from gitindex.base.vocabulary import IndexState
from gitindex.freshness.index_status import IndexStatus, load_status, save_status, status_path
from gitindex.refresh.lifecycle import describe
from gitindex.refresh.refresher import Refresher
from gitindex.refresh.runner import RefreshRequest, Runner
from tests.support import TIMEOUT, Repo

MALFORMED = {
    "brace": "{",
    "open key": '{"a"',
    "open object": '{"a":1',
    "open string": '{"repo": "/home/dev/pro',
    "not json": "{not json",
    "nothing": "",
    "comma": '{"a":1,}',
    "two values": "{} {}",
}
BARE = """
import sys
{importing}
assert "json" not in sys.modules, "the test is about a process without it"
print({call})
"""


def bare(root: Path, importing: str, call: str) -> str:
    """What a process that has not imported json prints."""
    done = subprocess.run(
        [sys.executable, "-S", "-c", BARE.format(importing=importing, call=call), str(root)],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[3])},
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_000_r1_index_status_is_a_dataclass() -> None:
    status = IndexStatus("r", IndexState.FRESH, "t", None, "1")
    assert dataclasses.is_dataclass(IndexStatus)
    assert dataclasses.asdict(status)["index_state"] == "fresh"
    assert dataclasses.replace(status, last_error="e").last_error == "e"
    assert status == IndexStatus("r", IndexState.FRESH, "t", None, "1")
    status.last_error = "can be assigned, as the seed's can"


def test_000_r2_the_six_fields_in_order() -> None:
    assert [field.name for field in dataclasses.fields(IndexStatus)] == [
        "repo",
        "index_state",
        "last_indexed_at",
        "last_indexed_commit",
        "schema_version",
        "last_error",
    ]
    assert dataclasses.fields(IndexStatus)[-1].default is None
    assert get_type_hints(IndexStatus)["repo"] is str


def test_000_r3_the_four_states() -> None:
    assert {str(state) for state in IndexState} == {"fresh", "stale", "rebuilding", "error"}


@pytest.mark.parametrize("text", MALFORMED.values(), ids=MALFORMED.keys())
def test_000_r8_load_status_returns_none_for_malformed_files_without_json(
    tmp_path: Path, text: str
) -> None:
    (tmp_path / ".llmc").mkdir()
    status_path(tmp_path).write_text(text)
    assert load_status(tmp_path) is None
    read = "from gitindex.freshness.status_file import load_status"
    assert bare(tmp_path, read, "load_status(sys.argv[1])") == "None"


def test_000_r9_round_trip_on_a_fresh_folder(tmp_path: Path) -> None:
    """Row R9b as well: `save_status` makes the folder it writes into."""
    status = IndexStatus(str(tmp_path), IndexState.ERROR, "", None, "1", "boom")
    assert save_status(tmp_path, status) == tmp_path / ".llmc" / "rag_index_status.json"
    assert load_status(tmp_path) == status
    assert (tmp_path / ".llmc" / ".gitignore").read_bytes() == b"*\n"
    assert (tmp_path / ".llmc").stat().st_mode & 0o777 == 0o700


def test_000_r14_the_record_is_synced_before_it_is_renamed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[str] = []

    def noted(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **more: Any) -> Any:
            calls.append(name)
            return real(*args, **more)

        return call

    for name in ("fsync", "replace", "rename"):
        monkeypatch.setattr(os, name, noted(name, getattr(os, name)))
    save_status(tmp_path, IndexStatus(str(tmp_path), IndexState.FRESH, "t", None, "1"))
    renamed = next(at for at, name in enumerate(calls) if name != "fsync")
    assert calls[:renamed] == ["fsync"] * renamed
    assert renamed > 0


def test_000_r15_r18_what_a_fresh_record_says(indexed: Repo) -> None:
    """The card's C9 as well: the status and the marker stand under .llmc/."""
    indexed.wait_idle()
    status = load_status(indexed.path)
    assert status is not None
    assert status.repo == os.path.realpath(indexed.path)
    assert (status.index_state, status.last_error) == (IndexState.FRESH, None)
    assert status.last_indexed_commit == indexed.git("rev-parse", "HEAD").strip()
    assert datetime.fromisoformat(status.last_indexed_at).utcoffset() == timedelta(0)
    assert status.schema_version == indexed.marker()["fingerprint"]["schemaVersion"]


def test_000_r19_r20_stale_keeps_the_last_success(indexed: Repo) -> None:
    indexed.wait_idle()
    before = load_status(indexed.path)
    assert before is not None
    stop = Path(indexed.worktree.store, "python")
    stop.write_text("/nonexistent\n")  # the hook marks, and can start nobody
    indexed.write("more.py", "more = 1\n")
    indexed.commit()
    assert load_status(indexed.path) == dataclasses.replace(before, index_state=IndexState.STALE)
    assert indexed.gitindex("status").returncode == 1


def test_000_r21_r22_r23_a_failure_is_told_until_a_success(
    quiet: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Row 002-S3 as well; tests/repo/refresh/test_takeover.py has the store that cannot be opened."""
    before = load_status(quiet.path)
    assert before is not None

    def fails(*_args: object, **_more: object) -> None:
        raise StoreError("the disk is full", "make room")

    with monkeypatch.context() as patch:
        patch.setattr(Refresher, "run", fails)
        with pytest.raises(GitIndexError, match="disk is full"):
            Runner(quiet.worktree).serve(RefreshRequest(quiet.worktree, "reindex", force=True))
    failed = load_status(quiet.path)
    assert failed is not None
    assert (failed.index_state, failed.last_error) == (IndexState.ERROR, "the disk is full")
    assert failed.last_indexed_at == before.last_indexed_at
    assert failed.last_indexed_commit == before.last_indexed_commit
    assert Runner(quiet.worktree).serve(RefreshRequest(quiet.worktree, "index"))
    mended = load_status(quiet.path)
    assert mended is not None
    assert (mended.index_state, mended.last_error) == (IndexState.FRESH, None)


def test_000_r26_the_metadata_module_decides_nothing(tmp_path: Path) -> None:
    loaded = bare(
        tmp_path,
        "import gitindex.freshness.status_file",
        "sorted(m for m in sys.modules if m.startswith('gitindex.freshness.'))",
    )
    assert loaded == "['gitindex.freshness.status_file']"


def test_000_r28_last_error_omitted_when_null_wherever_it_is_serialised(indexed: Repo) -> None:
    indexed.wait_idle()  # readers derive fresh before the file says it
    assert "last_error" not in json.loads(status_path(indexed.path).read_text())
    assert "last_error" not in indexed.answer("status")["indexStatus"]
    assert "last_error" not in describe(indexed.worktree, ".")["indexStatus"]


@pytest.mark.parametrize("text", ["{not json", '{"kind": "gitindex_co'], ids=["garbage", "cut"])
@pytest.mark.parametrize("name", ["marker", "failure", "progress"])
def test_000_r29_corrupt_small_files_never_crash_status(
    indexed: Repo, name: str, text: str
) -> None:
    """Row 004-V4 as well: a malformed marker is `invalid_payload`."""
    indexed.wait_idle()
    target = Path(getattr(indexed.worktree, name))
    target.parent.mkdir(exist_ok=True)
    target.write_text(text)
    done = indexed.gitindex("status")
    assert "internal error" not in done.stderr
    assert done.returncode in (0, 1, 3), done.stdout + done.stderr
    if name == "marker":
        assert done.returncode == 3
        validate = "from gitindex import validate_completion_proof as validate"
        assert bare(indexed.path, validate, "validate(sys.argv[1]).reason") == "invalid_payload"
