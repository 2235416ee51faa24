"""No spoilt pack is adopted, or it changes no answer; facts that lie are found, and certify nothing."""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from gitindex.base.errors import GitIndexError
from gitindex.extract.pool import Extractor
from gitindex.query.names.memory import Memory
from gitindex.sharing.pack_file import unpack
from gitindex.store.blobs import dump
from gitindex.store.connection import open_reader
from tests.pack_damage import Mutation, mutations, poisons
from tests.packs import Team, certificate, pull, rewrite, verify_all
from tests.support import Repo

FEW_MUTATIONS, FEW_POISONS = 60, 40
SEED = int(os.environ.get("GITINDEX_SEED", "20"))


class World:
    """A sound pack, and a clone whose store is removed between two attempts."""

    def __init__(self, folder: Path) -> None:
        self.team = Team(folder)
        self.team.make()
        self.pack = self.team.pack(folder / "sound")
        self.clone = self.team.clone("clone")
        self.facts = facts_of(self.team.origin)
        self.workers = Extractor(workers=1)

    def spoilt(self) -> Path:
        """A copy of the sound pack, and a clone without an index."""
        dest = self.team.folder / "dest"
        shutil.rmtree(dest, ignore_errors=True)
        shutil.copytree(self.pack.parent, dest)
        shutil.rmtree(self.clone.worktree.store, ignore_errors=True)
        shutil.rmtree(self.clone.worktree.llmc, ignore_errors=True)
        return dest / self.pack.name


def facts_of(repo: Repo) -> list[str]:
    database = open_reader(repo.worktree.database)
    assert database is not None
    try:
        return list(dump(database))
    finally:
        database.close()


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    made = World(tmp_path_factory.mktemp("world"))
    yield made
    made.workers.close()


@pytest.fixture(autouse=True)
def _configured(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(world.team.home))


def _attempt(world: World, mutation: Mutation) -> str:
    """Spoil, pull, and say what is wrong with what happened; empty where nothing is."""
    pack = world.spoilt()
    mutation.apply(pack, world.team.key, random.Random(SEED))
    try:
        found = pull(world.clone, pack.parent)
    except (GitIndexError, OSError):
        return "" if not os.path.exists(world.clone.worktree.database) else "half a store is left"
    if found.adopted is None:
        return ""
    if world.clone.verdict().code != 0:
        return "adopted and not fresh"
    return "" if facts_of(world.clone) == world.facts else "adopted with other facts"


def _attempt_poison(world: World, change: object, rebuild: bool) -> str:
    pack = world.spoilt()
    rewrite(pack, world.team.key, change, lambda m: m)  # type: ignore[arg-type]
    try:
        pull(world.clone, pack.parent)
    except GitIndexError:
        return ""
    memory = Memory(workers=world.workers)
    for name in ("helper", "lonely", "start", "Worker0"):
        try:
            if certificate(world.clone, name, memory)["complete"]:
                return f"{name} was certified"
        except GitIndexError:
            continue  # a name that is gone
    verify_all(world.clone, world.workers)
    if world.clone.verdict().code == 0:
        return "not found by verification"
    if not rebuild:
        return ""
    world.clone.index()
    return "" if facts_of(world.clone) == world.facts else "other facts after the rebuild"


def test_no_spoilt_pack_changes_an_answer(world: World) -> None:
    tried = mutations(SEED, FEW_MUTATIONS)
    wrong = {m.name: why for m in tried if (why := _attempt(world, m))}
    assert not wrong
    assert len(tried) == FEW_MUTATIONS


def test_facts_that_lie_are_found(world: World) -> None:
    first, kinds = _kinds(world)[:2], _kinds(world)[2:]
    assert len(kinds) >= FEW_POISONS, len(kinds)
    random.Random(SEED).shuffle(kinds)
    kinds = first + kinds
    tried = enumerate(kinds[:FEW_POISONS])
    wrong = {
        name: why
        for number, (name, change) in tried
        if (why := _attempt_poison(world, change, rebuild=number % 20 == 0))
    }
    assert not wrong


def test_a_sound_pack_passes_the_same_attempt(world: World) -> None:
    """The control: what the attempts above refuse is the damage."""
    assert not _attempt(world, Mutation("none", lambda *_: None))
    assert os.path.exists(world.clone.worktree.database)
    verify_all(world.clone)
    assert world.clone.verdict().code == 0


@pytest.mark.torture
def test_a_thousand_spoilt_packs(world: World) -> None:
    wrong = {m.name: why for m in mutations(SEED, 1_000) if (why := _attempt(world, m))}
    assert not wrong


@pytest.mark.torture
def test_two_hundred_kinds_of_lies(world: World) -> None:
    kinds = (_kinds(world) * 8)[:200]
    wrong = {
        name: why for name, change in kinds if (why := _attempt_poison(world, change, rebuild=True))
    }
    assert not wrong


def _kinds(world: World) -> list[tuple[str, object]]:
    folder = world.team.folder / "kinds"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    unpack(str(world.pack), str(folder))
    return list(poisons(folder / "facts.db"))
