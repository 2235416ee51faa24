"""The public status file: whole, well-typed, private; anything else is None and never an exception."""

from __future__ import annotations

import dataclasses
import json
import os
import random
import re
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitindex.base.vocabulary import IndexState
from gitindex.freshness.index_status import IndexStatus, load_status, save_status, status_path
from gitindex.freshness.status_file import StatusRecord, parse_object, render_status, utc_now
from tests.support import TIMEOUT

GOOD: dict[str, Any] = {
    "repo": "/home/dev/projet-é",
    "index_state": "fresh",
    "last_indexed_at": "2026-01-02T03:04:05Z",
    "last_indexed_commit": "a" * 40,
    "schema_version": "1",
    "last_error": 'tool said "no"',
}
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
STATUSES = st.builds(
    IndexStatus,
    TEXT,
    st.sampled_from([*IndexState]),
    TEXT,
    st.none() | TEXT,
    TEXT,
    st.none() | TEXT,
)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / ".llmc").mkdir()
    return tmp_path


def put(root: Path, data: bytes) -> IndexStatus | None:
    """What a reader makes of these bytes."""
    status_path(root).unlink(missing_ok=True)  # ext4 flushes a file that is truncated
    status_path(root).write_bytes(data)
    return load_status(root)


def without(key: str) -> dict[str, Any]:
    return {k: v for k, v in GOOD.items() if k != key}


def test_good_fields_are_loaded(root: Path) -> None:
    assert put(root, json.dumps(GOOD).encode()) == IndexStatus(
        GOOD["repo"], IndexState.FRESH, GOOD["last_indexed_at"], "a" * 40, "1", GOOD["last_error"]
    )


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-16-le", "utf-32-be"])
@pytest.mark.parametrize("name", ["plain", "proj\u00e9"])
def test_any_encoding_of_json_is_loaded(root: Path, encoding: str, name: str) -> None:
    text = json.dumps({**GOOD, "repo": name}, ensure_ascii=False)
    loaded = put(root, text.encode(encoding))
    assert loaded is not None
    assert loaded.repo == name


def test_what_is_written_is_ascii() -> None:
    record = StatusRecord(GOOD["repo"], IndexState.FRESH, "t", None, "1", "\u2028")
    assert render_status(record).isascii()


def test_raw_control_characters_in_a_text_are_refused(root: Path) -> None:
    assert put(root, json.dumps(GOOD).replace("/home", "/\thome").encode()) is None


def test_path_is_the_contracts(root: Path) -> None:
    assert status_path(str(root)) == root / ".llmc" / "rag_index_status.json"


@given(status=STATUSES)
def test_round_trip(tmp_path_factory: pytest.TempPathFactory, status: IndexStatus) -> None:
    root = tmp_path_factory.getbasetemp() / "round-trip"
    (root / ".llmc").mkdir(parents=True, exist_ok=True)
    assert save_status(root, status) == status_path(root)
    assert load_status(root) == status
    assert load_status(str(root)) == status


def test_last_error_is_omitted_when_there_is_none(root: Path) -> None:
    save_status(root, IndexStatus("r", IndexState.STALE, "", None, "1"))
    stored = json.loads(status_path(root).read_bytes())
    assert stored == {
        "repo": "r",
        "index_state": "stale",
        "last_indexed_at": "",
        "last_indexed_commit": None,
        "schema_version": "1",
    }


def test_empty_last_error_is_kept(root: Path) -> None:
    save_status(root, IndexStatus("r", IndexState.ERROR, "", None, "1", ""))
    loaded = load_status(root)
    assert loaded is not None
    assert loaded.last_error == ""


@pytest.mark.promise("I-36")
@pytest.mark.parametrize("mask", [0o000, 0o022, 0o077], ids=oct)
def test_file_is_private_under_any_umask(root: Path, mask: int) -> None:
    old = os.umask(mask)
    try:
        save_status(root, IndexStatus("r", IndexState.FRESH, "", None, "1"))
    finally:
        os.umask(old)
    assert stat.S_IMODE(status_path(root).stat().st_mode) == 0o600


def test_save_raises_only_oserror_and_leaves_no_litter(root: Path) -> None:
    (root / ".llmc").rmdir()
    (root / ".llmc").write_text("a file")
    with pytest.raises(NotADirectoryError, match=re.escape(str(root / ".llmc"))):
        save_status(root, IndexStatus("r", IndexState.FRESH, "", None, "1"))
    assert list(root.iterdir()) == [root / ".llmc"]
    assert (root / ".llmc").read_text() == "a file"


