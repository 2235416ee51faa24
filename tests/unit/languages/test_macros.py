"""Macros that hide C and C++ from its grammar are hidden in turn, and nothing else moves."""

import pytest

from gitindex.base.vocabulary import FactsStatus
from gitindex.languages.facts import Use, unpack_places
from gitindex.languages.syntax.extract import extract_facts
from gitindex.languages.syntax.macros import mask_macros

HIDDEN = {
    "class": (b"class API_EXPORT Shape : Base {\n  int x;\n};\n", "API_EXPORT", "Shape"),
    "class-call": (b"struct EXPORT(2) Part {\n};\n", "EXPORT", "Part"),
    "type": (b"JNI_API int width(void) { return 1; }\n", "JNI_API", "width"),
    "storage": (
        b"static ALWAYS_INLINE foo_t *make(int a) { return 0; }\n",
        "ALWAYS_INLINE",
        "make",
    ),
    "constructor": (
        b"class Shape {\n public:\n  LIB_CONSTEXPR Shape(int a) : a_(a) {}\n};\n",
        "LIB_CONSTEXPR",
        "Shape",
    ),
    "alone": (b"BEGIN_NAMESPACE\nint width;\nEND_NAMESPACE\n", "BEGIN_NAMESPACE", "width"),
}


@pytest.mark.parametrize("name", HIDDEN)
def test_what_a_macro_hid_is_found(name: str) -> None:
    data, macro, symbol = HIDDEN[name]
    facts = extract_facts(data, "cpp")
    assert facts.status is FactsStatus.PARSED
    assert symbol in [s.name for s in facts.symbols]
    places = unpack_places(macro, facts.postings[macro])
    assert [place.use for place in places] == [Use.REFERENCE]


@pytest.mark.parametrize(
    "data",
    [
        b"enum color {\n  RED,\n  GREEN\n};\n",
        b"static WORD table[4];\n",
        b"DWORD width(void);\n",
        b"class Shape {\n};\n",
        b"#define LIMIT 4\n",
    ],
    ids=["enumerator", "type", "returned-type", "class", "definition"],
)
def test_what_is_no_such_macro_stays(data: bytes) -> None:
    assert mask_macros(data, "cpp").data == data


def test_length_and_lines_hold() -> None:
    for data, _, _ in HIDDEN.values():
        masked = mask_macros(data, "cpp").data
        assert len(masked) == len(data)
        assert masked.count(b"\n") == data.count(b"\n")


def test_other_languages_are_left_alone() -> None:
    data = HIDDEN["class"][0]
    assert mask_macros(data, "java").data is data


def test_a_macro_around_the_result_of_a_function() -> None:
    text = b"AP_DECLARE(int) first(void);\nstatic LOCAL(struct e *) second(int a)\n{ return 0; }\n"
    facts = extract_facts(text, "c")
    assert [(s.name, s.line) for s in facts.symbols] == [("first", 0), ("second", 1)]
    assert {"AP_DECLARE", "LOCAL"} <= set(facts.postings)
    assert facts.status == "parsed"
