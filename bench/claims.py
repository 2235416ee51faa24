"""Claims made from what reference indexers say (bench/oracle.py): none may be decided wrongly.

`CLAIMS_SAMPLE` claims are generated for each project, true and false ones; `ORACLE_ONLY=flask,chi`
chooses projects. A verdict is wrong only where the indexer speaks of the places that decide it.
"""

from __future__ import annotations

import os
import random
import re
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from bench.harness import Row
from bench.oracle import CACHE, At, Truth, _at, _is_spelled, _marks, _place, _truth
from bench.oracles.projects import PROJECTS, Project
from bench.scratch import Bench, Repo
from gitindex.base.path_kind import is_test
from gitindex.base.worktree import find_worktree
from gitindex.languages.facts import Use
from gitindex.languages.syntax.kinds import FUNCTIONS, TYPES
from gitindex.query.claims.answer import JUDGES
from gitindex.query.claims.evidence import ClaimTree, ClaimVerdict
from gitindex.query.claims.grammar import Claim
from gitindex.query.names.model import Definition
from gitindex.view.tree import open_tree

SAMPLE = int(os.environ.get("CLAIMS_SAMPLE", "1000"))


class Case(NamedTuple):
    """A claim, the places that make it true or false, and whether they do."""

    claim: Claim
    true: bool
    places: set[At]  # of the reference indexer, that contradict an absence
    uses: set[At]  # of the symbol, all of them


class Counts:
    """Verdicts of one project or of all."""

    def __init__(self) -> None:
        self.claims = self.decided = 0
        self.kinds: Counter[str] = Counter()
        self.wrong: list[str] = []


def measure(bench: Bench) -> list[Row]:
    """Rows of every project, then of all."""
    chosen = [n for n in os.environ.get("ORACLE_ONLY", "").split(",") if n]
    rows, total = [], Counts()
    for project in PROJECTS:
        if chosen and project.name not in chosen:
            continue
        try:
            found = _measure(bench, project)
        except (OSError, ImportError, subprocess.SubprocessError, StopIteration) as error:
            sys.stderr.write(f"claims: {project.name} left out: {str(error)[:200]}\n")
            continue
        rows += _rows(f"claims, {project.name} ({project.language})", found)
        total.claims += found.claims
        total.decided += found.decided
        total.wrong += found.wrong
        total.kinds += found.kinds
    for kind, many in sorted(total.kinds.items()):
        sys.stderr.write(f"claims: {kind}: {many}\n")
    return rows + _rows("claims, all", total)


def _rows(name: str, found: Counts) -> list[Row]:
    for line in found.wrong[:10]:
        sys.stderr.write(f"{name}: {line}\n")
    decided = 100 * found.decided / max(1, found.claims)
    return [
        Row(f"{name}: wrongly decided of {found.claims}", len(found.wrong), "", most=0),
        Row("  decided", decided, "%"),
    ]


def _measure(bench: Bench, project: Project) -> Counts:
    repo = Repo(bench.folder(f"claims-{project.name}")).init()
    project.fetch(CACHE, repo.path)
    repo.commit()
    tree = repo.git("rev-parse", "HEAD^{tree}").strip()
    marks = _marks(project, Path(os.path.realpath(repo.path)), tree)
    repo.gitindex("index")
    counts = Counts()
    with open_tree(find_worktree(os.fspath(repo.path)), ".") as view:
        claims = ClaimTree(view)
        for case, truth in _cases(claims, marks):
            verdict = JUDGES[case.claim.kind](claims, *case.claim.args)
            counts.claims += 1
            counts.decided += verdict.verdict != "unverifiable"
            counts.kinds[f"{case.claim.kind} {verdict.verdict}"] += 1
            if _is_wrong(case, verdict, truth):
                counts.wrong.append(f"{verdict.verdict}: {case.claim} ({verdict.why})")
    return counts


