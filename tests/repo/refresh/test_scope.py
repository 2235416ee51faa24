"""Scopes: a lattice whose ends are values, segment-safe packages, a stored form that hides nothing."""

from __future__ import annotations

import itertools
import json
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitindex.base.errors import GitIndexError
from gitindex.refresh.queue import EMPTY, FULL, RefreshScope, merge_scopes, resolve_scope
from tests.support import Repo

NAMES = st.lists(st.sampled_from(["a", "b", "lib", "library", "lib.py"]), min_size=1, max_size=3)
PATHS = NAMES.map("/".join)
SCOPES = st.one_of(
    st.just(FULL),
    st.just(EMPTY),
    st.builds(
        RefreshScope,
        st.lists(PATHS, max_size=4).map(tuple),
        st.lists(PATHS, max_size=3).map(tuple),
        st.none() | st.floats(allow_nan=False),
    ),
)
TREE = [
    "/".join(p)
    for n in (1, 2, 3)
    for p in itertools.product(["a", "b", "lib", "library"], repeat=n)
]


def chosen(scope: RefreshScope) -> set[str]:
    """What the scope selects from a tree where path number n changed at second n."""
    return resolve_scope(scope, TREE, lambda path: float(TREE.index(path)))


@settings(max_examples=500)
@given(a=SCOPES, b=SCOPES, c=SCOPES)
def test_i05_merge_is_a_join(a: RefreshScope, b: RefreshScope, c: RefreshScope) -> None:
    ab = merge_scopes(a, b)
    assert ab == merge_scopes(b, a)
    assert merge_scopes(ab, c) == merge_scopes(a, merge_scopes(b, c))
    assert merge_scopes(a, a) == a
    assert ab.covers(a)
    assert ab.covers(b)
    assert merge_scopes(a, FULL) == FULL
    assert merge_scopes(a, EMPTY) == a
    assert FULL.covers(a)
    assert a.covers(EMPTY)
    if a.covers(b):
        assert merge_scopes(a, c).covers(merge_scopes(b, c))
    assert (a.covers(b) and b.covers(a)) is (a == b)


@settings(max_examples=300)
@given(a=SCOPES, b=SCOPES)
def test_i05_merge_selects_the_union(a: RefreshScope, b: RefreshScope) -> None:
    assert chosen(merge_scopes(a, b)) == chosen(a) | chosen(b)


@settings(max_examples=300)
@given(a=SCOPES)
def test_stored_form_round_trips(a: RefreshScope) -> None:
    assert RefreshScope.from_json(a.to_json()) == a
    assert a.to_json().isascii()


@settings(max_examples=300)
@given(
    text=st.text(max_size=30)
    | st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["files", "packages", "changed_since", "full", "x"]), inner
            )
        ),
    ).map(json.dumps)
)
def test_any_text_is_a_scope(text: str) -> None:
    scope = RefreshScope.from_json(text)
    assert RefreshScope.from_json(scope.to_json()) == scope


GARBAGE = {
    "nothing": "",
    "null": "null",
    "list": "[]",
    "number": "1",
    "cut": '{"files":["a"',
    "files as text": '{"files":"abc"}',
    "packages as text": '{"packages":"abc"}',
    "files as object": '{"files":{"a":1}}',
    "files as null": '{"files":null}',
    "file that is no text": '{"files":["a",1]}',
    "file outside": '{"files":["../a"]}',
    "absolute package": '{"packages":["/etc"]}',
    "NUL": '{"files":["a\\u0000b"]}',
    "unknown key": '{"everything":true}',
    "unknown key beside a known one": '{"files":["a"],"globs":["*"]}',
    "time as text": '{"changed_since":"yesterday"}',
    "time as bool": '{"changed_since":true}',
    "time beyond floats": '{"changed_since":' + "9" * 400 + "}",
    "not a time": '{"changed_since":NaN}',
    "full as text": '{"full":"no"}',
    "full as number": '{"full":0}',
    "deep": "[" * 100_000,
    "seed's all-null form": '{"files":null,"packages":null,"changed_since":null}',
}


@pytest.mark.parametrize("text", GARBAGE.values(), ids=GARBAGE.keys())
def test_what_cannot_be_understood_is_full(text: str) -> None:
    assert RefreshScope.from_json(text) == FULL


@pytest.mark.parametrize(("a", "b"), [(0.0, 100.0), (100.0, 0.0), (-1.0, 0.0)])
def test_q6_the_earlier_time_wins(a: float, b: float) -> None:
    merged = merge_scopes(RefreshScope(changed_since=a), RefreshScope(changed_since=b))
    assert merged.changed_since == min(a, b)
    assert merged.covers(RefreshScope(changed_since=0.0))


