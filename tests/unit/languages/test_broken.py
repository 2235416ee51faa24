"""Broken texts of every language give facts, never an exception, and facts that hold together."""

import os
import random

import pytest

from gitindex.languages.facts import NO_SYMBOL, decode_facts, encode_facts, unpack_places
from gitindex.languages.syntax.extract import extract_facts
from gitindex.languages.table import LANGUAGES, language_of
from tests.unit.languages.test_fixtures import SAMPLES, read

ROUNDS = int(os.environ.get("GITINDEX_FUZZ", "12"))
JUNK = (
    b"\0",
    b"\xff",
    b"(",
    b"}",
    b'"',
    b"'",
    b"\n",
    b"\r",
    b"/*",
    b"#",
    "é".encode(),
    b"::",
    b"=",
)


def broken(data: bytes, dice: random.Random) -> bytes:
    """Cuts a piece out, or puts junk in, a few times."""
    for _ in range(dice.randint(1, 8)):
        at = dice.randrange(len(data) + 1)
        if dice.random() < 0.5:
            data = data[:at] + data[at + dice.randint(1, 60) :]
        else:
            data = data[:at] + dice.choice(JUNK) * dice.randint(1, 3) + data[at:]
    return data


def check(data: bytes, language: str) -> None:
    facts = extract_facts(data, language)
    assert decode_facts(encode_facts(facts)) == facts
    count = len(facts.symbols)
    assert all(symbol.parent < ordinal for ordinal, symbol in enumerate(facts.symbols))
    for symbol in facts.symbols:
        assert symbol.name
        assert 0 <= symbol.start_line <= symbol.line <= symbol.end_line
    for name, packed in facts.postings.items():
        for place in unpack_places(name, packed):
            assert place.enclosing == NO_SYMBOL or place.enclosing < count
            assert place.line <= facts.lines


@pytest.mark.parametrize("name", SAMPLES)
def test_broken_samples(name: str) -> None:
    dice = random.Random(name)
    data = read(name)
    for _ in range(ROUNDS):
        check(broken(data, dice), language_of(name.encode(), data[:256]))


@pytest.mark.parametrize("language", [row.name for row in LANGUAGES])
def test_texts_of_another_language(language: str) -> None:
    for name in SAMPLES[:: max(1, len(SAMPLES) // 6)]:
        check(read(name), language)
    check(random.Random(language).randbytes(5_000), language)
