"""The difference between the published tree and the tree a reader asks for, with its bytes."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from functools import partial

from gitindex.base.confined_read import ConfinedRoot
from gitindex.base.errors import Exit, GitIndexError
from gitindex.base.escape import safe_text
from gitindex.base.light_types import TYPE_CHECKING, sha256
from gitindex.base.vocabulary import MAX_TEXT_BYTES, SkipReason
from gitindex.extract import policy
from gitindex.extract.policy import (
    PlannedBlob,
    Policy,
    classify,
    classify_file,
    is_policy_file,
    needs_content,
    skip_content,
)
from gitindex.freshness.envelope import (
    LARGE,
    MAX_HEAD,
    choose_overlaid,
    within_budget,
)
from gitindex.git.command import (
    GitFailed,
    TooMuchOutput,
    blob_sizes,
    check_result,
    missing_commit_hint,
    read_blobs,
    run_git,
    tree_of,
    try_git,
)
from gitindex.git.interface import Entry, blob_id
from gitindex.store import mapping
from gitindex.view.overlay import BUFFER, STAGED, WORKTREE, OverlaidFile, Overlay
from gitindex.view.snapshot import Snapshot

if TYPE_CHECKING:
    from gitindex.git.merge_tree import MergedTree

MAX_DIFFERENCE = 32 << 20
"""Bytes of `git diff-tree` output; beyond it the new tree is listed, which has its own caps."""


def overlay_worktree(served: Snapshot) -> Overlay:
    """Return the overlay of the files on disk, and of a HEAD that is not indexed yet."""
    seen, row = served.seen, served.published
    committed = _changes(served, row.tree, seen.head_tree)
    absent = [file.path for file in mapping.without_blob(served.database, row.worktree_id)]
    rules = _policy(served, committed)
    paths = choose_overlaid(served.worktree.root, seen.head)
    files, unreadable = _read_disk(served, rules, paths.read)
    left_out = [*paths.left_out, *unreadable]
    files = _absent_from_git(served, rules, absent) | files
    on_disk_only = {*files, *left_out}  # HEAD's bytes are out of date for these
    rest = {path: committed[path] for path in sorted(committed.keys() - on_disk_only)}
    files |= _from_tree(served, rest, rules)
    files |= {path: _submodule(path) for path in seen.head.submodules}
    hidden = {path: files.get(path) for path in (*files, *left_out)}
    digest = overlay_digest(hidden) if hidden else None
    base = Overlay(row.tree or "", row.head_commit, WORKTREE, files, tuple(left_out), digest)
    return base._replace(as_blobs=paths.as_blobs)


def _submodule(path: bytes) -> OverlaidFile:
    return _overlaid(PlannedBlob(Entry(path, 0o160000, ""), SkipReason.SUBMODULE))


def _absent_from_git(
    served: Snapshot, rules: Policy, paths: list[bytes]
) -> dict[bytes, OverlaidFile | None]:
    """Return files that git cannot read but the disk has; those that stay absent are counted."""
    chosen = within_budget(served.worktree.root, paths)[0]
    files = _read_disk(served, rules, chosen)[0] if chosen else {}
    return {path: file for path, file in files.items() if file is not None}


def _read_disk(
    served: Snapshot, rules: Policy, paths: list[bytes]
) -> tuple[dict[bytes, OverlaidFile | None], list[bytes]]:
    """Return files on disk, and the paths that cannot be read."""
    left_out: list[bytes] = []
    files: dict[bytes, OverlaidFile | None] = {}
    with ConfinedRoot(served.worktree.root) as disk:
        for path in paths:
            try:
                files[path] = _from_disk(disk, path, rules, len(served.seen.head_tree))
            except PermissionError:
                left_out.append(path)
    return files, left_out


def with_buffers(overlay: Overlay, served: Snapshot, buffers: Mapping[bytes, bytes]) -> Overlay:
    """Return the overlay with the unsaved text of an editor in place of files on disk."""
    rules = _policy(served, {})
    files = dict(overlay.files)
    for path, data in buffers.items():
        entry = Entry(path, 0o100644, blob_id(data, len(served.seen.head_tree)))
        files[path] = _overlaid(classify_file(entry, rules, data), data)._replace(source=BUFFER)
    left_out = tuple(path for path in overlay.left_out if path not in buffers)
    digest = overlay_digest({path: files.get(path) for path in (*files, *left_out)})
    return overlay._replace(files=files, left_out=left_out, digest=digest)


def overlay_at(served: Snapshot, rev: str) -> Overlay:
    """Return the overlay for the tree of any commit, tag or branch."""
    root = served.worktree.root
    if rev == served.published.head_commit:  # an id: what the index is of
        return Overlay(
            served.published.tree or "", rev, f"index@{served.published.tree}", {}, (), None
        )
    try:
        name = run_git(root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{rev}^{{}}")
        commit = name.decode().strip()
        tree = tree_of(root, commit)
    except GitFailed as error:
        hint = missing_commit_hint(root, "see `git log --all`")
        raise GitIndexError(f"no such revision: {safe_text(rev)}", hint, Exit.USAGE) from error
    changes = _changes(served, served.published.tree, tree)
    files = _from_tree(served, changes, _policy(served, changes))
    return Overlay(tree, commit, f"index@{tree}", files, (), None)


def overlay_staged(served: Snapshot) -> Overlay:
    """Return the overlay for the next commit: git's index, or the index of a partial commit."""
    chosen = os.environ.get("GIT_INDEX_FILE")  # relative to the work tree's root
    index = os.path.join(served.worktree.root, chosen) if chosen else None
    base = served.published.tree or ""
    output = run_git(
        served.worktree.root,
        "diff-index",
        "--cached",
        "--raw",
        "-z",
        "--no-abbrev",
        "--no-renames",
        "--ignore-submodules=none",
        "--end-of-options",
        base,
        "--",
        index=index,
    )
    changes = dict(_parse_raw(output))
    files = _from_tree(served, changes, _policy(served, changes))
    digest = overlay_digest(files) if files else None
    return Overlay(base, served.published.head_commit, STAGED, files, (), digest)


