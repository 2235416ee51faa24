"""`gitindex symbols`: exact, prefix, sub-word; a miss names what is near."""

from __future__ import annotations

import pytest

from gitindex.lsp.session import EditorSession
from tests.support import Repo


@pytest.fixture
def named(repo: Repo) -> Repo:
    repo.write("a.py", "class Parser:\n    pass\n\n\nclass ParserError:\n    pass\n")
    repo.write("b.py", "def parse_header():\n    pass\n\n\ndef run_parser():\n    pass\n")
    repo.commit()
    repo.index()
    return repo


def test_exact_then_prefix_then_sub_word(named: Repo) -> None:
    found = [s["name"] for s in named.answer("symbols", "Parser")["symbols"]]
    assert found == ["Parser", "ParserError", "run_parser"]


def test_a_miss_names_what_is_near(named: Repo) -> None:
    done = named.gitindex("symbols", "parse_haeder")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "gitindex: no symbol parse_haeder; near: parse_header\n"


def test_an_edit_is_near_at_once_and_what_is_gone_is_not(named: Repo) -> None:
    named.write("b.py", "def parse_footer():\n    pass\n")
    assert "near: parse_footer" in named.gitindex("symbols", "parse_foter").stderr
    assert named.answer("symbols", "parse_header")["symbols"] == []


def test_the_limit_cuts_and_is_said(named: Repo) -> None:
    answer = named.answer("symbols", "parse", "--limit", "2")
    assert (len(answer["symbols"]), answer["truncated"]) == (2, True)


def test_an_editors_memory_of_names_sees_publishes_edits_and_texts(repo: Repo) -> None:
    """As `symbols` says it: whatever the case, by sub-words, and after every kind of change."""
    repo.write("a.py", "def parseHeader(): ...\n\n\ndef parse_body(): ...\n\n\nHEADER = 1\n")
    repo.commit()
    repo.index()
    session = EditorSession()

    def found(asked: str) -> list[str]:
        return [row["name"] for row in session.symbols(str(repo.path), asked)]

    def plain(asked: str) -> list[str]:
        return [row["name"] for row in repo.answer("symbols", asked)["symbols"]]

    for asked in ("header", "parse", "PARSE_BODY", "parse b", "pHeader", "nothing", "_", "%"):
        assert found(asked) == plain(asked), asked
    assert found("header") == ["HEADER", "parseHeader"]
    repo.write("b.py", "def header_of_an_edit(): ...\n")
    assert sorted(found("header")) == ["HEADER", "header_of_an_edit", "parseHeader"]
    repo.commit()
    repo.index()
    assert "header_of_an_edit" in found("of_an_ed")
    session.buffers[str(repo.path / "b.py")] = b"def only_in_the_editor(): ...\n"
    assert found("the_editor") == ["only_in_the_editor"]
    assert found("of_an_ed") == []
