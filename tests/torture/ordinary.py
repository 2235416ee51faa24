"""Programs of ordinary practice, each in a repository of its own and proven by running it renamed."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

from gitindex.query.names.memory import Memory
from gitindex.view.tree import open_tree
from tests import ordinary
from tests.exclusion import judge
from tests.support import Repo
from tests.torture import Clock


def ordinary_programs(clock: Clock, rng: random.Random, folder: Path) -> None:
    """Every program in a random order, again and again while there is time."""
    programs = ordinary.load()
    while clock.goes_on():
        for program in rng.sample(programs, len(programs)):
            _check(program, folder / "program", clock)
            shutil.rmtree(folder / "program")
            clock.count()
            if not clock.goes_on():
                break


def _check(program: ordinary.Program, folder: Path, clock: Clock) -> None:
    repo = Repo(folder / "repo")
    repo.init()
    repo.index_files(program.files)
    with open_tree(repo.worktree, ".") as view:
        judgement = judge(
            ordinary.ask(view, program, "", Memory()), program.uses, program.unspelled
        )
    told = f"{program.language}, {program.title}: "
    clock.count("excused", judgement.excused)
    assert not judgement.wrong, told + str(judgement)
    if program.run and program.tools_exist:
        proof = ordinary.prove(program, folder)
        assert proof.output == program.output, told + proof.output
        assert program.unspelled or proof.renamed == proof.output, told + proof.renamed
        clock.count("run")
        clock.count("uses proven", len(proof.needed))
