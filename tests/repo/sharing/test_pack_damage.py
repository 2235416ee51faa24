"""No spoilt pack is adopted, or it changes no answer; facts that lie are found, and certify nothing."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator

import pytest

from gitindex.base.errors import GitIndexError
from tests.pack_damage import Mutation, mutations
from tests.packs import in_database, pull, rewrite, verify_all
from tests.torture.packs import PackWorld

FEW_MUTATIONS, FEW_LIES = 60, 40
SEED = int(os.environ.get("GITINDEX_SEED", "20"))


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PackWorld]:
    made = PackWorld(tmp_path_factory.mktemp("world"))
    yield made
    made.workers.close()


@pytest.fixture(autouse=True)
def _configured(world: PackWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(world.team.home))


def test_no_spoilt_pack_changes_an_answer(world: PackWorld) -> None:
    rng = random.Random(SEED)
    tried = mutations(SEED, FEW_MUTATIONS)
    wrong = {m.name: why for m in tried if (why := world.attempt(m, rng))}
    assert not wrong
    assert len(tried) >= FEW_MUTATIONS


def test_facts_that_lie_are_found(world: PackWorld) -> None:
    rng = random.Random(SEED)
    halves, others = world.lies(rng)[:2], world.lies(rng)[2:]
    kinds = [*halves, *rng.sample(others, FEW_LIES - len(halves))]
    wrong = {
        name: why
        for number, (name, change) in enumerate(kinds)
        if (why := world.attempt_lie(change, rebuild=number % 20 == 0))
    }
    assert not wrong


def test_a_sound_pack_passes_the_same_attempt(world: PackWorld) -> None:
    """The control: what the attempts above refuse is the damage."""
    assert not world.attempt(Mutation("none", lambda *_: None), random.Random(SEED))
    assert os.path.exists(world.clone.worktree.database)
    verify_all(world.clone)
    assert world.clone.verdict().code == 0


@pytest.mark.parametrize("lie", ["parent=ordinal", "parent=ordinal+1", "parent=-2"])
def test_definitions_inside_themselves_are_refused(world: PackWorld, lie: str) -> None:
    """Readers follow parents up: such a pack made `refs` run for ever."""
    pack = world.spoilt()
    rewrite(pack, world.team.key, in_database(f"UPDATE definitions SET {lie}"), lambda m: m)
    with pytest.raises(GitIndexError, match="inside themselves"):
        pull(world.clone, pack.parent)
    assert not os.path.exists(world.clone.worktree.database)
