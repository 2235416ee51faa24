"""A worker process: reads and writes frames until end of input. It may be killed at any time."""

from __future__ import annotations

import os
import sys
import time

from gitindex.base.system import forbid_core_dumps, is_cpu_limited, limit_memory
from gitindex.base.vocabulary import FactsStatus
from gitindex.extract.frames import (
    SCOPES,
    SHORT,
    WITHOUT_SCOPES,
    WorkRequest,
    pack,
    plain_facts,
    unpack,
)
from gitindex.extract.terms import document_terms
from gitindex.languages.facts import encode_facts
from gitindex.languages.syntax.extract import MAX_BYTES, extract_facts, extract_scopes

MEMORY_BYTES = 2 << 30  # address space: a hostile file ends its worker, not the machine
FAULT_VARIABLE = "GITINDEX_TEST_FAULT"
"""Tests only: `crash:`, `hang:`, `slow:` or `hold:<text>` triggers that fault on blobs with the text;
`hold:<text>:<file>` waits while the file exists."""


def extract(request: WorkRequest) -> tuple[bytes, bytes, bytes]:
    """Return the reply to one request."""
    if request.question == SCOPES:
        return extract_scopes(request.data, request.language), b"", b""
    if request.question not in (b"", WITHOUT_SCOPES):
        return _answer(request), b"", b""
    if len(request.data) > MAX_BYTES:
        facts = plain_facts(request, FactsStatus.LEXICAL, "oversize")
    elif request.language == "text":
        facts = plain_facts(request, FactsStatus.LEXICAL)
    else:
        facts = extract_facts(request.data, request.language, scopes=not request.question)
    body, names = document_terms(request.data, [symbol.name for symbol in facts.symbols])
    return encode_facts(facts), body, names


def _answer(request: WorkRequest) -> bytes:
    """Return the answer to a question. Imports what it needs, which a refresh does not."""
    from gitindex.languages.scopes.model import FLOW, KINDS_AT

    data, language, question = request.data, request.language, request.question
    if question.startswith(KINDS_AT):
        from gitindex.languages.scopes.replies import read_kinds

        return read_kinds(data, language, question[len(KINDS_AT) :])
    if question == FLOW:
        from gitindex.languages.scopes.replies import read_flow

        return read_flow(data, language)
    from gitindex.languages.slicing.question import answer

    return answer(data, language, question)


def main() -> int:
    """Serve until end of input; the first frame says that this process is able to."""
    is_short = limit_memory(MEMORY_BYTES) < MEMORY_BYTES or is_cpu_limited()
    forbid_core_dumps()
    fault, _, about = os.environ.get(FAULT_VARIABLE, "").partition(":")
    needle, _, held_by = about.partition(":")
    source, sink = sys.stdin.buffer, sys.stdout.buffer
    sink.write(pack(SHORT.encode() if is_short else b"ready"))
    sink.flush()
    while (frame := unpack(source.read)) is not None:
        request = WorkRequest(frame[0].decode(), frame[1], frame[2])
        if fault and needle.encode() in request.data:
            _fail(fault, held_by)
        sink.write(pack(*extract(request)))
        sink.flush()
    return 0


def _fail(fault: str, held_by: str) -> None:
    if fault == "slow":
        time.sleep(1.0)
        return
    if fault == "hold":
        while os.path.exists(held_by):
            time.sleep(0.01)
        return
    while fault == "hang":
        pass
    os._exit(70)
