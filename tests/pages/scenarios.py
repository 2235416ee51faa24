"""Which tests check which scenario: by the ids at the start of a test's name."""

from __future__ import annotations

import re
from collections import defaultdict

from tests.pages import TESTS, cells, row

FILE_STATES = ("filestate", "mutation", "test_semantic")
"""F1 to F14 are scenarios in these files; elsewhere F numbers are suites of injected faults."""

_ROW = re.compile(r"\| ([A-Z]\d+(?:[-/][A-Z]\d+)*) \|")
_TEST = re.compile(r"^(?:async )?def (test_((?:[a-z]\d+_)+)\w+)", re.MULTILINE)


def ids_of(cell: str) -> list[str]:
    """`Q1` → Q1; `F1/F2` → F1, F2; `E9-E11` → E9, E10, E11."""
    if "-" not in cell:
        return cell.split("/")
    first, last = cell.split("-")
    return [f"{first[0]}{number}" for number in range(int(first[1:]), int(last[1:]) + 1)]


def tests_by_id() -> dict[str, list[str]]:
    """Scenario id → `test name (file)`, sorted."""
    found: dict[str, list[str]] = defaultdict(list)
    for path in sorted(TESTS.rglob("test_*.py")):
        place = path.relative_to(TESTS).as_posix()
        for name, ids in _TEST.findall(path.read_text()):
            for wanted in ids.upper().rstrip("_").split("_"):
                if wanted[0] != "F" or any(part in place for part in FILE_STATES):
                    found[wanted].append(f"`{name}` ({place})")
    return {wanted: sorted(names) for wanted, names in found.items()}


def render(page: str) -> str:
    """The page with its last column filled anew."""
    tests = tests_by_id()
    lines = []
    for line in page.splitlines():
        match = _ROW.match(line)
        if match:
            known = [test for wanted in ids_of(match[1]) for test in tests.get(wanted, [])]
            line = row([*cells(line)[:4], "<br>".join(dict.fromkeys(known)) or "none"])
        lines.append(line)
    return "\n".join(lines) + "\n"


def untested(page: str) -> list[str]:
    """Ids without a test."""
    tests = tests_by_id()
    rows = filter(None, map(_ROW.match, page.splitlines()))
    return [wanted for match in rows for wanted in ids_of(match[1]) if wanted not in tests]
