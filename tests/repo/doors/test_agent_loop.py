"""The loop of bench/agent_loop.py on a small repository: edit, gate, search, break, rename."""

from __future__ import annotations

from bench.agent_loop import AgentLoop
from tests.support import Repo


def test_an_agent_is_never_blocked_by_its_own_edits(repo: Repo) -> None:
    repo.write(
        "pkg/core.py", "def area(a, b):\n    return a * b\n\n\ndef twice(a):\n    return 2 * a\n"
    )
    repo.write("pkg/use.py", "from pkg.core import area\n\n\ndef room():\n    return area(2, 3)\n")
    repo.commit()
    repo.index()
    agent = AgentLoop(repo.path)
    agent.run(8)
    assert agent.wrong == []
    assert (agent.renamed, agent.refused) == (2, [])
    assert agent.verdicts["ok"] >= 12


def test_doubts_of_the_gate_refuse_no_rename(repo: Repo) -> None:
    hook = "def __getattr__(name):\n    return globals()['_' + name]\n"
    repo.write("pkg/core.py", f"def area(a, b):\n    return a * b\n\n\n{hook}")
    repo.commit()
    repo.index()
    agent = AgentLoop(repo.path)
    agent.run(4)
    assert (agent.wrong, agent.renamed, agent.refused) == ([], 1, [])


def test_rename_takes_a_place_from_where_one_stands(quiet: Repo) -> None:
    done = quiet.gitindex("rename", "util.py#helper", "helped", cwd=quiet.path / "lib")
    assert done.returncode == 0, done.stderr
    assert "+def helped():" in done.stdout
