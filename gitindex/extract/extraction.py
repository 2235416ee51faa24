"""Blobs to facts: read each one, let the workers parse it, hand on what they found."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from gitindex.base.errors import ObjectMissing
from gitindex.base.vocabulary import FactsStatus, SkipReason
from gitindex.extract.frames import Reply, WorkRequest
from gitindex.extract.plain import plain_facts
from gitindex.extract.plan import Read
from gitindex.extract.policy import skip_content
from gitindex.extract.pool import Extractor, Task
from gitindex.languages.facts import BlobFacts, FactsKey, decode_facts


class ExtractedBlob(NamedTuple):
    """What was extracted of one blob; without bytes and terms where its content is left out."""

    key: FactsKey
    facts: BlobFacts
    data: bytes = b""
    body: str = ""
    names: str = ""

    @property
    def is_searched(self) -> bool:
        """Whether the lexical index has the blob."""
        return self.facts.status is not FactsStatus.SKIPPED


def extract_blobs(
    blobs: Iterable[tuple[FactsKey, str]],
    read: Read,
    extractor: Extractor,
    absent: Callable[[str], object] = lambda _: None,
) -> Iterator[ExtractedBlob]:
    """Facts and terms of blobs, each read as a language, in the order the workers finish them.

    The workers parse what was submitted while the caller uses what is yielded. `absent` is called
    with the ids that git does not have.
    """
    with extractor.stream() as workers:
        for key, language in blobs:
            try:
                data = read(key.oid)
            except ObjectMissing:
                absent(key.oid)
                continue
            reason = SkipReason.OVERSIZE if data is None else skip_content(data)
            request = WorkRequest(language, data or b"")
            if reason is not None:
                yield ExtractedBlob(key, plain_facts(request, FactsStatus.SKIPPED, reason))
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
