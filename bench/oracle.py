"""References, callers and their certificates against compilers and indexers (bench/oracles).

Packages and indexers come from the network once and stay in a temporary folder; what cannot be had is
left out, and the rows say so. `ORACLE_ONLY=flask,chi` chooses projects.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any, NamedTuple

from bench.harness import Row
from bench.oracles.marks import Mark
from bench.oracles.projects import PROJECTS, Project
from bench.scratch import Bench, Repo
from gitindex.base.vocabulary import Direction
from gitindex.base.worktree import find_worktree
from gitindex.languages.facts import Occurrence, Use
from gitindex.languages.syntax.kinds import FUNCTIONS
from gitindex.query.callgraph.answer import GraphQuery, call_graph
from gitindex.query.callgraph.walk import is_drawn
from gitindex.query.names.finder import Finder
from gitindex.query.names.meanings import State
from gitindex.query.names.memory import Memory
from gitindex.query.names.source import Definition, FileNames
from gitindex.query.references import ReferenceQuery, find_references
from gitindex.view.tree import TreeView, open_tree

CACHE = Path(tempfile.gettempdir(), f"gitindex-oracle-{os.getuid()}")
SAMPLE = int(os.environ.get("ORACLE_SAMPLE", "250"))
"""Definitions of one project whose whole answers are compared."""
SHOWN = 10
"""Wrong answers of a kind that are printed."""

At = tuple[str, int, int]  # path, line, column


class Truth(NamedTuple):
    """What the judge says: the definitions behind each place, and every place it speaks of."""

    targets: dict[At, set[At]]
    judged: set[At]
    shared: dict[At, set[At]]  # definitions of one symbol: prototypes, overloads


class Edges:
    """Call sites with the definitions behind them: claimed, true, both."""

    def __init__(self) -> None:
        self.claimed = self.true = self.right = 0

    def add(self, claimed: set[tuple[str, str]], true: set[tuple[str, str]]) -> None:
        self.claimed += len(claimed)
        self.true += len(true)
        self.right += len(claimed & true)

    @property
    def score(self) -> float:
        return 200 * self.right / max(1, self.claimed + self.true)


class Answers:
    """Whole answers for definitions that both sides know, against the judge's places."""

    def __init__(self) -> None:
        self.scores: list[float] = []
        self.homonyms: list[float] = []
        self.listed = self.right = self.complete = 0
        self.false: list[str] = []

    def add(
        self, told: dict[str, Any], wanted: set[At], truth: Truth, spelled: set[At], homonym: bool
    ) -> None:
        """One answer of `refs`; only places that the judge speaks of count.

        A certificate is about the places that are `spelled` as the name.
        """
        places = {(r["path"], r["line"] - 1, r["column"] - 1) for r in told["references"]}
        right, listed = len(places & wanted), len(places & truth.judged)
        score = 2 * right / (listed + len(wanted)) if listed + len(wanted) else 1.0
        self.scores.append(score)
        if homonym:
            self.homonyms.append(score)
        self.listed += listed
        self.right += right
        self.certify(told, told["name"], (wanted & spelled) - places)

    def certify(self, told: dict[str, Any], what: str, missing: set[At]) -> None:
        """Count the certificate of an answer, and whether it is false."""
        self.complete += told["complete"]
        if told["complete"] and missing:
            self.false.append(f"{what}: {sorted(missing)[:3]}")


class Compared(NamedTuple):
    """All that is measured of one project."""

    by_place: Answers
    by_name: Answers
    callers: Answers
    calls: Edges
    crossing: Edges  # calls into another file


def measure(bench: Bench) -> list[Row]:
    """Rows of every project, then of each language and of all."""
    chosen = [n for n in os.environ.get("ORACLE_ONLY", "").split(",") if n]
    rows: list[Row] = []
    done: list[tuple[Project, Compared]] = []
    for project in PROJECTS:
        if chosen and project.name not in chosen:
            continue
        try:
            done.append((project, _measure(bench, project)))
        except (OSError, ImportError, subprocess.SubprocessError, StopIteration) as error:
            sys.stderr.write(f"oracle: {project.name} left out: {str(error)[:200]}\n")
            rows.append(Row(f"oracle, {project.name}: left out, see above", 0, ""))
        else:
            rows += _rows(*done[-1])
    return rows + _totals(done)


def _measure(bench: Bench, project: Project) -> Compared:
    repo = Repo(bench.folder(f"oracle-{project.name}")).init()
    project.fetch(CACHE, repo.path)
    repo.commit()
    marks = project.judge(Path(os.path.realpath(repo.path)), CACHE)
    repo.gitindex("index")
    with open_tree(find_worktree(os.fspath(repo.path)), ".") as view:
        return _compare(view, marks)


