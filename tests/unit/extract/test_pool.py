"""A13: the limit per blob counts the child's CPU, so a busy machine quarantines nothing."""

from __future__ import annotations

import pytest

from gitindex.base.vocabulary import FactsStatus
from gitindex.extract import pool
from gitindex.extract.frames import WorkRequest
from gitindex.extract.pool import Extractor, Task
from gitindex.extract.worker import FAULT_VARIABLE
from gitindex.languages.facts import FactsKey, decode_facts

TASK = Task(FactsKey("0" * 40, "x"), WorkRequest("python", b"def waits_long(): pass\n"))


@pytest.mark.parametrize(
    ("fault", "status"),
    [("slow", FactsStatus.PARSED), ("hang", FactsStatus.QUARANTINED)],
)
def test_a13_only_the_childs_own_time_counts(
    monkeypatch: pytest.MonkeyPatch, fault: str, status: FactsStatus
) -> None:
    """A second without CPU is no reason to give up on a limit of half a second; a busy loop is."""
    monkeypatch.setenv(FAULT_VARIABLE, f"{fault}:waits_long")
    monkeypatch.setattr(pool, "START_SECONDS", 0.2)
    extractor = Extractor(workers=1, seconds=0.6)
    try:
        [(_, reply)] = extractor.extract([TASK])
    finally:
        extractor.close()
    facts = decode_facts(reply.payload)
    assert facts is not None
    assert facts.status is status
