"""Front matter: what is written in the subset is read as written; nothing makes the reader fail or hang."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitindex.extract import frontmatter
from gitindex.extract.frontmatter import (
    MAX_HEAD,
    MAX_TOPIC,
    MAX_TOPICS,
    FrontMatter,
    body_of,
    parse_day,
    read_front_matter,
    same_topic,
)

YAML = {
    "inline list": ("tags: [a, \"b, c\", 'd''e', c++]", ("a", "b, c", "d'e", "c++")),
    "block list": ("tags:\n  - a\n  - 'b: c' # d\n  - \"#Jetson\"", ("a", "b: c", "#Jetson")),
    "block list at the key's own indent": ("tags:\n- a\n- b\ntitle: x", ("a", "b")),
    "a list over many lines": (
        "tags: [a, # one\n  'b # c',\n  d\n]\ntitle: x",
        ("a", "b # c", "d"),
    ),
    "a text with commas": ("keywords: a, b c ,d", ("a", "b c", "d")),
    "one text": ("topics: machine learning", ("machine learning",)),
    "topics, tags and keywords together": ("tags: [b]\ntopics: a\nkeywords: A, c", ("a", "b", "c")),
    "case and dashes of the key": ("Tags: [x]", ("x",)),
    "escapes": (r'tags: ["\x41\u00e9\tq", "\u20ac"]', ("Aé q", "€")),
    "indented as a whole": ("  tags:\n    - a\n    - b\n  title: x", ("a", "b")),
    "indented as a whole, beside what is no YAML": ("  title: a: b\n  tags: [a]", ("a",)),
    "beside what is no YAML": ("title: a: b\ntags: [a, b]\n", ("a", "b")),
    "a tag constructs nothing": ("tags: !!python/object/apply:os.system [a]", ("a",)),
    "an alias is not followed": ("x: &x [a, b]\ntags: [*x, c]", ("c",)),
    "a broken list beside others": ('tags: ["a\ntopics: b', ("b",)),
    "numbers and days are texts": ("tags: [1.50, 2024-01-02, yes]", ("1.50", "2024-01-02", "yes")),
    "comments and blank lines": ("# c\n\ntags: # none here\n\n  # nor here\n  - a\n", ("a",)),
    "a comment is no topic": ("tags:\n  - #Jetson\n  - a", ("a",)),
    "nulls": ("tags: [a, ~, null, '']", ("a",)),
    "nested lists are flat": ("tags: [a, [b, [c]]]", ("a", "b", "c")),
    "mappings are left out": ("tags: [a, {b: c}]\n", ("a",)),
    "a mapping as an item": ("tags:\n  - name: a\n  - b", ("b",)),
    "the last of a name": ("tags: a\ntags: b", ("b",)),
    "a nested key is not ours": ("other:\n  tags: [a]\ntags: b", ("b",)),
    "an anchor": ("tags: &all [a]\nx: *all", ("a",)),
    "signs": ('tags: ["\\"", AND, "%", _, foo-bar]', ('"', "AND", "%", "_", "foo-bar")),
}


def _read(block: str, language: str = "markdown") -> FrontMatter:
    found = read_front_matter(f"---\n{block}\n---\n# Title\n", language)
    return found or FrontMatter((), "", "")


@pytest.mark.parametrize(("block", "topics"), YAML.values(), ids=YAML.keys())
def test_topics_in_yaml(block: str, topics: tuple[str, ...]) -> None:
    assert _read(block).topics == topics
    assert _read(block.replace("\n", "\r\n")).topics == topics


SUMMARIES = {
    "plain": ("summary: Don't panic: it's fine # note", "Don't panic: it's fine"),
    "quoted": ('description: "a # b: c" # d', "a # b: c"),
    "folded": ("summary: >-\n  one\n  two\n\n  three\ntags: x", "one two three"),
    "literal": ("summary: |\n  one\n    two\ntags: x", "one two"),
    "over lines": ("summary: one\n  two\ntags: x", "one two"),
    "quoted over lines": ("summary: 'one\n  two'\ntags: x", "one two"),
    "on the next line": ("summary:\n  one\n  two", "one two"),
    "the first name that says something": ("abstract: c\nsummary: ''\ndescription: b", "b"),
}


@pytest.mark.parametrize(("block", "summary"), SUMMARIES.values(), ids=SUMMARIES.keys())
def test_summary_in_yaml(block: str, summary: str) -> None:
    assert _read(block).summary == summary


DATES = {
    "2024-01-02": "2024-01-02",
    "'2024-01-02'": "2024-01-02",
    "2024-1-2": "2024-01-02",
    "2024-01-02 9:05:06": "2024-01-02T09:05:06",
    "2024-01-02T23:59:59.5-05:00": "2024-01-02T23:59:59.5-05:00",
    "2024-02-30": "",
    "2024-01-023": "",
    "yesterday": "",
    "[2024-01-02]": "",
    "20240102": "",
}


@pytest.mark.parametrize(("written", "stored"), DATES.items(), ids=DATES.keys())
def test_dates_are_days_of_the_calendar_or_none(written: str, stored: str) -> None:
    assert _read(f"tags: a\ndate: {written}").created_at == stored
    assert _read(f"created_at: {written}\ndate: 2020-01-01").created_at == (stored or "2020-01-01")


def test_toml() -> None:
    text = (
        '+++\ndate = 2024-01-02T03:04:05Z\ndescription = "d"\ntags = ["c++", 1, [2]]\n'
        '[taxonomies]\ntopics = ["t"]\n+++\n'
    )
    expected = FrontMatter(("t", "c++", "1"), "d", "2024-01-02T03:04:05+00:00")
    assert read_front_matter(text, "markdown") == expected
    assert read_front_matter("+++\ntags = [\n+++\n", "markdown") is None


RST = """.. a comment
   of two lines

