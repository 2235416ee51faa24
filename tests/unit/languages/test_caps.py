"""Caps: what is too large or too nested becomes lexical or partial, quickly, and says why."""

import time

import pytest

from gitindex.base.vocabulary import FactsStatus
from gitindex.languages.facts import decode_facts, encode_facts
from gitindex.languages.syntax.extract import MAX_BYTES, extract_facts
from gitindex.languages.table import LANGUAGES

DEEP = 100_000

BOMBS = {
    "closed-python": ("python", b"x = " + b"(" * DEEP + b")" * DEEP),
    "open-python": ("python", b"[" * DEEP),
    "unary-python": ("python", b"x = " + b"-" * DEEP + b"1"),
    "deep-json": ("json", b'{"a":' * 50_000 + b"1" + b"}" * 50_000),
    "closed-javascript": ("javascript", b"x = " + b"[" * DEEP + b"]" * DEEP),
    "open-javascript": ("javascript", b"{" * DEEP),
    "deep-markdown": ("markdown", b">" * 10_000 + b" x\n"),
    "calls-javascript": ("javascript", b"a" + b".b()" * 2_000),
    "else-if-javascript": ("javascript", b"else if (a) { function f() {} }\n" * 3_000),
}


@pytest.mark.parametrize("name", BOMBS)
def test_bombs_end(name: str) -> None:
    language, data = BOMBS[name]
    begun = time.process_time()
    facts = extract_facts(data, language)
    assert time.process_time() - begun < 10
    assert decode_facts(encode_facts(facts)) == facts


def test_oversize_is_not_parsed() -> None:
    facts = extract_facts(b"x = 1\n" * (MAX_BYTES // 6 + 1), "python")
    assert (facts.status, facts.reason) == (FactsStatus.LEXICAL, "oversize")
    assert facts.lines == MAX_BYTES // 6 + 1
    assert not facts.postings


def test_the_largest_size_is_still_parsed() -> None:
    facts = extract_facts(b"def f(): pass\n#" + b"x" * (MAX_BYTES - 15), "python")
    assert facts.status is FactsStatus.PARSED
    assert [symbol.name for symbol in facts.symbols] == ["f"]


def test_unclosed_brackets_beyond_the_cap_are_not_parsed() -> None:
    facts = extract_facts(b"[" * DEEP, "python")
    assert (facts.status, facts.reason) == (FactsStatus.LEXICAL, "nesting")


def test_syntax_errors_give_partial_facts() -> None:
    facts = extract_facts(b"def f(:\n  pass\n\ndef good(a):\n    return a\n", "python")
    assert (facts.status, facts.reason) == (FactsStatus.PARTIAL, "syntax")
    assert "parse_error" in facts.flags
    assert "good" in [symbol.name for symbol in facts.symbols]


def test_unknown_languages_are_lexical() -> None:
    assert extract_facts(b"a b", "text").status is FactsStatus.LEXICAL
    assert extract_facts(b"a b", "klingon").reason == "no_grammar"


@pytest.mark.parametrize("language", [row.name for row in LANGUAGES])
def test_empty_and_blank_files(language: str) -> None:
    for data in (b"", b"\n", b"  \r\n\t"):
        facts = extract_facts(data, language)
        assert facts.symbols == ()
        assert facts.status in (FactsStatus.PARSED, FactsStatus.PARTIAL)
