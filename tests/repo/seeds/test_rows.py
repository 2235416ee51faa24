"""Every requirement of the audit is held by something that exists: a test, a benchmark, or a reason."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[3]
DIFFERENCES = "tests/repo/seeds/differences.md"
AUDITED = 353


def test_every_row_is_held_or_explained() -> None:
    lines = Path(__file__).with_name("rows.tsv").read_text().splitlines()[1:]
    rows = dict(line.split("\t") for line in lines)
    assert len(rows) == len(lines) == AUDITED
    explained = (ROOT / DIFFERENCES).read_text()
    wrong = []
    for row, holder in rows.items():
        path, _, name = holder.partition("::")
        text = (ROOT / path).read_text() if (ROOT / path).is_file() else ""
        if not text or (name and f"def {name}(" not in text):
            wrong.append(f"{row}: {holder} does not exist")
        if path.startswith("tests/") and not name and path != DIFFERENCES:
            wrong.append(f"{row}: {holder} names no test")
        if path == DIFFERENCES and not _is_named(row, explained):
            wrong.append(f"{row}: {DIFFERENCES} does not name it")
    assert wrong == []


def _is_named(row: str, page: str) -> bool:
    """Is a row in the first column of the page, by itself or between the ends of a range?"""
    seed, _, number = row.partition("-")
    for cell in re.findall(r"^\| ((?:00\d|card)-[^|]*) \|", page, re.MULTILINE):
        here = ""
        for word in re.split(r",\s*", cell):
            match = re.match(r"(00\d|card)-(.*)", word)
            here, word = match.groups() if match else (here, word)
            if here == seed and (word == number or _is_between(number, word)):
                return True
    return False


def _is_between(number: str, ends: str) -> bool:
    first, mark, last = ends.partition("-")
    if not mark:
        return False
    values = [re.findall(r"\d+", part) for part in (first, number, last)]
    letters = {re.sub(r"[\d.]|[a-z]$", "", part) for part in (first, number, last)}
    low, value, high = ([int(n) for n in found] for found in values)
    return len(letters) == 1 and low <= value <= high
