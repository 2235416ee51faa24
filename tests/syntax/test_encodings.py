"""Encodings and line ends: places are those of the stored text, and bad bytes are owned up to."""

import codecs

import pytest

from gitindex.facts import Use, unpack_places
from gitindex.syntax.extract import extract_facts
from gitindex.words import FactsStatus

TEXT = "x = 1\ndef größe(a):\n    return größe(a)\n"


def places(data: bytes, name: str) -> list[tuple[int, int, int]]:
    facts = extract_facts(data, "python")
    return [(o.line, o.column, o.use) for o in unpack_places(name, facts.postings[name])]


@pytest.mark.parametrize(
    "data",
    [
        TEXT.encode(),
        TEXT.replace("\n", "\r\n").encode(),
        codecs.BOM_UTF16_LE + TEXT.encode("utf-16-le"),
        codecs.BOM_UTF16_BE + TEXT.encode("utf-16-be"),
        ("# ascii\n" * 40 + TEXT).encode("utf-16-le"),
        ("# ascii\n" * 40 + TEXT).encode("utf-16-be"),
        TEXT.encode("utf-32"),
    ],
    ids=["utf-8", "crlf", "utf-16-le", "utf-16-be", "no-mark-le", "no-mark-be", "utf-32"],
)
def test_places_are_those_of_the_text_in_utf8(data: bytes) -> None:
    facts = extract_facts(data, "python")
    assert "encoding_lossy" not in facts.flags
    assert facts.status is FactsStatus.PARSED
    first = facts.symbols[1].line
    assert facts.symbols[1].name == "größe"
    expected = [(first, 4, Use.DEFINITION), (first + 1, 11, Use.CALL)]
    assert places(data, "größe") == expected
    assert places(data, "a") == [(first, 12, Use.REFERENCE), (first + 1, 19, Use.REFERENCE)]


def test_a_byte_order_mark_counts_as_the_three_bytes_it_is() -> None:
    assert places(codecs.BOM_UTF8 + b"x = 1\n", "x") == [(0, 3, Use.DEFINITION)]


def test_latin_1_keeps_its_columns_and_is_flagged() -> None:
    data = b"s = '\xe9\xe8'; done = 1\n"
    facts = extract_facts(data, "python")
    assert "encoding_lossy" in facts.flags
    assert places(data, "done") == [(0, 10, Use.DEFINITION)]


def test_names_of_broken_bytes_are_replaced_not_dropped() -> None:
    facts = extract_facts(b"caf\xe9 = 1\nafter = 2\n", "python")
    assert "encoding_lossy" in facts.flags
    assert "after" in facts.postings


def test_nul_bytes_do_not_hide_what_follows() -> None:
    facts = extract_facts(b"a = 1\n\0\0\nb = 2\n", "python")
    assert {"a", "b"} <= facts.postings.keys()
    assert facts.lines == 3


@pytest.mark.parametrize(
    ("data", "lines"), [(b"", 0), (b"a", 1), (b"a\n", 1), (b"a\n\nb", 3), (b"a\r\nb\r\n", 2)]
)
def test_lines_are_counted_as_git_counts_them(data: bytes, lines: int) -> None:
    assert extract_facts(data, "python").lines == lines
    assert extract_facts(data, "text").lines == lines
