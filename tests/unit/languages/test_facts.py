"""Facts hold together whatever the language: places, ordinals, parents, and their stored form."""

import pytest

from gitindex.languages.facts import NO_SYMBOL, Use, decode_facts, encode_facts, unpack_places
from gitindex.languages.syntax.extract import extract_facts

PYTHON = b'''\
"""Module."""
import os.path as p, sys
from ..pkg import (a as b,  # why
                   c)
from . import *

@wraps(1)
class Foo(Base, metaclass=Meta):
    """Foo's doc."""
    size: int = 3
    def run(self, x: List[int] = None) -> str:
        local = 1
        def inner(): return local
        return self.call(x).attr

LIMIT = 4
one, two = 1, 2
'''


def test_symbols_of_python() -> None:
    facts = extract_facts(PYTHON, "python")
    rows = [(s.kind, s.qualified, s.line, s.column, s.parent, s.exported) for s in facts.symbols]
    assert rows == [
        ("class", "Foo", 7, 6, -1, True),
        ("field", "Foo.size", 9, 4, 0, True),
        ("method", "Foo.run", 10, 8, 0, True),
        ("function", "Foo.run.inner", 12, 12, 2, False),
        ("constant", "LIMIT", 15, 0, -1, True),
        ("variable", "one", 16, 0, -1, True),
        ("variable", "two", 16, 5, -1, True),
    ]
    foo, _, run = facts.symbols[:3]
    assert foo.doc == "Foo's doc."
    assert (foo.start_line, foo.end_line) == (6, 13)
    assert run.signature == "def run(self, x: List[int] = None) -> str"


def test_imports_of_python() -> None:
    facts = extract_facts(PYTHON, "python")
    assert [tuple(item) for item in facts.imports] == [
        ("os.path", (("os.path", "p"),), 0, 1),
        ("sys", (("sys", "sys"),), 0, 1),
        ("pkg", (("a", "b"), ("c", "c")), 2, 2),
        ("", (("*", "*"),), 1, 4),
    ]


@pytest.mark.parametrize(
    ("name", "use", "enclosing"),
    [
        ("Foo", Use.DEFINITION, 0),
        ("Base", Use.INHERIT, 0),
        ("wraps", Use.DECORATOR, NO_SYMBOL),
        ("List", Use.TYPE, 2),
        ("call", Use.CALL, 2),
        ("attr", Use.ATTRIBUTE, 2),
        ("b", Use.IMPORT, NO_SYMBOL),
        ("LIMIT", Use.DEFINITION, NO_SYMBOL),
    ],
)
def test_uses_of_python(name: str, use: int, enclosing: int) -> None:
    places = unpack_places(name, extract_facts(PYTHON, "python").postings[name])
    assert [(place.use, place.enclosing) for place in places] == [(use, enclosing)]


def test_a_nested_function_encloses_its_uses() -> None:
    places = unpack_places("local", extract_facts(PYTHON, "python").postings["local"])
    assert [place.enclosing for place in places] == [2, 3]


def test_every_place_is_where_its_name_stands() -> None:
    facts = extract_facts(PYTHON, "python")
    lines = PYTHON.split(b"\n")
    for name, packed in facts.postings.items():
        places = unpack_places(name, packed)
        assert places == sorted(places, key=lambda place: (place.line, place.column))
        for place in places:
            assert lines[place.line][place.column :].startswith(name.encode())


def test_facts_survive_their_stored_form() -> None:
    facts = extract_facts(PYTHON, "python")
    assert decode_facts(encode_facts(facts)) == facts
    assert encode_facts(extract_facts(PYTHON, "python")) == encode_facts(facts)


def test_sections_of_markdown() -> None:
    data = b"# One\n\ntext\n\n## Sub `code`\n\nSetext\n===\n"
    rows = [
        (s.kind, s.qualified, s.line, s.start_line, s.end_line)
        for s in extract_facts(data, "markdown").symbols
    ]
    assert rows == [
        ("section", "One", 0, 0, 5),
        ("section", "One.Sub `code`", 4, 4, 5),
        ("section", "Setext", 6, 6, 7),
    ]
