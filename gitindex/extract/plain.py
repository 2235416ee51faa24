"""Facts and terms of a blob that no grammar looks at. Needs no parser, so any process may use it."""

from __future__ import annotations

from gitindex.base.vocabulary import FactsStatus
from gitindex.extract.frames import Reply, WorkRequest
from gitindex.extract.terms import decode_text, lexical_text
from gitindex.languages.facts import BlobFacts, encode_facts

TIMED_OUT = "timed out"
"""Why a blob is quarantined that used up its time: it is tried once more at the next refresh."""
TIMED_OUT_AGAIN = "timed out again"


def plain_facts(request: WorkRequest, status: FactsStatus, reason: str = "") -> BlobFacts:
    """Facts without symbols: the reason says why there are none."""
    return BlobFacts(request.language, status, request.data.count(b"\n") + 1, reason)


def quarantined(request: WorkRequest, cause: str) -> Reply:
    """A blob whose parser died twice: its words stay searchable, nothing else is known of it."""
    facts = plain_facts(request, FactsStatus.QUARANTINED, cause)
    return Reply(encode_facts(facts), lexical_text(decode_text(request.data)), "")