def _compare(view: TreeView, marks: list[Mark]) -> Compared:
    finder = Finder(view)
    paths = sorted({mark.path for mark in marks})
    finder.project.load(paths)
    finder.project.read(paths)
    finder.project.load_scopes(paths)
    ours = {_at(d): d for p in paths if (s := finder.project.source(p)) for d in s.symbols}
    truth = _truth(marks, ours)
    calls, crossing = Edges(), Edges()
    for path in paths:
        source = finder.project.source(path)
        for place in finder.project.places_in(path) if source else ():
            if source is not None and place.use == Use.CALL:
                _judge(finder, source, place, truth, ours, calls, crossing)
    return Compared(*_answers(view, finder, truth, ours), calls, crossing)


def _truth(marks: list[Mark], ours: dict[At, Definition]) -> Truth:
    """Places of symbols that both define."""
    defined: dict[str, set[At]] = defaultdict(set)
    for mark in marks:
        if mark.defines and mark[:3] in ours:
            defined[mark.symbol].add(mark[:3])
    left_out = {s for s, places in defined.items() if _is_blurred(s, places, ours)}
    for symbol in left_out:
        del defined[symbol]
    targets: dict[At, set[At]] = {}
    shared: dict[At, set[At]] = defaultdict(set)
    for places in defined.values():
        for place in places:
            shared[place] |= places
    blurred = {mark[:3] for mark in marks if mark.symbol in left_out} | _doubled(marks)
    for mark in marks:
        if mark[:3] not in ours and mark.symbol in defined and mark[:3] not in blurred:
            targets.setdefault(mark[:3], set()).update(defined[mark.symbol])
    return Truth(targets, {mark[:3] for mark in marks} - blurred, shared)


def _doubled(marks: list[Mark]) -> set[At]:
    """A use of a variable that shares its name with a type of the function is both to scip-typescript."""
    symbols: dict[At, set[str]] = defaultdict(set)
    for mark in marks:
        if " local " in mark.symbol:
            symbols[mark[:3]].add(mark.symbol)
    return {at for at, found in symbols.items() if len(found) > 1}


def _is_blurred(symbol: str, places: set[At], ours: dict[At, Definition]) -> bool:
    """scip-python gives one symbol to functions of one name inside of several methods."""
    homes = {(at[0], ours[at].parent) for at in places}
    return symbol.startswith("scip-python") and len(homes) > 1


def _judge(
    finder: Finder,
    source: FileNames,
    place: Occurrence,
    truth: Truth,
    ours: dict[At, Definition],
    calls: Edges,
    crossing: Edges,
) -> None:
    """One call site: the edges that the graph draws, and those of the judge."""
    at = (source.path, place.line, place.column)
    if at not in truth.judged:
        return
    meaning = finder.binder.meaning(source, place)
    found = list(meaning.definitions)
    if meaning.state is not State.DEFINED:
        found = finder.binder.candidates(source, meaning, place.name)
        found = found if is_drawn(source, meaning, place.name, found) else []
    homes = truth.targets.get(at, set())
    names = {_called(finder, ours[home]) for home in homes}
    true = {min(names)} if names else set()  # prototypes and the definition are one
    claimed = set()
    for d in found:
        hit = truth.shared[_at(d)] & homes or _called(finder, d) in names
        claimed |= true if hit else {_called(finder, d)}
    calls.add(claimed, true)
    crossing.add(
        {one for one in claimed if one[0] != source.path},
        {one for one in true if one[0] != source.path},
    )


def _answers(
    view: TreeView, finder: Finder, truth: Truth, ours: dict[At, Definition]
) -> tuple[Answers, Answers, Answers]:
    """By place, by name, and callers, for a sample of the definitions, the same in every run."""
    used: dict[At, set[At]] = defaultdict(set)
    for at, homes in truth.targets.items():
        for home in homes:
            used[home].add(at)
    named: dict[str, list[At]] = defaultdict(list)
    for home in ours:
        named[ours[home].name].append(home)
    chosen = sorted(used)
    random.Random(1).shuffle(chosen)
    by_place, by_name, callers, memory = Answers(), Answers(), Answers(), Memory()
    for home in chosen[:SAMPLE]:
        definition = ours[home]
        homonym = len(named[definition.name]) > len(truth.shared[home])
        wanted = set().union(*(used.get(other, set()) for other in named[definition.name]))
        spelled = {at for at in wanted if _is_spelled(finder, at, definition.name)}
        asked = f"{home[0]}:{home[1] + 1}:{home[2] + 1}"
        told = dict(find_references(view, ReferenceQuery(asked, limit=1000), memory))
        by_place.add(told, used[home], truth, spelled, homonym)
        told = dict(find_references(view, ReferenceQuery(definition.name, limit=1000), memory))
        by_name.add(told, wanted, truth, spelled, homonym)
        if definition.kind in FUNCTIONS:
            _callers(view, finder, asked, definition, used[home] & spelled, callers, memory)
    return by_place, by_name, callers


