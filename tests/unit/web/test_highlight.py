"""Code is coloured in a child, escaped here, and shown plain where the child gives up."""

from __future__ import annotations

import pytest

from gitindex.web.highlight import MAX_LINE, Highlighter


def test_tokens_have_classes_and_every_text_is_escaped() -> None:
    shown = Highlighter()
    try:
        lines = shown.lines("a.py", "def f():\n    return '<b>' # \u202e")
        assert lines[0].startswith('<span class="k">def</span>')
        assert "&lt;b&gt;" in lines[1]
        assert "\\u202e" in lines[1]
        assert len(lines) == 2
    finally:
        shown.close()


@pytest.mark.parametrize("name", ["nothing.unknown", "", "x" * 5_000, "a\x1b.py"])
def test_any_name_and_any_text_has_as_many_lines_as_it_has(name: str) -> None:
    shown = Highlighter()
    try:
        for text in ("", "\n", "a\n\nb", "x" * (MAX_LINE + 1), "'''\n\n", "\r\n\x0c\u2028z"):
            assert len(shown.lines(name, text)) == text.count("\n") + 1
    finally:
        shown.close()


def test_a_child_that_died_is_started_again() -> None:
    shown = Highlighter()
    try:
        assert "span" in shown.lines("a.py", "def f(): pass")[0]
        assert shown._child is not None
        shown._child.kill()
        shown._child.wait()
        assert shown.lines("a.py", "<x>") == ["&lt;x&gt;"]
        assert "span" in shown.lines("a.py", "def f(): pass")[0]
    finally:
        shown.close()