def test_q6_no_time_is_not_the_beginning_of_time() -> None:
    merged = merge_scopes(RefreshScope(changed_since=5.0), RefreshScope(files=("a",)))
    assert merged.changed_since == 5.0


def test_q7_empty_and_full_are_values_of_their_own() -> None:
    for empty in (
        EMPTY,
        RefreshScope(),
        RefreshScope(files=(), packages=()),
        merge_scopes(EMPTY, EMPTY),
    ):
        assert not empty.full
        assert RefreshScope.from_json(empty.to_json()) == empty == EMPTY
        assert chosen(empty) == set()
    assert RefreshScope.from_json(FULL.to_json()) == FULL
    assert chosen(FULL) == set(TREE)
    assert EMPTY != FULL
    assert not EMPTY.covers(FULL)


@pytest.mark.parametrize("root", ["", ".", "./", "././"])
def test_q7_the_root_as_a_package_is_full(root: str) -> None:
    assert RefreshScope(packages=(root,)) == FULL


def test_q8_files_under_a_package_are_absorbed_in_any_order() -> None:
    package, file = RefreshScope(packages=("pkg",)), RefreshScope(files=("pkg/a.py",))
    for parts in itertools.permutations([package, file, file, package]):
        merged = EMPTY
        for part in parts:
            merged = merge_scopes(merged, part)
        assert merged == package
        assert merged.files == ()


def test_q8_inner_packages_are_absorbed_by_outer_ones() -> None:
    scope = RefreshScope(packages=("a/b/c", "a/b", "ab", "a/bc"), files=("a/b", "a/bc.py", "ab/x"))
    assert scope.packages == ("a/b", "a/bc", "ab")
    assert scope.files == ("a/bc.py",)


def test_q9_packages_are_segments_not_prefixes() -> None:
    scope = RefreshScope(files=("a.py",), packages=("lib",))
    paths = [
        "a.py",
        "b/a.py",
        "lib",
        "lib/x.py",
        "lib/sub/y.py",
        "library/z.py",
        "lib.py",
        "xlib/a",
    ]
    selected = resolve_scope(scope, paths, lambda _: None)
    assert selected == {"a.py", "lib", "lib/x.py", "lib/sub/y.py"}
    short = RefreshScope(packages=("a",))
    assert resolve_scope(short, ["a/x.py", "ab/x.py"], lambda _: None) == {"a/x.py"}


def test_times_select_what_changed_since_or_at_that_time() -> None:
    times = {"old": 1.0, "at": 2.0, "new": 3.0, "unknown": None}
    assert resolve_scope(RefreshScope(changed_since=2.0), times, times.get) == {"at", "new"}


@pytest.mark.promise("I-30")
def test_the_clock_is_asked_only_if_a_time_is_given() -> None:
    def never(path: str) -> float:
        raise AssertionError(path)

    assert resolve_scope(RefreshScope(files=("a",)), ["a", "b"], never) == {"a"}
    assert resolve_scope(FULL, ["a", "b"], never) == {"a", "b"}


@pytest.mark.parametrize("path", ["../a", "/etc/passwd", "a/../../b", "C:/x"])
def test_a_scope_never_leaves_the_repository(path: str) -> None:
    with pytest.raises(GitIndexError):
        RefreshScope(files=(path,))
    with pytest.raises(GitIndexError):
        RefreshScope(packages=(path,))


def test_a_scope_is_canonical() -> None:
    scope = RefreshScope(files=("b", "a//x", "./b", "a/x"), packages=("p/", "p"))
    assert (scope.files, scope.packages) == (("a/x", "b"), ("p",))
    with pytest.raises(ValueError, match="time"):
        RefreshScope(changed_since=float("nan"))


def test_s10_three_hundred_thousand_paths() -> None:
    paths = tuple(f"dir{n % 1000}/sub{n % 77}/file{n}.py" for n in range(300_000))
    started = time.process_time()
    scope = RefreshScope(files=paths[::2], packages=paths[1::2])
    stored = RefreshScope.from_json(scope.to_json())
    assert stored == scope
    assert resolve_scope(stored, paths, lambda _: None) == set(paths)
    assert stored.covers(RefreshScope(files=("dir0/sub0/file0.py",)))
    assert time.process_time() - started < 30  # quadratic would be an hour


def test_s9_names_that_no_scope_can_hold_are_indexed(repo: Repo) -> None:
    repo.write("a.py", "x = 1\n")
    repo.commit()
    assert repo.gitindex("index").returncode == 0
    for name in ("c:drive.md", "back\\slash.py", "dots..py", "..hidden/x.py"):
        repo.write(name, "word\n")
    repo.commit()
    done = repo.gitindex("index")
    assert (done.returncode, done.stderr) == (0, "")
    assert repo.state() == "fresh"
    repo.assert_published()
