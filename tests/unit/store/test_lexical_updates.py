"""A few documents become a segment of their own; small segments are merged, large ones left alone."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from gitindex.base.errors import StoreError
from gitindex.languages.facts import FactsKey
from gitindex.store.lexical import LexicalQuery, LexicalReader
from gitindex.store.lexical_current import CurrentReader
from gitindex.store.lexical_segments import MERGED, Segment, SegmentList, to_merge
from gitindex.store.lexical_updates import FEW, MANY_SEGMENTS, LexicalUpdates
from gitindex.store.seal import ALL, lexical_damage


def _key(number: int) -> FactsKey:
    return FactsKey(f"{number:040x}", "1")


def _first(path: str, count: int = 40) -> None:
    updates = LexicalUpdates(path)
    for number in range(count):
        updates.add(_key(number), f"word{number} common", f"name{number}")
    updates.commit()
    updates.close()


def _add(path: str, *numbers: int) -> None:
    updates = LexicalUpdates(path)
    for number in numbers:
        updates.add(_key(number), f"word{number} common", f"name{number}")
        updates.commit()
    updates.close()


def _keys(path: str) -> set[FactsKey]:
    return LexicalReader(path).all_keys()


def _names(path: str) -> list[str]:
    return [segment.name for segment in SegmentList(path).segments]


@pytest.fixture
def path(tmp_path: Path) -> str:
    path = str(tmp_path / "lexical")
    _first(path)
    return path


def test_a_few_documents_leave_the_others_alone(path: str) -> None:
    before = _names(path)
    for number in range(100, 160):
        _add(path, number)
        assert _names(path)[: len(before)] == before
        assert len(_names(path)) < 2 * MERGED
        assert not lexical_damage(os.path.dirname(path), ALL)
    assert _keys(path) == {_key(n) for n in (*range(40), *range(100, 160))}
    assert not {"new", "merging"} & set(os.listdir(path))
    reader = LexicalReader(path)
    for number in (3, 100, 159):
        found = reader.search(LexicalQuery([(f"word{number}", 1.0)]), 5)
        assert [hit.key for hit in found] == [_key(number)]


def test_no_file_of_a_merged_segment_stays(path: str) -> None:
    _add(path, *range(100, 100 + 3 * MERGED))
    held = set(_names(path))
    files = {n.partition(".")[0] for n in os.listdir(path) if n[0] != "." and n != "meta.json"}
    assert files == held


def test_a_file_that_is_gone_is_noticed_by_a_reader_that_is_kept(path: str) -> None:
    _first(path)
    current = CurrentReader(path)
    assert current.open() is current.open()
    [file] = [name for name in os.listdir(path) if name.endswith(".term")]
    os.unlink(os.path.join(path, file))
    with pytest.raises(StoreError):
        current.open()


def test_what_a_dead_writer_left_is_removed(path: str) -> None:
    """Its files are in no list: neither ours nor Tantivy's, which the next change wrote anew."""
    left = [f"{'0a' * 16}.{end}" for end in ("store", "12.del")]
    for name in left:
        with open(os.path.join(path, name), "wb") as file:
            file.write(b"x")
    reader = LexicalReader(path)
    _add(path, 100)
    assert not set(left) & set(os.listdir(path))
    assert reader.documents == 40
    assert len(_keys(path)) == 41


def test_a_writer_that_is_still_open_is_not_written_past(path: str) -> None:
    """One that failed lives on while its error is kept: its next list would lack the new segment."""
    failed = LexicalUpdates(path)
    failed.remove([_key(1)])
    failed.commit()
    later = LexicalUpdates(path)
    later.add(_key(500), "new", "")
    with pytest.raises(StoreError, match="open"):
        later.commit()
    failed.close()
    _add(path, 500)
    assert _keys(path) == {_key(n) for n in (*range(40), 500)} - {_key(1)}


def test_a_long_life_merges_on_the_way(path: str) -> None:
    updates = LexicalUpdates(path)
    for number in range(100, 100 + 3 * MANY_SEGMENTS):
        updates.add(_key(number), "more", "")
        updates.commit()
        assert len(_names(path)) <= 2 * MANY_SEGMENTS
        if number > 120:
            updates.tidy()  # a moment in which nobody waits
            assert len(_names(path)) <= MANY_SEGMENTS
        assert LexicalReader(path).holds(_key(number))
    updates.close()
    assert len(_keys(path)) == 40 + 3 * MANY_SEGMENTS


FULL_DISK = """
import sys
from contextlib import suppress
from tests.unit.store.test_lexical_updates import *
from tests.unit.store.test_lexical_updates import _first, _key, _keys, _names

path, filler = sys.argv[1] + "/lexical", Path(sys.argv[1], "filler")
_first(path)
updates = LexicalUpdates(path)
for number in range(100, 100 + MANY_SEGMENTS):
    updates.add(_key(number), f"word{number}", "")
    updates.commit()
with suppress(OSError), filler.open("wb", 0) as file:
    while True:
        file.write(bytes(4096))
before = _names(path)
updates.tidy()
assert _names(path) == before, "nothing could be merged"
filler.unlink()
updates.add(_key(200), "word200", "")
updates.commit()
updates.tidy()
assert len(_names(path)) < len(before)
updates.close()
assert len(_keys(path)) == 41 + MANY_SEGMENTS
assert not lexical_damage(sys.argv[1], ALL)
"""


