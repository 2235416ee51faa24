"""Pages that are written by programs: from the tables of the product, from its tests, from measurements."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TESTS = ROOT / "tests"
DOCS = ROOT / "docs"
IMAGES = DOCS / "images"
SCENARIOS = TESTS / "SCENARIOS.md"
MANUAL = ROOT / "man/man1"
PROMISES = DOCS / "promises.md"
TORTURE = DOCS / "torture.jsonl"
MARK = "<!-- Generated below this line by `make pages`: do not edit. -->"
"""What stands above it in a page is written by hand."""


def hand_written(page: str) -> str:
    """The part of a page that people write."""
    return page.partition(MARK)[0]


def with_generated(page: str, text: str) -> str:
    """The page with its generated part written anew."""
    return f"{hand_written(page).rstrip()}\n\n{MARK}\n\n{text.strip()}\n"


def table(head: list[str], rows: list[list[str]]) -> str:
    """A Markdown table; pipes and line ends inside of cells are escaped."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(
        row([cell.replace("|", "\0").replace("\n", " ") for cell in one]) for one in lines
    )


def cells(line: str) -> list[str]:
    """The cells of a row of a Markdown table; a pipe inside a cell is written `\\|`."""
    return [cell.strip() for cell in line.replace("\\|", "\0").strip().strip("|").split("|")]


def row(fields: list[str]) -> str:
    return "| " + " | ".join(field.replace("\0", "\\|") for field in fields) + " |"
