"""Packs that are spoilt, and packs whose facts lie: none is adopted, or no answer changes."""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gitindex.base.errors import GitIndexError
from gitindex.extract.pool import Extractor
from gitindex.query.names.memory import Memory
from gitindex.sharing.pack_file import unpack
from gitindex.store.blobs import dump
from gitindex.store.connection import open_reader
from tests.pack_damage import Change, Mutation, mutations, poisons, random_mutation
from tests.packs import Team, certificate, pull, rewrite, verify_all
from tests.support import Repo
from tests.torture import Clock


class PackWorld:
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

    def lies(self, rng: random.Random) -> list[tuple[str, Change]]:
        """Every way to lie, about a random row of each table."""
        folder = self.team.folder / "kinds"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        unpack(str(self.pack), str(folder))
        return poisons(folder / "facts.db", rng)

    def attempt(self, mutation: Mutation, rng: random.Random) -> str:
        """Spoil, pull, and say what is wrong with what happened; empty where nothing is."""
        pack = self.spoilt()
        mutation.apply(pack, self.team.key, rng)
        try:
            found = pull(self.clone, pack.parent)
        except (GitIndexError, OSError):
            return "half a store is left" if os.path.exists(self.clone.worktree.database) else ""
        if found.adopted is None:
            return ""
        if self.clone.verdict().code != 0:
            return "adopted and not fresh"
        return "" if facts_of(self.clone) == self.facts else "adopted with other facts"

    def attempt_lie(self, change: Change, rebuild: bool) -> str:
        """Let an allowed signer lie: no certificate rests on it, and verification finds it."""
        pack = self.spoilt()
        rewrite(pack, self.team.key, change, lambda m: m)
        try:
            pull(self.clone, pack.parent)
        except GitIndexError:
            return ""
        memory = Memory(workers=self.workers)
        for name in ("helper", "lonely", "start", "Worker0"):
            try:
                if certificate(self.clone, name, memory)["complete"]:
                    return f"{name} was certified"
            except GitIndexError:
                continue  # a name that is gone
        verify_all(self.clone, self.workers)
        if self.clone.verdict().code == 0:
            return "not found by verification"
        if not rebuild:
            return ""
        self.clone.index()
        return "" if facts_of(self.clone) == self.facts else "other facts after the rebuild"


def facts_of(repo: Repo) -> list[str]:
    """All facts of a store."""
    database = open_reader(repo.worktree.database)
    assert database is not None
    try:
        return list(dump(database))
    finally:
        database.close()


def spoilt_packs(clock: Clock, rng: random.Random, folder: Path) -> None:
    """Every kind of damage once, then bytes at random: changed, cut out, swapped, doubled."""
    with _world(folder) as world:
        kinds = iter(mutations(0, 0))
        while clock.goes_on():
            mutation = next(kinds, None) or random_mutation(rng)
            why = world.attempt(mutation, rng)
            assert not why, (mutation.name, why)
            clock.count()


def lying_packs(clock: Clock, rng: random.Random, folder: Path) -> None:
    """Every lie about a random row, signed by an allowed signer; `kinds` counts different ones."""
    with _world(folder) as world:
        tried: set[str] = set()
        left: list[tuple[str, Change]] = []
        while clock.goes_on():
            left = left or world.lies(rng)
            name, change = left.pop(rng.randrange(len(left)))
            if name in tried and rng.random() < 0.9:
                continue
            why = world.attempt_lie(change, rebuild=not clock.counts["cases"] % 10)
            assert not why, (name, why)
            clock.count("kinds", number=name not in tried)
            tried.add(name)
            clock.count()


@contextmanager
def _world(folder: Path) -> Iterator[PackWorld]:
    home = os.environ["HOME"]
    world = PackWorld(folder)
    os.environ["HOME"] = str(world.team.home)
    try:
        yield world
    finally:
        os.environ["HOME"] = home
        world.workers.close()
