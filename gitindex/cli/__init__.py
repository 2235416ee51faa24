"""The command line: parses and calls, a file per topic. One function per verb; no decisions."""

from gitindex.cli import agents, asking, docs, graph, grep, maps, prove, semantic, state, upkeep
from gitindex.cli.app import run_cli

__all__ = [
    "agents",
    "app",
    "asking",
    "docs",
    "graph",
    "grep",
    "maps",
    "prove",
    "run_cli",
    "semantic",
    "state",
    "upkeep",
]
