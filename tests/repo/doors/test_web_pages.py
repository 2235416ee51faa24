"""Pages in this process, from question to HTML: what they say where the trade's other tools say it."""

from __future__ import annotations

import re
from html import unescape
from typing import Any
from urllib.parse import parse_qs

import pytest

from gitindex.questions.history import ask_status
from gitindex.refresh.history_index import index_history
from gitindex.view.tree import NOW
from gitindex.web.frame import fragment
from gitindex.web.html import Html
from gitindex.web.pages import PAGES
from gitindex.web.pages.health import HEALTH
from gitindex.web.session import PageHere, WebQuestion, WebSession, ask
from tests.support import Repo

LONG = "def first(\n    one,\n    two,\n):\n    return one + two\n"


def show(repo: Repo, page: str, path: str = "", query: str = "") -> tuple[dict[str, Any], str]:
    """Return the answer of a page, and its text with the tags left in."""
    session, request = WebSession(repo.worktree), WebQuestion.read(path, parse_qs(query))
    try:
        answer = ask(PAGES[page], session, request)
        if answer["status"] != "ok":
            return answer, fragment(request, Html(""), answer)
        return answer, PAGES[page].render(request, answer)
    finally:
        session.rest()


def words(markup: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", markup)).split())


def test_radar_with_one_line_of_work_is_a_page_that_asks_for_another(repo: Repo) -> None:
    repo.index_files({"a.py": LONG})
    answer, shown = show(repo, "radar")
    assert (answer["status"], answer["sides"]) == ("ok", [])
    assert "There is only one line of work here" in words(shown)
    assert 'name="branch"' in shown
    repo.git("branch", "other")
    answer, shown = show(repo, "radar", query="branch=other")
    assert len(answer["sides"]) == 2
    assert 'value="other"' in shown
    refused, _ = show(repo, "radar", query="branch=nosuch")
    assert refused["status"] == "invalid_request"


def test_a_refusal_says_nothing_of_the_index(repo: Repo) -> None:
    repo.index_files({"a.py": LONG})
    for page, path in (("file", "gone.py"), ("symbol", "nosuch_name")):
        answer, _ = show(repo, page, path)
        bar = fragment(WebQuestion(), Html(""), answer | {"freshness": {}})
        assert answer["status"] == "not_found"
        assert "not found" not in words(bar)


def test_signatures_are_written_as_on_the_command_line(repo: Repo) -> None:
    repo.index_files({"a.py": LONG})
    for page, path, query in (("symbol", "a.py#first", ""), ("", "", "tab=symbols&q=first")):
        assert "def first(one, two)" in words(show(repo, page, path, query)[1])


def test_a_definition_has_its_own_history(repo: Repo) -> None:
    repo.index_files({"a.py": LONG + "\n\ndef second():\n    return 2\n"})
    repo.write("a.py", LONG + "\n\ndef second():\n    return 3\n")
    repo.commit("second is three")
    repo.write(
        "a.py", "# above\n" + LONG.replace("one + two", "two") + "\n\ndef second():\n    return 3\n"
    )
    repo.commit("first differs")
    repo.index()
    subjects = {
        name: [
            row["subject"] for row in show(repo, "history", "a.py", f"symbol={name}")[0]["commits"]
        ]
        for name in ("first", "second")
    }
    assert subjects["first"][0] == "first differs"
    assert "second is three" not in subjects["first"]
    assert subjects["second"][0] == "second is three"
    assert [row["subject"] for row in show(repo, "history", "a.py")[0]["commits"]][:2] == [
        "first differs",
        "second is three",
    ]
    past, _ = show(repo, "history", "a.py", "symbol=first&at=HEAD~1")
    assert "first differs" not in [row["subject"] for row in past["commits"]]
    assert show(repo, "history", "a.py", "symbol=third")[0]["status"] == "not_found"
    assert "/history/a.py?symbol=first" in show(repo, "symbol", "a.py#first")[1]
    assert "/history/a.py?symbol=first" in show(repo, "hover", "a.py", "line=2&col=5")[1]


def test_when_a_call_began_is_read_and_never_indexed_by_a_page(repo: Repo) -> None:
    repo.index_files({"a.py": LONG, "b.py": "from a import first\n"})
    repo.write("b.py", "from a import first\n\n\ndef use():\n    return first(1, 2)\n")
    repo.commit("use it")
    repo.index()
    assert "/since/b.py%23use?callee=first" in show(repo, "symbol", "a.py#first")[1]
    refused, _ = show(repo, "since", "b.py#use", "callee=first")
    assert refused["hints"]["remedy"] == "run `gitindex history index`"
    with WebSession(repo.worktree).page(NOW) as here:
        assert isinstance(here, PageHere)
        assert ask_status(here, {})["status"] == "not_indexed"
    index_history(repo.worktree, lambda *_: None)
    answer, shown = show(repo, "since", "b.py#use", "callee=first")
    assert [row["subject"] for row in answer["events"]] == ["use it"]
    assert "use it" in words(shown)


def test_a_difference_names_renames_and_ends_with_the_text(repo: Repo) -> None:
    repo.index_files({"a.py": LONG, ".env": "SECRET=before\n"})
    old = repo.git("rev-parse", "HEAD").strip()
    repo.write("a.py", LONG.replace("first", "begin"))
    repo.write(".env", "SECRET=after\n")
    repo.git("config", "diff.external", "false")
    repo.commit("rename")
    repo.index()
    answer, shown = show(repo, "time", query=f"base={old}&at=HEAD")
    [row] = answer["difference"]["changedSymbols"]
    assert (row["change"], row["name"], row["before"]) == ("renamed", "begin", "a.py#first")
    assert "was a.py#first" in words(shown)
    assert '<span class="removed">-def first(' in shown
    assert '<span class="added">+def begin(' in shown
    assert "SECRET" not in shown
    backwards, _ = show(repo, "time", query=f"base=HEAD&at={old}")
    assert backwards["difference"]["changedSymbols"][0]["before"] == "a.py#begin"


def test_a_move_to_another_file_is_a_rename_of_its_place(repo: Repo) -> None:
    repo.index_files({"a.py": LONG})
    repo.git("mv", "a.py", "b.py")
    repo.commit("move")
    repo.index()
    rows = show(repo, "time", query="base=HEAD~1&at=HEAD")[0]["difference"]["changedSymbols"]
    assert [(row["change"], row["path"], row["before"]) for row in rows] == [
        ("renamed", "b.py", "a.py#first")
    ]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, ""),
        ({"packs": "/srv/packs"}, "packs – from /srv/packs: none is in use"),
        (
            {"trust": {"imported": 1200, "verified": 7, "signer": None}},
            "packs 1,200 blobs 7 verified; not signed",
        ),
        ({"team": {"repo": "acme/web", "ref": "main"}}, "team acme/web branch main"),
    ],
)
def test_health_has_packs_and_team_where_they_are_used(
    repo: Repo, given: dict[str, Any], said: str
) -> None:
    repo.index_files({"a.py": LONG})
    answer, plain = show(repo, "health")
    assert (answer["team"], answer["packs"]) == (None, "")
    assert not {"packs", "team"} & set(words(plain).split())
    assert said in words(HEALTH.render(WebQuestion(), answer | given))


