"""The serialised form of facts: it round trips, and anything damaged is a miss."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitindex.facts import (
    MAGIC,
    NO_SYMBOL,
    BlobFacts,
    Import,
    Occurrence,
    Symbol,
    Use,
    decode_facts,
    encode_facts,
    pack_place,
    unpack_places,
)
from gitindex.words import FactsStatus

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
NUMBER = st.integers(0, 2**31 - 1)
PLACES = st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=4).map(
    lambda places: b"".join(place.to_bytes(8, "little") for place in places)
)
FACTS = st.builds(
    BlobFacts,
    language=TEXT,
    status=st.sampled_from(FactsStatus),
    lines=NUMBER,
    reason=TEXT,
    symbols=st.lists(
        st.builds(
            Symbol, TEXT, TEXT, TEXT, NUMBER, NUMBER, NUMBER, NUMBER, TEXT, TEXT,
            st.integers(-1, 5), st.booleans(),
        ), max_size=3,
    ).map(tuple),
    imports=st.lists(
        st.builds(Import, TEXT, st.lists(st.tuples(TEXT, TEXT), max_size=2).map(tuple), NUMBER, NUMBER),
        max_size=2,
    ).map(tuple),
    exports=st.lists(TEXT, max_size=2).map(tuple),
    interface_hash=TEXT,
    flags=st.lists(st.sampled_from(["star_import", "eval_exec"]), max_size=2).map(tuple),
    postings=st.dictionaries(TEXT, PLACES, max_size=3),
)  # fmt: skip

SAMPLE = BlobFacts(
    language="python",
    status=FactsStatus.PARSED,
    lines=12,
    reason="",
    symbols=(
        Symbol("é", "C.é", "method", 1, 4, 1, 3, "def é(self)", 'says "hi"\n', 0, True),
        Symbol("C", "C", "class", 0, 6, 0, 9, "class C", "", -1, False),
    ),
    imports=(Import("os.path", (("join", "j"), ("*", "*")), 2, 0),),
    exports=("C",),
    interface_hash="ab12",
    flags=("star_import",),
    postings={"C": b"\1" * 8, "é": b"\2" * 16},
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


KEYS = ("language", "status", "lines", "reason", "symbols", "imports", "exports", "interfaceHash",
        "flags", "names", "counts")  # fmt: skip


@pytest.mark.parametrize(
    "value", [None, 1.5, True, {}, {"a": 1}, [1], [None], "abc", -7, 10**30], ids=repr
)
@pytest.mark.parametrize("key", KEYS)
def test_ill_typed_field_is_a_miss(key: str, value: Any) -> None:
    fits = isinstance(value, str) and key in ("language", "reason", "interfaceHash")
    assert (decode_facts(spoiled(**{key: value})) is not None) is fits


@pytest.mark.parametrize(
    "counts", [[8], [8, 8, 8], [8, 12], [-8, 32], [0, 24], [8.0, 16], ["8", 16]], ids=repr
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
    assert decode_facts(payload.replace(b"gixf1", b"gixf2", 1)) is None
    size, _, rest = payload[len(MAGIC) :].partition(b"\n")
    for spelling in (b"-1", b"+" + size, b" " + size, b"0" + size, b"1_0", b"9" * 5000, b""):
        assert decode_facts(MAGIC + spelling + b"\n" + rest) is None, spelling


@given(
    line=st.integers(0, 2**21 - 1), column=st.integers(0, 2**21 - 1),
    use=st.sampled_from([v for k, v in vars(Use).items() if k.isupper()]),
    enclosing=st.integers(0, NO_SYMBOL),
)  # fmt: skip
def test_places_round_trip_in_64_bits(line: int, column: int, use: int, enclosing: int) -> None:
    place = pack_place(line, column, use, enclosing)
    assert place < 2**64
    packed = place.to_bytes(8, "little")
    assert unpack_places("n", packed * 2) == [Occurrence("n", line, column, use, enclosing)] * 2


def test_places_sort_by_line_then_column_and_saturate() -> None:
    assert pack_place(1, 9, 7, 5) < pack_place(2, 0, 0, 0)
    assert pack_place(1, 1, 7, 5) < pack_place(1, 2, 0, 0)
    packed = pack_place(2**30, 2**30, Use.CALL, NO_SYMBOL).to_bytes(8, "little")
    assert unpack_places("n", packed) == [
        Occurrence("n", 2**21 - 1, 2**21 - 1, Use.CALL, NO_SYMBOL)
    ]