=====
Title
=====

Sub
---

:Date: 2024-03-04
:Tags: a, b,
   c d
:Abstract: Hello
   there

Text.

:tags: not a field of the head
"""
ADOC = """// a comment
= Title
Jo <jo@example.com>
v1.0, 2024-05-06: first
:keywords: a, \\
b
:description: D
:!toc:

Text.
"""


def test_fields_of_restructuredtext_and_asciidoc() -> None:
    assert read_front_matter(RST, "text") == FrontMatter(
        ("a", "b", "c d"), "Hello there", "2024-03-04"
    )
    assert read_front_matter(ADOC, "text") == FrontMatter(("a", "b"), "D", "2024-05-06")
    meta = ".. meta::\n   :keywords: k, l\n   :description: d\n\nT\n=\n\n:tags:\n   - m\n   - n\n"
    assert read_front_matter(meta, "text") == FrontMatter(("m", "n", "k", "l"), "d", "")
    assert read_front_matter(":tags: a\n", "markdown") is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "---",
        "---\n",
        "---\ntags: a\n",
        "--- \nno: topics\n---\n",
        "----\ntags: a\n---\n",
        "# T\n",
    ],
)
def test_no_front_matter(text: str) -> None:
    assert read_front_matter(text, "markdown") is None
    assert body_of(text) == text or text.startswith("--- ")


def test_bounds() -> None:
    many = ", ".join(f"t{n}" for n in range(2 * MAX_TOPICS))
    assert len(_read(f"tags: {many}").topics) == MAX_TOPICS
    assert _read(f"tags: [{'x' * (MAX_TOPIC + 1)}, y]").topics == ("y",)
    assert read_front_matter(f"---\ntags: a\n{'#' * MAX_HEAD}\n---\n", "markdown") is None


HOSTILE = {
    "aliases": "a: &a [x]\n" + "".join(f"b{n}: &b{n} [*a, *a]\n" for n in range(500)) + "tags: *a",
    "quotes": "tags: [" + '"\\' * MAX_HEAD,
    "blanks": "a" + " " * MAX_HEAD,
    "brackets": "tags: " + "[" * MAX_HEAD,
    "braces": "tags: [" + "{" * MAX_HEAD,
    "dashes": "tags:\n" + "\n".join(" " * n + "-" for n in range(170)),
    "keys": "a: b\n" * (MAX_HEAD // 5),
    "colons": ":" * MAX_HEAD,
    "comments": "tags: a" + " #" * MAX_HEAD,
    "fields": ":a: \\\n" * (MAX_HEAD // 6),
    "rules": "a\n=\n" * (MAX_HEAD // 4),
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_nothing_takes_long(text: str) -> None:
    begun = time.process_time()
    for fenced in (f"---\n{text}"[: MAX_HEAD - 5] + "\n---\n", text):
        read_front_matter(fenced, "markdown")
        read_front_matter(fenced, "text")
    for toml in (text, "a." * MAX_HEAD, "[" * 2_000, "x = " + "[" * 8_000):
        read_front_matter(f"+++\n{toml}"[: MAX_HEAD - 5] + "\n+++\n", "markdown")
    assert time.process_time() - begun < 5


_PIECES = st.sampled_from(
    [
        "---\n",
        "+++\n",
        "tags",
        ":",
        " ",
        "\n",
        "- ",
        "[",
        "]",
        "{",
        "}",
        '"',
        "'",
        "#",
        "|",
        ">",
        "\\",
        "a",
        "é",
        "\t",
        "date: ",
        "2024-01-02",
        "= ",
        "..",
        "&",
        "*",
        "!",
        ",",
        "\r",
        "\0",
        "=",
    ]
)


@settings(max_examples=300, deadline=None)
@given(st.lists(_PIECES, max_size=60), st.sampled_from(["markdown", "text"]))
def test_no_text_makes_it_fail(pieces: list[str], language: str) -> None:
    text = "".join(pieces)
    for whole in (text, f"---\n{text}\n---\n", f"+++\n{text}\n+++\n"):
        found = read_front_matter(whole, language)
        if found is not None:
            assert all(topic and topic == topic.strip() for topic in found.topics)
            assert found.created_at == "" or parse_day(found.created_at[:10]) is not None
            found.summary.encode()


@settings(max_examples=300, deadline=None)
@given(
    st.lists(_PIECES, max_size=40), st.sampled_from(["tags", "TAG\u212a", '"\\x74ags"', "About"])
)
def test_what_is_not_parsed_has_nothing_that_is_kept(pieces: list[str], name: str) -> None:
    text = f"{name}: a\n" + "".join(pieces)
    for whole in (f"---\n{text}\n---\n", f"+++\n{text}\n+++\n", f"--- \n{text}\n...\n"):
        found = read_front_matter(whole, "markdown")
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(frontmatter, "_has_none_kept", lambda _: False)
            assert read_front_matter(whole, "markdown") == found


def test_no_parser_is_loaded_where_nothing_is_kept() -> None:
    code = (
        "import sys; from gitindex.extract.frontmatter import read_front_matter as read;"
        "assert read('---\\nname: Bug report\\nabout: A bug\\n---\\n', 'markdown') is None;"
        "sys.exit('yaml' in sys.modules or 'tomllib' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_same_topic_in_another_spelling() -> None:
    assert same_topic("Straße  X") == same_topic("STRASSE x")
    assert same_topic("e\u0301") == same_topic("é")
    assert same_topic("c++") != same_topic("c")


def test_a_day_is_written_in_one_way() -> None:
    assert parse_day("2024-02-29") is not None
    for text in ("2023-02-29", "2024-2-9", "20240229", "2024-02-29T00:00", "", "2024-02-29\n"):
        assert parse_day(text) is None, text
