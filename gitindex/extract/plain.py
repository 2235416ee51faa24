"""Facts and terms of a blob that is not parsed. Needs no parser, so any process may use it."""

from __future__ import annotations

from gitindex.base.vocabulary import FactsStatus
from gitindex.extract.frames import Reply, WorkRequest
from gitindex.extract.terms import decode_text, lexical_text
from gitindex.languages.facts import BlobFacts, encode_facts

TIMED_OUT, CRASHED = "timed out", "crashed"
"""Quarantine reasons: the blob used up its time, or its worker died. The next refresh retries it."""
SHORT = "too little memory or CPU time"
"""Quarantine reason where the machine, not the blob, may have killed the worker: retried every time."""
AGAIN = " again"
"""Ends the reason of a blob whose retry failed as well: it is not tried a third time."""


def reason_of_retry(reason: str) -> str:
    """The quarantine reason of a blob whose retry failed for this reason."""
    return reason if reason == SHORT else reason + AGAIN


def plain_facts(request: WorkRequest, status: FactsStatus, reason: str = "") -> BlobFacts:
    """Return facts without symbols; the reason explains why there are none."""
    return BlobFacts(request.language, status, request.data.count(b"\n") + 1, reason)


def quarantined(request: WorkRequest, cause: str) -> Reply:
    """Return the reply for a blob whose parser died twice: searchable words and no facts."""
    facts = plain_facts(request, FactsStatus.QUARANTINED, cause)
    return Reply(encode_facts(facts), lexical_text(decode_text(request.data)), "")
