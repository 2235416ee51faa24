"""References, callers and the partition of the occurrences against compilers and indexers (bench/oracles).

Packages and indexers come from the network once and stay in a temporary folder, with what the indexers
said; what cannot be had is left out, and the rows say so. `ORACLE_ONLY=flask,chi` chooses projects.
"""

from __future__ import annotations

import json
import os
import random
import statistics
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
from gitindex.query.names.memory import Memory
from gitindex.query.names.model import Definition, FileNames, State
from gitindex.query.references import ReferenceQuery, find_references
from gitindex.view.tree import TreeView, open_tree

CACHE = Path(tempfile.gettempdir(), f"gitindex-oracle-{os.getuid()}")
SAMPLE = int(os.environ.get("ORACLE_SAMPLE", "250"))
"""Definitions of one project whose whole answers are compared."""
LIMIT = 10_000
"""Rows of one answer."""
SHOWN = 10
"""Wrong answers of a kind that are printed."""

At = tuple[str, int, int]  # path, line, column


class Truth(NamedTuple):
    """What the reference indexer says: the definitions behind each place, and every place it speaks of."""

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
    """Whole answers for definitions that both sides know, against the places of the reference indexer."""

    def __init__(self) -> None:
        self.scores: list[float] = []
        self.homonyms: list[float] = []
        self.references = self.listed = self.right = self.wanted = self.covered = 0
        self.accounted = self.complete = 0
        self.possible: list[int] = []
        self.false: list[str] = []

    def add(
        self, answer: dict[str, Any], wanted: set[At], truth: Truth, spelled: set[At], homonym: bool
    ) -> None:
        """One answer of `refs`; only places that the indexer speaks of count.

        The certificates are about the places that are `spelled` as the name. An alias that the indexer
        does not follow is no wrong reference.
        """
        references, possible = _places(answer, "references"), _places(answer, "possible")
        aliased = {_place(row) for row in answer["references"] if row.get("via")}
        listed = (references & truth.judged) - (aliased - wanted)
        receivers = {_place(row) for row in answer["possible"] if row["why"] == "receiver"}
        score = _f1(listed | (receivers & truth.judged), wanted)
        self.scores.append(score)
        if homonym:
            self.homonyms.append(score)
        self.references += len(references)
        self.listed += len(listed)
        self.right += len(listed & wanted)
        self.wanted += len(wanted)
        self.covered += len(wanted & (references | possible))
        self.possible.append(answer["accounted"]["possible"])
        self.accounted += answer["accountedFor"]
        excluded = (wanted & spelled) - references - possible
        excluded -= _places(answer, "unlikely") | _places(answer, "definitions")
        self.certify(answer, answer["name"], (wanted & spelled) - references, excluded)

    def certify(
        self, answer: dict[str, Any], what: str, missing: set[At], excluded: set[At]
    ) -> None:
        """Count the certificate of an answer, and whether it is false or a use is in no list."""
        self.complete += answer["complete"]
        if answer["complete"] and missing:
            self.false.append(f"{what}: complete, and missing {_shown(missing)}")
        elif excluded:
            self.false.append(f"{what}: excluded {_shown(excluded)}")


def _places(answer: dict[str, Any], name: str) -> set[At]:
    return {_place(row) for row in answer.get(name, ())}


def _place(row: dict[str, Any]) -> At:
    return row["path"], row["line"] - 1, row["column"] - 1


def _f1(one: set[At], other: set[At]) -> float:
    return 2 * len(one & other) / (len(one) + len(other)) if one or other else 1.0


def _shown(places: set[At]) -> str:
    return ", ".join(f"{path}:{line + 1}:{column + 1}" for path, line, column in sorted(places)[:3])


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
    tree = repo.git("rev-parse", "HEAD^{tree}").strip()
    marks = _marks(project, Path(os.path.realpath(repo.path)), tree)
    repo.gitindex("index")
    with open_tree(find_worktree(os.fspath(repo.path)), ".") as view:
        return _compare(view, marks)


