"""Wrong answers that were reproduced by scripts and are in no other test."""

from __future__ import annotations

import random

import pytest

from gitindex.base.vocabulary import SkipReason
from gitindex.extract.policy import skip_content
from tests.support import Repo

GO = """package m

import "net/http"

type Mux struct{}

func New() *Mux { return &Mux{} }

func (m *Mux) Link(p string, h func(r *http.Request)) {}

func Use() {
\tr := New()
\tr.Link("/x", func(r *http.Request) { _ = r.URL })
}
"""


def test_a_parameter_of_a_closure_does_not_hide_the_variable_around_it(repo: Repo) -> None:
    repo.index_files({"go.mod": "module m\n\ngo 1.21\n", "m.go": GO})
    [row] = repo.answer("refs", "Link")["references"]
    assert (row["line"], row["tier"]) == (13, "exact")
    [edge] = repo.answer("callers", "Mux.Link")["edges"]
    assert edge["site"]["line"] == 13


@pytest.mark.parametrize("lines", [1, 9_000, 12_000, 45_000])
def test_a_filter_behind_a_large_configuration_is_not_run(repo: Repo, lines: int) -> None:
    """Of 100 bytes each: `.git/config` has up to 4.5 MB."""
    repo.index_files({".gitattributes": "*.py filter=evil\n", "a.py": "def alpha(): pass\n"})
    executed = repo.path.parent / "executed"
    with (repo.path / ".git/config").open("a") as config:
        config.write(("# " + "x" * 97 + "\n") * lines)
        config.write(f'[filter "evil"]\n\tclean = touch {executed}; cat\n')
    repo.write("a.py", "def alpha(): return 1\n")
    for question in (["status"], ["search", "alpha"], ["grep", "alpha"], ["read", "a.py"]):
        assert repo.gitindex(*question).returncode == 0
    assert not executed.exists()


def test_a_text_with_a_late_nul_is_no_text() -> None:
    """Its thousands of different words made a first index many times dearer."""
    text = "".join(random.Random(1).choices("abcdefghijklmnop+/=", k=60_000)).encode()
    assert skip_content(text + b"\n") is None or skip_content(text) is SkipReason.MINIFIED
    assert skip_content(text + bytes(range(256)) * 100) is SkipReason.BINARY