def overlay_merged(served: Snapshot, merged: MergedTree) -> Overlay:
    """Return the overlay for a merge result, with bytes: its blobs may not be in the repository."""
    changes = dict(_parse_raw(merged.compare(served.published.tree or "")))
    contents = merged.read(entry.oid for entry in changes.values() if entry)
    rules = _policy(served, changes)
    files: dict[bytes, OverlaidFile | None] = {}
    for path, entry in changes.items():
        data = contents.get(entry.oid) if entry else None
        if entry is None:
            files[path] = None
        elif data is not None and len(data) <= MAX_TEXT_BYTES:
            files[path] = _overlaid(classify_file(entry, rules, data), data)
    left_out = tuple(path for path in changes if path not in files)
    return Overlay(merged.tree, None, f"index@{merged.tree}", files, left_out, None)


def overlay_digest(files: dict[bytes, OverlaidFile | None]) -> str:
    """Return a digest of all overlaid paths and their blob ids."""
    text = sha256()
    for path in sorted(files):
        file = files[path]
        text.update(b"%s\0%s\0" % (path, file.oid.encode() if file else b"-"))
    return text.hexdigest()


def _from_disk(disk: ConfinedRoot, path: bytes, rules: Policy, digits: int) -> OverlaidFile | None:
    if path.endswith(b"/"):
        return None  # a nested repository
    unread = Entry(path, 0o100644, "")
    if rules.skip_path(unread) is SkipReason.SECRET:
        return _overlaid(PlannedBlob(unread, SkipReason.SECRET))  # secrets are never read
    file = disk.read(path, MAX_HEAD)
    if file and file.size > MAX_HEAD:
        is_binary = skip_content(file.data) is SkipReason.BINARY
        if file.size < LARGE or not is_binary:
            file = disk.read(path, MAX_TEXT_BYTES + 1)
    if file is None:
        return None
    mode = 0o100755 if file.executable else 0o100644
    entry = Entry(path, mode, blob_id(file.data, digits))
    return _overlaid(classify_file(entry, rules, file.data), file.data)


