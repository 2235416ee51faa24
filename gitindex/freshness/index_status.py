"""The status file for programs that import gitindex: a dataclass, loaded and saved."""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path

from gitindex.base.atomic_file import write_atomic
from gitindex.base.vocabulary import IndexState
from gitindex.freshness import status_file
from gitindex.freshness.status_file import StatusRecord


@dataclasses.dataclass
class IndexStatus:
    """What the last writer knew about one worktree's index."""

    repo: str
    index_state: IndexState
    last_indexed_at: str  # ISO 8601 UTC; "" before the first success
    last_indexed_commit: str | None
    schema_version: str
    last_error: str | None = None


def status_path(repo_root: str | Path) -> Path:
    """Return the path of the status file of the worktree at `repo_root`."""
    return Path(status_file.path_of(repo_root))


def load_status(repo_root: str | Path) -> IndexStatus | None:
    """Return the stored status, or None for anything but a complete and well-typed one."""
    record = status_file.load_status(repo_root)
    return IndexStatus(*record) if record else None


def save_status(repo_root: str | Path, status: IndexStatus) -> Path:
    """Replace the stored status atomically and return its path. Makes `.llmc/`; raises only OSError."""
    folder = os.path.join(repo_root, status_file.FOLDER)
    try:
        os.mkdir(folder, 0o700)  # never its parents: a deleted repository stays deleted
    except FileExistsError:
        pass
    else:
        write_atomic(os.path.join(folder, ".gitignore"), b"*\n")
    status_file.save_status(repo_root, StatusRecord(**dataclasses.asdict(status)))
    return status_path(repo_root)
