"""docs/promises.md says what the tests say."""

from __future__ import annotations

import pytest

from tests.conftest import ALL_PROMISES
from tests.pages import PROMISES, promises


def test_the_page_is_up_to_date_and_every_promise_is_held(
    pytestconfig: pytest.Config,
) -> None:
    collected = pytestconfig.stash.get(ALL_PROMISES, None) or promises.collect()
    page = PROMISES.read_text()
    assert page == promises.render(page, collected), "run `make pages`"
    assert promises.unheld(collected) == []
