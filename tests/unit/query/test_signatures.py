"""Python's signatures and calls are read by its own grammar, whatever stands in them."""

from __future__ import annotations

import pytest

from gitindex.query.impact.signatures import (
    CallArguments,
    Parameter,
    incompatibility,
    misfit,
    read_call,
    read_parameters,
)

CALLS: dict[str, tuple[int, tuple[str, ...]]] = {
    "(lambda a, b: a + b)": (1, ()),
    "(lambda *, k=1, **kw: k, 2)": (2, ()),
    "({1: 2, 3: 4}[1])": (1, ()),
    "('a, b', \"c)d\")": (2, ()),
    "(f'{1, 2}')": (1, ()),
    "('''a,\nb''')": (1, ()),
    "(a < b, c > d)": (2, ()),
    "(a == 1, key=b == 2)": (1, ("key",)),
    "(  # one, two\n    1,  # three\n)": (1, ()),
    "(x for x in (1, 2))": (1, ()),
    "(key=lambda v: (v, 1), other={**a})": (0, ("key", "other")),
    "()(1, 2)": (0, ()),
}


@pytest.mark.parametrize("text", CALLS)
def test_arguments_of_a_call(text: str) -> None:
    assert read_call(f"  {text} + rest(", 2) == CallArguments(*CALLS[text])


@pytest.mark.parametrize(
    "text", ["(*a)", "(1, **a)", "(1, 2", "(1 2)", "('a)", "", "[1]", "(a=1, 2)"]
)
def test_a_call_that_hides_its_arguments(text: str) -> None:
    assert read_call(text, 0 if text else -1) is None


def test_parameters_in_every_form() -> None:
    read = read_parameters(
        "async def f(a, /, b: Literal['x=1', ','], c=(1, 2), *d: int, e, g=lambda x, y: x, **h)"
        " -> dict[str, int]"
    )
    assert read == [
        Parameter("a", by_keyword=False),
        Parameter("b"),
        Parameter("c", True),
        Parameter("d", True, by_keyword=False, many=True),
        Parameter("e", by_position=False),
        Parameter("g", True, by_position=False),
        Parameter("h", True, by_position=False, many=True),
    ]
    assert read_parameters("def f(\n    a,  # first, (\n    *,\n    b,\n):\n    body(") == [
        Parameter("a"),
        Parameter("b", by_position=False),
    ]
    assert read_parameters("def f[T: (int, str)](value: T)") == [Parameter("value")]
    for text in ("def f(a, …", "f = 1", "class A(B)", "def f((a, b))"):
        assert read_parameters(text) is None, text


def test_what_no_longer_fits() -> None:
    one = read_parameters("def f(fn)")
    assert one is not None
    assert not misfit(CallArguments(1, ()), one)
    assert misfit(CallArguments(2, ()), one) == "takes 1 positional arguments, given 2"
    old, new = "def f(a)", "def f(a, b: Literal['x=1'])"
    found = incompatibility(old, new, "python")
    assert found is not None
    assert found.why == "lacks `b`"
