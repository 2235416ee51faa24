"""Random days of work on a real repository, against a model that remembers every edge as it was seen."""

from __future__ import annotations

import random
from typing import NamedTuple

import pytest

from tests.states import publish, refresh, states, write
from tests.support import Repo

NAMES = tuple(f"m{number}" for number in range(6))


class Text(NamedTuple):
    """What a module says: what it imports, its interface, and things nobody depends on."""

    imports: frozenset[str]
    arguments: int
    noise: int

    def render(self) -> str:
        imports = "".join(f"import {name}\n" for name in sorted(self.imports))
        arguments = ", ".join(f"a{number}" for number in range(self.arguments))
        return f"{imports}\n\ndef f({arguments}):\n    return {self.noise}\n"


class Model:
    """Disk, published tree, and for every file what it saw at each of its imports."""

    def __init__(self) -> None:
        self.disk: dict[str, Text] = {}
        self.published: dict[str, Text] = {}
        self.saw: dict[str, dict[str, int | None]] = {}

    def publish(self) -> None:
        before, self.published = self.published, dict(self.disk)
        for name, text in self.published.items():
            if before.get(name) != text:
                self.refresh(name)

    def refresh(self, name: str) -> None:
        self.saw[name] = {
            target: self._interface(target) for target in self.published[name].imports
        }

    def state(self, name: str) -> str:
        own = self._own(name)
        if own != "clean":
            return own
        ends = self._ends(name, frozenset())
        return next((word for word in ("stale", "pending_check") if word in ends), "clean")

    def _own(self, name: str) -> str:
        if name in self.disk:
            return "clean"
        return "dirty" if name in self.published else "unindexed"

    def _ends(self, name: str, seen: frozenset[str]) -> set[str]:
        """What a file as it was published depends on; an edited one has seen what is there now."""
        found: set[str] = set()
        if self.disk[name] != self.published.get(name):
            return found
        for target in self.published[name].imports - {name}:
            there = self.disk[target].arguments if target in self.disk else None
            if self.saw[name][target] != there:
                found.add("stale")
            if target in self.disk and target not in seen:
                found |= self._ends(target, seen | {name})
        return found

    def _interface(self, name: str) -> int | None:
        return self.published[name].arguments if name in self.published else None


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.torture) for seed in range(1, 20))]
)
def test_a_day_of_work(repo: Repo, seed: int) -> None:
    chance = random.Random(seed)
    model = Model()
    for name in NAMES[:4]:
        model.disk[name] = Text(frozenset(chance.sample(NAMES, 2)) - {name}, 1, 0)
    _write(repo, model)
    publish(repo)
    model.publish()
    for step in range(40):
        _change(chance, model, repo)
        _write(repo, model)
        if chance.random() < 0.4:
            publish(repo)
            model.publish()
        asked = chance.sample(NAMES, len(NAMES))
        expected = [model.state(name) for name in asked]
        assert states(repo, *(f"{name}.py" for name in asked)) == expected, (step, asked)


def _change(chance: random.Random, model: Model, repo: Repo) -> None:
    name = chance.choice(NAMES)
    old = model.disk.get(name)
    match chance.randrange(6):
        case 0 | 1 if old:
            model.disk[name] = old._replace(arguments=chance.randrange(3))
        case 2 if old:
            model.disk[name] = old._replace(noise=chance.randrange(3))
        case 3 if old and len(model.disk) > 2:
            del model.disk[name]
        case 4 if name in model.published:
            refresh(repo, f"{name}.py")
            model.refresh(name)
        case _:
            model.disk[name] = Text(frozenset(chance.sample(NAMES, 2)) - {name}, 1, 0)


def _write(repo: Repo, model: Model) -> None:
    for name in NAMES:
        if name in model.disk:
            write(repo, {f"{name}.py": model.disk[name].render()})
        else:
            (repo.path / f"{name}.py").unlink(missing_ok=True)
