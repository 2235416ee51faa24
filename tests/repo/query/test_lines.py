"""Lines are what git counts: a form feed, a lone carriage return and U+2028 end none of them."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from gitindex.extract.terms import lines_of
from tests.support import Repo

PAGES = (
    "def first():\n    return 1\n\f\ndef _second():\n    return 'a\u2028b\x85c\x1cd'\n\f\n"
    "def third():\n    return first()\n\n\nprint(third())\n"
)


@pytest.fixture
def pages(repo: Repo) -> Repo:
    """Code with form feeds, as GNU's and Python's own have them."""
    repo.index_files({"pages.py": PAGES, "use.py": "import pages\n\npages.third()\n"})
    return repo


def test_every_line_that_grep_names_is_the_line_that_is_read(pages: Repo) -> None:
    rows = pages.answer("grep", "return|def |print")["results"]
    assert len(rows) == 7
    for row in rows:
        read = pages.answer("read", f"{row['path']}:{row['line']}")
        assert row["text"].strip() in read["content"], row
    assert pages.answer("read", "pages.py")["totalLines"] == PAGES.count("\n")


def test_a_use_shows_its_own_line(pages: Repo) -> None:
    [row] = pages.answer("refs", "first")["references"]
    assert (row["line"], row["text"]) == (8, "return first()")


def test_a_claim_about_a_line(pages: Repo) -> None:
    [row] = pages.answer("claim", 'line(pages.py, 7, "def third():")')["verdicts"]
    assert row["verdict"] == "confirmed", row


def test_a_patch_removes_the_lines_of_the_definition(pages: Repo, tmp_path: Path) -> None:
    done = pages.gitindex("dead", "--patch")
    assert "-def _second():" in done.stdout
    (tmp_path / "dead.diff").write_bytes(done.stdout.encode())
    pages.git("apply", str(tmp_path / "dead.diff"))
    text = (pages.path / "pages.py").read_text()
    assert "_second" not in text
    assert text.startswith("def first():\n    return 1\n\f\ndef third():\n    return first()\n")
    ran = subprocess.run(["python3", "pages.py"], cwd=pages.path, capture_output=True, check=True)
    assert ran.stdout == b"1\n"


def test_lines_end_as_in_git() -> None:
    assert lines_of(b"") == []
    assert lines_of(b"\n") == [""]
    assert lines_of(b"a\r\nb\rc\x0cd\n\ne") == ["a", "b\rc\x0cd", "", "e"]
    assert lines_of("\ufeffü\u2028\n".encode()) == ["ü\u2028"]
    assert lines_of("ü\r\nb".encode("utf-16")) == ["ü", "b"]