def test_a_full_disk_stops_a_merge_and_nothing_else(tmp_path: Path) -> None:
    """A real file system of 4 MB: the documents are there, and are merged when there is room again."""
    inside = 'mount -t tmpfs -o size=4m none "$1" && exec "$2" -c "$3" "$1"'
    command = ["unshare", "-rm", "sh", "-c", inside, "-", str(tmp_path), sys.executable, FULL_DISK]
    if shutil.which("unshare") is None or subprocess.run(["unshare", "-rm", "true"]).returncode:
        pytest.skip("mounting needs a namespace of users")
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


def test_a_document_that_is_there_is_replaced(path: str) -> None:
    updates = LexicalUpdates(path)
    updates.add(_key(7), "other", "")
    updates.add(_key(500), "new", "")
    updates.commit()
    updates.close()
    reader = LexicalReader(path)
    assert reader.documents == 41
    assert [h.key for h in reader.search(LexicalQuery([("other", 1.0)]), 5)] == [_key(7)]
    assert not reader.search(LexicalQuery([("word7", 1.0)]), 5)
    _add(path, 501)  # beside a segment with a removed document
    assert LexicalReader(path).documents == 42


def test_removed_documents_and_many_documents(path: str) -> None:
    updates = LexicalUpdates(path)
    updates.remove([_key(1), _key(2)])
    updates.commit()
    for number in range(1_000, 1_001 + FEW):
        updates.add(_key(number), "many", "")
    updates.commit()
    updates.close()
    _add(path, 1)
    expected = {*range(40), *range(1_000, 1_001 + FEW)} - {2}
    assert _keys(path) == {_key(number) for number in expected}


def test_random_changes(path: str) -> None:
    dice = random.Random(3)
    held = set(range(40))
    updates = LexicalUpdates(path)
    for _ in range(60):
        act = dice.random()
        if act < 0.1:
            gone = set(dice.sample(sorted(held), 3))
            updates.remove(map(_key, gone))
            held -= gone
        elif act < 0.3:
            updates.close()
            updates = LexicalUpdates(path)
        some = {dice.randrange(2_000) for _ in range(dice.choice((1, 1, 2, 30)))}
        for number in some:
            updates.add(_key(number), f"word{number}", "")
        updates.commit()
        held |= some
        assert _keys(path) == set(map(_key, held))
    updates.close()
    assert LexicalReader(path).documents == len(held)
    assert not lexical_damage(os.path.dirname(path), ALL)


def test_readers_find_everything_while_segments_are_merged(path: str) -> None:
    over = threading.Event()
    wrong: list[str] = []

    def read() -> None:
        while not over.is_set():
            try:
                if LexicalReader(path).documents < 40:
                    wrong.append("documents are missing")
            except StoreError as error:
                wrong.append(str(error))

    reader = threading.Thread(target=read)
    reader.start()
    try:
        for start in range(100, 160, MERGED):
            _add(path, *range(start, start + MERGED))
    finally:
        over.set()
        reader.join()
    assert wrong == []


KILLED = """
import os, sys
from gitindex.languages.facts import FactsKey
from gitindex.store import lexical_segments
from gitindex.store.lexical_updates import LexicalUpdates
left = int(sys.argv[2])
def dying(work):
    def call(*args, **options):
        global left
        left -= 1
        if left < 0:
            os._exit(9)
        return work(*args, **options)
    return call
for name in ("rename", "unlink", "link", "replace"):
    setattr(os, name, dying(getattr(os, name)))
updates = LexicalUpdates(sys.argv[1])
for number in range(100, 112):
    updates.add(FactsKey(f"{number:040x}", "1"), "word", "name")
    updates.commit()
    print(number, flush=True)
updates.close()
"""


@pytest.mark.slow
def test_a_death_at_any_step_loses_no_document(tmp_path: Path) -> None:
    """Whatever was committed is there, and the next writer goes on."""
    for step in (*range(0, 30, 4), *range(30, 300, 37)):
        path = str(tmp_path / str(step) / "lexical")
        os.mkdir(os.path.dirname(path))
        _first(path, 10)
        command = [sys.executable, "-c", KILLED, path, str(step)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
        told = {_key(int(line)) for line in done.stdout.split()}
        assert _keys(path) >= told | {_key(number) for number in range(10)}
        for number in range(100, 115):
            if not LexicalReader(path).holds(_key(number)):
                _add(path, number)
        expected = {*range(10), *range(100, 115)}
        assert _keys(path) == {_key(number) for number in expected}
        assert LexicalReader(path).documents == len(expected)


def test_only_small_whole_segments_of_similar_size_are_merged() -> None:
    def some(documents: int, count: int, deletes: object = None) -> list[Segment]:
        return [Segment({"max_doc": documents, "deletes": deletes})] * count

    assert not to_merge(some(1, MERGED - 1) + some(60, MERGED - 1))
    assert len(to_merge(some(1, MERGED) + some(60, 2))) == MERGED
    assert not to_merge(some(5_000, 20))
    assert not to_merge(some(1, 20, {"num_deleted_docs": 1}))