EVIL = "<img src=x onerror=alert(1)>"


def test_hostile_names_and_texts_are_words_on_every_new_part(repo: Repo) -> None:
    file = f"{EVIL}.py"
    repo.index_files({file: LONG, "b.py": f"# {EVIL}\n", "data.bin": "a\0b\n"})
    old = repo.git("rev-parse", "HEAD").strip()
    text = LONG.replace("first", "begin") + f"# </pre><script>alert(1)</script>{'x' * 5_000}\n"
    repo.write(file, text)
    repo.write("data.bin", "a\0c<script>\n")
    repo.write("b.py", f"# {EVIL}\n\x1b[31m = 1\n")
    repo.commit(f"{EVIL}<script>alert(2)</script>")
    repo.git("branch", "a-branch")
    repo.index()
    index_history(repo.worktree, lambda *_: None)
    looked = [
        ("history", file, ""),
        ("history", file, "symbol=begin"),
        ("history", file, f"symbol={EVIL}"),
        ("history", "--output=x", f"symbol={EVIL}&at=--output%3Dy"),
        ("since", f"{file}#begin", f"callee={EVIL}"),
        ("time", "", f"base={old}&at=HEAD"),
        ("time", "", f"base=--output%3Dx&at={EVIL}"),
        ("radar", "", "branch=a-branch"),
        ("radar", "", f"branch={EVIL}"),
        ("symbol", f"{file}#begin", ""),
        ("health", "", ""),
    ]
    for page, path, query in looked:
        answer, shown = show(repo, page, path, query)
        assert "internal error" not in str(answer.get("message")), (page, answer)
        assert not re.search(r"<(script|img)|[\0\x1b]", shown), (page, query)
    shown = show(repo, "time", query=f"base={old}&at=HEAD")[1]
    assert "alert(1)" in words(shown)
    assert max(map(len, shown.split("\n"))) < 40_000
    assert not (repo.path / "x").exists()


def test_a_folder_and_a_difference_of_ten_thousand_files_end(repo: Repo) -> None:
    repo.index_files({"a.py": LONG} | {f"many/{n % 97}/f{n}.txt": f"{n}\n" for n in range(10_000)})
    repo.write("a.py", LONG.replace("two", "three"))
    for number in range(400):
        repo.write(f"many/{number % 97}/f{number}.txt", "other\n")
    repo.commit("much")
    repo.index()
    answer, shown = show(repo, "time", query="base=HEAD~1&at=HEAD")
    assert answer["difference"]["changedFiles"] == 401
    assert len(shown) < 1_000_000
    assert "lines of more" in words(shown)
    assert show(repo, "file", "many")[0]["entryCount"] == 97
    assert show(repo, "map")[0]["nodeCount"] <= 300
