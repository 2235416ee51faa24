"""What a path of a tree becomes: the reason why it is skipped, or its language and facts key.

The refresher, the overlay and `verify` all use this module. `verify` is independent because it
reads every object again from git, not because it has its own rules.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from gitindex.base.errors import ObjectMissing
from gitindex.base.light_types import NamedTuple
from gitindex.base.vocabulary import SkipReason
from gitindex.extract.policy import BINARY_PROBE, MAX_PROBED_BYTES, Policy, skip_content
from gitindex.git.interface import Entry, Repository
from gitindex.languages.facts import FactsKey
from gitindex.languages.table import extractor_id, language_of, needs_head

Read = Callable[[str], bytes | None]
"""Returns a blob's bytes by id; None if it is too large. ObjectMissing: git does not have it."""


NO_KEY = FactsKey("", "")


class PlannedBlob(NamedTuple):
    """One path of a tree with its skip reason, or its language and facts key."""

    entry: Entry
    skip: SkipReason | None
    language: str = ""  # empty for a path that is skipped unread
    key: FactsKey = NO_KEY  # the same


def classify(entry: Entry, policy: Policy, read: Read) -> PlannedBlob:
    """Return what a path becomes. Calls `read` only if the language depends on the content."""
    reason = policy.skip_path(entry)
    if reason is not None:
        return PlannedBlob(entry, reason)
    try:
        start = read(entry.oid) if needs_head(entry.path) else b""
    except ObjectMissing:
        return PlannedBlob(entry, SkipReason.MISSING_BLOB)
    language = language_of(entry.path, (start or b"")[:BINARY_PROBE])
    return PlannedBlob(entry, None, language, FactsKey(entry.oid, extractor_id(language)))


def classify_file(entry: Entry, policy: Policy, data: bytes) -> PlannedBlob:
    """Return what a file on disk becomes, given its bytes."""
    planned = classify(entry, policy, lambda _: data)
    return planned._replace(skip=planned.skip or skip_content(data))


def needs_content(entry: Entry, policy: Policy) -> bool:
    """Will `classify` read this path? For callers that read many blobs at once."""
    return needs_head(entry.path) and policy.skip_path(entry) is None


def reader_of(repository: Repository) -> Read:
    """Return a `Read` over a repository's objects."""

    def read(oid: str) -> bytes | None:
        return repository.read(oid) if repository.size(oid) <= MAX_PROBED_BYTES else None

    return read


def read_present(repository: Repository, oids: Iterable[str]) -> dict[str, bytes]:
    """Return the bytes of some blobs; those that git does not have are left out."""
    found: dict[str, bytes] = {}
    for oid in oids:
        try:
            found[oid] = repository.read(oid)
        except ObjectMissing:
            continue  # a partial clone
    return found


def is_present(repository: Repository, oid: str) -> bool:
    """Does git have this blob locally? In a partial clone it may be missing."""
    try:
        repository.size(oid)
    except ObjectMissing:
        return False
    return True
