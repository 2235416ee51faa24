"""Pages whose tables are filled from the tests: tests/SCENARIOS.md and docs/promises.md."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TESTS = ROOT / "tests"
SCENARIOS = TESTS / "SCENARIOS.md"
MANUAL = ROOT / "man/man1"
PROMISES = ROOT / "docs/promises.md"
TORTURE = ROOT / "docs/torture.jsonl"


def cells(line: str) -> list[str]:
    """The cells of a row of a Markdown table; a pipe inside a cell is written `\\|`."""
    return [cell.strip() for cell in line.replace("\\|", "\0").strip().strip("|").split("|")]


def row(fields: list[str]) -> str:
    return "| " + " | ".join(field.replace("\0", "\\|") for field in fields) + " |"
