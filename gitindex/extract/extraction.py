"""Turns blobs into facts: reads each blob, has a worker parse it, and yields the results."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from gitindex.base.errors import ObjectMissing
from gitindex.base.vocabulary import FactsStatus, SkipReason
from gitindex.extract.frames import Reply, WorkRequest, plain_facts
from gitindex.extract.plan import Read
from gitindex.extract.policy import BINARY_PROBE, skip_content
from gitindex.extract.pool import Extractor, Task
from gitindex.languages.facts import BlobFacts, FactsKey, decode_facts


class ExtractedBlob(NamedTuple):
    """The facts and terms of one blob; without bytes and terms if its content is skipped."""

    key: FactsKey
    facts: BlobFacts
    data: bytes = b""
    body: str = ""
    names: str = ""

    @property
    def is_searched(self) -> bool:
        """Is the blob in the lexical index?"""
        return self.facts.status is not FactsStatus.SKIPPED


def extract_blobs(
    blobs: Iterable[tuple[FactsKey, str]],
    read: Read,
    extractor: Extractor,
    absent: Callable[[str], object] = lambda _: None,
    question: bytes = b"",
) -> Iterator[ExtractedBlob]:
    """Yield facts and terms of blobs, each parsed as its language, in the order the workers finish.

    The workers parse submitted blobs while the caller uses the results. `absent` is called with the
    ids that git does not have; `question` can be that for facts without scopes.
    """
    with extractor.stream() as workers:
        for key, language in blobs:
            try:
                data = read(key.oid)
            except ObjectMissing:
                absent(key.oid)
                continue
            reason = SkipReason.OVERSIZE if data is None else skip_content(data)
            request = WorkRequest(language, data or b"", question)
            if reason is not None:
                facts = plain_facts(request, FactsStatus.SKIPPED, reason)
                if reason is SkipReason.BINARY and b"\0" in request.data[:BINARY_PROBE]:
                    facts = facts._replace(lines=0)  # binary for git too: no answer reads it
                yield ExtractedBlob(key, facts)
                continue
            for task, reply in workers.submit(Task(key, request)):
                yield _extracted(task, reply)
        for task, reply in workers.finish():
            yield _extracted(task, reply)


def _extracted(task: Task, reply: Reply) -> ExtractedBlob:
    facts = decode_facts(reply.payload)
    if facts is None:
        facts = plain_facts(task.request, FactsStatus.QUARANTINED, "broken reply")
    return ExtractedBlob(task.key, facts, task.request.data, reply.body, reply.names)
