"""Query text: filters, phrases and words; pasted text stays text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitindex.base.errors import Exit, GitIndexError
from gitindex.query.search.query_text import (
    MAX_WORDS,
    Filters,
    parse_query,
    path_matches,
    read_filters,
)


def _words(text: str) -> list[str]:
    return [word.text for word in parse_query(text).words]


@pytest.mark.parametrize(
    ("text", "filters", "words"),
    [
        ("lang:go foo", Filters(languages=("go",)), ["foo"]),
        ("lang:py lang:.ts foo", Filters(languages=("python", "typescript")), ["foo"]),
        ("foo path:src -path:vendor", Filters(paths=("src",), not_paths=("vendor",)), ["foo"]),
        ('path:"a b" foo', Filters(paths=("a b",)), ["foo"]),
        ("kind:Class foo", Filters(kinds=("class",)), ["foo"]),
        ("must:a_b exclude:c foo", Filters(must=("a_b",), exclude=("c",)), ["foo"]),
        ("in:tests in:docs foo", Filters(places=("tests", "docs")), ["foo"]),
        ("lang:go", Filters(languages=("go",)), []),
    ],
)
def test_filters_are_taken_out_of_the_text(text: str, filters: Filters, words: list[str]) -> None:
    query = parse_query(text)
    assert query.filters == filters
    assert [word.text for word in query.words] == words


@pytest.mark.parametrize(
    "text",
    ["a:b", "lang:klingon", "kind:thing", "in:space", "path: foo", "xlang:go", "must:!", "in:"],
)
def test_what_is_no_filter_is_text(text: str) -> None:
    query = parse_query(text)
    assert query.filters == Filters()
    assert query.words


def test_phrases_are_whole_quoted_tokens() -> None:
    assert parse_query('say "Hello   World" now').phrases == ("hello world",)
    assert parse_query('print("hello world")').phrases == ()
    assert parse_query('"unclosed').phrases == ()
    assert parse_query('"" "!?"').phrases == ()
    assert _words('say "Hello World"') == ["say", "Hello", "World"]


def test_small_words_are_dropped_unless_nothing_else_is_left() -> None:
    assert _words("how is a socket closed") == ["socket", "closed"]
    assert _words("AND") == ["AND"]
    assert _words("to be or not to be") == ["not"]


@pytest.mark.parametrize(
    ("word", "form"),
    [
        ("closed", "close"),
        ("files", "file"),
        ("parsing", "parse"),
        ("stopped", "stop"),
        ("queries", "query"),
        ("file", "files"),
        ("parse", "parsing"),
    ],
)
def test_other_forms_of_a_word_are_looked_for(word: str, form: str) -> None:
    assert form in parse_query(word).words[0].forms


def test_identifiers_have_parts_and_no_forms() -> None:
    word = parse_query("parseHttpRequest").words[0]
    assert word.terms == ("parsehttprequest", "parse", "http", "request")
    assert parse_query("x").words[0].forms == ()


@pytest.mark.parametrize(
    ("pattern", "path", "found"),
    [
        ("src", "a/src/b.py", True),
        ("SRC", "a/src/b.py", True),
        ("*.py", "a/src/b.py", True),
        ("src/*.py", "a/src/b.py", True),
        ("src/*.py", "a/src/c/b.py", False),
        ("src/**.py", "a/src/c/b.py", True),
        ("?.py", "a/bb.py", False),
        ("[", "a/b.py", False),
        ("**a*b", "x/a/ab", True),
        ("a**", "x/a/ab", True),
        ("src/**a*b", "src/a/ab", True),
        ("src/**/*.py", "src/a/b/c.py", True),
        ("src/**/*.py", "lib/a/b/c.py", False),
        ("*.py", "x/a.py.py", True),
        ("*ab", "x/abab", True),
        ("*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b", "a" * 3_000, False),
        ("**a**a**a**a**a**a**a**b", "a/" * 1_500, False),
    ],
)
def test_paths_match_by_part_or_by_pattern(pattern: str, path: str, found: bool) -> None:
    assert path_matches([pattern], path) is found


def test_a_flag_without_meaning_is_an_error() -> None:
    assert read_filters({"lang": ["rs"], "-path": ["x"]}) == Filters(("rust",), not_paths=("x",))
    for name, value in (("lang", "klingon"), ("kind", "thing"), ("in", "space"), ("must", "!")):
        with pytest.raises(GitIndexError) as error:
            read_filters({name: [value]})
        assert error.value.code is Exit.USAGE


@given(st.text(max_size=2_000))
def test_any_text_is_a_query(text: str) -> None:
    query = parse_query(text)
    assert len(query.words) <= MAX_WORDS
    assert all(word.terms for word in query.words)
    query.text.encode()


@pytest.mark.parametrize(
    ("text", "runs"),
    [
        ("open session", ()),
        ("ValueError: no such table: 'users'", ("no such table",)),
        ('can\'t save in background: fork: "x"', ("can't save in background",)),
        ("expected 3 bytes but 4 came (see #12)", ()),
        ("is not a valid size. See 'fd --help'.", ("is not a valid size",)),
    ],
)
def test_the_parts_of_a_message_between_its_values(text: str, runs: tuple[str, ...]) -> None:
    assert parse_query(text).runs == runs
