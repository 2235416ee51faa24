"""Typer declarations, a file per topic: each parses its options and calls one verb."""

from gitindex.cli.app import app, run_cli
from gitindex.cli.args import (
    agents,
    docs,
    graph,
    grep,
    indexing,
    maintenance,
    maps,
    questions,
    rename,
    semantic,
    state,
)

__all__ = [
    "agents",
    "app",
    "docs",
    "graph",
    "grep",
    "indexing",
    "maintenance",
    "maps",
    "questions",
    "rename",
    "run_cli",
    "semantic",
    "state",
]
