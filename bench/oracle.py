"""References and call sites against scip-python and scip-typescript: how often right, how many found.

The packages and the indexers come from the network once and stay in a temporary folder; without
npm, pip or a network the rows say so.
"""

from __future__ import annotations

import os
import pwd
import random
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from bench.harness import Row
from bench.scratch import Bench, Repo
from gitindex.base.vocabulary import Tier
from gitindex.base.worktree import find_worktree
from gitindex.languages.facts import Occurrence, Use
from gitindex.query.names.finder import Finder
from gitindex.query.names.meanings import State
from gitindex.query.names.memory import Memory
from gitindex.query.names.source import Definition, FileNames
from gitindex.query.references import ReferenceQuery, find_references
from gitindex.semantic.scip.schema import messages
from gitindex.view.tree import TreeView, open_tree

CACHE = Path(tempfile.gettempdir(), f"gitindex-oracle-{os.getuid()}")
TIMEOUT = 900
SAMPLE = 250
"""Definitions of one package whose whole answers are compared."""
INDEXERS = ("@sourcegraph/scip-python@0.6.6", "@sourcegraph/scip-typescript@0.4.0")
TSCONFIG = '{"compilerOptions":{"target":"es2020","strict":true,"moduleResolution":"node"},"include":["src"]}'

At = tuple[str, int, int]  # path, line, column


class Package(NamedTuple):
    """A third-party package, and the folder of it that is indexed."""

    name: str
    fetch: Callable[[Path], Path]
    indexer: str
    options: tuple[str, ...]


class Truth(NamedTuple):
    """What the oracle says: the definitions behind each place, and every place it speaks of."""

    targets: dict[At, set[At]]
    judged: set[At]


class Score:
    """Claims of one tier, and how many of them the oracle confirms."""

    def __init__(self) -> None:
        self.claims: Counter[Tier] = Counter()
        self.right: Counter[Tier] = Counter()
        self.found: Counter[Tier] = Counter()
        self.all = 0
        self.unique = 0  # found by a name that only one definition has


def measure(bench: Bench) -> list[Row]:
    """Precision and recall of every tier, for references and for call sites."""
    rows = []
    for package in PACKAGES:
        try:
            rows += _measure(bench, package)
        except (OSError, subprocess.SubprocessError, IndexError) as error:
            sys.stderr.write(f"oracle: {package.name} left out: {str(error)[:200]}\n")
            rows.append(Row(f"oracle, {package.name}: left out, see above", 0, ""))
    return rows


def _measure(bench: Bench, package: Package) -> list[Row]:
    origin = package.fetch(CACHE)
    repo = Repo(bench.folder(f"oracle-{package.name}")).init()
    shutil.copytree(origin, repo.path / origin.name)
    repo.write("tsconfig.json", TSCONFIG)
    repo.commit()
    output = repo.path.with_suffix(".scip")
    _run(
        [str(_indexer(package.indexer)), "index", *package.options, "--output", str(output)],
        repo.path,
    )
    repo.gitindex("index")
    references, calls, by_place, by_name = _compare(repo, output)
    return [
        *_answer_rows(f"refs by place, {package.name}", by_place),
        *_answer_rows(f"refs by name, {package.name}", by_name),
        *_rows(f"references, {package.name}", references),
        *_rows(f"call sites, {package.name}", calls),
    ]


def _rows(what: str, score: Score) -> list[Row]:
    share = 100 / max(1, score.all)
    exact, both = score.found[Tier.EXACT], score.found[Tier.EXACT] + score.found[Tier.IMPORT]
    rows = [
        Row(
            f"{what}: found, exact and import",
            both * share,
            "%",
            score.unique * share,
            f"names that are unique, of {score.all}",
        ),
        Row("  exact alone", exact * share, "%"),
        Row("  by name too", (both + score.found[Tier.NAME]) * share, "%"),
    ]
    for tier, bound in ((Tier.EXACT, 5.0), (Tier.IMPORT, 5.0), (Tier.NAME, None)):
        wrong = score.claims[tier] - score.right[tier]
        part = 100 * wrong / max(1, score.claims[tier])
        rows.append(Row(f"  not confirmed, {tier}, of {score.claims[tier]}", part, "%", most=bound))
    return rows