def _is_wrong(case: Case, verdict: ClaimVerdict, truth: Truth) -> bool:
    """Return whether the indexer contradicts a verdict.

    By places that decide it: it gives all of them to something else. By absence: it knows a place.
    """
    if verdict.verdict == "unverifiable" or (verdict.verdict == "confirmed") == case.true:
        return False
    rows = [row for row in verdict.evidence if "column" in row and "tier" in row]
    if any("via" in row or row["tier"] == "dispatch" for row in rows):
        return False  # indexers follow no alias, and give a call to the base alone
    evidence = {_place(row) for row in rows}
    by_places = (verdict.verdict == "confirmed") == (case.claim.kind in ("calls", "defines"))
    if by_places:
        return bool(evidence) and evidence <= truth.judged and evidence.isdisjoint(case.uses)
    return bool(case.places)


def _cases(claims: ClaimTree, marks: Any) -> Iterator[tuple[Case, Truth]]:
    finder = claims.finder
    paths = sorted({mark.path for mark in marks})
    finder.project.load(paths)
    finder.project.read(paths)
    ours = {_at(d): d for p in paths if (s := finder.project.source(p)) for d in s.symbols}
    truth = _truth(marks, ours)
    used: dict[At, set[At]] = defaultdict(set)
    for at, targets in truth.targets.items():
        for target in targets:
            used[target].add(at)
    called = {
        (path, p.line, p.column)
        for path in paths
        for p in finder.project.places_in(path)
        if p.use == Use.CALL
    }
    classes = {(d.path, d.qualified): at for at, d in ours.items() if d.kind in TYPES}
    for at, definition in ours.items():  # a constructor's uses are its class's
        owner = classes.get((definition.path, definition.qualified.rpartition(".")[0]))
        if owner and definition.name in ("__init__", "constructor", ours[owner].name):
            used[owner] |= used[at]
    homes = [h for h in sorted(truth.shared) if _is_chosen(ours[h])]
    rng = random.Random(5)
    for _ in range(SAMPLE // 5):
        home, other = rng.choice(homes), rng.choice(homes)
        definition = ours[home]
        name = f"{home[0]}:{home[1] + 1}:{home[2] + 1}"
        spelled = {at for at in used[home] if _is_spelled(finder, at, definition.name)}
        calls = spelled & called
        yield Case(Claim("unused", (name,)), not used[home], spelled, used[home]), truth
        yield Case(Claim("no_callers", (name,)), not calls, calls, used[home]), truth
        caller = _enclosing(ours, rng.choice(sorted(calls))) if calls else None
        caller = caller if caller and rng.random() < 0.7 else ours[other]
        inside = {at for at in calls if _is_in(at, caller)}
        asked = f"{caller.path}:{caller.line + 1}:{caller.column + 1}"
        yield Case(Claim("calls", (asked, name)), bool(inside), inside, used[home]), truth
        file = rng.choice(sorted(calls))[0] if calls else home[0]
        outside = {at for at in calls if at[0] != file}
        only = Claim("only_called_from", (name, file))
        yield Case(only, not outside, outside, used[home]), truth
        where = home[0] if rng.random() < 0.5 else rng.choice(paths)
        defined = {mark[:3] for mark in marks if mark.defines and mark.path == where}
        has = {at for at in defined if _is_word(claims, at, definition.name)}
        yield Case(Claim("defines", (where, definition.name)), bool(has), has, set()), truth


def _is_word(claims: ClaimTree, at: At, name: str) -> bool:
    """Return whether exactly this name is at a place."""
    project = claims.finder.project
    start = project.offset(*at)
    found = re.match(rb"[\w$]+", project.text(at[0])[start : start + 200])
    return found is not None and found.group() == name.encode()


def _is_chosen(definition: Definition) -> bool:
    """Return whether both mean the same by its uses: those of a constructor are its class's here."""
    owner = definition.qualified.split(".")[-2:-1]
    special = definition.name in ("__init__", "__new__", "constructor", *owner)
    return definition.kind in FUNCTIONS | TYPES and not special and not is_test(definition.path)


def _enclosing(ours: dict[At, Definition], at: At) -> Definition | None:
    around = [d for d in ours.values() if d.kind in FUNCTIONS and _is_in(at, d)]
    return min(around, key=lambda d: d.end_line - d.start_line, default=None)


def _is_in(at: At, definition: Definition) -> bool:
    return at[0] == definition.path and definition.line <= at[1] <= definition.end_line
