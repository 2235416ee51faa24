"""The protocol explored exhaustively, and mutants of it that the search must catch."""

from dataclasses import replace
from itertools import combinations

import pytest

from .explore import explore, most_rows
from .state import Bounds, Protocol, Violation

HARDENED = Protocol()
SMALL = Bounds(moves=3, faults=1, detours=1)
CALLS = Bounds(moves=3, faults=0, calls=True)


def without(*safeguards: str) -> Protocol:
    return replace(HARDENED, **dict.fromkeys(safeguards, False))


def assert_clean(bounds: Bounds, states: int, crash_points: int) -> None:
    """No violation, and exactly the states it is known to have: a model that shrank is noticed."""
    found = explore(HARDENED, bounds)
    for violation, trace in found.traces.items():
        pytest.fail(f"{violation.name}, shortest trace:\n{trace}")
    assert (found.states, found.crash_points) == (states, crash_points)


@pytest.mark.promise("I-01", "I-06", "I-07", "I-13", "I-14", "I-15", cases=43_677)
def test_three_commits_two_runners_one_kill() -> None:
    """With the other worlds 99,139 states; torture has those of four, five and six commits."""
    assert_clean(Bounds(moves=3, faults=1), 43_677, 1_458)


@pytest.mark.promise("I-01", "I-06", "I-07", "I-15")
@pytest.mark.parametrize(
    ("bounds", "states", "crash_points"),
    [
        pytest.param(Bounds(2, 1, detours=2), 8_530, 552, id="reset-am-checkout"),
        pytest.param(Bounds(2, 1, calls=True), 6_506, 462, id="enqueue_refresh"),
        pytest.param(Bounds(2, 1, detours=1, poison=True), 4_695, 235, id="tree-that-always-fails"),
        pytest.param(Bounds(2, 0, detours=1, reader=True), 35_731, 577, id="slow-reader"),
    ],
)
def test_other_worlds(bounds: Bounds, states: int, crash_points: int) -> None:
    assert_clean(bounds, states, crash_points)


@pytest.mark.promise("I-01", "I-06", "I-07", "I-15", cases=813_658)
@pytest.mark.torture
@pytest.mark.timeout(7200)
def test_four_commits_two_runners_two_kills() -> None:
    assert_clean(Bounds(moves=4, faults=2), 813_658, 10_934)


@pytest.mark.promise("I-01", "I-06", "I-07", "I-15")
@pytest.mark.torture
@pytest.mark.timeout(7200)
@pytest.mark.parametrize(
    ("bounds", "states", "crash_points"),
    [
        pytest.param(Bounds(5, 2), 3_919_435, 43_900, id="five-commits"),
        pytest.param(Bounds(6, 2), 12_966_069, 131_306, id="six-commits"),
        pytest.param(Bounds(4, 2, detours=4), 5_065_502, 30_003, id="any-moves"),
        pytest.param(Bounds(3, 2, detours=3, calls=True), 1_058_772, 14_134, id="enqueue_refresh"),
        pytest.param(
            Bounds(4, 2, detours=1, poison=True), 1_828_068, 14_621, id="tree-that-always-fails"
        ),
        pytest.param(Bounds(3, 2, detours=1, reader=True), 6_871_356, 12_808, id="slow-reader"),
        pytest.param(Bounds(3, 2, detours=2), 368_080, 5_430, id="reset-am-checkout"),
        pytest.param(Bounds(3, 1, detours=1, calls=True), 435_548, 9_666, id="calls-and-detours"),
        pytest.param(Bounds(3, 1, detours=1, poison=True), 93_025, 1_903, id="poisoned-tree"),
        pytest.param(
            Bounds(2, 1, detours=1, calls=True, reader=True), 191_473, 1_619, id="reader-and-calls"
        ),
    ],
)
def test_larger_worlds(bounds: Bounds, states: int, crash_points: int) -> None:
    assert_clean(bounds, states, crash_points)


