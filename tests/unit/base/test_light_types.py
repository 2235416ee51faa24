"""Values for a shell prompt: they are to their users what the standard library's are."""

from __future__ import annotations

import copy
import enum
import json
import pickle
import typing

import pytest

from gitindex.base import light_types as values


class Plain(typing.NamedTuple):
    a: int
    b: str = "x"


class Light(values.NamedTuple):
    a: int
    b: str = "x"

    @property
    def doubled(self) -> int:
        return 2 * self.a


class Word(values.StrEnum):
    ONE = "one"
    TWO = "two"


class PlainWord(enum.StrEnum):
    ONE = "one"
    TWO = "two"


class Number(values.IntEnum):
    NONE = 0
    ONE = 1


def test_a_tuple_is_one() -> None:
    light, plain = Light(1), Plain(1)
    assert tuple(light) == tuple(plain) == (1, "x")
    assert light == (1, "x")
    assert hash(light) == hash(plain)
    assert (light.a, light.b, light.doubled) == (1, "x", 2)
    assert light._fields == plain._fields
    assert light._asdict() == plain._asdict()
    assert light._replace(b="y") == Light(b="y", a=1) == Light._make([1, "y"])
    assert repr(light) == repr(plain).replace("Plain", "Light")
    assert not hasattr(light, "__dict__")
    assert type(pickle.loads(pickle.dumps(light))) is Light
    match light:
        case Light(a, b):
            assert (a, b) == (1, "x")


@pytest.mark.parametrize(
    ("given", "named"),
    [((), {}), ((1, "x", 3), {}), ((1,), {"a": 1}), ((1,), {"c": 1}), ((), {"b": "x"})],
    ids=repr,
)
def test_wrong_arguments_are_told(
    given: tuple[typing.Any, ...], named: dict[str, typing.Any]
) -> None:
    for kind in (Plain, Light):
        with pytest.raises(TypeError):
            kind(*given, **named)


def test_what_is_replaced_must_be_there() -> None:
    with pytest.raises(TypeError):
        Light(1)._replace(c=2)  # type: ignore[call-arg]


def test_words_are_closed() -> None:
    assert [*Word] == [*PlainWord] == ["one", "two"]
    assert len(Word) == 2
    words: typing.Any = Word  # mypy knows only members
    assert "one" in words
    assert "ONE" not in words
    assert [] not in words
    assert Word("two") is Word.TWO
    assert (str(Word.ONE), f"{Word.ONE}", repr(Word.ONE)) == ("one", "one", "<Word.ONE>")
    assert type(str(Word.ONE)) is str
    assert {Word.ONE: 1}["one"] == 1  # type: ignore[index]
    assert json.dumps({"a": Word.ONE}) == '{"a": "one"}'
    strangers: list[typing.Any] = ["three", "ONE", None, [], 1]
    for value in strangers:
        with pytest.raises(ValueError, match="not a valid Word"):
            Word(value)


def test_numbers_are_closed() -> None:
    assert (int(Number.ONE), str(Number.ONE), f"{Number.ONE}") == (1, "1", "1")
    assert Number(1) is Number.ONE
    assert {1: "one"}[Number.ONE] == "one"
    with pytest.raises(ValueError, match="not a valid Number"):
        Number(7)


@pytest.mark.parametrize("member", [Word.ONE, Number.NONE], ids=repr)
def test_a_copy_is_the_same_member(member: object) -> None:
    assert copy.deepcopy(member) is member
    assert pickle.loads(pickle.dumps(member)) is member


def test_once() -> None:
    calls: list[int] = []

    @values.once
    def count() -> int:
        calls.append(1)
        return len(calls)

    assert (count(), count()) == (1, 1)