def _marks(project: Project, root: Path, tree: str) -> list[Mark]:
    """What the reference indexer says of a tree; its run takes minutes and is kept."""
    kept = CACHE / "marks" / f"{project.name}-{tree}.json"
    if kept.is_file():
        return [Mark(*row) for row in json.loads(kept.read_text())]
    marks = project.judge(root, CACHE)
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_text(json.dumps(marks))
    return marks


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
    """Places of symbols that both define.

    What only the indexer takes as a definition is no use: scip-typescript gives the parameters of all
    signatures of a constructor one symbol, with the field that one of them declares.
    """
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
    blurred |= {mark[:3] for mark in marks if mark.defines and mark[:3] not in ours}
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
        name = definition.name
        homonym = len(named[name]) > len(truth.shared[home])
        wanted = set().union(*(used.get(other, set()) for other in named[name]))
        spelled = {at for at in wanted if _is_spelled(finder, at, name)}
        asked = f"{home[0]}:{home[1] + 1}:{home[2] + 1}"
        for text, answers, uses in ((asked, by_place, used[home]), (name, by_name, wanted)):
            query = ReferenceQuery(text, limit=LIMIT, everything=True)
            answer = dict(find_references(view, query, memory))
            answers.add(answer, uses, truth, spelled, homonym)
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
    callers.certify(dict(told), definition.qualified, missing, set())


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
    rows = [*_answer_rows(f"refs by name, {name}", [told.by_name])]
    rows += _answer_rows(f"refs by place, {name}", [told.by_place])
    rows += _caller_rows(f"callers, {name}", [told.callers])
    return rows + _edge_rows(name, [told])


def _answer_rows(what: str, parts: list[Answers]) -> list[Row]:
    """Rows about one kind of question, over one or several projects."""
    scores = [score for part in parts for score in part.scores]
    possible = [number for part in parts for number in part.possible]
    listed, right, wanted, covered, references, accounted, complete = (
        sum(getattr(part, field) for part in parts)
        for field in ("listed", "right", "wanted", "covered", "references", "accounted", "complete")
    )
    count = max(1, len(scores))
    _print_false(what, parts)
    return [
        Row(f"{what}: precision of references", 100 * right / max(1, listed), "%"),
        Row("  recall of references", 100 * right / max(1, wanted), "%"),
        Row("  recall of references and possible", 100 * covered / max(1, wanted), "%"),
        Row(f"  macro F1 with receivers, of {len(scores)}", _mean(scores), "%"),
        Row("  of homonyms", _mean([s for part in parts for s in part.homonyms]), "%"),
        Row("  possible to references", sum(possible) / max(1, references), ""),
        Row("  possible, median", statistics.median(possible or [0]), ""),
        Row("  accounted for", 100 * accounted / count, "%"),
        Row("  complete", 100 * complete / count, "%"),
        Row("  false exclusions", sum(len(part.false) for part in parts), "", most=0),
    ]


def _caller_rows(what: str, parts: list[Answers]) -> list[Row]:
    scores = [score for part in parts for score in part.scores]
    complete = sum(part.complete for part in parts)
    _print_false(what, parts)
    return [
        Row(f"{what}: macro F1 of {len(scores)}", _mean(scores), "%"),
        Row("  complete", 100 * complete / max(1, len(scores)), "%"),
        Row("  false certificates", sum(len(part.false) for part in parts), "", most=0),
    ]


def _print_false(what: str, parts: list[Answers]) -> None:
    if len(parts) == 1:
        for line in parts[0].false[:SHOWN]:
            sys.stderr.write(f"oracle: {what}: {line}\n")


def _edge_rows(what: str, parts: list[Compared]) -> list[Row]:
    rows = []
    for title, edges in (
        (f"calls, {what}", [part.calls for part in parts]),
        ("  into other files", [part.crossing for part in parts]),
    ):
        claimed, true = sum(e.claimed for e in edges), sum(e.true for e in edges)
        score = 200 * sum(e.right for e in edges) / max(1, claimed + true)
        rows.append(Row(f"{title}: F1 of {true}", score, "%"))
    return rows


def _totals(done: list[tuple[Project, Compared]]) -> list[Row]:
    """Rows of each language, then of all."""
    rows: list[Row] = []
    languages = list(dict.fromkeys(project.language for project, _ in done))
    for language in (*languages, "") if len(done) > 1 else ():
        own = [told for project, told in done if language in ("", project.language)]
        what = language or f"all {len(done)} projects"
        rows += _answer_rows(f"{what}, by name", [told.by_name for told in own])
        rows += _answer_rows(f"{what}, by place", [told.by_place for told in own])
        rows += _caller_rows(f"{what}, callers", [told.callers for told in own])
        rows += _edge_rows(what, own)
    return rows


def _mean(scores: list[float]) -> float:
    return 100 * sum(scores) / max(1, len(scores))
