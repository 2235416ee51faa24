"""Answers without a usable index: files on disk, tracked and new, under the policy. Creates nothing."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from functools import partial
from typing import Any, TypeVar, cast

from gitindex.base.confined_read import ConfinedRoot
from gitindex.base.errors import StoreError
from gitindex.base.escape import safe_text
from gitindex.base.vocabulary import MAX_TEXT_BYTES, FreshnessState, GateStatus, SkipReason
from gitindex.base.worktree import Worktree
from gitindex.freshness.envelope import freshness_object
from gitindex.git.command import read_blobs, run_git
from gitindex.git.interface import Entry
from gitindex.git.worktree_probe import read_head_state
from gitindex.view.snapshot import GateClosed
from gitindex.view.tree import NOW, TreeChoice

FALLBACK = "LOCAL_FALLBACK"
"""The `source` of an answer that was made without an index."""


def live_paths(
    worktree: Worktree, select: Callable[[bytes], bool], also: Container[SkipReason] = ()
) -> list[bytes]:
    """Return the selected tracked and new paths that the policy in git's index does not skip."""
    from gitindex.extract import policy  # lazily: an answer of the index needs no rules

    listed = run_git(worktree.root, "ls-files", "-z", "-s").split(b"\0")
    entries = {entry.path: entry for entry in map(_entry, filter(None, listed))}
    rules = policy.of_tree(entries.values(), partial(read_blobs, worktree.root))
    new = run_git(worktree.root, "ls-files", "-z", "--others", "--exclude-standard").split(b"\0")
    entries |= {path: Entry(path, 0o100644, "") for path in new if path and path[-1:] != b"/"}
    return sorted(p for p, e in entries.items() if select(p) and _is_kept(rules.skip_path(e), also))


def _is_kept(reason: SkipReason | None, also: Container[SkipReason]) -> bool:
    return reason is None or reason in also


def live_files(
    worktree: Worktree, paths: Iterable[bytes], also: Container[SkipReason] = ()
) -> Iterator[tuple[bytes, bytes]]:
    """Yield the path and bytes of text files of usable size; `also` lists skip reasons to allow."""
    from gitindex.extract.policy import skip_content

    with ConfinedRoot(worktree.root) as disk:
        for path in paths:
            try:
                file = disk.read(path, MAX_TEXT_BYTES + 1)
            except PermissionError:
                continue
            if file is not None and _is_kept(skip_content(file.data), also):
                yield path, file.data


def fallback_envelope(worktree: Worktree, why: str, **fields: Any) -> dict[str, Any]:
    """Return an answer that states that it was made without an index, and why."""
    return {
        "status": "ok",
        "codebaseRoot": safe_text(worktree.root),
        "source": FALLBACK,
        "warnings": [f"answered by a live scan: {why}"],
        **fields,
        "freshness": freshness_object(
            FreshnessState.UNKNOWN, read_head_state(worktree), None, "live_scan", None
        ),
        "receipt": None,
    }


def _entry(record: bytes) -> Entry:
    meta, path = record.split(b"\t", 1)
    mode, oid, _stage = meta.split(b" ")
    return Entry(path, int(mode, 8), oid.decode())


Answer = TypeVar("Answer", bound=Mapping[str, Any])


def served_or_scanned(
    ask: TreeChoice,
    serve: Callable[[], Answer],
    scan: Callable[[str], Answer],
    upgraded: bool = False,
) -> Answer:
    """Return the index's answer, or a live scan's answer with the gate's envelope under `gate`.

    A closed gate is raised, not scanned around, while an index is being built, must be rebuilt,
    or a strict answer is required; a scan never answers for another tree. `upgraded`: also scan if
    the index was made by another version of gitindex, for people who should not wait for a rebuild.
    """
    try:
        return serve()
    except GateClosed as closed:
        missing = closed.envelope["status"] == GateStatus.NOT_INDEXED
        if ask != NOW or not (missing or (upgraded and closed.outdated)):
            raise
        return cast("Answer", {**scan(closed.envelope["message"]), "gate": closed.envelope})
    except (StoreError, OSError) as error:
        if ask != NOW:
            raise
        message = str(error)
        if isinstance(error, StoreError):
            message = f"{error.message}; {error.hint}" if error.hint else error.message
        gate = {"status": "error", "message": message}
        return cast("Answer", {**scan(message), "gate": gate})
