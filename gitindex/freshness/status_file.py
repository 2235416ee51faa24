"""Small files that say how an index is: the public status, which gitindex itself never trusts, and the
store's note of packs for `status`, which opens no database.
"""

from __future__ import annotations

import os
import time
from _json import make_scanner  # `json` itself brings `re` along: 5 ms of every prompt

from gitindex.base.atomic_file import read_small, write_atomic
from gitindex.base.light_types import TYPE_CHECKING, NamedTuple
from gitindex.base.vocabulary import IndexState

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any


FOLDER = ".llmc"
FILE_NAME = "rag_index_status.json"


class StatusRecord(NamedTuple):  # not a dataclass: `gitindex status` cannot afford the import
    """The fields of `IndexStatus`, for our own code."""

    repo: str
    index_state: IndexState
    last_indexed_at: str  # ISO 8601 UTC; "" before the first success
    last_indexed_commit: str | None
    schema_version: str
    last_error: str | None = None


def path_of(repo_root: str | Path) -> str:
    """Return the path of the status file of the worktree at `repo_root`."""
    return os.path.join(repo_root, FOLDER, FILE_NAME)


def load_status(repo_root: str | Path) -> StatusRecord | None:
    """Return the stored status, or None for anything but a complete and well-typed one."""
    try:
        data = read_small(path_of(repo_root))
    except OSError:
        return None
    fields = parse_object(data)
    return _status(fields) if fields is not None else None


def save_status(repo_root: str | Path, status: StatusRecord) -> None:
    """Replace the stored status atomically; raises only OSError."""
    write_atomic(path_of(repo_root), render_status(status))


def render_status(status: StatusRecord) -> bytes:
    """Return the file's bytes: one line of JSON, equally long in every state.

    A hook writes the stale text over another in place: nothing of that may be left behind it.
    """
    import json

    text = json.dumps(status_fields(status), ensure_ascii=True)
    state = f'"index_state": "{status.index_state}"'
    text = text.replace(state, state.ljust(len('"index_state": "rebuilding"')), 1)
    return text.encode() + b"\n"


def status_fields(status: StatusRecord) -> dict[str, Any]:
    """Return the fields as they are serialised everywhere: without `last_error` when there is none."""
    fields = status._asdict()
    if status.last_error is None:
        del fields["last_error"]
    return fields


def parse_object(data: bytes | None) -> dict[str, Any] | None:
    """A JSON object with unique keys and finite numbers, or None."""
    if data is None:
        return None
    try:
        value = _parse(data)
    except (ValueError, RecursionError, StopIteration, SystemError):
        # SystemError: the scanner's own way to say "malformed" while `json` is not imported
        return None
    return value if isinstance(value, dict) else None


def utc_now() -> str:
    """Now, for display only: no decision depends on a clock."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def _status(fields: dict[str, Any]) -> StatusRecord | None:
    texts = [
        fields.get(key) for key in ("repo", "index_state", "last_indexed_at", "schema_version")
    ]
    optional = [fields.get("last_indexed_commit"), fields.get("last_error")]
    if not all(isinstance(text, str) for text in texts) or "last_indexed_commit" not in fields:
        return None
    if not all(text is None or isinstance(text, str) for text in optional):
        return None
    repo, state, indexed_at, schema = map(str, texts)
    try:
        return StatusRecord(repo, IndexState(state), indexed_at, optional[0], schema, optional[1])
    except ValueError:
        return None


def _parse(data: bytes) -> object:
    if not data.isascii() or b"\0" in data:  # which encoding it is, is for `json` to find out
        import json

        return json.loads(
            data,
            object_pairs_hook=_unique,
            parse_constant=_reject,
            parse_float=_finite,
        )
    text = data.decode("ascii").strip(" \t\n\r")
    value, end = make_scanner(_Rules)(text, 0)  # type: ignore[arg-type]  # any object with these
    if end != len(text):
        raise ValueError("more than one value")
    return value


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise ValueError("duplicate key")
    return fields


def _finite(text: str) -> float:
    value = float(text)
    if value in (float("inf"), float("-inf")):
        raise ValueError("beyond floats")
    return value


def _reject(name: str) -> None:
    raise ValueError(name)


class _Rules:
    """How `json` would call its own scanner, with our hooks."""

    strict = True
    object_hook = None
    object_pairs_hook = staticmethod(_unique)
    parse_float = staticmethod(_finite)
    parse_int = int
    parse_constant = staticmethod(_reject)


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
