"""Nothing of a repository reaches a page unescaped."""

from __future__ import annotations

import pytest

from gitindex.web.html import Html, address, element, join, link, shorten, text


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("<img src=x onerror=alert(1)>", "&lt;img src=x onerror=alert(1)&gt;"),
        ('" onmouseover="x', "&quot; onmouseover=&quot;x"),
        ("a\u202eb", "a\\u202eb"),
        ("a\x1b[31m", "a\\x1b[31m"),
        ("bad\udcff", "bad\\xff"),
        ("lone \ud800", "lone \\ud800"),
        ("tab\tand\nline", "tab\tand\nline"),
    ],
    ids=["tag", "quote", "bidi", "escape", "byte", "surrogate", "blank"],
)
def test_text_is_escaped(given: str, shown: str) -> None:
    assert text(given) == shown
    assert element("p", given) == f"<p>{shown}</p>"
    assert element("p", title=given) == f'<p title="{shown}"></p>'


def test_markup_of_ours_is_kept_and_nests() -> None:
    assert join("<", element("b", "x"), [Html("<i></i>"), None, 3]) == "&lt;<b>x</b><i></i>3"
    assert (
        element("input", type="text", disabled=True, value=None) == '<input type="text" disabled>'
    )
    assert element("a", data_copy="x", class_="y") == '<a data-copy="x" class="y"></a>'


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("javascript:alert(1)", "/file/javascript%3Aalert%281%29"),
        ("a b/ü?#.py", "/file/a%20b/%C3%BC%3F%23.py"),
        ("bad\udcff", "/file/bad%FF"),
        ('x"><script>', "/file/x%22%3E%3Cscript%3E"),
    ],
)
def test_addresses_stay_on_this_server(path: str, expected: str) -> None:
    assert link("file", path) == expected
    assert link("file", path, "L3", at="v1") == f"{expected}?at=v1#L3"


def test_empty_parameters_are_left_out() -> None:
    assert address("", "", {"q": ["a&b", ""], "lang": []}) == "/?q=a%26b"


def test_long_names_are_cut_and_told_whole() -> None:
    cut = shorten("a" * 200, 20)
    assert "…" in cut
    assert 'title="aaaa' in cut
    assert shorten("short") == "<span>short</span>"
