"""Where a user's own files live: one rule for the registry and for the lock of heavy work."""

from __future__ import annotations

import os

import pytest

from gitindex.base.locations import runtime_folder, state_folder

HOME_STATE = "~/.local/state/gitindex"


@pytest.mark.parametrize(("value", "folder"), [("/x/s", "/x/s/gitindex"), ("s", ""), ("", "")])
def test_the_state_folder_follows_xdg(
    monkeypatch: pytest.MonkeyPatch, value: str, folder: str
) -> None:
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    monkeypatch.setenv("XDG_STATE_HOME", value)
    expected = folder or os.path.expanduser(HOME_STATE)
    assert (state_folder(), runtime_folder()) == (expected, expected)


def test_the_runtime_folder_is_preferred_for_what_ends_with_the_login(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", "/x/state")
    monkeypatch.setenv("XDG_RUNTIME_DIR", "/run/user/1")
    assert runtime_folder() == "/run/user/1/gitindex"
    monkeypatch.setenv("XDG_RUNTIME_DIR", "run")
    assert runtime_folder() == "/x/state/gitindex"
