"""The way from the command to the use case is short enough to be followed in a debugger."""

from __future__ import annotations

import sys
from types import FrameType

import pytest

from gitindex import __main__ as door
from gitindex.query.search import search as engine
from gitindex.query.search.search import search
from gitindex.view.tree import TreeView
from tests.support import Repo

MOST = 6


@pytest.mark.parametrize("options", [[], ["--limit", "3"]], ids=["plain", "with an option"])
def test_search_is_at_most_six_frames_from_main(
    repo: Repo, monkeypatch: pytest.MonkeyPatch, options: list[str]
) -> None:
    repo.write("a.py", "def needle(): pass\n")
    repo.commit("a")
    repo.index()
    between: list[str] = []

    def counted(view: TreeView, text: str, limit: int, *_: object, **__: object) -> object:
        frame: FrameType | None = sys._getframe(1)
        while frame is not None and frame.f_code is not door.main.__code__:
            if "/gitindex/" in frame.f_code.co_filename:
                between.append(frame.f_code.co_qualname)
            frame = frame.f_back
        assert frame is not None, "search was not called by main"
        return search(view, text, limit)

    monkeypatch.setattr(engine, "search", counted)
    monkeypatch.chdir(repo.path)
    monkeypatch.setattr(sys, "argv", ["gitindex", "search", "needle", *options])
    assert door.main() == 0
    assert 0 < len(between) <= MOST, between
