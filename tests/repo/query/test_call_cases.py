"""The call graph of small programs against the calls that Python made when they ran."""

from __future__ import annotations

from collections import defaultdict

from gitindex.query.names.memory import Memory
from gitindex.view.tree import open_tree
from tests.call_cases import Score, claimed, differences, load, recorded
from tests.support import Repo

LEAST = 0.92
"""F1 of all calls."""


def test_the_graph_draws_the_calls_that_happened(repo: Repo) -> None:
    cases = load()
    assert len(cases) >= 100
    repo.index_files({path: text for case in cases for path, text in case.files.items()})
    assert recorded(cases, repo.path) == [case.calls for case in cases]
    score, parts = Score(), defaultdict[str, Score](Score)
    true, told, memory = {}, {}, Memory()
    with open_tree(repo.worktree, ".") as view:
        for case in cases:
            title = f"{case.category}/{case.title}"
            true[title], told[title] = case.calls, claimed(view, case, memory)
            score = score.plus(told[title], case.calls)
            parts[case.category] = parts[case.category].plus(told[title], case.calls)
    for line in differences(true, told):
        print(line)
    print(f"F1 {score.f1:.3f}", {name: round(part.f1, 2) for name, part in parts.items()})
    assert score.f1 >= LEAST
