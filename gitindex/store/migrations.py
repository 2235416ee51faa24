"""The store's schema and its migrations."""

from __future__ import annotations

import os
from collections.abc import Iterator

CURRENT = 10
"""PRAGMA user_version of a store that this code reads and writes."""

MIGRATIONS: dict[int, str] = {}
"""From version → the statements that lead to the next one. A version without an entry is rebuilt:
everything here is derived from git."""


def schema() -> Iterator[str]:
    """Return the statements that make an empty database current."""
    folder = os.path.join(os.path.dirname(__file__), "sql")
    for name in sorted(os.listdir(folder)):
        yield from statements_of(name)


def statements_of(name: str) -> Iterator[str]:
    """Return the statements of one schema file."""
    path = os.path.join(os.path.dirname(__file__), "sql", name)
    with open(path, encoding="utf-8") as file:
        yield from _statements(file.read())


def migrate(version: int) -> Iterator[str]:
    """Return the statements that lead from `version` to CURRENT."""
    for step in range(version, CURRENT):
        yield from _statements(MIGRATIONS[step])


def _statements(script: str) -> Iterator[str]:
    lines = (line.partition("--")[0].rstrip() for line in script.splitlines())
    for statement in "\n".join(line for line in lines if line).split(";"):
        if statement.strip():
            yield statement
