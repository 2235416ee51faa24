"""Ranking: what each feature prefers, and golden queries on third-party packages."""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from statistics import fmean

import pytest

from gitindex.base.worktree import find_worktree
from gitindex.query.search.query_text import parse_query
from gitindex.query.search.ranking import (
    NamedDefinition,
    Rarity,
    SymbolMatcher,
    centrality,
    coverage,
    path_match,
    share_of,
)
from gitindex.query.search.search import search
from gitindex.query.search.snippets import (
    count_terms,
    defines,
    holds_phrases,
    line_start,
    look,
    sought_in,
)
from gitindex.view.tree import open_tree
from tests.golden import HELD_OUT, TUNED, GoldenSet, copy_packages, ndcg, plain_bm25, usable
from tests.support import Repo


def _symbols(text: str, *named: NamedDefinition) -> list[float]:
    query = parse_query(text)
    matcher = SymbolMatcher(query, Rarity(query, {}, 100))
    return [matcher.match(one) for one in named]


def _function(
    name: str, within: str = "", doc: str = "", kind: str = "function"
) -> NamedDefinition:
    return NamedDefinition(name, f"{within}.{name}" if within else name, kind, doc)


def _falls(values: list[float]) -> bool:
    return all(a > b for a, b in pairwise(values))


def test_exact_over_spelling_over_part_over_context_over_nothing() -> None:
    names = ("parseRequest", "parse_request", "parse_request_line", "line")
    found = _symbols("parseRequest", *(_function(name) for name in names))
    assert _falls(found)
    assert found[-1] == 0.0


def test_several_words_in_one_name_beat_one_of_them() -> None:
    names = ("http_request", "parse_http_request_line", "http", "other")
    assert _falls(_symbols("http request", *(_function(name) for name in names)))


def test_surroundings_and_comments_count_less_than_names() -> None:
    found = _symbols(
        "socket close",
        _function("close_socket"),
        _function("close", within="Socket"),
        _function("close"),
        _function("shut", doc="Close the socket."),
    )
    assert _falls(found)


def test_a_qualified_name_is_exact() -> None:
    assert _symbols("socket.close", _function("close", within="Socket")) == [1.0]


def test_a_function_beats_a_variable_of_the_same_name() -> None:
    assert _falls(_symbols("limit", _function("limit"), _function("limit", kind="variable")))


def test_rare_words_count_more() -> None:
    query = parse_query("self frobnicate")
    rarity = Rarity(query, {"self": 990, "frobnicate": 3}, 1000)
    assert coverage(query, rarity, {"frobnicate"}) > 0.9 > coverage(query, rarity, {"self"})
    assert coverage(query, rarity, {"self", "frobnicate"}) == pytest.approx(1.0)


def test_a_path_that_was_asked_for_beats_its_words() -> None:
    query = parse_query("pkg/foo.py")
    rarity = Rarity(query, {}, 10)
    found = [path_match(query, rarity, p) for p in ("a/pkg/foo.py", "foo/pkg.py", "other.py")]
    assert _falls(found)
    query = parse_query("read config")
    rarity = Rarity(query, {}, 10)
    paths = ("a/read_config.py", "a/config.py", "config/a.py", "other.py")
    assert _falls([path_match(query, rarity, path) for path in paths])


def test_tests_generated_and_foreign_files_give_way_unless_asked_for() -> None:
    plain, asked = parse_query("socket"), parse_query("socket in:tests")
    assert share_of(plain, "src/socket.py") == 1.0
    for path in ("tests/test_socket.py", "vendor/socket.py", "socket.min.js", "CHANGELOG.md"):
        assert share_of(plain, path) < 1.0, path
    assert share_of(asked, "tests/test_socket.py") == 1.0
    assert share_of(parse_query("socket test"), "tests/test_socket.py") == 1.0
    assert share_of(parse_query("path:vendor socket"), "vendor/socket.py") == 1.0


def test_centrality_grows_slowly_and_ends_at_one() -> None:
    assert centrality(0) == 0.0
    assert 0 < centrality(3) < centrality(30) < centrality(1_000_000) == 1.0


