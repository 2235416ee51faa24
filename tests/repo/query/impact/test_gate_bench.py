"""The replay of bench/gates.py on a small history: no alarm on what is sound, every planted rename caught."""

from __future__ import annotations

import pytest

from bench.gates import replay_commits, replay_merges
from bench.planted import plant
from tests.repo.query.impact.test_dangling import FILES
from tests.support import Repo


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> Repo:
    """Renames that are carried through, a move, a deletion, and a merge of two sides that fit."""
    made = Repo(tmp_path_factory.mktemp("history") / "repo")
    made.init()
    for name, text in FILES.items():
        made.write(name, text)
    made.commit("first")
    for name in ("pkg/core.py", "pkg/use.py"):
        made.write(name, (made.path / name).read_text().replace("area", "surface"))
    made.commit("rename a method everywhere")
    made.git("switch", "-qc", "side")
    made.write("pkg/more.py", "from pkg.core import Shape\n\nX = Shape().surface()\n")
    made.commit("another user")
    made.git("switch", "-q", "main")
    made.git("mv", "ts/shape.ts", "ts/form.ts")
    made.write("ts/index.ts", "export { Shape } from './form'\n")
    made.commit("move a module")
    made.git("merge", "-q", "--no-edit", "side")
    made.git("rm", "-q", "pkg/guarded.py", "js/app.js", "js/util.js")
    made.commit("delete what nobody uses")
    made.index()
    return made


def test_what_is_sound_raises_no_alarm(history: Repo) -> None:
    commits = replay_commits(history.worktree, 10)
    assert (commits.replayed, commits.alarms) == (4, [])
    merges = replay_merges(history.worktree, 10)
    assert (merges.replayed, merges.alarms) == (1, [])


def test_planted_renames_are_caught(history: Repo) -> None:
    planted = plant(history.worktree, 12)
    assert len(planted.verdicts) >= 5
    assert planted.count("silent") == 0, planted.verdicts
