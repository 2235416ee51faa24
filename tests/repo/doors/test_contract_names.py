"""Every name of docs/contract.md: closed lists, tools, services, exit codes."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable
from pathlib import Path

import pytest

import gitindex
from gitindex.base import vocabulary as words
from gitindex.mcp.dispatch import call
from gitindex.mcp.question_tools import BY_NAME, TOOLS
from tests.mcp_client import Inside
from tests.support import Repo

PAGE = re.sub(r"\s+", " ", (Path(__file__).parents[3] / "docs/contract.md").read_text())
CLOSED: dict[str, Iterable[str]] = {
    "`IndexState = ": words.IndexState,
    "→ outcome `": words.ProofOutcome,
    "fingerprint_mismatch | probe_failed`, reason `": words.ProofReason,
    "`NonOkReason = ": words.NonOkReason,
    "Job status `": words.JobStatus,
    "failure reasons `": words.FailureReason,
    "## File state freshness `": words.Freshness,
    "; certainty `": words.Certainty,
    "`layer` is `": words.Layer,
    "occurrence `role` is `": words.Role,
    "`freshness {state: ": words.FreshnessState,
    "(`why` closed: `": words.Why,
    "(closed: `": words.Assumption,
}
ARGUMENTS: dict[str, dict[str, object]] = {
    "call_graph": {"symbol": "helper"},
    "check_mutation_gate": {"file": "app.py"},
    "explore": {"query": "helper"},
    "file_outline": {"file": "app.py"},
    "find_references": {"symbol": "helper"},
    "find_symbols": {"name": "helper"},
    "grep_codebase": {"pattern": "helper"},
    "manage_index": {"action": "status"},
    "read_file": {"file": "app.py"},
    "rename_symbol": {"symbol": "helper", "newName": "aid"},
    "search_codebase": {"query": "helper"},
    "search_documents": {"query": "title", "tags": None, "date_from": None},
    "slice": {"file": "app.py", "line": 5},
    "verify_claims": {"claims": ["defines(lib/util.py, helper)"]},
    "recheck": {"receipts": []},
    "radar": {"branches": ["main"]},
}


@pytest.mark.parametrize("before", [*CLOSED])
def test_closed_lists_are_the_enumerations(before: str) -> None:
    assert before in PAGE
    listed = re.split(r"[`,;).]? ?(?:[`.;)]|, exact)", PAGE.partition(before)[2], maxsplit=1)[0]
    assert sorted(re.findall(r"[a-z_]+", listed)) == sorted(map(str, CLOSED[before]))


def test_flags_are_those_of_the_contract() -> None:
    from gitindex.filestate.service import _ADVICE

    listed = PAGE.partition("Ambiguity flags, closed: `")[2].partition("`")[0]
    assert set(listed.split(", ")) == set(_ADVICE)


def test_every_tool_answers_and_a_wrong_argument_is_told_in_one_line(
    quiet: Repo, tmp_path: Path
) -> None:
    section = PAGE.partition("## MCP tools")[2].partition("Camel case")[0]
    names = [
        name for name in re.findall(r"`([a-z_]+)[`\s]", section) if "_" in name or name in BY_NAME
    ]
    assert len(set(names)) == 20
    assert sum(tool.question.listed for tool in TOOLS) == 12
    server = Inside(str(quiet.path.resolve()), tmp_path).server
    for name in names:
        answer = call(server, BY_NAME[name], ARGUMENTS.get(name, {}))
        known = answer["status"] in ("ok", "needs_decision")
        assert known or name in ("recheck", "radar"), (name, answer)
        wrong = call(server, BY_NAME[name], {"nothing": 1})
        assert (wrong["status"], "known: " in wrong["message"]) == ("invalid_request", True)


def test_remedies_over_mcp_are_calls_that_work(quiet: Repo, tmp_path: Path) -> None:
    server = Inside(str(quiet.path.resolve()), tmp_path).server
    for name, arguments in (
        ("file_outline", {"file": "lib"}),
        ("file_outline", {"file": "nope.py"}),
        ("read_file", {"file": "lib/nope.py"}),
        ("repo_map", {"focus": "nope"}),
        ("search_codebase", {"query": "helper", "path": "nope"}),
        ("find_dead_code", {"within": "nope"}),
        ("find_references", {"symbol": "helper", "within": "nope"}),
        ("rename_symbol", {"symbol": "nope", "newName": "x"}),
        ("grep_codebase", {"pattern": "("}),
        ("check_mutation_gate", {"file": "app.py", "symbol": "nope"}),
    ):
        refused = call(server, BY_NAME[name], arguments)
        assert refused["status"] in ("not_found", "invalid_request"), (name, refused)
        remedy = refused["hints"]["remedy"]
        done = call(server, BY_NAME[remedy["tool"]], remedy["args"])
        assert done["status"] == "ok", (name, remedy, done)


def test_services_have_the_functions_of_the_contract() -> None:
    section = PAGE.partition("Classes `RefreshJobService`")[2].partition("`None` is")[0]
    for name, parameters in re.findall(r"`(\w+)\(([\w, ]*)\)", section):
        function = getattr(gitindex.IndexCoordinator, name)
        assert not inspect.iscoroutinefunction(function)
        given = list(inspect.signature(function).parameters)[1:]
        assert given[: parameters.count(",") + 1 if parameters else 0] == (
            parameters.split(", ") if parameters else []
        )
    for service in (gitindex.FileStateService, gitindex.RefreshJobService, gitindex.ContextRouter):
        assert callable(service.open)


def test_exit_codes(repo: Repo) -> None:
    def codes(*lines: str) -> list[int]:
        return [repo.gitindex(*line.split()).returncode for line in lines]

    repo.write("util.py", "def helper():\n    return 1\n\n\ndef unused():\n    return 2\n")
    repo.write("app.py", "from util import helper\n\nhelper()\n")
    repo.commit()
    assert codes("status", "check", "symbols x", "status --nope", "search") == [3, 3, 3, 2, 2]
    repo.index()
    assert codes("status", "check", "symbols helper", "symbols zzzz") == [0, 0, 0, 1]
    assert codes("claim defines(util.py,helper)", "claim defines(util.py,zzz)") == [0, 1]
    assert codes("dead --public", "dead --path app.py") == [0, 1]
    (repo.path / ".git" / "r.json").write_text(repo.gitindex("refs", "helper", "--json").stdout)
    assert codes("recheck .git/r.json") == [0]
    repo.write("app.py", "from util import helper\n\nhelper(2)\n")
    assert codes("status", "check", "status --clean", "check --clean") == [0, 0, 1, 1]
    assert codes("recheck .git/r.json") == [1]
    repo.commit()
    assert codes("status", "check", "search helper") == [1, 1, 0]