def _compare(repo: Repo, output: Path) -> tuple[Score, Score, Answers, Answers]:
    index = messages()["Index"].FromString(output.read_bytes())
    references, calls = Score(), Score()
    with open_tree(find_worktree(os.fspath(repo.path)), ".") as view:
        finder = Finder(view)
        paths = [document.relative_path for document in index.documents]
        finder.project.load(paths)
        finder.project.read(paths)
        ours = {_at(d): d for p in paths if (s := finder.project.source(p)) for d in s.symbols}
        truth = _truth(index, ours)
        for path in paths:
            source = finder.project.source(path)
            for place in finder.project.places_in(path) if source else ():
                if source is not None and place.use != Use.DEFINITION:
                    for score in (references, calls) if place.use == Use.CALL else (references,):
                        _judge(score, finder, source, place, truth)
        return references, calls, *_answers(view, finder, truth, ours)


class Answers:
    """Whole answers of `refs` for definitions that both sides know, against the oracle's places."""

    def __init__(self) -> None:
        self.scores: list[float] = []
        self.homonyms: list[float] = []
        self.listed = self.right = self.complete = 0
        self.false: list[str] = []

    def add(
        self,
        told: dict[str, Any],
        wanted: set[At],
        spelled: set[At],
        judged: set[At],
        homonym: bool,
    ) -> None:
        """One answer; only places that the oracle speaks of are judged.

        A certificate is about the places that are `spelled` as the name.
        """
        places = {(r["path"], r["line"] - 1, r["column"] - 1) for r in told["references"]}
        right, listed = len(places & wanted), len(places & judged)
        score = 2 * right / (listed + len(wanted)) if listed + len(wanted) else 1.0
        self.scores.append(score)
        if homonym:
            self.homonyms.append(score)
        self.listed += listed
        self.right += right
        self.complete += told["complete"]
        missing = (wanted & spelled) - places
        if told["complete"] and missing:
            self.false.append(f"{told['name']}: {sorted(missing)[:3]}")


def _answers(
    view: TreeView, finder: Finder, truth: Truth, ours: dict[At, Definition]
) -> tuple[Answers, Answers]:
    """By place and by name, for a sample of the definitions, the same in every run."""
    used: dict[At, set[At]] = defaultdict(set)
    for at, homes in truth.targets.items():
        for home in homes:
            used[home].add(at)
    named: dict[str, list[At]] = defaultdict(list)
    for home in ours:
        named[ours[home].name].append(home)
    chosen = sorted(used)
    random.Random(1).shuffle(chosen)
    by_place, by_name, memory = Answers(), Answers(), Memory()
    for home in chosen[:SAMPLE]:
        definition = ours[home]
        homonym = len(named[definition.name]) > 1
        spelled = {
            (path, place.line, place.column)
            for path, places in finder.project.places(definition.name).items()
            for place in places
        }
        asked = f"{home[0]}:{home[1] + 1}:{home[2] + 1}"
        told = find_references(view, ReferenceQuery(asked, limit=1000), memory)
        by_place.add(told, used[home], spelled, truth.judged, homonym)
        told = find_references(view, ReferenceQuery(definition.name, limit=1000), memory)
        wanted = set().union(*(used.get(other, set()) for other in named[definition.name]))
        by_name.add(told, wanted, spelled, truth.judged, homonym)
    return by_place, by_name


def _answer_rows(what: str, answers: Answers) -> list[Row]:
    count = max(1, len(answers.scores))
    for line in answers.false[:10]:
        sys.stderr.write(f"oracle: {what}: complete, and missing {line}\n")
    homonyms = sum(answers.homonyms) / max(1, len(answers.homonyms))
    return [
        Row(f"{what}: macro F1 of {count} answers", 100 * sum(answers.scores) / count, "%"),
        Row(f"  of {len(answers.homonyms)} homonyms", 100 * homonyms, "%"),
        Row("  micro precision", 100 * answers.right / max(1, answers.listed), "%"),
        Row("  complete", 100 * answers.complete / count, "%"),
        Row("  false certificates", len(answers.false), "", most=0),
    ]