def test_words_close_together_are_the_place() -> None:
    filler = "something else altogether is written here\n" * 20
    text = f"lock\n{filler}the lock of a thread\n{filler}thread\n"
    query = parse_query("thread lock")
    shares = {"thread": 0.5, "lock": 0.5}
    found = look(text, sought_in(query, shares, {"thread", "lock"}))
    assert found.line == 21
    assert found.near == 1.0
    alone = look(f"lock\n{filler}thread\n", sought_in(query, shares, {"thread", "lock"}))
    assert alone.near < found.near
    assert look("", []).line == 0


def test_lines_start_where_they_start() -> None:
    text = "".join(f"{'x' * (number % 97)}\n" for number in range(3_000)) + "end"
    starts = [0, *(at + 1 for at, char in enumerate(text) if char == "\n")]
    assert [line_start(text, line) for line in range(3_001)] == starts
    assert line_start(text, 9_999) == len(text)
    assert line_start("", 3) == 0


def test_terms_are_counted_as_the_index_counts_them() -> None:
    text = "parseHttp parse_http HTTP reparse"
    assert count_terms(text, ["parse", "http", "none"]) == {"parse": 2, "http": 3}


@pytest.mark.parametrize(
    ("text", "defined"),
    [
        ("x = self.total\n  def Total(self):", True),
        ("func (b *Bill) total() {", True),
        ("class\n    total", True),
        ("function  (a, b)  total", True),
        ("İ def total", True),
        (f"func (b {'x' * 70}){' ' * 9}total", True),
        ("undef total", False),
        ("def totals", False),
        ("def total_of", False),
        ("def(total)", False),
        ("func(b)total", False),
        ("total", False),
        ("the class of total", False),
        ("def subtotal", False),
        ("", False),
    ],
)
def test_a_definition_is_told_by_the_word_before_it(text: str, defined: bool) -> None:
    assert defines(text, "total") is defined


def test_phrases_are_found_across_blanks_and_case_but_not_in_longer_words() -> None:
    assert holds_phrases("Say  Hello\n  World!", ["hello world"])
    assert not holds_phrases("say hello worlds", ["hello world"])
    assert holds_phrases("anything", [])


@pytest.fixture(scope="module", params=["tuned", "held-out"])
def golden(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Repo, GoldenSet]:
    chosen = TUNED if request.param == "tuned" else HELD_OUT
    repo = Repo(tmp_path_factory.mktemp(request.param) / "repo")
    repo.init()
    copy_packages(chosen, repo.path)
    repo.commit("packages")
    subprocess.run(
        [sys.executable, "-m", "gitindex", "index"],
        cwd=repo.path,
        check=True,
        timeout=300,
        capture_output=True,
    )
    return repo, chosen


def test_golden_queries_find_their_files(golden: tuple[Repo, GoldenSet]) -> None:
    repo, chosen = golden
    cases = usable(chosen, Path(repo.path))
    assert len(cases) >= 30, "the packages have changed: write new cases"
    with open_tree(find_worktree(os.fspath(repo.path)), ".") as view:
        ours = {c: [r["path"] for r in search(view, c.query, 20)["results"]] for c in cases}
        plain = plain_bm25(view)
        baseline = fmean(ndcg(case, plain(case.query)) for case in cases)
    mean = fmean(ndcg(case, found) for case, found in ours.items())
    lost = [case.query for case, found in ours.items() if not ndcg(case, found)]
    assert mean > 0.8, (mean, lost)
    assert mean > baseline * 1.2, (mean, baseline)
    assert len(lost) <= 2, lost


def test_golden_queries_find_their_definitions(golden: tuple[Repo, GoldenSet]) -> None:
    repo, chosen = golden
    cases = [case for case in usable(chosen, Path(repo.path)) if case.symbol]
    with open_tree(find_worktree(os.fspath(repo.path)), ".") as view:
        found = [
            case.symbol in [r.get("name") for r in search(view, case.query, 10)["results"]]
            for case in cases
        ]
    assert fmean(found) > 0.8, [c.query for c, ok in zip(cases, found, strict=True) if not ok]
