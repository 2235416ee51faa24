"""How a name is used, whatever blanks, comments and brackets stand around it."""

from __future__ import annotations

import json

import pytest

from gitindex.languages.scopes import uses
from gitindex.languages.scopes.read_uses import read_uses
from gitindex.languages.scopes.uses import NameUse, to_uses


def _uses(text: str, word: str = "A", language: str = "python") -> list[NameUse]:
    return list(to_uses(read_uses(text.encode(), language, json.dumps([word]).encode())))


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("A . x", uses.MEMBER),
        ("(A)\\\n()", uses.CALLED),
        ("f(  # what it is\n  A)", uses.ARGUMENT),
        ("isinstance(x, (A, int))", uses.TESTED),
        ("isinstance(x, K := A)", uses.VALUE),
        ("try:\n  pass\nexcept (  # c\n  A) as e:\n  pass", uses.TESTED),
        ("m.A, y = 1, 2", uses.TARGET),
        ("for (m\n  .A) in x:\n  pass", uses.TARGET),
        ("with x as (y, m.A):\n  pass", uses.TARGET),
        ("[0 for m.A in x]", uses.TARGET),
        ("def f(x: List['B'] | A): pass", uses.TYPE),
        ("def f(A=1): pass", uses.DEFINED),
        ("f(A=1)", uses.KEYWORD),
        ("match x:\n  case B(A=f): pass", uses.PATTERN),
        ("x is not A", uses.COMPARED),
        ("x < A", uses.VALUE),
        ("f'{A}'", uses.SHOWN),
        ("class D(m.A): pass", uses.BASE),
        ("class D(*A): pass", uses.VALUE),
        ("from m import A", uses.IMPORTED),
        ("global A", uses.GLOBAL),
        ("f((A", uses.UNKNOWN),
    ],
)
def test_the_kind_of_a_use_is_that_of_its_place_in_the_tree(text: str, kind: str) -> None:
    assert [use.kind for use in _uses(text)] == [kind]


def test_a_call_tells_its_arguments_and_what_becomes_of_its_result() -> None:
    [use] = _uses("type (')', (B, m.C), # it's\n  **k)(1).x", "type")
    assert [one.name for one in use.arguments] == ["", "", "*"]
    assert use.arguments[1].items is not None
    assert [[part.name for part in item] for item in use.arguments[1].items] == [["B"], ["m", "C"]]
    assert (use.result, len(use.given)) == (uses.CALLED, 1)


def test_a_value_tells_the_words_of_its_statement_and_the_functions_around() -> None:
    [use] = _uses("x.go['k'] = dict(a=[0 or A], b=g())\ny = 'other'")
    assert use.keys == {"k", "a", "b"}
    assert use.around == ("dict",)


def test_words_in_strings_and_comments_are_no_uses() -> None:
    assert _uses("x = 'A'  # A\n") == []


def test_a_member_of_javascript_has_its_receiver() -> None:
    [use] = _uses("this . go /* c */ .bind(this)", "go", "typescript")
    assert (use.kind, use.of, use.result) == (uses.MEMBER, "bind", uses.CALLED)
    assert [one.parts for one in use.given] == [use.receiver]
