"""Required literals: a text that matches always passes the filter, whatever the pattern is made of."""

from __future__ import annotations

import _sre  # type: ignore[import-not-found]  # no stubs
import re
import re._casefix as casefix  # type: ignore[import-not-found]  # no stubs
import re._parser as parser  # type: ignore[import-not-found]  # no stubs
import sys

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gitindex.extract.fragments import (
    Clause,
    fold,
    fragments_of,
    plain_bytes,
    required,
)
from gitindex.extract.terms import MARK, document_terms

LETTERS = "abkKsSiIßſKİıéÉσςΣ日本x_ -\t"
WORDS = st.text(LETTERS, max_size=5)


def _kept(data: bytes) -> bytes:
    words = document_terms(data, ())[0].split()
    return b" ".join([b"", *words, b""])


def _passes(clauses: tuple[Clause, ...], kept: bytes) -> bool:
    return MARK in kept or all(
        any(all(part in kept for part in form) for form in clause) for clause in clauses
    )


def _needs(pattern: str) -> set[frozenset[frozenset[bytes]]]:
    return set(required(parser.parse(pattern)))


def _forms(*literals: str) -> frozenset[frozenset[bytes]]:
    return frozenset(fragments_of(text) for text in literals)


@pytest.mark.parametrize(
    ("pattern", "clauses"),
    [
        ("foobar", [("foobar",)]),
        ("FooBar", [("foobar",)]),
        ("foo.*bar", [("foo",), ("bar",)]),
        ("foo|barbaz", [("foo", "barbaz")]),
        ("(foo|x)bar", [("foobar", "xbar")]),
        ("(?:foo.|bar)+", [("foo", "bar")]),
        ("colou?rs", [("colors", "colours")]),
        ("(abc)+def", [("abc",), ("def",)]),
        ("(?:ab){3}c", [("abababc",)]),
        ("(?:abc){2,}", [("abcabc",)]),
        ("[xy]abc", [("xabc", "yabc")]),
        (r"\bclass \w+Manager$", [("class ",), ("manager",)]),
        ("(?=hello)abc", [("abc",)]),
        ("(?!hello)abc", [("abc",)]),
        (r"(abc)\1", [("abc",)]),
        ("日本", [("日本",)]),
        ("abc\\r\\ndef", [("abc\ndef",)]),
        ("(?i)ſTRASSE", [("strasse",)]),
    ],
)
def test_what_a_pattern_requires(pattern: str, clauses: list[tuple[str, ...]]) -> None:
    assert _needs(pattern) == {_forms(*clause) for clause in clauses}


@pytest.mark.parametrize(
    "pattern",
    ["", "ab", r"\w+", "a|foo", "(foo)?", "(foo)*", "[a-z]bc", "[^a]", ".", "x{5000}", "(?:ab|.)c"],
)
def test_nothing_narrows(pattern: str) -> None:
    assert _needs(pattern) <= {_forms("x" * 8)}


def test_nested_repeats_cost_nothing() -> None:
    pattern = "(?:" * 30 + "abc" + "){8}" * 30
    assert _passes(required(parser.parse(pattern)), b"abc" * 400)


@st.composite
def _patterns(draw: st.DrawFn, depth: int = 3) -> tuple[str, str]:
    """A pattern and a text it matches."""
    kind = draw(
        st.sampled_from(["lit", "cat", "alt", "rep", "opt", "cls", "any", "look", "atomic"])
        if depth
        else st.just("lit")
    )
    if kind in ("lit", "any", "cls"):
        text = draw(WORDS)
        if kind == "lit" or not text:
            return re.escape(text), text
        if kind == "any":
            return "." * len(text), text
        return f"[{re.escape(draw(WORDS) + text[0])}]", text[0]
    (a, x), (b, y) = draw(_patterns(depth - 1)), draw(_patterns(depth - 1))
    if kind == "cat":
        return a + b, x + y
    if kind == "alt":
        return f"(?:{a}|{b})", draw(st.sampled_from([x, y]))
    if kind == "rep":
        times = draw(st.integers(1, 4))
        return f"(?:{a}){{{draw(st.integers(0, times))},{times}}}", x * times
    if kind == "opt":
        return f"(?:{a})?{b}", draw(st.sampled_from(["", x])) + y
    if kind == "atomic":
        return f"(?>{a})", x
    return f"(?={a})", x


def _recased(draw: st.DrawFn, text: str) -> str:
    return "".join(draw(st.sampled_from([c, c.upper()[:1], c.lower()[:1], c])) for c in text)


@st.composite
def _questions(draw: st.DrawFn) -> tuple[str, int, str]:
    pattern, text = draw(_patterns())
    flags = draw(st.sampled_from([0, re.IGNORECASE]))
    around = draw(WORDS) + (_recased(draw, text) if flags else text) + draw(WORDS)
    return pattern, flags, around


@settings(max_examples=400, deadline=None)
@given(_questions())
@example(("ks", re.IGNORECASE, "Kſ"))
@example(("xix", re.IGNORECASE, "xİx"))
def test_a_text_that_matches_always_passes(question: tuple[str, int, str]) -> None:
    pattern, flags, text = question
    if re.search(pattern, text, flags):
        tree = parser.parse(pattern, flags)
        assert _passes(required(tree), _kept(text.encode()))


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=40), st.text(LETTERS, min_size=1, max_size=6), st.binary(max_size=40))
def test_a_literal_in_any_bytes_is_found(before: bytes, word: str, after: bytes) -> None:
    text = before + word.encode() + after
    if not text.startswith((b"\xff\xfe", b"\xfe\xff")):  # UTF-16 has other words
        kept = _kept(text)
        assert all(fragment in kept for fragment in fragments_of(word)), kept


def test_letters_that_python_takes_for_equal_fold_alike() -> None:
    folded = {code: fold(chr(code).encode("utf-8", "surrogatepass")) for code in _characters()}
    for code, found in folded.items():
        assert found == folded[_sre.unicode_tolower(code)], hex(code)
    for first, others in casefix._EXTRA_CASES.items():
        for other in others:
            assert folded[first] == folded[other], (hex(first), hex(other))


def _characters() -> list[int]:
    return [code for code in range(sys.maxunicode + 1) if not 0xD800 <= code < 0xE000]


def test_text_is_read_as_ripgrep_reads_it() -> None:
    assert plain_bytes("Größe".encode("utf-16")) == "Größe".encode()
    assert plain_bytes(b"\xef\xbb\xbfabc") == b"abc"
    assert plain_bytes(b"\xff\x00abc") == b"\xff\x00abc"
