"""The text index: one blob of too many words does not swell it, and is looked into instead."""

from __future__ import annotations

from pathlib import Path

from gitindex.extract.fragments import MAX_WORD_BYTES, fragments_of
from gitindex.store.connection import Database, open_writer
from gitindex.store.text_index import (
    TextIndexWriter,
    candidates,
    damage,
    merge_segments,
    remove_blobs,
)


def test_a_blob_of_too_many_words_is_always_a_candidate(tmp_path: Path) -> None:
    """An illustration of two megabytes as text: its words are all its own."""
    picture = b"".join(b"%x9q%x\n" % (n * 7919, n) for n in range(160_000))
    assert len(picture) > 1 << 20
    database = open_writer(str(tmp_path / "facts.db"))
    try:
        with database.write():
            for number in (1, 2, 3):
                database.run(
                    "INSERT INTO blobs VALUES (?,?,'x','text','lexical','',1,0,'','',0)",
                    number,
                    bytes([number]) * 20,
                )
            writer = TextIndexWriter(database)
            writer.add(1, b"def needle(): pass\n", new=True)
            writer.add(2, picture, new=True)
            writer.add(3, b"something else\n", new=True)
            writer.flush()
        assert candidates(database, [frozenset({fragments_of("needle")})]) == {1, 2}
        assert candidates(database, [frozenset({fragments_of("nowhere")})]) == {2}
        stored = database.row("SELECT sum(length(words)) FROM text_words")[0]
        assert stored < 100 < MAX_WORD_BYTES
        assert damage(database) == ""
        with database.write():
            writer.add(2, b"small now\n")  # the same blob again, without so many words
            writer.flush()
        assert candidates(database, [frozenset({fragments_of("needle")})]) == {1}
    finally:
        database.close()


def _add_segment(database: Database, number: int, text: bytes) -> None:
    with database.write():
        database.run(
            "INSERT INTO blobs VALUES (?,?,'x','text','lexical','',1,0,'','',0)",
            number,
            bytes([number]) * 20,
        )
        writer = TextIndexWriter(database)
        writer.add(number, text, new=True)
        writer.flush()


def test_merged_segments_hold_what_they_held(tmp_path: Path) -> None:
    """Nine segments become one; a blob that was removed is in none; a damaged segment stays."""
    database = open_writer(str(tmp_path / "facts.db"))
    try:
        for number in range(1, 20):
            _add_segment(database, number, b"common word%d x\n" % number)
            if number == 9:
                with database.write():
                    remove_blobs(database, [4])
                    database.run("DELETE FROM blobs WHERE id=4")
                    database.run("DELETE FROM text_words WHERE id>>24=7")
                merge_segments(database)
                assert database.row("SELECT count(*) FROM text_segments") == (2,)
        found = candidates(database, [frozenset({fragments_of("word5")})])
        assert found == {5, 7}  # what cannot be read is a candidate
        assert candidates(database, [frozenset({fragments_of("word4")})]) == {7}
        both = candidates(database, [frozenset({fragments_of("common")})])
        assert both is None or both == set(range(1, 20)) - {4}
    finally:
        database.close()


def test_rows_of_a_foreign_writer_are_not_merged_and_stop_nothing(tmp_path: Path) -> None:
    """A store may come from elsewhere: its checksums fit, its rows need not."""
    database = open_writer(str(tmp_path / "facts.db"))
    try:
        for number in range(1, 9):
            _add_segment(database, number, b"common word%d\n" % number)
        row = 3 << 24
        odd = b"\x81  \x81"
        with database.write():
            database.run("UPDATE text_postings SET postings=? WHERE id=?", odd, row)
        merge_segments(database)
        assert database.row("SELECT count(*) FROM text_segments") == (8,)
        assert candidates(database, [frozenset({fragments_of("word5")})]) == {5}
    finally:
        database.close()
