"""The operations on packs: push one, pull the nearest, list them, verify a file."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from contextlib import closing, suppress
from typing import Any, NamedTuple

from gitindex.base.errors import GitIndexError, NotIndexed
from gitindex.base.runner_lock import take_lock
from gitindex.base.worktree import Worktree
from gitindex.extract.pool import Extractor
from gitindex.freshness.status_file import read_pack_note
from gitindex.git.command import is_shallow, run_git, try_git
from gitindex.git.settings import user_setting
from gitindex.refresh.detached import start_runner
from gitindex.refresh.idle_work import verify_part
from gitindex.refresh.run import refresh_now
from gitindex.refresh.runner import RefreshRequest
from gitindex.sharing.adoption import (
    Adopted,
    adopt,
    check_signer,
    has_no_facts,
    incoming_folder,
)
from gitindex.sharing.create import CreatedPack, create_pack, derive_root
from gitindex.sharing.destination import configured, open_destination
from gitindex.sharing.pack_file import (
    DATABASE,
    NAME,
    BadPack,
    Manifest,
    fingerprint_name,
    pack_name,
    sign,
    unpack,
)
from gitindex.store.blobs import imported_facts
from gitindex.store.connection import open_reader
from gitindex.store.packing import open_pack_database

ANCESTORS = 1_000
"""How many first-parent ancestors of HEAD are searched for a pack."""

Report = Callable[[str, float | None], None]


class Pulled(NamedTuple):
    """The result of a pull: `distance` is how many commits HEAD is ahead of the pack."""

    outcome: str  # adopted, taken_before, none
    adopted: Adopted | None = None
    distance: int = 0


class ListedPack(NamedTuple):
    """A pack at a destination."""

    name: str
    distance: int | None  # from HEAD; None: not of an ancestor
    usable: bool  # made with the fingerprint of this version
    delta: bool  # completes another pack


def create(worktree: Worktree, rev: str, output: str, key: str, report: Report) -> CreatedPack:
    """Make a pack, and sign it if a key is given or configured."""
    return _signed(worktree, create_pack(worktree, rev, output, report), key, report)


def _signed(worktree: Worktree, pack: CreatedPack, key: str, report: Report) -> CreatedPack:
    key = key or user_setting(worktree, "gitindex.pack.key")
    if key:
        report("sign", None)
        sign(pack.path, key)
    return pack


def push(
    worktree: Worktree, rev: str, dest: str, key: str, report: Report, delta: bool = False
) -> Manifest:
    """Make the pack of a commit and put it at a destination.

    `delta`: only what the nearest whole pack there lacks; the whole where there is none.
    """
    named = configured(worktree, dest)
    with incoming_folder(worktree) as folder:
        target = open_destination(worktree, named, folder)
        base = _base_tree(worktree, rev, target.names()) if delta else ""
        pack = _signed(worktree, create_pack(worktree, rev, folder, report, base), key, report)
        report("push", None)
        target.push(pack.path)
    return pack.manifest


def _base_tree(worktree: Worktree, rev: str, names: list[str]) -> str:
    """Return the tree of the nearest whole pack of an ancestor; empty if there is none."""
    trees = _first_parents(worktree, rev)
    whole = (pack.distance for pack in _listed(trees, names) if pack.usable and not pack.delta)
    return next((trees[distance] for distance in whole if distance), "")  # its own needs no delta


def pull(worktree: Worktree, dest: str, report: Report) -> Pulled:
    """Adopt the nearest pack of a destination, then refresh; do nothing if there is none.

    A store without facts takes the base of a delta first; another one has most of them already.
    """
    named = configured(worktree, dest)
    with incoming_folder(worktree) as folder:
        source = open_destination(worktree, named, folder)
        report("list", None)
        names = source.names()
        listed = _listed(_first_parents(worktree, "HEAD"), names)
        near = [pack for pack in listed if pack.distance is not None]
        chosen = next((pack for pack in near if pack.usable), None)
        if chosen is None or chosen.distance is None:
            return Pulled("none")
        report("pull", None)
        paths = [source.pull(name, folder) for name in _with_base(worktree, chosen.name, names)]
        shutil.rmtree(os.path.join(folder, "git"), ignore_errors=True)
        adopted = _adopt_and_refresh(worktree, paths, folder, report)
    return Pulled("adopted" if adopted else "taken_before", adopted, chosen.distance)


def _with_base(worktree: Worktree, name: str, names: list[str]) -> list[str]:
    """Return the packs to adopt, in order."""
    match = NAME.fullmatch(name)
    assert match is not None
    base = pack_name(match[3] or "", match[2])
    return [base, name] if match[3] and base in names and has_no_facts(worktree) else [name]


def list_packs(worktree: Worktree, dest: str) -> list[ListedPack]:
    """List the packs of a destination, those of ancestors first, nearest first."""
    named = configured(worktree, dest)
    with incoming_folder(worktree) as folder:
        names = open_destination(worktree, named, folder).names()
    return _listed(_first_parents(worktree, "HEAD"), names)


def collect_garbage(worktree: Worktree, dest: str, dry_run: bool) -> list[str]:
    """Remove the packs of a destination whose tree no branch or tag reaches; return their names."""
    if is_shallow(worktree.root):
        raise GitIndexError(
            "a shallow clone does not know which packs are reachable", "`git fetch --unshallow`"
        )
    listed = run_git(worktree.root, "log", "--branches", "--remotes", "--tags", "--format=%T")
    reached = {tree[:12] for tree in listed.decode("ascii").split()}
    named = configured(worktree, dest)
    with incoming_folder(worktree) as folder:
        destination = open_destination(worktree, named, folder)
        names = [
            name
            for name in destination.names()
            if (match := NAME.fullmatch(name)) and match[1] not in reached
        ]
        for name in () if dry_run else names:
            destination.remove(name)
    return names


def verify_file(worktree: Worktree, path: str) -> dict[str, Any]:
    """Check a pack as an adoption does, and its Merkle root as well. Adopts nothing."""
    if not os.path.isfile(path):
        raise GitIndexError("no such pack", "name a .gixp file")
    signer = check_signer(worktree, path)
    with incoming_folder(worktree) as folder:
        manifest = unpack(path, folder)
        with closing(open_pack_database(os.path.join(folder, DATABASE))) as database:
            if derive_root(database) != manifest.merkle_root:
                raise BadPack("its facts are not those of the manifest")
    return {
        "status": "ok",
        "name": manifest.name,
        "signer": signer,
        "commit": manifest.commit,
        "treeId": manifest.tree,
        "blobs": manifest.blobs,
        "usable": fingerprint_name(manifest.fingerprint) == fingerprint_name(),
        "merkleRoot": manifest.merkle_root,
        "tool": manifest.tool,
    }


def start_verification(worktree: Worktree) -> None:
    """Start a runner in the background if facts of a pack are not verified yet."""
    with suppress(NotIndexed):
        if _left(worktree):
            start_runner(worktree)


def _adopt_and_refresh(
    worktree: Worktree, paths: list[str], folder: str, report: Report
) -> Adopted | None:
    """Adopt and refresh under one lock: readers see the facts only once they are published."""
    lock = take_lock(worktree, report)
    try:
        mask = os.umask(0o077)
        try:
            for number, path in enumerate(paths):
                unpacked = os.path.join(folder, str(number))
                os.mkdir(unpacked, 0o700)
                adopted = adopt(worktree, path, unpacked, report)
        finally:
            os.umask(mask)
        refresh_now(RefreshRequest(worktree, "pack"), report, lock)
    finally:
        lock.release()
    return adopted


def _first_parents(worktree: Worktree, rev: str) -> list[str]:
    """Return the trees of a commit and of its first-parent ancestors, newest first."""
    log = try_git(
        worktree.root, "log", "--first-parent", f"-n{ANCESTORS}", "--format=%T", rev, "--"
    )
    return log.output.decode("ascii", "replace").split()


def _listed(trees: list[str], names: list[str]) -> list[ListedPack]:
    """Return the packs, those of the first trees first; of equal ones the whole before a delta."""
    distances: dict[str, int] = {}
    for distance, tree in enumerate(trees):
        distances.setdefault(tree[:12], distance)
    ours, packs = fingerprint_name(), []
    for name in names:
        if match := NAME.fullmatch(name):
            usable, delta = match[2] == ours, bool(match[3])
            packs.append(ListedPack(name, distances.get(match[1]), usable, delta))
    far = len(trees)
    return sorted(packs, key=lambda p: (far if p.distance is None else p.distance, p.delta, p.name))


def check_imports(worktree: Worktree, report: Report) -> dict[str, Any]:
    """Derive every imported fact again; rebuild the store if one is wrong."""
    before = read_pack_note(worktree.store).rejected
    more = True
    with closing(Extractor()) as workers:
        while more:
            lock = take_lock(worktree, report)
            try:
                more = verify_part(worktree, workers)
            finally:
                lock.release()
            note = read_pack_note(worktree.store)
            report("verify", 100.0 * note.verified / note.imported if note.imported else None)
    rejected = [signer for signer in note.rejected if signer not in before]
    if rejected:
        start_runner(worktree)
    return {"status": "ok", "left": _left(worktree), "rejected": rejected}


def _left(worktree: Worktree) -> int:
    """Return how many blobs of packs are not verified yet."""
    database = open_reader(worktree.database)
    if database is None:
        raise NotIndexed
    with closing(database):
        facts = imported_facts(database)
    return facts.imported - facts.verified if facts else 0
