"""Encodings and line ends: places are those of the stored text, and bad bytes are owned up to."""

import codecs

import pytest

from gitindex.base.vocabulary import FactsStatus
from gitindex.languages.facts import Use, unpack_places
from gitindex.languages.syntax.extract import extract_facts
from gitindex.languages.syntax.source import read_source, readable

KOTLIN = (
    b"onvert(f: (T) -> R): R {\n        fun nested() = 1\n     ed()])\n  \xff\xff\xff  }\n\n"
    b'    cSIDES = 4\n        fun build({\n    RED("r") {\n        override fun paint() {}\n    },\n'
    b'    GREEN("g");\n\n    fun label() = code\n}\ndata class Point(val x: Int, val y: Int)\n'
    b"sealed interface Result<out T>\ntypealias Handler = (Int) -> Unit\n\n"
    b"fun gr\xc3\xb6\xc3\x9fe(a: Int = LIM\n\n\nIT): Int = a\nfun String.extend(n: In"
)
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


def test_what_the_parser_reads_has_every_byte_in_its_place() -> None:
    stored = b"a\0b\x01\x7f\xff\xfe\t\r\n" + "é".encode() + b"\xe9"
    source = read_source(stored)
    clean = readable(source, source.data)
    assert clean == b"a b  __\t\r\n" + "é".encode() + b"_"
    assert len(clean) == len(stored)


def test_broken_bytes_do_not_hang_a_parser() -> None:
    """Three of them made tree-sitter-kotlin 1.1.0 recover for ever."""
    facts = extract_facts(KOTLIN, "kotlin")
    assert facts.status is FactsStatus.PARTIAL
    assert "encoding_lossy" in facts.flags


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
