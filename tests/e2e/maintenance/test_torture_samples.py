"""A few cases of every fault suite, and controls that show that the suites can fail."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from gitindex.base.errors import StoreError
from gitindex.freshness.envelope import OverlaidPaths
from gitindex.store.checksums import Half
from tests import tree_changes
from tests.e2e.refresh.test_faults import STRACE
from tests.gits import GitUnavailable
from tests.support import TIMEOUT, Repo
from tests.torture import Clock
from tests.torture.clones import clones
from tests.torture.damage import damaged_stores
from tests.torture.edits import edits
from tests.torture.fuzz import fuzzed_requests
from tests.torture.hostile import hostile_repositories
from tests.torture.kills import kill_points
from tests.torture.looks import looks
from tests.torture.mutants import ROOT
from tests.torture.oracle import Oracle, answers
from tests.torture.policies import policies
from tests.torture.power import cuts_of_a_lying_disk, power_cuts
from tests.torture.projects import Project, check, projects
from tests.torture.remedies import HALVES, NAMES, ask, put_back, remedies
from tests.torture.remedies import Subject as DamagedSubject
from tests.torture.removals import removals
from tests.torture.seeded import FAULTS
from tests.torture.shortages import shortages
from tests.torture.soak import soak
from tests.torture.world import KINDS, World

pytestmark = pytest.mark.timeout(1800)
needs_strace = pytest.mark.skipif(STRACE is None, reason="strace is missing")
SEED = 1


@pytest.mark.promise("I-01", "I-22", "P-1", "P-3", cases=250, suite="answers")
@pytest.mark.parametrize("kind", KINDS)
def test_answers_are_those_of_the_disk(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", os.environ["PATH"])
    clock, rng = Clock(cases=2), random.Random(f"{kind} {SEED}")
    try:
        world = World(rng, tmp_path, kind)
    except GitUnavailable as why:
        pytest.skip(f"no git that knows reftables: {why}")
    oracle = Oracle(world, tmp_path)
    while clock.goes_on():
        world.step()
        oracle.check(clock)
        clock.count()
    assert clock.counts["answers"] >= 250


@pytest.mark.control("I-01", "P-1")
def test_the_oracle_notices_an_answer_of_another_tree(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    oracle = Oracle(World(random.Random(SEED), tmp_path, "plain"), tmp_path)
    oracle.check(Clock(cases=1))
    monkeypatch.setattr(Repo, "tree", lambda _self: "0" * 40)
    with pytest.raises(AssertionError, match="false fresh"):
        oracle.check(Clock(cases=1))


@needs_strace
@pytest.mark.promise("I-06", "I-07", "I-26", "P-5", cases=6, suite="kill_points")
def test_kill_points(tmp_path: Path) -> None:
    kill_points(Clock(cases=6), random.Random(SEED), tmp_path)


@needs_strace
@pytest.mark.promise("I-06", "I-26", "P-5", cases=20, suite="power_cuts")
def test_power_cuts(tmp_path: Path) -> None:
    power_cuts(Clock(cases=20), random.Random(SEED), tmp_path)


@needs_strace
@pytest.mark.control("I-06", "I-26", "P-5")
def test_on_a_lying_disk_a_marker_runs_ahead(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the seal, which reports such a store as damaged: a false answer, or a torn file."""
    monkeypatch.setattr("gitindex.freshness.observation.damage_of_store", lambda _store: "")
    with pytest.raises((AssertionError, StoreError)):
        cuts_of_a_lying_disk(Clock(cases=300), random.Random(SEED), tmp_path)


@pytest.mark.promise("I-27", cases=30, suite="damaged_stores")
def test_damaged_stores(tmp_path: Path) -> None:
    clock = Clock(cases=1)
    damaged_stores(clock, random.Random(SEED), tmp_path)
    assert clock.counts["cases"] >= 30


@pytest.mark.control("I-27")
def test_without_checksums_damage_answers_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("freshness.observation.damage_of_store", "view.snapshot.database_damage"):
        monkeypatch.setattr(f"gitindex.{module}", lambda *_: "")
    with pytest.raises(AssertionError, match="rotten"):  # of SEED the first fault is a closed gate
        damaged_stores(Clock(cases=400), random.Random(SEED + 1), tmp_path)


@pytest.mark.promise("I-41", cases=25, suite="remedies")
def test_remedies(tmp_path: Path) -> None:
    remedies(Clock(cases=25), random.Random(SEED), tmp_path)


@pytest.mark.control("I-41")
def test_without_the_names_of_the_halves_an_old_one_answers_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    subject, rng = DamagedSubject(tmp_path), random.Random(SEED)
    try:
        put_back(subject, rng, "old", [subject.store / name for name in HALVES["lexical half"]])
        ask(subject, Clock(), NAMES[-1], "refused")
        monkeypatch.setattr(Half, "precedes", lambda *_: False)
        with pytest.raises(AssertionError, match="wrong and fresh"):
            ask(subject, Clock(), NAMES[-1], "an old half")
    finally:
        subject.close()


