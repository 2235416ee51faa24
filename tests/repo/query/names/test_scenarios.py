"""A8, A9: a long line costs in proportion to its length; what is not bound is never called complete."""

from __future__ import annotations

import resource

from gitindex.languages.syntax.extract import extract_facts
from tests.support import Repo

LINE_BYTES = 375_000


def _cpu(size: int) -> float:
    """CPU of extracting one line of that many bytes, the lesser of two."""
    data = b"found = [" + b"needle(1), " * (size // 11) + b"]\n"
    taken = []
    for _ in range(2):
        before = resource.getrusage(resource.RUSAGE_SELF)
        extract_facts(data, "python")
        after = resource.getrusage(resource.RUSAGE_SELF)
        taken.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(taken)


def test_a8_a_long_line_costs_in_proportion_to_its_length() -> None:
    assert _cpu(2 * LINE_BYTES) < 4 * _cpu(LINE_BYTES) + 0.5


def test_a9_a_call_that_its_file_does_not_bind_is_unexplained(repo: Repo) -> None:
    repo.write("lib.py", "def needle(number):\n    return number\n")
    repo.write("unbound.py", "def use():\n    return needle(3)\n")
    repo.commit("first")
    repo.index()
    answer = repo.answer("refs", "needle")
    assert answer["complete"] is False
    assert "unbound.py" in {row["path"] for row in answer["unexplained"]}
