"""The command line: parses and calls, a file per topic. One function per verb; no decisions."""

from gitindex.cli.app import run_cli
from gitindex.cli.args import agents, docs, graph, grep, maps, semantic, state
from gitindex.cli.args import indexing as upkeep
from gitindex.cli.args import maintenance as prove
from gitindex.cli.args import questions as asking

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
