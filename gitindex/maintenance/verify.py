"""Derives the index again from git and compares. Writes nothing."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, NamedTuple

from gitindex.base.errors import CorruptStore, Exit, GitIndexError, ObjectMissing
from gitindex.base.escape import counted, safe_text
from gitindex.base.vocabulary import BINARY_PROBE, OccurrenceClass, ProofOutcome, SkipReason
from gitindex.base.worktree import Worktree
from gitindex.extract import policy
from gitindex.extract.policy import PlannedBlob, classify, is_policy_file, read_present, reader_of
from gitindex.extract.pool import Extractor
from gitindex.freshness.marker import parse_fingerprint, runtime_fingerprint
from gitindex.freshness.status_file import parse_object
from gitindex.git.backend import open_repository
from gitindex.git.command import empty_tree, tree_of, try_git
from gitindex.git.interface import Repository
from gitindex.languages.facts import FactsKey
from gitindex.store import mapping
from gitindex.store.connection import Database
from gitindex.store.fact_check import Check, FactsCheck, Report, compared
from gitindex.store.lexical import LexicalReader
from gitindex.store.name_index import name_index_faults
from gitindex.view.tree import TreeChoice, TreeView, open_tree


def derive_mapping(repository: Repository, tree: str) -> dict[bytes, PlannedBlob]:
    """Every path of a tree, under the policy of that tree."""
    entries = list(repository.entries(tree))
    rules = policy.of_tree(entries, partial(read_present, repository))
    read = reader_of(repository)
    planned = (classify(entry, rules, read) for entry in entries)
    return {plan.entry.path: _checked(repository, plan) for plan in planned}


def _checked(repository: Repository, plan: PlannedBlob) -> PlannedBlob:
    """The plan, unless git does not have the blob: `classify` reads only where it must."""
    if plan.skip is not None:
        return plan
    try:
        repository.size(plan.entry.oid)
    except ObjectMissing:
        return plan._replace(skip=SkipReason.MISSING_BLOB)
    return plan


RECEIPT_FIELDS = ("treeId", "overlayDigest", "generation", "fingerprint")
_ID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


class Receipt(NamedTuple):
    """The receipt of an answer."""

    fields: dict[str, Any]
    named: bool  # the answer was for a tree asked for by its name
    staged: bool  # the answer may be about what is staged
    name: str = ""  # the name whose occurrences the answer counts
    total: int = 0  # how many it says there are


def verify(
    worktree: Worktree,
    path: str,
    receipt: str = "",
    full: bool = False,
    extractor: Extractor | None = None,
    report: Report = lambda _phase, _percent: None,
) -> dict[str, Any]:
    """An envelope of checks; `verified` if all of them hold."""
    given = parse_receipt(receipt) if receipt else None
    with open_tree(worktree, path) as view, _tools(worktree, extractor) as (repository, workers):
        checks = [_proof(view), _commit(view)]
        if given is not None:
            checks.append(_receipt(view, path, given))
            checks += [_partition(view, given)] if given.name else []
        report("mapping", None)
        expected, mapping_check = _mapping(view, repository)
        checks += [mapping_check, _counts(view)]
        verifier = FactsCheck(view.served.database, LexicalReader(worktree.lexical), full, report)
        checks += verifier.checks(repository, workers, expected)
        report("integrity", None)
        checks.append(_integrity(view.served.database, full))
        return view.envelope(
            verified=all(check.ok for check in checks),
            full=full,
            checks=[check._asdict() for check in checks],
        )


@contextmanager
def _tools(
    worktree: Worktree, extractor: Extractor | None
) -> Iterator[tuple[Repository, Extractor]]:
    repository = open_repository(worktree)
    workers = extractor or Extractor()
    try:
        yield repository, workers
    finally:
        repository.close()
        if extractor is None:
            workers.close()


def parse_receipt(text: str) -> Receipt:
    """The receipt in the JSON of one, or of a whole answer."""
    answer = parse_object(text.encode("utf-8", "replace")) or {}
    found = answer.get("receipt", answer)
    if not isinstance(found, dict) or not all(name in found for name in RECEIPT_FIELDS):
        raise GitIndexError(
            "not a receipt", "give the JSON of an answer, or of its `receipt`", Exit.USAGE
        )
    freshness = answer.get("freshness")
    state = freshness if isinstance(freshness, dict) else {}
    named = state.get("mode") == "at"
    fields = {name: found[name] for name in RECEIPT_FIELDS}
    staged = bool(fields["overlayDigest"]) or state.get("edits", 0) is None  # disk not looked at
    counts, name = answer.get("accounted"), answer.get("name")
    if not isinstance(counts, dict) or not isinstance(name, str):
        return Receipt(fields, named, staged)
    return Receipt(fields, named, staged, name, _total(counts))


def _total(counts: dict[str, Any]) -> int:
    """The total of a partition; -1 if its classes do not add up to it."""
    classes = [counts.get(group) for group in OccurrenceClass]
    if not all(isinstance(count, int) for count in (*classes, counts.get("total"))):
        raise GitIndexError("not a partition: `accounted` has no counts", code=Exit.USAGE)
    return counts["total"] if counts["total"] == sum(filter(None, classes)) else -1


def _proof(view: TreeView) -> Check:
    """Check that marker, stamp and published row agree and are of the running version."""
    proof, row = view.served.seen.proof, view.served.published
    marker = proof.marker
    if proof.outcome is not ProofOutcome.VALID or marker is None:
        return Check("proof", False, f"{proof.outcome}: {proof.message or proof.reason}")
    counts = mapping.count(view.served.database, row.worktree_id)
    said = (
        marker.run_id,
        marker.tree_id,
        marker.generation,
        marker.head_commit,
        marker.indexed_files,
        marker.total_chunks,
    )
    stored = (row.run_id, row.tree, row.generation, row.head_commit, counts.files, counts.symbols)
    if said != stored:
        return Check("proof", False, f"the marker says {said}, the store {stored}")
    if parse_fingerprint(parse_object((row.fingerprint or "").encode())) != runtime_fingerprint():
        return Check("proof", False, "the store's fingerprint is not that of the running tools")
    return Check("proof", True, f"run {row.run_id}, generation {row.generation}")


def _commit(view: TreeView) -> Check:
    row, root = view.served.published, view.worktree.root
    try:
        tree = tree_of(root, row.head_commit) if row.head_commit else empty_tree(root)
    except GitIndexError as error:
        return Check("commit", False, f"git cannot tell its tree: {error.message}")
    detail = f"commit {row.head_commit} has tree {tree}"
    return Check("commit", tree == row.tree, f"{detail}, published is {row.tree}")


def _receipt(view: TreeView, path: str, given: Receipt) -> Check:
    """Of the files as they are, of what is staged, or of a tree by its name."""
    closest = now = view.envelope()["receipt"]
    choice = _other_tree(given, now)
    if choice is not None and (given.fields != now or given.named):
        with suppress(GitIndexError):  # unmerged paths, or no such tree
            with open_tree(view.worktree, path, choice) as other:
                found = other.envelope()["receipt"]
            if choice.at or found == given.fields:
                closest = found
    differs = [name for name in RECEIPT_FIELDS if given.fields[name] != closest[name]]
    if not differs:
        return Check("receipt", True, "derived again: the same")
    detail = (f"{n} is {closest[n]}, not {safe_text(str(given.fields[n]))}" for n in differs)
    return Check("receipt", False, ", ".join(detail))


def _other_tree(given: Receipt, now: dict[str, Any]) -> TreeChoice | None:
    """The tree that a receipt is of, if not of the files as they are."""
    tree = given.fields["treeId"]
    if given.named or tree != now["treeId"]:
        return TreeChoice(at=tree) if isinstance(tree, str) and _ID.fullmatch(tree) else None
    return TreeChoice(staged=True) if given.staged else None


def _partition(view: TreeView, given: Receipt) -> Check:
    """Count the occurrences of a name with git alone, in the tree that the answer is about."""
    tree = str(given.fields["treeId"])
    if given.named:
        where: tuple[tuple[str, ...], ...] = ((tree,),)
    elif given.fields == view.envelope()["receipt"]:
        where = (("--untracked",), ())  # the first leaves out files that are tracked and ignored
    else:
        where = (("--cached",),)
    counts: dict[bytes, int] = {}
    for options in where:
        flags = [option for option in options if option.startswith("--")]
        trees = [option for option in options if not option.startswith("--")]
        asking = ("grep", "-a", "-F", "-w", "-o", "-z", *flags, "-e", given.name, *trees)
        output = try_git(view.worktree.root, "-c", "submodule.recurse=false", *asking).output
        found = (line.partition(b"\0")[0] for line in output.splitlines() if b"\0" in line)
        counts |= Counter(found)
    total = sum(n for path, n in counts.items() if not _is_binary(view, path, given))
    detail = f"git counts {counted(total, 'occurrences')} of {safe_text(given.name)}"
    return Check("partition", total == given.total, f"{detail}, the answer {given.total}")


def _is_binary(view: TreeView, path: bytes, given: Receipt) -> bool:
    """Return whether git takes a file for binary by its bytes."""
    root, short = view.worktree.root, path.partition(b":")[2] if given.named else path
    try:
        if given.named or given.fields != view.envelope()["receipt"]:
            name = (path if given.named else b":" + path).decode("utf-8", "surrogateescape")
            data = try_git(root, "cat-file", "blob", name).output
        else:
            with open(os.path.join(os.fsencode(root), short), "rb") as file:
                data = file.read(BINARY_PROBE)
    except OSError:
        return False
    return b"\0" in data[:BINARY_PROBE]


def _mapping(view: TreeView, repository: Repository) -> tuple[dict[bytes, PlannedBlob], Check]:
    """Every path of the published tree as git and the policy have it, and how the store differs."""
    try:
        expected = derive_mapping(repository, view.served.published.tree or "")
    except GitIndexError as error:
        return {}, Check("mapping", False, f"git cannot tell the tree: {error.message}")
    rows = view.served.database.rows(
        "SELECT p.path, f.mode, f.oid, f.skip, p.policy, b.oid, b.extractor, f.blob_id FROM files f"
        " JOIN paths p ON p.id=f.path_id LEFT JOIN blobs b ON b.id=f.blob_id"
        " WHERE f.worktree_id=?",
        view.served.published.worktree_id,
    )
    stored: dict[bytes, tuple[object, ...]] = {}
    for path, mode, oid, skip, is_policy, blob_oid, extractor, blob_id in rows:
        key = FactsKey(blob_oid.hex(), extractor) if blob_oid is not None else blob_id
        stored[path] = mode, oid.hex(), skip, bool(is_policy), key
    derived = {
        path: (
            *(plan.entry.mode, plan.entry.oid, plan.skip, is_policy_file(path)),
            None if plan.skip else plan.key,
        )
        for path, plan in expected.items()
    }
    differ = [p for p in stored.keys() | derived.keys() if stored.get(p) != derived.get(p)]
    return expected, compared("mapping", counted(len(derived), "paths"), sorted(differ))


def _counts(view: TreeView) -> Check:
    database, worktree = view.served.database, view.served.published.worktree_id
    said = tuple(mapping.count(database, worktree))
    counts = database.row(
        "SELECT count(*), coalesce(sum((SELECT count(*) FROM symbols s WHERE s.blob_id=b.id)), 0)"
        " FROM files f JOIN blobs b ON b.id=f.blob_id"
        " WHERE f.worktree_id=? AND b.status<>'skipped'",
        worktree,
    )
    return Check(
        "counts",
        said == counts,
        f"{counted(said[0], 'files')}, {counted(said[1], 'symbols')}; counted {counts}",
    )


def _integrity(database: Database, full: bool) -> Check:
    said = database.row(f"PRAGMA {'integrity' if full else 'quick'}_check(1)")[0]
    if said != "ok":
        return Check("integrity", False, said)
    broken = database.rows("PRAGMA foreign_key_check")
    if broken:
        return Check("integrity", False, f"{len(broken)} rows refer to nothing")
    for table in ("symbols", "imports", "exports"):  # facts refer to each other by these numbers
        gaps = database.row(
            "SELECT count(*) FROM (SELECT max(ordinal)+1 AS top, count(*) AS rows_"
            f" FROM {table} GROUP BY blob_id) WHERE top<>rows_"
        )[0]
        if gaps:
            return Check("integrity", False, f"{gaps} blobs have gaps in their {table}")
    try:
        faults = name_index_faults(database)
    except (CorruptStore, ValueError) as error:
        return Check("integrity", False, str(error))
    return compared("integrity", "SQLite, and its index by name", [b"%d" % n for n in faults])
