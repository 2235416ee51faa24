"""Check claims against the trees they are about, and put the verdicts into an envelope."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any, NamedTuple

from gitindex.base.escape import safe_text
from gitindex.query.claims import files, verdicts
from gitindex.query.claims.evidence import (
    CONFIRMED,
    REFUTED,
    UNVERIFIABLE,
    ClaimTree,
    ClaimVerdict,
    UnknownName,
    node_name,
)
from gitindex.query.claims.grammar import KINDS, Claim
from gitindex.query.claims.report_text import claims_of_text
from gitindex.view.tree import TreeView

VERDICTS = (CONFIRMED, REFUTED, UNVERIFIABLE)
_JUDGES: dict[str, Callable[..., ClaimVerdict]] = {
    "calls": verdicts.judge_calls,
    "no_callers": verdicts.judge_no_callers,
    "defines": files.judge_defines,
    "signature": files.judge_signature,
    "line": files.judge_line,
    "imports": files.judge_imports,
    "only_called_from": verdicts.judge_only_called_from,
    "unused": verdicts.judge_unused,
    "tests": verdicts.judge_tests,
}
FEW = 32
"""Claims that each have a footprint of their own; more share what was derived for them."""
_FILES = frozenset({"FILE", "PATH"})


class ClaimPlaces(NamedTuple):
    """How the reader's paths become paths of the tree."""

    inside: Callable[[str], str]  # a file or folder
    placed: Callable[[str], str]  # a symbol, which may name a file


class ClaimsQuery(NamedTuple):
    """Claims, the text of a report, and whether a broken assumption makes a verdict open."""

    claims: list[Claim]
    text: str = ""
    strict: bool = False


def verify_claims(
    open_at: Callable[[str], Any], query: ClaimsQuery, places: ClaimPlaces
) -> dict[str, Any]:
    """Return a verdict for each claim; `open_at` opens the tree of a revision, "" the default one."""
    rows: list[dict[str, Any]] = []
    with ExitStack() as stack:
        view: TreeView = stack.enter_context(open_at(""))
        trees = {"": ClaimTree(view)}
        claims = list(query.claims)
        if query.text:
            claims += claims_of_text(query.text, _Paths(view).resolve)
        for claim in claims:
            if claim.at not in trees:
                trees[claim.at] = ClaimTree(stack.enter_context(open_at(claim.at)))
        alone = len(claims) == 1 and not query.text
        for claim in claims:
            tree = trees[claim.at]
            if len(claims) <= FEW:
                tree = tree.anew()
            rows.append(_row(tree, claim, query.strict, places, alone))
        counts = {name: sum(row["verdict"] == name for row in rows) for name in VERDICTS}
        return view.envelope(verdicts=rows, counts=counts)


def _row(
    tree: ClaimTree, claim: Claim, strict: bool, places: ClaimPlaces, alone: bool
) -> dict[str, Any]:
    try:
        found = _JUDGES[claim.kind](tree, *_arguments(claim, places))
    except UnknownName as error:
        if alone:
            raise
        hint = f" ({error.hint})" if error.hint else ""
        found = ClaimVerdict(UNVERIFIABLE, error.message + hint)
    if strict and found.assumes and found.verdict != UNVERIFIABLE:
        names = ", ".join(str(one["assumption"]).replace("_", " ") for one in found.assumes)
        found = found._replace(verdict=UNVERIFIABLE, why=f"assumes no {names}; {found.why}")
    return {
        "claim": safe_text(str(claim)),
        "verdict": found.verdict,
        "why": found.why,
        "evidence": list(found.evidence),
        "assumes": list(found.assumes),
        "receipt": tree.view.receipt(),
    }


def _arguments(claim: Claim, places: ClaimPlaces) -> Iterator[str]:
    for name, value in zip(KINDS[claim.kind], claim.args, strict=True):
        if name in _FILES:
            yield places.inside(value)
        elif name.startswith('"') or name in ("N", "MODULE"):
            yield value
        else:
            yield places.placed(node_name(value))


class _Paths:
    """The paths of a tree, by their last part: reports shorten them."""

    def __init__(self, view: TreeView) -> None:
        self._by_name: dict[str, list[str]] = {}
        for (path,) in view.rows("SELECT l.path FROM {live} l"):
            text = os.fsdecode(path)
            self._by_name.setdefault(text.rpartition("/")[2], []).append(text)

    def resolve(self, path: str) -> str:
        """Return the only path of the tree that ends so; else the path as it is."""
        clean = path.removeprefix("./")
        ends = [p for p in self._by_name.get(clean.rpartition("/")[2], ()) if _ends(p, clean)]
        return ends[0] if len(ends) == 1 else clean


def _ends(path: str, tail: str) -> bool:
    return path == tail or path.endswith(f"/{tail}")