@pytest.mark.promise("I-34", "I-37", "I-43", cases=8, suite="policies")
def test_policies(tmp_path: Path) -> None:
    policies(Clock(cases=8), random.Random(SEED), tmp_path)


@pytest.mark.promise("I-01", "I-43", "P-1", "P-3", cases=12, suite="projects")
def test_projects(tmp_path: Path) -> None:
    projects(Clock(cases=12), random.Random(SEED), tmp_path)


@pytest.mark.promise("I-01", "P-1", "P-3", cases=6, suite="clones")
def test_clones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = Repo(tmp_path / "source")
    source.init()
    tree_changes.fill(source)
    source.write("lib.py", "import json\n\n\ndef load(text):\n    return json.loads(text)\n")
    source.write("use.py", "from lib import load\n\n\nclass Reader:\n    read = load\n")
    source.commit()
    monkeypatch.setenv("GITINDEX_CLONES", str(source.path))
    clones(Clock(cases=6), random.Random(SEED), tmp_path / "clones")


@pytest.mark.control("I-43")
def test_a_word_that_is_left_out_and_not_counted_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = Project(
        Repo(tmp_path / "repo"), random.Random(SEED), Path(os.__file__).parent / "json"
    )
    check(project, None, Clock(cases=1))
    monkeypatch.setattr("gitindex.view.difference.choose_overlaid", _nothing)
    for path in project.repo.path.rglob("*.py"):
        path.write_text("def never_indexed():\n    return 1\n")
    with pytest.raises(AssertionError, match=r"on disk|misses|gone"):
        check(project, None, Clock(cases=1))


def _nothing(_root: str, _head: object) -> OverlaidPaths:
    return OverlaidPaths([], [], 0)


@needs_strace
@pytest.mark.promise("I-44", cases=20, suite="edits")
def test_edits(tmp_path: Path) -> None:
    edits(Clock(cases=20), random.Random(SEED), tmp_path)


@pytest.mark.promise("I-45", cases=8, suite="removals")
def test_removals(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.torture.removals.LATE", 1.5)
    removals(Clock(cases=8), random.Random(SEED), tmp_path)


@needs_strace
@pytest.mark.promise("I-42", cases=6, suite="shortages")
def test_shortages(tmp_path: Path) -> None:
    shortages(Clock(cases=6), random.Random(SEED), tmp_path)


@pytest.mark.promise("I-39", "I-18", cases=2_000, suite="fuzzed_requests")
def test_fuzzed_requests(tmp_path: Path) -> None:
    fuzzed_requests(Clock(cases=2_000), random.Random(SEED), tmp_path)


@pytest.mark.promise("I-33", "I-34", "I-35", "P-6", cases=6, suite="hostile_repositories")
def test_hostile_repositories(tmp_path: Path) -> None:
    hostile_repositories(Clock(cases=6), random.Random(SEED), tmp_path)


@pytest.mark.promise("I-15", "I-28", cases=6, suite="soak")
def test_soak(tmp_path: Path) -> None:
    soak(Clock(cases=6), random.Random(SEED), tmp_path)


def test_looks(tmp_path: Path) -> None:
    looks(Clock(cases=50), random.Random(SEED), tmp_path)


def test_looks_that_compare_nothing_but_head_are_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The control of the suite above."""
    monkeypatch.setattr("gitindex.git.status_cache._events_of", lambda _queue: [])
    with pytest.raises(AssertionError):
        looks(Clock(cases=400), random.Random(SEED), tmp_path)


@pytest.mark.control(*FAULTS)
def test_seeded_faults_are_noticed() -> None:
    """One wrong line for each of these promises: the test that holds it fails."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.torture.seeded"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_suite_is_sampled() -> None:
    from tests.torture.ordinary import ordinary_programs
    from tests.torture.packs import lying_packs, spoilt_packs
    from tests.torture.programs import (
        go_programs,
        java_programs,
        python_programs,
        typescript_programs,
    )
    from tests.torture.renames import renames
    from tests.torture.suites import SHARES, SUITES
    from tests.torture.team import team_kills, team_questions_of_roles

    sampled = {
        answers,
        damaged_stores,
        edits,
        fuzzed_requests,
        hostile_repositories,
        kill_points,
        looks,
        lying_packs,  # these two by tests/repo/sharing/test_pack_damage.py
        spoilt_packs,
        power_cuts,
        ordinary_programs,  # by tests/repo/query/names/test_ordinary_programs.py
        go_programs,  # these four by tests/repo/query/names/test_random_programs.py
        java_programs,
        python_programs,
        typescript_programs,
        policies,
        clones,
        projects,
        remedies,
        removals,
        shortages,
        renames,  # by tests/repo/edit/test_rename_packages.py, which needs no network
        soak,
        team_kills,  # these two by tests/repo/sharing/test_team.py
        team_questions_of_roles,
    }
    assert set(SUITES.values()) == sampled
    assert SHARES.keys() == SUITES.keys()
