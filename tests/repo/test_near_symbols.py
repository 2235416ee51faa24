"""`gitindex symbols`: exact, prefix, sub-word; a miss names what is near."""

from __future__ import annotations

import pytest

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
