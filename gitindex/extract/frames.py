"""Length-prefixed frames between the pool and its workers: plain bytes, no pickle."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import NamedTuple

from gitindex.base.vocabulary import AGAIN, FactsStatus
from gitindex.extract.terms import decode_text, lexical_text
from gitindex.languages.facts import BlobFacts, encode_facts

_HEADER = struct.Struct("<III")
MAX_SECTION = 1 << 28  # the length that a broken worker writes must not be allocated
WITHOUT_SCOPES, SCOPES = b"facts", b"scopes"
"""Questions: the facts of a blob without its scopes, and the scopes alone."""


class WorkRequest(NamedTuple):
    """One blob to extract, or with a question, one text to slice."""

    language: str
    data: bytes
    question: bytes = b""


class Reply(NamedTuple):
    """Serialised facts of one blob, and the terms of its body and of its symbol names.

    The reply to a question has only a payload.
    """

    payload: bytes
    body: str
    names: str


def pack(*sections: bytes) -> bytes:
    """Return one frame of up to three sections."""
    padded = (*sections, b"", b"")[:3]
    return _HEADER.pack(*map(len, padded)) + b"".join(padded)


def unpack(read: Callable[[int], bytes]) -> tuple[bytes, bytes, bytes] | None:
    """Return the next frame; None at the end of the stream. ValueError for a broken frame."""
    header = read(_HEADER.size)
    if not header:
        return None
    if len(header) < _HEADER.size:
        raise ValueError("broken frame")
    sizes = _HEADER.unpack(header)
    if max(sizes) > MAX_SECTION:
        raise ValueError("frame too large")
    first, second, third = (read(size) for size in sizes)
    if (len(first), len(second), len(third)) != sizes:
        raise ValueError("broken frame")
    return first, second, third


TIMED_OUT, CRASHED = "timed out", "crashed"
"""Quarantine reasons: the blob used up its time, or its worker died. The next refresh retries it."""
SHORT = "too little memory or CPU time"
"""Quarantine reason where the machine, not the blob, may have killed the worker: retried every time."""


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
