"""Terms of words: the same for index and query, whole identifiers and their parts, all bounded."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitindex.extract.terms import (
    MAX_REPEATS,
    MAX_TERM,
    decode_text,
    lexical_text,
    terms_of,
    words_of,
)


@pytest.mark.parametrize(
    ("word", "terms"),
    [
        ("http", ("http",)),
        ("Http", ("http",)),
        ("HTTP", ("http",)),
        ("parseHttpRequest", ("parsehttprequest", "parse", "http", "request")),
        (
            "parse_http_request",
            ("parse_http_request", "parsehttprequest", "parse", "http", "request"),
        ),
        ("HTTPServer", ("httpserver", "http", "server")),
        ("getURL", ("geturl", "get", "url")),
        ("utf8", ("utf8", "utf", "8")),
        ("__init__", ("__init__", "init")),
        ("_x", ("_x", "x")),
        ("___", ("___",)),
        ("42", ("42",)),
        ("größeÄndern", ("größeändern",)),
        ("日本語", ("日本語",)),
    ],
)
def test_terms(word: str, terms: tuple[str, ...]) -> None:
    if word == "größeÄndern":  # parts of other alphabets are found, where they are cut is free
        assert terms_of(word)[0] == terms[0]
    else:
        assert terms_of(word) == terms


def test_l2_both_spellings_share_their_terms() -> None:
    camel, snake = set(terms_of("parseHttpRequest")), set(terms_of("parse_http_request"))
    assert camel <= snake
    for query in ("Http", "request", "PARSE", "parseHttpRequest"):
        assert set(terms_of(query)) & camel
        assert set(terms_of(query)) & snake
    assert set(terms_of("parse_http_request")) & camel


@pytest.mark.parametrize("length", [60, MAX_TERM, 300, 100_000])
@pytest.mark.parametrize("shape", ["a", "Ab", "a_", "x1"])
def test_l3_long_identifiers_have_bounded_terms(shape: str, length: int) -> None:
    word = (shape * length)[:length]
    terms = terms_of(word)
    assert terms[0] == word.lower()[:MAX_TERM]
    assert all(0 < len(term) <= MAX_TERM for term in terms)


@given(st.text(max_size=60))
def test_terms_are_lower_case_distinct_and_bounded(text: str) -> None:
    for word in words_of(text):
        terms = terms_of(word)
        assert terms
        assert len(set(terms)) == len(terms)
        assert all(term and len(term) <= MAX_TERM for term in terms)
        assert all(term == term.lower() for term in terms)
        assert not any(c.isspace() for term in terms for c in term)


@given(st.text(alphabet="aB_1 .(é", max_size=60))
def test_a_word_of_a_text_is_found_by_its_own_terms(text: str) -> None:
    stored = set(lexical_text(text).split(" "))
    for word in words_of(text):
        assert set(terms_of(word)) <= stored


def test_repetitions_are_capped_and_rare_terms_kept() -> None:
    counts = Counter(lexical_text("spam " * 100 + "eggs eggs parseSpam").split())
    assert counts == {"spam": MAX_REPEATS, "eggs": 2, "parsespam": 1, "parse": 1}
    once, _, again = lexical_text("spam eggs spam").partition("  ")
    assert (once, again) == ("spam eggs", "spam")
    assert lexical_text("") == ""
    assert lexical_text("() -> ;") == ""


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"plain", "plain"),
        ("é".encode(), "é"),
        (b"\xef\xbb\xbfbom", "bom"),
        (b"bad \xff byte", "bad \ufffd byte"),
        (b"\xff\xfe" + "été".encode("utf-16-le"), "été"),
        (b"\xfe\xff" + "été".encode("utf-16-be"), "été"),
        (b"\xff\xfea", "\ufffd"),
        (b"", ""),
    ],
)
def test_bytes_become_text(data: bytes, text: str) -> None:
    assert decode_text(data) == text


@given(st.binary())
def test_no_bytes_raise(data: bytes) -> None:
    lexical_text(decode_text(data)).encode()
