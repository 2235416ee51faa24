"""What a path of a tree becomes: the reason why it is left out, or its language and facts key.

The refresher, the overlay and `verify` all ask here. `verify` is independent because it reads
every object anew from git, not because it has rules of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from gitindex.base.errors import ObjectMissing
from gitindex.base.vocabulary import SkipReason
from gitindex.extract.policy import BINARY_PROBE, MAX_TEXT_BYTES, Policy, skip_content
from gitindex.git.interface import Entry, Repository
from gitindex.languages.facts import FactsKey
from gitindex.languages.table import extractor_id, language_of, needs_head

Read = Callable[[str], bytes | None]
"""A blob's bytes by id; None where they are more than is indexed. ObjectMissing: git has it not."""


class PlannedBlob(NamedTuple):
    """One path of a tree, and what becomes of it."""

    entry: Entry
    skip: SkipReason | None
    language: str = ""  # of a path that is skipped unread: none

    @property
    def key(self) -> FactsKey:
        return FactsKey(self.entry.oid, extractor_id(self.language))


def classify(entry: Entry, policy: Policy, read: Read) -> PlannedBlob:
    """What a path becomes. `read` is called only where the content alone tells the language."""
    reason = policy.skip_path(entry)
    if reason is not None:
        return PlannedBlob(entry, reason)
    try:
        start = read(entry.oid) if needs_head(entry.path) else b""
    except ObjectMissing:
        return PlannedBlob(entry, SkipReason.MISSING_BLOB)
    return PlannedBlob(entry, None, language_of(entry.path, (start or b"")[:BINARY_PROBE]))


def classify_file(entry: Entry, policy: Policy, data: bytes) -> PlannedBlob:
    """What a file on disk becomes, whose bytes are at hand."""
    planned = classify(entry, policy, lambda _: data)
    return planned._replace(skip=planned.skip or skip_content(data))


def needs_content(entry: Entry, policy: Policy) -> bool:
    """Will `classify` read this path? For callers that read many blobs at once."""
    return needs_head(entry.path) and policy.skip_path(entry) is None


def reader_of(repository: Repository) -> Read:
    """A `Read` over a repository's objects."""
    return lambda oid: repository.read(oid) if repository.size(oid) <= MAX_TEXT_BYTES else None


def read_present(repository: Repository, oids: Iterable[str]) -> dict[str, bytes]:
    """The bytes of some blobs; those git does not have are left out."""
    found: dict[str, bytes] = {}
    for oid in oids:
        try:
            found[oid] = repository.read(oid)
        except ObjectMissing:
            continue  # a partial clone
    return found


def is_present(repository: Repository, oid: str) -> bool:
    """Does git have this blob here? A partial clone may not."""
    try:
        repository.size(oid)
    except ObjectMissing:
        return False
    return True
