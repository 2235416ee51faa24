"""docs/promises.md says what the tests say."""

from __future__ import annotations

from tests.pages import PROMISES, promises


def test_the_page_is_up_to_date_and_every_promise_is_held() -> None:
    page = PROMISES.read_text()
    assert page == promises.render(page, promises.collect()), "run `make pages`"
    assert promises.unheld(page) == []
