"""The mapping that a store must hold of a tree, derived again from git alone."""

from __future__ import annotations

from functools import partial

from gitindex.base.errors import ObjectMissing
from gitindex.base.vocabulary import SkipReason
from gitindex.extract import policy
from gitindex.extract.plan import PlannedBlob, classify, read_present, reader_of
from gitindex.git.interface import Repository


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
