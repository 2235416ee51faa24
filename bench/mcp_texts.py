"""Twenty questions to the MCP server: characters of each answer's text against the command line's."""

from __future__ import annotations

import json
import subprocess
from typing import Any, NamedTuple

from bench.harness import GITINDEX, TIMEOUT, Row, percentile
from bench.scratch import Bench, Repo


class TextQuestion(NamedTuple):
    """One question in both forms."""

    tool: str
    arguments: dict[str, Any]
    command: tuple[str, ...]


QUESTIONS = (
    TextQuestion("search_codebase", {"query": "threading lock"}, ("search", "threading lock")),
    TextQuestion("search_codebase", {"query": "heappush"}, ("search", "heappush")),
    TextQuestion("search_codebase", {"query": "parse json"}, ("search", "parse json")),
    TextQuestion("find_symbols", {"name": "dump", "exact": True}, ("symbols", "dump")),
    TextQuestion("find_symbols", {"name": "Thread", "exact": True}, ("symbols", "Thread")),
    TextQuestion("grep_codebase", {"pattern": "def heap.*"}, ("grep", "def heap.*", "-m", "50")),
    TextQuestion("grep_codebase", {"pattern": "RLock"}, ("grep", "RLock", "-m", "50")),
    TextQuestion("grep_codebase", {"pattern": "no such text"}, ("grep", "no such text")),
    TextQuestion("file_outline", {"file": "heapq.py"}, ("outline", "heapq.py")),
    TextQuestion("file_outline", {"file": "json/decoder.py"}, ("outline", "json/decoder.py")),
    TextQuestion("read_file", {"file": "heapq.py", "limit": 80}, ("read", "heapq.py:1-80")),
    TextQuestion(
        "read_file",
        {"file": "json/decoder.py", "startLine": 100, "endLine": 160},
        ("read", "json/decoder.py:100-160"),
    ),
    TextQuestion("slice", {"file": "heapq.py", "line": 150}, ("slice", "heapq.py:150")),
    TextQuestion("find_references", {"symbol": "heappush"}, ("refs", "heappush", "-n", "50")),
    TextQuestion("find_references", {"symbol": "JSONDecoder"}, ("refs", "JSONDecoder", "-n", "50")),
    TextQuestion("find_references", {"symbol": "no_such_name"}, ("refs", "no_such_name")),
    TextQuestion(
        "call_graph", {"symbol": "heappush", "direction": "callers"}, ("callers", "heappush")
    ),
    TextQuestion(
        "call_graph", {"symbol": "heapify", "direction": "callees"}, ("callees", "heapify")
    ),
    TextQuestion("repo_map", {}, ("map",)),
    TextQuestion("check_mutation_gate", {"file": "heapq.py"}, ("state", "--gate", "heapq.py")),
)


def measure(bench: Bench) -> list[Row]:
    """Median and worst ratio of characters, and the size of the list of tools."""
    from bench.mcp import Wire

    repo = bench.indexed()
    wire = Wire(repo.path, repo.path.parent / "mcp-state", {})
    rows, ratios = [], []
    for question in QUESTIONS:
        asked = {"name": question.tool, "arguments": question.arguments}
        ours = len(wire.ask("tools/call", asked)["content"][0]["text"])
        theirs = len(_printed(repo, question.command))
        if theirs:  # nothing found is silence in a pipe, and a sentence for a model
            ratios.append(ours / theirs)
        name = f"  {question.tool} {next(iter(question.arguments.values()), '')}"
        rows.append(Row(name, ours, "chars", theirs, "gitindex " + " ".join(question.command)))
    tools = json.dumps(wire.ask("tools/list", {}), ensure_ascii=False, separators=(",", ":"))
    wire.close()
    return [
        Row("mcp: list of tools, characters / 4", len(tools) / 4, "tokens", most=2_000),
        Row("  text against the command line, median", percentile(ratios, 0.5), "×", most=1.2),
        Row("  worst, where the command line prints anything", max(ratios), "×", most=2),
        *rows,
    ]


def _printed(repo: Repo, command: tuple[str, ...]) -> str:
    done = subprocess.run(
        [*GITINDEX, *command],
        cwd=repo.path,
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )
    return done.stdout + done.stderr