def _callers(
    view: TreeView,
    finder: Finder,
    asked: str,
    definition: Definition,
    wanted: set[At],
    callers: Answers,
    memory: Memory,
) -> None:
    """One answer of `callers`: the lines of its edges against the judge's calls."""
    query = GraphQuery(asked, Direction.CALLERS, limit=2000)
    told = call_graph(view, query, memory)
    if "complete" not in told:
        return
    sites = {(e["site"]["path"], e["site"]["line"] - 1) for e in told["edges"]}
    places = finder.project.places(definition.name)
    called = {
        (path, p.line, p.column)
        for path, found in places.items()
        for p in found
        if p.use == Use.CALL
    }
    true = {at[:2] for at in wanted & called}
    sites &= {at[:2] for at in called}
    callers.scores.append(
        2 * len(sites & true) / max(1, len(sites) + len(true)) if sites or true else 1.0
    )
    missing = {at for at in wanted & called if at[:2] not in sites}
    callers.certify(dict(told), definition.qualified, missing)


def _is_spelled(finder: Finder, at: At, name: str) -> bool:
    """Return whether the name itself is code there; what a comment says of a type is a mention."""
    start, raw, scopes = finder.project.offset(*at), name.encode(), finder.project.scopes(at[0])
    if scopes is not None and scopes.quiet(start) == "comment":
        return False
    return finder.project.text(at[0])[start : start + len(raw)] == raw


def _called(finder: Finder, definition: Definition) -> tuple[str, str]:
    """What a call reaches: overloads are one, and a constructor is its class."""
    source = finder.project.source(definition.path)
    owner = source.symbol(definition.parent) if source else None
    if owner is not None and definition.name in ("constructor", "__init__", owner.name):
        return owner.path, owner.qualified
    return definition.path, definition.qualified


def _at(definition: Definition) -> At:
    return definition.path, definition.line, definition.column


def _rows(project: Project, told: Compared) -> list[Row]:
    name = f"{project.name} ({project.language})"
    rows = [*_answer_rows(f"refs by name, {name}", told.by_name)]
    rows += _answer_rows(f"refs by place, {name}", told.by_place)
    rows += _answer_rows(f"callers, {name}", told.callers)
    rows += [
        Row(f"calls, {name}: F1 of {told.calls.true}", told.calls.score, "%"),
        Row(f"  into other files, of {told.crossing.true}", told.crossing.score, "%"),
    ]
    return rows


def _answer_rows(what: str, answers: Answers) -> list[Row]:
    count = max(1, len(answers.scores))
    for line in answers.false[:SHOWN]:
        sys.stderr.write(f"oracle: {what}: complete, and missing {line}\n")
    rows = [Row(f"{what}: macro F1 of {count}", 100 * sum(answers.scores) / count, "%")]
    if answers.listed:
        rows += [
            Row(f"  of {len(answers.homonyms)} homonyms", _mean(answers.homonyms), "%"),
            Row("  micro precision", 100 * answers.right / answers.listed, "%"),
        ]
    return [
        *rows,
        Row("  complete", 100 * answers.complete / count, "%"),
        Row("  false certificates", len(answers.false), "", most=0),
    ]


def _totals(done: list[tuple[Project, Compared]]) -> list[Row]:
    """Means over the projects, and the calls of each language."""
    if len(done) < 2:
        return []
    names = [told.by_name for _, told in done]
    asked = [answers for _, told in done for answers in (told.by_name, told.by_place, told.callers)]
    count = sum(len(answers.scores) for answers in asked)
    listed, right = sum(a.listed for a in names), sum(a.right for a in names)
    rows = [
        Row(
            f"all {len(done)} projects, by name: macro F1",
            _mean([s for a in names for s in a.scores]),
            "%",
        ),
        Row("  homonyms", _mean([s for a in names for s in a.homonyms]), "%"),
        Row("  micro precision", 100 * right / max(1, listed), "%"),
        Row(f"  complete, of {count} answers", 100 * sum(a.complete for a in asked) / count, "%"),
        Row("  false certificates", sum(len(a.false) for a in asked), "", most=0),
    ]
    for language in ("", *dict.fromkeys(project.language for project, _ in done)):
        own = [told for project, told in done if language in ("", project.language)]
        for what, edges in (
            ("calls", [told.calls for told in own]),
            ("  into other files", [told.crossing for told in own]),
        ):
            claimed, true = sum(e.claimed for e in edges), sum(e.true for e in edges)
            score = 200 * sum(e.right for e in edges) / max(1, claimed + true)
            rows.append(Row(f"{what}, {language or 'all'}: F1 of {true}", score, "%"))
    return rows


def _mean(scores: list[float]) -> float:
    return 100 * sum(scores) / max(1, len(scores))
