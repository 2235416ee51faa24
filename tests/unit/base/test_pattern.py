"""Patterns are compiled at their first use, and behave like compiled ones."""

from __future__ import annotations

import re

import pytest

from gitindex.base.pattern import compile_later


def test_nothing_is_compiled_before_the_first_use() -> None:
    broken = compile_later("(")
    with pytest.raises(re.error):
        broken.search("")


def test_a_pattern_is_compiled_once(monkeypatch: pytest.MonkeyPatch) -> None:
    words = compile_later(rb"\w+", re.MULTILINE)
    assert words.findall(b"one two") == [b"one", b"two"]
    monkeypatch.setattr(re, "compile", None)
    assert words.findall(b"three") == [b"three"]


def test_flags_and_source_are_those_given() -> None:
    assert compile_later("A", re.IGNORECASE).match("a")
    assert compile_later("a|b").pattern == "a|b"
