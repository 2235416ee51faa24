"""Which names are near a text, and in what order."""

from __future__ import annotations

import pytest

from gitindex.query.near_names import (
    EXACT,
    INSIDE,
    LETTERS,
    PREFIX,
    SAME_LETTERS,
    SUB_WORDS,
    rank_names,
)


@pytest.mark.parametrize(
    ("asked", "name", "rank"),
    [
        ("Parser", "Parser", EXACT),
        ("parser", "Parser", SAME_LETTERS),
        ("pars", "ParserError", PREFIX),
        ("ctx", "request_ctx", SUB_WORDS),
        ("reqctx", "RequestContext", None),
        ("ReqCon", "RequestContext", SUB_WORDS),
        ("context", "RequestContext", SUB_WORDS),
        ("quest", "RequestContext", INSIDE),
        ("rqst", "request", LETTERS),
        ("sendf", "send_file", PREFIX),
        ("filema", "get_send_file_max_age", INSIDE),
        ("xyz", "RequestContext", None),
        ("abc", "a_very_long_b_name_c", None),
    ],
)
def test_rank(asked: str, name: str, rank: int | None) -> None:
    found = rank_names(asked, [name])
    assert [near.rank for near in found] == ([] if rank is None else [rank])
