"""What the page's server keeps between questions, and that forgetting it changes no answer."""

from __future__ import annotations

import time
from types import SimpleNamespace
from typing import Any, cast

import pytest

from gitindex.base.system import resident_bytes
from gitindex.web import session as web_session
from gitindex.web.frame import freshness_bar
from gitindex.web.live import LATEST_SECONDS, LiveFeed, probe
from gitindex.web.pages import PAGES
from gitindex.web.session import Answer, WebQuestion, WebSession, ask
from tests.support import Repo

QUESTIONS: tuple[tuple[str, str, dict[str, list[str]]], ...] = (
    ("", "", {"q": ["helper"]}),
    ("symbol", "helper", {}),
    ("map", "", {}),
)


def answers(session: WebSession) -> list[Answer]:
    found = [ask(PAGES[name], session, WebQuestion(path, q)) for name, path, q in QUESTIONS]
    for answer in found:
        answer["receipt"].pop("footprint", None)  # what was read, and memory saves some of it
    return found


def test_a_rest_forgets_and_changes_no_answer(quiet: Repo) -> None:
    session = WebSession(quiet.worktree)
    session.highlighter.lines("a.py", "def a(): pass\n")
    child = session.highlighter._child
    assert child is not None
    before = answers(session)
    assert [answer["status"] for answer in before] == ["ok", "ok", "ok"]
    session.rest()
    assert child.returncode is not None
    assert not session._made
    assert answers(session) == before
    session.rest()


def test_a_server_that_has_grown_forgets_names(
    quiet: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(web_session, "MAX_RESIDENT", 1 << 40)  # this process runs other tests, too
    session = WebSession(quiet.worktree)
    before, names = answers(session), session.names
    assert answers(session) == before
    assert session.names is names
    monkeypatch.setattr(web_session, "MAX_RESIDENT", 1)
    assert answers(session) == before
    assert session.names is not names
    assert resident_bytes() > 1_000_000
    session.rest()


def test_nobody_looks_while_keys_are_typed() -> None:
    session = cast(Any, SimpleNamespace(asked_at=0.0))
    feed = LiveFeed(session)
    assert feed._is_due()  # the first page is told at once
    feed._next = time.monotonic() - 0.1
    assert feed._is_due()
    session.asked_at = time.monotonic() + 1e6  # just now, however slow this machine is
    assert not feed._is_due()
    feed._next = time.monotonic() - LATEST_SECONDS
    assert feed._is_due()


def test_the_bar_says_not_indexed(repo: Repo) -> None:
    repo.write("a.py", "x = 1\n")
    repo.commit("first")
    assert "<strong title" in probe(WebSession(repo.worktree)).bar
    assert "not indexed" in probe(WebSession(repo.worktree)).bar


@pytest.mark.parametrize(
    ("state", "told"),
    [
        ("stale", "HEAD is not in the index yet"),
        ("rebuilding", "a job runs"),
        ("not_indexed", "gitindex index"),
        ("unknown", "could not be read"),
        ("error", "gitindex status"),
    ],
)
def test_a_bar_that_is_not_fresh_says_why(state: str, told: str) -> None:
    assert told in freshness_bar({"state": state}).replace("&#x27;", "'")
    assert f'class="bar {state}"' in freshness_bar({"state": state})