def _truth(index: object, ours: dict[At, Definition]) -> Truth:
    """Places of symbols that both define; what is local to a file is called so there."""
    defined: dict[str, set[At]] = {}
    used: list[tuple[At, str]] = []
    for path, occurrence in _occurrences(index):
        name = occurrence.symbol  # type: ignore[attr-defined]
        name = f"{path} {name}" if name.startswith("local ") else name
        at = (path, *occurrence.range[:2])  # type: ignore[attr-defined]
        if occurrence.symbol_roles & 1:  # type: ignore[attr-defined]
            defined.setdefault(name, set()).add(at)
        used.append((at, name))
    targets: dict[At, set[At]] = {}
    for at, name in used:
        known = {place for place in defined.get(name, ()) if place in ours}
        if known and at not in ours:
            targets.setdefault(at, set()).update(known)
    return Truth(targets, {at for at, _ in used})


def _occurrences(index: object) -> Iterator[tuple[str, object]]:
    for document in index.documents:  # type: ignore[attr-defined]
        for occurrence in document.occurrences:
            yield document.relative_path, occurrence


def _judge(
    score: Score, finder: Finder, source: FileNames, place: Occurrence, truth: Truth
) -> None:
    at = (source.path, place.line, place.column)
    wanted = truth.targets.get(at, set())
    if wanted:
        score.all += 1
        score.unique += len(finder.project.definitions(place.name)) == 1
    meaning = finder.binder.meaning(source, place)
    found = list(meaning.definitions)
    tier = Tier.EXACT if all(d.path == source.path for d in found) else Tier.IMPORT
    if meaning.state is not State.DEFINED:
        found, tier = finder.binder.candidates(source, meaning, place.name), Tier.NAME
    if not found:
        return
    makers = [m for d in found for m in _constructors(finder, d)]  # `new A()` may mean either
    right = bool(wanted & {_at(d) for d in (*found, *makers)})
    if at in truth.judged:
        score.claims[tier] += 1
        score.right[tier] += right
    score.found[tier] += right


def _constructors(finder: Finder, definition: Definition) -> list[Definition]:
    source = finder.project.source(definition.path)
    return source.children(definition.ordinal, "constructor") if source else []


def _at(definition: Definition) -> At:
    return definition.path, definition.line, definition.column


def _fetch_python(name: str, version: str) -> Callable[[Path], Path]:
    def fetch(cache: Path) -> Path:
        folder = cache / name
        if not (folder / name).is_dir():
            folder.mkdir(parents=True, exist_ok=True)
            argv = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", str(folder)]
            _run([*argv, f"{name}=={version}"], folder)
            with zipfile.ZipFile(next(iter(folder.glob("*.whl")))) as wheel:
                wheel.extractall(folder)
        return folder / name

    return fetch


def _fetch_node(name: str, version: str) -> Callable[[Path], Path]:
    def fetch(cache: Path) -> Path:
        _install(cache, f"{name}@{version}")
        return cache / "node_modules" / name / "src"

    return fetch


def _indexer(name: str) -> Path:
    for package in INDEXERS:
        _install(CACHE, package)
    return CACHE / "node_modules" / ".bin" / name


def _install(cache: Path, package: str) -> None:
    npm = shutil.which("npm")
    if npm is None:
        raise OSError("there is no npm here")
    if not (cache / "node_modules" / package.rpartition("@")[0]).is_dir():
        cache.mkdir(parents=True, exist_ok=True)
        _run([npm, "install", "--no-audit", "--no-fund", "--prefix", str(cache), package], cache)


def _run(argv: list[str], cwd: Path) -> None:
    home = pwd.getpwuid(os.getuid()).pw_dir  # where the settings of npm and pip are
    subprocess.run(
        argv,
        cwd=cwd,
        env={**os.environ, "HOME": home},
        timeout=TIMEOUT,
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


PACKAGES = (
    Package(
        "flask",
        _fetch_python("flask", "3.0.3"),
        "scip-python",
        ("--project-name", "flask", "--project-version", "1", "--quiet"),
    ),
    Package(
        "httpx",
        _fetch_python("httpx", "0.27.0"),
        "scip-python",
        ("--project-name", "httpx", "--project-version", "1", "--quiet"),
    ),
    Package("immer", _fetch_node("immer", "11.2.10"), "scip-typescript", ()),
    Package("rxjs", _fetch_node("rxjs", "7.8.2"), "scip-typescript", ()),
)