CAUGHT = [
    (("reaper",), SMALL, Violation.ORPHAN),
    (("merge",), replace(CALLS, faults=1), Violation.TWO_QUEUED),
    (("follow_up",), replace(CALLS, faults=1), Violation.NO_RECOVERY),
    (("tree_diff",), SMALL, Violation.FALSE_FRESH),
    (("marker_last",), SMALL, Violation.MARKER_LIES),
    (("completed_last",), SMALL, Violation.COMPLETED_WITHOUT_MARKER),
    (("read_back",), SMALL, Violation.NO_RECOVERY),
    (("recheck",), SMALL, Violation.STUCK),
    (("recheck_queue",), CALLS, Violation.STUCK),
    (("stale_again",), SMALL, Violation.STATUS_LIES),
    (("mend_status",), SMALL, Violation.STATUS_STUCK),
    (("poll_head",), SMALL, Violation.MISSED_MOVE),
    (("give_up",), replace(SMALL, poison=True), Violation.NO_RECOVERY),
    (("lease",), Bounds(2, 1), Violation.ORPHAN),
    (("lease", "fence"), Bounds(2, 0), Violation.COMPLETED_WITHOUT_MARKER),
    (("lease", "fence", "requeue"), Bounds(2, 1), Violation.STUCK),
    (("lease", "beside"), Bounds(3, 0), Violation.FALSE_FRESH),
    (("beside", "clear"), SMALL, Violation.MARKER_LIES),
    (("beside", "clear"), SMALL, Violation.FALSE_FRESH),
]


@pytest.mark.control("I-01", "I-06", "I-07", "I-13", "I-15")
@pytest.mark.parametrize(
    ("safeguards", "bounds", "violation"),
    [pytest.param(*case, id=f"no-{'-'.join(case[0])}:{case[2].name}") for case in CAUGHT],
)
def test_mutant_is_caught(
    safeguards: tuple[str, ...], bounds: Bounds, violation: Violation
) -> None:
    found = explore(without(*safeguards), bounds, until=violation)
    assert violation in found.traces
    print(f"{violation.name}\n{found.traces[violation]}")


# Safeguards that back each other up: without all of a row the last move is lost, though its hook
# or call was served and nobody was killed; with any one of them it is not.
BACKED_UP = [
    ("head_in_txn", "requeue", "poll_head"),
    ("follow_up", "poll_head"),
]


@pytest.mark.slow
@pytest.mark.parametrize("safeguards", BACKED_UP, ids="-".join)
def test_safeguards_back_each_other_up(safeguards: tuple[str, ...]) -> None:
    assert Violation.STUCK in explore(without(*safeguards), CALLS, until=Violation.STUCK).traces
    for fewer in combinations(safeguards, len(safeguards) - 1):
        assert Violation.STUCK not in explore(without(*fewer), CALLS).traces


@pytest.mark.parametrize(
    "safeguard",
    ["head_in_txn", "union", "beside", "clear", "recheck_head", "requeue", "fence"],
)
def test_single_removal_is_backed_up(safeguard: str) -> None:
    """If this fails, the safeguard has lost its second line of defence."""
    assert not explore(without(safeguard), Bounds(2, 1, detours=1, calls=True)).traces


POISON = Bounds(moves=2, faults=1, detours=1, poison=True)


@pytest.mark.slow
@pytest.mark.parametrize(("bounds", "rows"), [(SMALL, 5), (POISON, 3)], ids=["small", "poison"])
def test_every_story_ends_and_job_rows_are_bounded(bounds: Bounds, rows: int) -> None:
    """A row a move, and one for each fault or HEAD that moved under the runner."""
    assert most_rows(HARDENED, bounds) == rows


@pytest.mark.parametrize(
    ("safeguards", "bounds"),
    [(("give_up",), POISON), (("read_back", "give_up"), Bounds(1, 1))],
    ids=["tree-that-always-fails", "lexical-commit-that-stored-nothing"],
)
def test_mutant_never_ends(safeguards: tuple[str, ...], bounds: Bounds) -> None:
    assert most_rows(without(*safeguards), bounds) is None
