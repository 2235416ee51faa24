"""The stored form of scopes: what it says is what the text says, and a foreign one breaks nothing."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gitindex.languages.scopes.model import FileScopes, Part
from gitindex.languages.scopes.packed import ScopesReader, ScopesWriter, read_links
from gitindex.languages.syntax.extract import extract_facts

PYTHON = b"""import os, sys as system
class A(os.PathLike, metaclass=Meta):
    '''A doc.'''
    x: int = os.sep.join(y)
    def f(self, a, /, b=1, *rest):
        global g
        g = None.x
        self.a, b.c = a
        return self.x.y(1)(2).z, lambda a=a: a  # a comment
"""


def test_what_is_read_is_what_was_written() -> None:
    scopes = FileScopes(extract_facts(PYTHON, "python").scopes, "python", PYTHON)
    at = PYTHON.index
    assert scopes.receiver(at(b"PathLike")) == (Part("os", False),)
    assert scopes.receiver(at(b"join")) == (Part("os", False), Part("sep", False))
    assert scopes.receiver(at(b"x\n")) == ()  # of a constant
    assert scopes.receiver(at(b"z,")) == ()  # of what a result gives
    assert scopes.receiver(at(b"y(1)")) == (Part("self", False), Part("x", False))
    assert scopes.receiver(at(b"y)")) is None
    assert scopes.bases[at(b"A(os")] == [(Part("os", False), Part("PathLike", False))]
    assert scopes.decorators[at(b"A(os")] == ["Meta"]
    [x] = scopes.declared("x")
    assert x.bound.parts == (Part("os", False), Part("sep", False), Part("join", True))
    assert x.bound.type is not None
    assert (x.bound.type.parts, x.bound.value) == ((Part("int", False),), "os.sep.join(y)")
    assert sorted(scopes.assigned) == ["a", "c"]
    assert scopes.assigned["c"][0].object == "b"
    inside = scopes.scope_at(at(b"global"))
    assert scopes.parameters(inside) == [
        *(("self", True), ("a", True), ("b", False), ("rest", True)),
    ]
    assert scopes.quiet(at(b"comment")) == "comment"
    assert scopes.quiet(at(b"doc.")) == "docstring"
    assert scopes.quiet(at(b"global")) == ""
    assert [d.kind for d in scopes.declared("system")] == ["import"]


_NAMES = st.text(
    st.characters(exclude_characters="\x1e\x1f", exclude_categories=["Cs"]), min_size=1
)


@given(st.lists(st.tuples(_NAMES, st.booleans(), st.just("")), max_size=6))
def test_a_chain_is_read_as_it_was_written(parts: list[tuple[str, bool, str]]) -> None:
    out = ScopesWriter()
    number = out.chain(parts)
    told = ScopesReader(out.finish(), 0)
    assert read_links(told.chains[number]) == parts


_NUMBERS = st.integers(-(1 << 31), (1 << 31) - 1)


@given(st.lists(st.tuples(st.integers(0, 1 << 20), _NUMBERS, st.integers(0, 300)), max_size=30))
def test_rows_are_read_as_they_were_written(rows: list[tuple[int, int, int]]) -> None:
    out = ScopesWriter()
    out.add_rows(sorted(rows), 3)
    out.add_growing([row[0] for row in sorted(rows)])
    told = ScopesReader(out.finish("more"), 1)
    assert told.rows(3) == sorted(rows)
    assert told.columns(1) == [[row[0] for row in sorted(rows)]]
    assert told.rest == ["more"]


PAYLOAD = extract_facts(PYTHON, "python").scopes


@given(st.integers(0, len(PAYLOAD) - 1), st.binary(min_size=1, max_size=4))
def test_a_foreign_payload_is_refused_or_read(at: int, other: bytes) -> None:
    """Whatever a pack brings: reading it fails with an error that the reader knows, or not at all."""
    broken = PAYLOAD[:at] + other + PAYLOAD[at + len(other) :]
    try:
        scopes = FileScopes(broken, "python", PYTHON)
    except (ValueError, TypeError, KeyError, IndexError):
        return
    assert scopes.ranges[0].start == 0
