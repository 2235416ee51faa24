"""The matrix of operations once more on a newer git, where hooks live in git's configuration."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.e2e.refresh import test_silent
from tests.e2e.refresh.test_events import EVENTS
from tests.e2e.refresh.test_silent import SILENT
from tests.gits import GitUnavailable, newer_git
from tests.support import Repo


@pytest.fixture(autouse=True)
def newer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Git with config hooks first on PATH, before any repository is made."""
    try:
        monkeypatch.setenv("PATH", newer_git((2, 54)).path)
    except GitUnavailable as error:
        pytest.skip(f"no newer git: {error}")


@pytest.mark.parametrize("operation", EVENTS.values(), ids=EVENTS.keys())
def test_event_ends_fresh_through_config_hooks(
    indexed: Repo, operation: Callable[[Repo], None]
) -> None:
    assert "gitindex-post-commit" in indexed.git("config", "--get-regexp", r"hook\..*\.event")
    operation(indexed)
    indexed.wait_fresh()
    indexed.assert_published()


@pytest.mark.torture
@pytest.mark.parametrize(("operation", "expected"), SILENT.values(), ids=SILENT.keys())
def test_q24_on_a_newer_git(quiet: Repo, operation: Callable[[Repo], None], expected: str) -> None:
    test_silent.test_q24_readers_tell_the_truth_without_a_hook(quiet, operation, expected)
