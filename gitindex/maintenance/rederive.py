"""What a store must hold of a tree, from git alone: the mapping under the policy, the facts of each blob."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from gitindex.base.errors import ObjectMissing
from gitindex.base.vocabulary import FactsStatus, SkipReason
from gitindex.extract.frames import WorkRequest
from gitindex.extract.plain import plain_facts
from gitindex.extract.policy import (
    BINARY_PROBE,
    MAX_TEXT_BYTES,
    Policy,
    is_policy_file,
    read_policy,
    skip_content,
)
from gitindex.extract.pool import Extractor, Task
from gitindex.git.interface import Entry, Repository
from gitindex.languages.facts import BlobFacts, FactsKey, decode_facts
from gitindex.languages.table import extractor_id, language_of, needs_head


class ExpectedPath(NamedTuple):
    """A path of a tree as it must be published: facts under a key, or the reason why there are none."""

    mode: int
    oid: str
    skip: SkipReason | None
    language: str
    policy: bool  # the path itself decides what is indexed

    @property
    def key(self) -> FactsKey | None:
        return None if self.skip else FactsKey(self.oid, extractor_id(self.language))


class Derived(NamedTuple):
    """Facts of one blob, its bytes, and the terms of its lexical document."""

    key: FactsKey
    data: bytes
    facts: BlobFacts
    body: str
    names: str


def derive_mapping(repository: Repository, tree: str) -> dict[bytes, ExpectedPath]:
    """Every path of a tree, under the policy of that tree."""
    entries = list(repository.entries(tree))
    policy = read_policy([e for e in entries if is_policy_file(e.path)], repository.read)
    return {entry.path: _place(repository, policy, entry) for entry in entries}


def derive_facts(
    repository: Repository, blobs: Iterable[tuple[FactsKey, str]], extractor: Extractor
) -> Iterator[Derived]:
    """The facts of blobs, each read as a language, anew; those git does not have are left out."""
    skipped: list[Derived] = []
    for task, reply in extractor.extract(_tasks(repository, blobs, skipped)):
        facts = decode_facts(reply.payload)
        if facts is None:
            facts = plain_facts(task.request, FactsStatus.QUARANTINED, "broken reply")
        yield Derived(task.key, task.request.data, facts, reply.body, reply.names)
    yield from skipped


def _place(repository: Repository, policy: Policy, entry: Entry) -> ExpectedPath:
    reason = policy.skip_path(entry)
    language = ""
    if reason is None:
        try:
            size = repository.size(entry.oid)
            probe = needs_head(entry.path) and size <= MAX_TEXT_BYTES
            start = repository.read(entry.oid)[:BINARY_PROBE] if probe else b""
            language = language_of(entry.path, start)
        except ObjectMissing:
            reason = SkipReason.MISSING_BLOB
    return ExpectedPath(entry.mode, entry.oid, reason, language, is_policy_file(entry.path))


def _tasks(
    repository: Repository, blobs: Iterable[tuple[FactsKey, str]], skipped: list[Derived]
) -> Iterator[Task]:
    for key, language in blobs:
        try:
            large = repository.size(key.oid) > MAX_TEXT_BYTES
            data = b"" if large else repository.read(key.oid)
        except ObjectMissing:
            continue
        reason = SkipReason.OVERSIZE if large else skip_content(data)
        request = WorkRequest(language, data)
        if reason is None:
            yield Task(key, request)
        else:
            facts = plain_facts(request, FactsStatus.SKIPPED, reason)
            skipped.append(Derived(key, b"", facts, "", ""))
