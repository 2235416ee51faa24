"""A small file beside the store that says what packs brought: for `status`, which opens no database."""

from __future__ import annotations

import os

from gitindex.base.atomic_file import read_small
from gitindex.base.light_types import NamedTuple
from gitindex.freshness.status_file import parse_object

FILE = "packs.json"


class PackNote(NamedTuple):
    """Blobs that packs brought, how many were verified, and whose packs were found wrong."""

    imported: int = 0
    verified: int = 0
    signer: str = ""
    rejected: tuple[str, ...] = ()  # signers; '' for a pack without a signature


def read_pack_note(store: str) -> PackNote:
    """The note, or an empty one. A damaged note says nothing: the database decides."""
    try:
        fields = parse_object(read_small(os.path.join(store, FILE))) or {}
    except OSError:
        fields = {}
    try:
        rejected = tuple(str(signer) for signer in fields.get("rejected", ()))
        imported, verified = int(fields.get("imported", 0)), int(fields.get("verified", 0))
        return PackNote(imported, verified, str(fields.get("signer", "")), rejected)
    except (TypeError, ValueError):
        return PackNote()
