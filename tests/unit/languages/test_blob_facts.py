"""The serialised form of facts: it round trips, and anything damaged is a miss."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitindex.base.vocabulary import FactsStatus
from gitindex.languages.facts import (
    MAGIC,
    NO_SYMBOL,
    BlobFacts,
    Import,
    Occurrence,
    Symbol,
    Use,
    decode_facts,
    encode_facts,
    pack_postings,
    unpack_places,
)

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
NUMBER = st.integers(0, 2**31 - 1)
USES = [value for name, value in vars(Use).items() if name.isupper()]
LINE, COLUMN = st.integers(0, 2**21), st.integers(0, 2**20)
PLACE = st.tuples(LINE, COLUMN, st.sampled_from(USES), st.integers(0, NO_SYMBOL))
PLACES = st.lists(PLACE, min_size=1, max_size=4).map(sorted)


def flat(places: list[tuple[int, int, int, int]]) -> list[int]:
    """Places as they are packed."""
    numbers = []
    for line, column, use, enclosing in places:
        numbers += [line << 3 | use, column, enclosing + 1 if enclosing != NO_SYMBOL else 0]
    return numbers


def below_earlier(symbols: list[Symbol]) -> tuple[Symbol, ...]:
    """Definitions whose parents come before them, as extraction orders them."""
    return tuple(s._replace(parent=min(s.parent, at - 1)) for at, s in enumerate(symbols))


FACTS = st.builds(
    BlobFacts,
    language=TEXT,
    status=st.sampled_from([*FactsStatus]),
    lines=NUMBER,
    reason=TEXT,
    symbols=st.lists(
        st.builds(
            Symbol,
            TEXT,
            TEXT,
            TEXT,
            NUMBER,
            NUMBER,
            NUMBER,
            NUMBER,
            TEXT,
            TEXT,
            st.integers(-1, 5),
            st.booleans(),
        ),
        max_size=3,
    ).map(below_earlier),
    imports=st.lists(
        st.builds(
            Import, TEXT, st.lists(st.tuples(TEXT, TEXT), max_size=2).map(tuple), NUMBER, NUMBER
        ),
        max_size=2,
    ).map(tuple),
    exports=st.lists(TEXT, max_size=2).map(tuple),
    interface_hash=TEXT,
    flags=st.lists(st.sampled_from(["star_import", "eval_exec"]), max_size=2).map(tuple),
    postings=st.dictionaries(TEXT, PLACES.map(flat), max_size=3).map(pack_postings),
)

SAMPLE = BlobFacts(
    language="python",
    status=FactsStatus.PARSED,
    lines=12,
    reason="",
    symbols=(
        Symbol("C", "C", "class", 0, 6, 0, 9, "class C", "", -1, False),
        Symbol("é", "C.é", "method", 1, 4, 1, 3, "def é(self)", 'says "hi"\n', 0, True),
    ),
    imports=(Import("os.path", (("join", "j"), ("*", "*")), 2, 0),),
    exports=("C",),
    interface_hash="ab12",
    flags=("star_import",),
    postings=pack_postings({"C": [2, 6, 0], "é": [8, 4, 1, 90, 70_000, 2]}),
)


@settings(max_examples=300)
@given(facts=FACTS)
def test_round_trip(facts: BlobFacts) -> None:
    payload = encode_facts(facts)
    assert decode_facts(payload) == facts
    assert encode_facts(facts) == payload
    assert payload.startswith(MAGIC)


def test_sample_round_trips() -> None:
    assert decode_facts(encode_facts(SAMPLE)) == SAMPLE


@pytest.mark.parametrize("parent", [1, 2, -2])
def test_a_definition_inside_itself_is_a_miss(parent: int) -> None:
    outer, inner = SAMPLE.symbols
    facts = SAMPLE._replace(symbols=(outer, inner._replace(parent=parent)))
    assert decode_facts(encode_facts(facts)) is None


def test_every_truncation_is_a_miss() -> None:
    payload = encode_facts(SAMPLE)
    assert all(decode_facts(payload[:n]) is None for n in range(len(payload)))


def test_every_extension_is_a_miss() -> None:
    payload = encode_facts(SAMPLE)
    for more in (b"\0", b"\0" * 8, b" ", b"{}", payload):
        assert decode_facts(payload + more) is None


def test_no_flip_raises() -> None:
    payload = encode_facts(SAMPLE)
    dice = random.Random(1)
    for _ in range(5000):
        flipped = bytearray(payload)
        for _ in range(dice.randint(1, 4)):
            flipped[dice.randrange(len(flipped))] ^= 1 << dice.randrange(8)
        facts = decode_facts(bytes(flipped))
        assert facts is None or decode_facts(encode_facts(facts)) == facts


@settings(max_examples=300)
@given(
    data=st.binary(max_size=40),
    head=st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=3),
        lambda inner: st.lists(inner, max_size=3),
    ),
)
def test_no_garbage_raises(data: bytes, head: Any) -> None:
    assert decode_facts(data) is None
    assert decode_facts(MAGIC + data) is None
    text = json.dumps(head).encode()
    assert decode_facts(MAGIC + b"%d\n" % len(text) + text + data) is None


def spoiled(**changes: Any) -> bytes:
    """A payload whose head was changed, otherwise in order."""
    payload = encode_facts(SAMPLE)
    size, _, rest = payload[len(MAGIC) :].partition(b"\n")
    head = json.loads(rest[: int(size)]) | changes
    text = json.dumps(head).encode()
    return MAGIC + b"%d\n" % len(text) + text + rest[int(size) :]


def test_unspoiled_payload_is_read() -> None:
    assert decode_facts(spoiled()) == SAMPLE
    assert decode_facts(spoiled(later=1)) == SAMPLE


KEYS = (
    "language",
    "status",
    "lines",
    "reason",
    "symbols",
    "imports",
    "exports",
    "interfaceHash",
    "flags",
    "names",
    "counts",
)


@pytest.mark.parametrize(
    "value", [None, 1.5, True, {}, {"a": 1}, [1], [None], "abc", -7, 10**30], ids=repr
)
@pytest.mark.parametrize("key", KEYS)
def test_ill_typed_field_is_a_miss(key: str, value: Any) -> None:
    fits = isinstance(value, str) and key in ("language", "reason", "interfaceHash")
    assert (decode_facts(spoiled(**{key: value})) is not None) is fits


@pytest.mark.parametrize(
    "counts", [[3], [3, 3, 3], [3, 9], [-3, 12], [0, 9], [4, 5], [3.0, 6], ["3", 6]], ids=repr
)
def test_counts_that_do_not_add_up_are_a_miss(counts: list[Any]) -> None:
    assert decode_facts(spoiled(counts=counts)) is None


def test_text_that_no_store_can_hold_is_a_miss() -> None:
    for key in ("language", "reason", "interfaceHash"):
        assert decode_facts(spoiled(**{key: "\ud800"})) is None
    for key in ("exports", "flags"):
        assert decode_facts(spoiled(**{key: ["\udc80"]})) is None
    assert decode_facts(spoiled(names=["C", "\udcff"])) is None


def test_names_given_twice_are_a_miss() -> None:
    assert decode_facts(spoiled(names=["C", "C"])) is None


def test_other_format_is_a_miss() -> None:
    payload = encode_facts(SAMPLE)
    assert decode_facts(payload.replace(b"gixf3", b"gixf2", 1)) is None
    size, _, rest = payload[len(MAGIC) :].partition(b"\n")
    for spelling in (b"-1", b"+" + size, b" " + size, b"0" + size, b"1_0", b"9" * 5000, b""):
        assert decode_facts(MAGIC + spelling + b"\n" + rest) is None, spelling


@settings(max_examples=500)
@given(by_name=st.dictionaries(TEXT, PLACES, min_size=1, max_size=3))
def test_places_round_trip(by_name: dict[str, list[tuple[int, int, int, int]]]) -> None:
    postings = pack_postings({name: flat(places) for name, places in by_name.items()})
    assert list(postings) == list(by_name)
    for name, places in by_name.items():
        assert unpack_places(name, postings[name]) == [Occurrence(name, *p) for p in places]


def test_a_place_takes_few_bytes() -> None:
    places = [(number * 3, 12, Use.CALL, number // 9) for number in range(100)]
    assert len(pack_postings({"n": flat(places)})["n"]) <= 300


def test_postings_are_equal_by_their_places() -> None:
    one, other = pack_postings({"a": [8, 1, 0]}), pack_postings({"b": [8, 1, 0]})
    assert one == pack_postings({"a": [8, 1, 0]}) != other
    assert one == {"a": one["a"]}
    assert one.get("b") is None