def test_save_makes_no_repository(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        save_status(tmp_path / "deleted", IndexStatus("r", IndexState.FRESH, "", None, "1"))
    assert list(tmp_path.iterdir()) == []


def test_save_over_a_folder_leaves_no_temporary_file(root: Path) -> None:
    status_path(root).mkdir()
    with pytest.raises(OSError, match="rag_index_status"):
        save_status(root, IndexStatus("r", IndexState.FRESH, "", None, "1"))
    assert list((root / ".llmc").iterdir()) == [status_path(root)]


def test_now_is_utc_with_z() -> None:
    assert len(utc_now()) == len("2026-01-02T03:04:05Z")
    assert utc_now().endswith("Z")


@pytest.mark.parametrize("key", [k for k in GOOD if k != "last_error"])
def test_missing_field_is_none(root: Path, key: str) -> None:
    assert put(root, json.dumps(without(key)).encode()) is None


WRONG: tuple[Any, ...] = (1, 1.5, True, [], ["fresh"], {}, {"a": 1})


@pytest.mark.parametrize("value", [*WRONG, None], ids=repr)
@pytest.mark.parametrize("key", GOOD)
def test_ill_typed_field_is_none(root: Path, key: str, value: Any) -> None:
    loaded = put(root, json.dumps(GOOD | {key: value}).encode())
    nullable = value is None and key in ("last_indexed_commit", "last_error")
    assert (loaded is not None) is nullable


@pytest.mark.parametrize("state", ["", "Fresh", "fresh ", "FRESH", "ok", "unknown", "fresh\0"])
def test_unknown_state_is_none(root: Path, state: str) -> None:
    assert put(root, json.dumps(GOOD | {"index_state": state}).encode()) is None


BODY = json.dumps(GOOD)[1:-1]
GARBAGE: dict[str, bytes] = {
    "empty": b"",
    "blank": b" \n",
    "null": b"null",
    "list": b"[]",
    "string": b'"fresh"',
    "number": b"1",
    "two objects": f"{{{BODY}}}{{{BODY}}}".encode(),
    "duplicate key": f'{{"index_state":"stale",{BODY}}}'.encode(),
    "same key twice": f'{{{BODY},"repo":"{GOOD["repo"]}"}}'.encode(),
    "duplicate key deep inside": f'{{{BODY},"more":{{"a":1,"a":1}}}}'.encode(),
    "NaN": f'{{{BODY},"more":NaN}}'.encode(),
    "Infinity": f'{{{BODY},"more":[-Infinity]}}'.encode(),
    "number beyond floats": f'{{{BODY},"more":1e999}}'.encode(),
    "100k nested lists": f'{{{BODY},"more":'.encode() + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "100k nested objects": b'{"a":' * 100_000,
    "huge int": f'{{{BODY},"more":{"9" * 5000}}}'.encode(),
    "not UTF-8": b"{" + BODY.encode()[:-1] + b'\xff"}',
    "single quotes": str(GOOD).encode(),
    "trailing comma": f"{{{BODY},}}".encode(),
    "bigger than any status": b" " * (1 << 20) + f"{{{BODY}}}".encode(),
}


@pytest.mark.parametrize("data", GARBAGE.values(), ids=GARBAGE.keys())
def test_garbage_is_none(root: Path, data: bytes) -> None:
    assert put(root, data) is None


@pytest.mark.promise("I-25")
@pytest.mark.slow
def test_f11_no_damage_raises_or_is_taken_for_a_status(root: Path) -> None:
    whole = render_status(StatusRecord("/r", IndexState.FRESH, "t", "a" * 40, "1", "e" * 150))
    cases = 0
    for n in range(len(whole) - 1):  # the last byte is a newline: without it, still whole
        rest = len(whole) - n
        for damaged in (
            whole[:n],
            whole[:n] + b"\0" * rest,
            whole[:n] + b"\xff" * rest,
            whole[:n] + whole,
            whole[:n] + b"{" * 2000,
        ):
            assert put(root, damaged) is None or damaged == whole
            cases += 1
    dice = random.Random(1)
    while cases < 6000:
        flipped = bytearray(whole)
        for _ in range(dice.randint(1, 3)):
            flipped[dice.randrange(len(whole))] ^= 1 << dice.randrange(8)
        if cases % 8 == 0:  # half a surrogate pair, as WTF-8
            at = dice.randrange(len(whole))
            flipped[at:at] = b"\xed\xa0\x80"
        loaded = put(root, bytes(flipped))
        if loaded is not None:
            assert isinstance(loaded.index_state, IndexState)
            assert all(v is None or isinstance(v, str) for v in dataclasses.astuple(loaded))
        cases += 1
    assert cases >= 5000


def test_places_that_hold_no_status_are_none(tmp_path: Path) -> None:
    assert load_status(tmp_path / "gone") is None
    assert load_status(f"{tmp_path}/nul\0byte") is None
    (tmp_path / ".llmc").write_text("a file")
    assert load_status(tmp_path) is None


def test_folder_link_and_pipe_are_none(root: Path) -> None:
    status_path(root).mkdir()
    assert load_status(root) is None
    status_path(root).rmdir()
    (root / "elsewhere").write_bytes(json.dumps(GOOD).encode())
    status_path(root).symlink_to(root / "elsewhere")
    assert load_status(root) is None
    status_path(root).unlink()
    os.mkfifo(status_path(root))
    assert load_status(root) is None


@settings(max_examples=300)
@given(data=st.binary(max_size=60))
def test_any_bytes_are_an_object_or_none(data: bytes) -> None:
    assert parse_object(data) is None or isinstance(parse_object(data), dict)


WRITER = """
import sys
from gitindex.freshness.index_status import IndexStatus, save_status
from gitindex.base.vocabulary import IndexState
states = list(IndexState)
n = 0
while True:
    n += 1
    text = f"{n}:" + "x" * (n % 7000)
    save_status(sys.argv[1], IndexStatus(text, states[n % 4], str(n), str(n), "1", text))
    if n == 1:
        print("ready", flush=True)
"""


@pytest.mark.promise("I-25")
def test_t1_no_torn_read_beside_a_busy_writer(root: Path) -> None:
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(root)], stdout=subprocess.PIPE, text=True
    )
    try:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"
        states = list(IndexState)
        seen = set()
        for _ in range(20_000):
            loaded = load_status(root)
            assert loaded is not None
            n = int(loaded.last_indexed_at)
            text = f"{n}:" + "x" * (n % 7000)
            assert loaded == IndexStatus(text, states[n % 4], str(n), str(n), "1", text)
            seen.add(n)
        assert len(seen) > 20  # the writer was at work all the while
        assert sorted(seen)[0] >= 1
    finally:
        writer.kill()
        writer.communicate(timeout=TIMEOUT)
    assert len(list((root / ".llmc").iterdir())) <= 2  # the status, and what the kill cut short