def _from_tree(
    served: Snapshot, changes: dict[bytes, Entry | None], rules: Policy
) -> dict[bytes, OverlaidFile | None]:
    """Return overlaid files of a tree, bytes left in git, after reading what classifying needs."""
    entries = [entry for entry in changes.values() if entry]
    sizes = blob_sizes(served.worktree.root, [entry.oid for entry in entries])
    large = {oid for oid, size in sizes.items() if size > MAX_TEXT_BYTES}
    unclear = [e.oid for e in entries if e.oid not in large and needs_content(e, rules)]
    contents = read_blobs(served.worktree.root, unclear)
    files: dict[bytes, OverlaidFile | None] = dict.fromkeys(changes)
    for entry in entries:
        planned = classify(entry, rules, lambda oid: contents.get(oid, b""))
        if planned.skip is None and entry.oid in large:
            planned = planned._replace(skip=SkipReason.OVERSIZE)
        files[entry.path] = _overlaid(planned)
    return files


def _overlaid(planned: PlannedBlob, data: bytes | None = None) -> OverlaidFile:
    path, mode, oid = planned.entry
    return OverlaidFile(path, oid, mode, data, planned.language, planned.skip)


def _policy(served: Snapshot, changes: dict[bytes, Entry | None]) -> Policy:
    """Return the policy of the published tree, updated by changed policy files."""
    files: dict[bytes, Entry | None] = {
        row.path: Entry(row.path, row.mode, row.oid)
        for row in mapping.policy_rows(served.database, served.published.worktree_id)
    }
    files |= {path: entry for path, entry in changes.items() if is_policy_file(path)}
    return policy.of_tree(filter(None, files.values()), partial(read_blobs, served.worktree.root))


def _changes(served: Snapshot, old: str | None, new: str) -> dict[bytes, Entry | None]:
    """Return the changes from the published tree to another, by `git diff-tree`."""
    if old == new:
        return {}
    root = served.worktree.root
    form = ("-r", "--raw", "-z", "--no-abbrev", "--no-renames", "--end-of-options")
    command = ("diff-tree", *form, old or "", new)
    try:
        output = check_result(command, try_git(root, *command, most=MAX_DIFFERENCE))
    except (GitFailed, TooMuchOutput):  # the published tree was pruned, or a tree is a bomb
        return _all_changes(served, new)
    return dict(_parse_raw(output))


def _all_changes(served: Snapshot, new: str) -> dict[bytes, Entry | None]:
    """Return the same changes by comparing the new tree with the stored mapping."""
    from gitindex.git.git_objects import GitCommandRepository  # lazily: for enormous differences

    repository = GitCommandRepository(served.worktree)
    try:
        now: dict[bytes, Entry | None] = {e.path: e for e in repository.entries(new)}
    finally:
        repository.close()
    rows = mapping.read_mapping(served.database, served.published.worktree_id)
    same = {r.path for r in rows if now.get(r.path) == Entry(r.path, r.mode, r.oid)}
    gone = {r.path: None for r in rows if r.path not in now}
    return {path: entry for path, entry in now.items() if path not in same} | gone


def _parse_raw(output: bytes) -> Iterator[tuple[bytes, Entry | None]]:
    """Parse records of `--raw -z`: the new side of each path."""
    fields = output.split(b"\0")
    for meta, path in zip(fields[::2], fields[1::2], strict=False):
        _, mode, _, oid, status = meta.split(b" ")
        if status == b"U":
            raise GitIndexError("the index has unmerged paths", "resolve them first")
        yield path, None if status == b"D" else Entry(path, int(mode, 8), oid.decode())
