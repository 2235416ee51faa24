"""The fingerprint: an explicit list of versions and rules. Only a change of these forces a rebuild."""

from __future__ import annotations

from gitindex.base.light_types import TYPE_CHECKING, NamedTuple
from gitindex.languages.table import EXTRACTOR_VERSION, grammar_set

if TYPE_CHECKING:
    from typing import Any

SCHEMA_VERSION = "10"
"""Version of the store's tables and of the lexical fields."""

POLICY_HASH = "5"
"""Version of the ignore policy's built-in rules; its files are part of the tree itself."""


class Fingerprint(NamedTuple):
    """The tools and rules behind a generation, in the contract's words."""

    embeddingProvider: str | None  # noqa: N815 — the contract's spelling
    embeddingModel: str | None  # noqa: N815 — the contract's spelling
    embeddingDimension: int | None  # noqa: N815 — the contract's spelling
    vectorStoreProvider: str | None  # noqa: N815 — the contract's spelling
    schemaVersion: str  # noqa: N815 — the contract's spelling
    extractorVersion: str  # noqa: N815 — the contract's spelling
    grammarSet: str  # noqa: N815 — the contract's spelling
    policyHash: str  # noqa: N815 — the contract's spelling


def runtime_fingerprint() -> Fingerprint:
    """The fingerprint of the code that is running now."""
    return Fingerprint(
        None, None, None, None, SCHEMA_VERSION, str(EXTRACTOR_VERSION), grammar_set(), POLICY_HASH
    )


def runtime_version() -> str:
    """The running fingerprint in one word, for a note about a job."""
    return "|".join(str(part) for part in runtime_fingerprint() if part is not None)


def parse_fingerprint(value: object) -> Fingerprint | None:
    """A well-typed fingerprint from a marker, or None. Unknown extra keys are not ours to judge."""
    if not isinstance(value, dict):
        return None
    fields: list[Any] = []
    for name in Fingerprint._fields:
        if name not in value:
            return None
        fields.append(value[name])
    nullable, required = fields[:4], fields[4:]
    if not all(item is None or isinstance(item, (str, int)) for item in nullable):
        return None
    if not all(isinstance(item, str) for item in required):
        return None
    return Fingerprint(*fields)
