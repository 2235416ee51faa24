"""Documents of a repository as HTML: what is shown, and what never is."""

from __future__ import annotations

import time

import pytest

from gitindex.web.markdown import MAX_CHARS, markdown_of, render_markdown

README = """.. image:: https://example.org/badge.svg
   :target: https://example.org

======
Cart
======

Adds ``items``, see `the manual <https://example.org/manual>`_ and :func:`add`.

Install
-------

Run this::

    pip install cart

* one
* two

.. code-block:: python
   :linenos:

    add(1)

See the site_.

.. _site: https://example.org/site
"""


def test_a_readme_in_restructured_text_is_rendered() -> None:
    shown = render_markdown(markdown_of(README))
    for part in (
        "<h2>Cart</h2>",
        "<code>items</code>",
        'href="https://example.org/manual"',
        "<code>add</code>",
        "<h3>Install</h3>",
        "<p>Run this:</p>",
        "<code>pip install cart\n</code>",
        "<li>one</li>",
        "add(1)\n",
    ):
        assert part in shown
    for gone in ("badge", "::", "linenos", "===", "---"):
        assert gone not in shown


@pytest.mark.parametrize(
    "text",
    [
        "`a " + " " * MAX_CHARS,
        ".. a\n" * 12_000 + " x",
        ".. code::\n" * 6_000,
        ".. code::\n" + "\n" * 50_000,
        "`a <" * 15_000,
        "=\n" * 30_000,
        ":a" * 30_000,
    ],
)
def test_a_hostile_readme_costs_little(text: str) -> None:
    began = time.process_time()
    markdown_of(text)
    assert time.process_time() - began < 5


@pytest.mark.parametrize(
    "text", ["`x <javascript:alert(1)>`_", ".. raw:: html\n\n   <script>alert(1)</script>\n"]
)
def test_nothing_of_it_runs(text: str) -> None:
    shown = render_markdown(markdown_of(text))
    assert "href" not in shown
    assert "<script" not in shown
