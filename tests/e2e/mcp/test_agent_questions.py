"""Questions that agents ask over MCP about their own work, through a real server."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.mcp_client import Agent, make_quiet
from tests.support import Repo, stop_runners


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Repo]:
    made = make_quiet(Repo(tmp_path_factory.mktemp("home") / "repo"))
    yield made
    stop_runners(made.path)


@pytest.fixture(scope="module")
def agent(home: Repo, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Agent]:
    with Agent(home.path, tmp_path_factory.mktemp("state"), "--tools", "all") as made:
        yield made


def test_an_agent_has_its_claims_checked(agent: Agent, home: Repo) -> None:
    claims = ["no_callers(helper)", "defines(lib/util.py, helper)", "unused(not_there)"]
    answer = agent.ask("verify_claims", claims=claims)
    verdicts = [row["verdict"] for row in answer["verdicts"]]
    assert verdicts == ["refuted", "confirmed", "unverifiable"]
    assert all(row["receipt"]["treeId"] == home.tree() for row in answer["verdicts"])
    report = agent.ask("verify_claims", text="`helper` is defined in `util.py`; see util.py:4000.")
    assert report["counts"] == {"confirmed": 1, "refuted": 1, "unverifiable": 0}


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"claims": ["nonsense"]},
        {"claims": ["unused(not_there)"]},
        {"claims": ["line(../x, 1, y)"]},
        {"claims": [1]},
        {"claims": ["unused(helper)@nowhere"]},
    ],
)
def test_a_wrong_claim_is_refused_in_words(agent: Agent, arguments: dict[str, object]) -> None:
    answer = agent.ask("verify_claims", **arguments)
    assert answer["status"] == "invalid_request"
    assert answer["message"]


def test_a_report_over_mcp_reads_no_file(agent: Agent, tmp_path: Path) -> None:
    path = tmp_path / "secret.md"
    path.write_text("`helper` is defined in `lib/util.py`\n")
    answer = agent.ask("verify_claims", text=str(path))
    assert answer["verdicts"] == []


def test_an_agent_asks_whether_parallel_work_fits(agent: Agent, home: Repo) -> None:
    assert agent.ask("radar")["status"] == "invalid_request"  # there is one worktree
    home.git("worktree", "add", "-q", "../other", "-b", "other")
    other = Repo(home.path.parent / "other")
    other.write("fresh.py", "from lib.util import helper\n\nhelper(1)\n")
    assert agent.ask("radar")["counts"]["fits"] == 1
    home.write("lib/util.py", "def helped(value):\n    return value\n")
    [row] = agent.ask("radar")["pairs"]
    assert row["verdict"] == "breaks"
    home.git("checkout", "-q", "lib/util.py")
    assert agent.ask("radar", branches=["nowhere"])["status"] == "invalid_request"
    home.git("worktree", "remove", "--force", "../other")


def test_an_agent_rechecks_what_it_was_told(agent: Agent, home: Repo) -> None:
    told = agent.ask("find_references", symbol="helper")["receipt"]
    claims = agent.ask("verify_claims", claims=["defines(lib/util.py, helper)"])
    receipts = [json.dumps(told), json.dumps(claims)]
    assert agent.ask("recheck", receipts=receipts)["counts"]["still true"] == 2
    home.write("fresh.py", "from lib.util import helper\n\nhelper(1)\n")
    assert agent.ask("recheck", receipts=receipts)["counts"]["changed"] >= 1
    (home.path / "fresh.py").unlink()
    assert agent.ask("recheck", receipts=["nonsense"])["status"] == "invalid_request"
    assert agent.ask("recheck", receipts=[str(home.path / "app.py")])["status"] == "invalid_request"


def test_an_agent_finds_dead_code(agent: Agent, home: Repo) -> None:
    home.write("gone.py", "def _nobody():\n    return 1\n")
    answer = agent.ask("find_dead_code", public=True)
    assert "_nobody" in [row["name"] for row in answer["dead"]]
    assert "_nobody" not in str(agent.ask("find_dead_code", at="HEAD"))
    (home.path / "gone.py").unlink()
