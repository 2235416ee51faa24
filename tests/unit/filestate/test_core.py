"""File states of bare graphs: equal to the definition by paths, whatever the cycles and the order."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitindex.base.vocabulary import Certainty, Freshness
from gitindex.filestate.core import OPAQUE, FileDependency, FileRecord, FileState, States

CLEAN = FileRecord("1", "1")
DIRTY = FileRecord("1", "2")
ABSENT = FileRecord(None, "1")
BLIND = FileRecord(None, None, unchanged=True)
GONE = FileRecord("1", None)


def _same(target: str) -> FileDependency:
    return FileDependency(target, "i", "i")


def _changed(target: str) -> FileDependency:
    return FileDependency(target, "i", "j")


def _freshness(
    files: dict[str, FileRecord], edges: dict[str, list[FileDependency]], path: str
) -> str:
    return str(States(files, edges).of(path).freshness)


@pytest.mark.parametrize(
    ("known", "expected"),
    [(CLEAN, "clean"), (DIRTY, "dirty"), (GONE, "dirty"), (ABSENT, "unindexed")],
)
def test_a_file_by_itself(known: FileRecord, expected: str) -> None:
    assert _freshness({"a": known}, {}, "a") == expected


def test_f1_cycle_of_two() -> None:
    files = {"a": CLEAN, "b": CLEAN}
    edges = {"a": [_same("b")], "b": [_same("a")]}
    assert [_freshness(files, edges, path) for path in files] == ["clean", "clean"]


@pytest.mark.slow
def test_f2_chain_of_a_hundred_thousand() -> None:
    last = 100_000
    files = {str(n): CLEAN for n in range(last)} | {str(last): DIRTY}
    edges = {str(n): [_same(str(n + 1))] for n in range(last)}
    states = States(files, edges)
    assert states.of("0").freshness is Freshness.PENDING_CHECK
    assert states.chain("0")[-1] == str(last - 1)
    assert [edge.target for edge in states.causes(str(last - 1))] == [str(last)]


def test_f6_the_order_of_asking_does_not_matter() -> None:
    files = dict.fromkeys("abcd", CLEAN)
    edges = {"a": [_same("b"), _same("c")], "b": [_same("a")], "c": [_changed("d")]}
    for order in ("abcd", "dcba", "bacd", "cabd"):
        states = States({path: files[path] for path in order}, edges)
        found = [str(states.of(path).freshness) for path in "abcd"]
        assert found == ["stale", "stale", "stale", "clean"]
        assert states.chain("b") == ["b", "a", "c"]


def test_stale_is_said_before_pending() -> None:
    files = {"a": CLEAN, "b": CLEAN, "c": DIRTY, "d": CLEAN}
    edges = {"a": [_same("c"), _same("b")], "b": [_changed("d")]}
    assert _freshness(files, edges, "a") == "stale"


def test_nothing_is_seen_through_a_dirty_file() -> None:
    files = {"a": CLEAN, "b": DIRTY, "c": CLEAN, "d": CLEAN}
    edges = {"a": [_same("b")], "b": [_same("c")], "c": [_changed("d")]}
    assert _freshness(files, edges, "a") == "pending_check"


def test_f5_what_has_no_facts_and_did_not_change_reaches_no_further() -> None:
    files = {"a": CLEAN, "b": CLEAN, "c": BLIND, "d": ABSENT}
    edges = {"a": [_same("b")], "b": [_same("c")]}
    assert [_freshness(files, edges, path) for path in "ab"] == ["clean", "pending_check"]
    edges["b"].append(_same("d"))
    assert [_freshness(files, edges, path) for path in "ab"] == ["pending_check"] * 2


def test_f5_but_what_changed_is_seen_beside_it() -> None:
    files = {"a": CLEAN, "b": CLEAN, "c": CLEAN, "blind": BLIND, "dirty": DIRTY}
    edges = {"a": [_same("b")], "b": [_same("blind"), _same("c")], "c": [_same("dirty")]}
    assert [_freshness(files, edges, path) for path in "abc"] == ["pending_check"] * 3
    assert States(files, edges).chain("a") == ["a", "b", "c"]


def test_configuration_does_not_spread() -> None:
    """What a configuration file itself imports is not a dependency of the files it configures."""
    files = {"a": CLEAN, "setup.py": CLEAN, "x": DIRTY}
    edges = {"a": [FileDependency("setup.py", "1", "1", "config")], "setup.py": [_same("x")]}
    assert _freshness(files, edges, "a") == "clean"
    assert (
        _freshness(files, {"a": [FileDependency("setup.py", "1", "2", "config")]}, "a") == "stale"
    )


@pytest.mark.parametrize("certainty", list(Certainty))
def test_certainty_is_of_the_facts_where_they_are_of_these_bytes(certainty: Certainty) -> None:
    files = {
        "clean": FileRecord("1", "1", certainty),
        "stale": FileRecord("1", "1", certainty),
        "dirty": FileRecord("1", "2", certainty),
        "none": FileRecord(None, "2", certainty),
    }
    states = States(files, {"stale": [_changed("clean")]})
    assert states.of("clean") == FileState(Freshness.CLEAN, certainty)
    assert states.of("stale") == FileState(Freshness.STALE, certainty)
    assert states.of("dirty") == FileState(Freshness.DIRTY, Certainty.UNKNOWN)
    assert states.of("none") == FileState(Freshness.UNINDEXED, Certainty.UNKNOWN)
    assert states.of("never seen") == FileState(Freshness.UNINDEXED, Certainty.UNKNOWN)


_NAMES = "abcdefg"
_KNOWN = st.sampled_from([CLEAN, CLEAN, CLEAN, CLEAN, CLEAN, DIRTY, GONE, ABSENT, BLIND])
_EDGE = st.builds(
    FileDependency,
    st.sampled_from(_NAMES + "z"),
    st.sampled_from(["i", "i", "i", "i", "i", "j", None]),
    st.just("i"),
    st.just("import"),
)
_GRAPHS = st.tuples(
    st.fixed_dictionaries(dict.fromkeys(_NAMES, _KNOWN)),
    st.dictionaries(st.sampled_from(_NAMES), st.lists(_EDGE, max_size=3)),
)


def _brute(
    files: dict[str, FileRecord], edges: dict[str, list[FileDependency]], path: str
) -> Freshness:
    """The definition: by the ends of all simple paths through files that can be seen through."""
    own = _own(files[path])
    if own in OPAQUE:
        return own
    ends = list(_ends(files, edges, path, frozenset()))
    if Freshness.STALE in ends:
        return Freshness.STALE
    return Freshness.PENDING_CHECK if Freshness.PENDING_CHECK in ends else Freshness.CLEAN


def _ends(
    files: dict[str, FileRecord],
    edges: dict[str, list[FileDependency]],
    path: str,
    seen: frozenset[str],
) -> Iterator[Freshness]:
    for edge in edges.get(path, []):
        if edge.seen != edge.now:
            yield Freshness.STALE
        if edge.target not in files or _own(files[edge.target]) in OPAQUE:
            if not seen or edge.target not in files or not files[edge.target].unchanged:
                yield Freshness.PENDING_CHECK
        elif edge.target not in seen:
            yield from _ends(files, edges, edge.target, seen | {path})


def _own(known: FileRecord) -> Freshness:
    if known.indexed is None:
        return Freshness.UNINDEXED
    return Freshness.CLEAN if known.indexed == known.disk else Freshness.DIRTY


@given(_GRAPHS)
@settings(max_examples=600, deadline=None)
def test_states_equal_the_definition(
    graph: tuple[dict[str, FileRecord], dict[str, list[FileDependency]]],
) -> None:
    files, edges = graph
    states = States(files, edges)
    for path in files:
        assert states.of(path).freshness is _brute(files, edges, path), path


@given(_GRAPHS, st.permutations(_NAMES))
@settings(max_examples=100, deadline=None)
def test_states_and_reasons_do_not_depend_on_order_or_on_who_else_is_asked(
    graph: tuple[dict[str, FileRecord], dict[str, list[FileDependency]]], order: list[str]
) -> None:
    files, edges = graph
    whole = States(files, edges)
    shuffled = States(
        {path: files[path] for path in order},
        {path: list(reversed(edges[path])) for path in reversed(order) if path in edges},
    )
    for path in files:
        reached = _closure(edges, path)
        alone = States(
            {p: files[p] for p in reached if p in files},
            {p: edges[p] for p in reached if p in edges},
        )
        for other in (shuffled, alone):
            assert other.of(path) == whole.of(path)
            assert other.chain(path) == whole.chain(path)
            assert sorted(map(repr, other.causes(path))) == sorted(map(repr, whole.causes(path)))


def _closure(edges: dict[str, list[FileDependency]], path: str) -> set[str]:
    found, todo = {path}, [path]
    while todo:
        for edge in edges.get(todo.pop(), []):
            if edge.target not in found:
                found.add(edge.target)
                todo.append(edge.target)
    return found
