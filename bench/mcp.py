"""The MCP server: start to first answer, each tool, and what thousands of calls leave in memory."""

from __future__ import annotations

import json
import os
import subprocess
import time
from pathlib import Path
from typing import Any

from bench.harness import GITINDEX, Row, percentile
from bench.scratch import Bench, Repo
from gitindex.store.connection import open_reader

STARTS = 3
ROUNDS = 200
DEAR_ROUNDS = 100
SLOWEST_ROUNDS = 30
CALLS = 10_000
WARM = 2_000
DEAR_EVERY = 20
HELLO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "bench", "version": "1"},
}
TOOLS = (
    "explore",
    "find_symbols",
    "grep_codebase",
    "search_documents",
    "search_codebase",
    "file_outline",
    "read_file",
    "find_references",
    "call_graph",
    "repo_map",
    "check_mutation_gate",
    "slice",
    "list_codebases",
    "manage_index",
)
DEAR = ("explore", "slice", "call_graph", "find_references", "repo_map", "check_mutation_gate")
"""Called less often: they take tens or hundreds of milliseconds."""
SLOWEST = frozenset({"repo_map"})


class Wire:
    """A server and its pipes."""

    def __init__(self, folder: Path, state: Path, asked: dict[str, dict[str, Any]]) -> None:
        self._asked = asked
        self._process = subprocess.Popen(
            [*GITINDEX, "mcp"],
            cwd=folder,
            env={**os.environ, "XDG_STATE_HOME": str(state)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self._count = 0
        self.ask("initialize", HELLO)

    def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._count += 1
        message = {"jsonrpc": "2.0", "id": self._count, "method": method, "params": params}
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()
        while True:
            reply = json.loads(self._process.stdout.readline())
            if reply.get("id") == self._count:
                return dict(reply["result"])

    def call(self, tool: str) -> float:
        """Milliseconds of one call, which must succeed."""
        started = time.perf_counter()
        result = self.ask("tools/call", {"name": tool, "arguments": self._asked[tool]})
        taken = 1000 * (time.perf_counter() - started)
        answer = result["structuredContent"]
        assert answer["status"] in ("ok", "needs_decision"), answer
        return taken

    def cpu(self) -> float:
        """Milliseconds of the server and of the children it has waited for."""
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        return 1000 * sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")

    def megabytes(self) -> float:
        """Memory of the server now."""
        lines = Path(f"/proc/{self._process.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) / 1024

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(30)


def measure(bench: Bench) -> list[Row]:
    repo = bench.indexed()
    state = repo.path.parent / "mcp-state"
    asked = questions(repo)
    walls, cpus = [], []
    for _ in range(STARTS):
        started = time.perf_counter()
        wire = Wire(repo.path, state, asked)
        wire.call("search_codebase")
        walls.append(1000 * (time.perf_counter() - started))
        cpus.append(wire.cpu())
        wire.close()
    wire = Wire(repo.path, state, asked)
    rows = [
        Row("mcp: start to first answer, CPU", percentile(cpus, 0.5), "ms"),
        Row("  wall", percentile(walls, 0.5), "ms"),
    ]
    for tool in TOOLS:
        rows += _tool(wire, tool)
    rows += _memory(wire)
    wire.close()
    return rows


def questions(repo: Repo) -> dict[str, dict[str, Any]]:
    """One question for each tool, about a function that a few files of this tree use."""
    database = open_reader(os.fspath(repo.store / "facts.db"))
    assert database is not None
    path, line, name = database.row(
        "SELECT p.path, s.start_line, n.text FROM symbols s JOIN names n ON n.id=s.name_id"
        " JOIN files f ON f.blob_id=s.blob_id JOIN paths p ON p.id=f.path_id"
        " WHERE s.kind='function' AND s.parent=-1 AND s.end_line>s.start_line+3 AND"
        " (SELECT count(*) FROM symbols t WHERE t.name_id=s.name_id)=1 AND"
        " (SELECT sum(json_array_length(blob_list(first, others))) FROM name_blobs b"
        " WHERE b.name_id=s.name_id) BETWEEN 4 AND 12"
        " ORDER BY p.path, s.ordinal LIMIT 1"
    )
    database.close()
    file = os.fsdecode(path)
    named: dict[str, dict[str, Any]] = {
        "explore": {"query": name},
        "find_symbols": {"name": name},
        "grep_codebase": {"pattern": f"def {name[:4]}.*"},
        "search_documents": {"query": "python"},
        "search_codebase": {"query": name.replace("_", " ")},
        "file_outline": {"file": file},
        "read_file": {"file": file, "limit": 100},
        "find_references": {"symbol": name},
        "call_graph": {"symbol": name},
        "check_mutation_gate": {"file": file},
        "slice": {"file": file, "line": line + 3},
        "manage_index": {"action": "status"},
    }
    return {tool: named.get(tool, {}) for tool in TOOLS}


def _tool(wire: Wire, tool: str) -> list[Row]:
    rounds = SLOWEST_ROUNDS if tool in SLOWEST else DEAR_ROUNDS if tool in DEAR else ROUNDS
    wire.call(tool)
    before = wire.cpu()
    taken = [wire.call(tool) for _ in range(rounds)]
    return [
        Row(f"  {tool}, CPU a call (git included)", (wire.cpu() - before) / rounds, "ms"),
        Row("    wall p50", percentile(taken, 0.5), "ms"),
        Row("    wall p99", percentile(taken, 0.99), "ms"),
    ]


def _memory(wire: Wire) -> list[Row]:
    """Every tool is among the calls; one in twenty is a dear one, so that it does not take an hour."""
    cheap = [tool for tool in TOOLS if tool not in DEAR]
    warm = 0.0
    for number in range(CALLS):
        often = number % DEAR_EVERY
        wire.call(cheap[number % len(cheap)] if often else DEAR[number // DEAR_EVERY % len(DEAR)])
        if number == WARM:
            warm = wire.megabytes()
    return [
        Row(
            f"  memory after {CALLS:,} calls",
            wire.megabytes(),
            "MB",
            warm,
            f"after {WARM:,}",
            most_ratio=1.1,
        ),
        Row("  the same", wire.megabytes(), "MB", most=150),
    ]
