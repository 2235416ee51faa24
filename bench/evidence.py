"""Evidence: does `explore` show the lines that were edited, does `search` show the definition meant?

`python -m bench.evidence --mirrors DIR --repos DIR` measures public repositories. MIRRORS holds bare clones
`<owner>+<name>/repo` with later history; REPOS/<set>/<owner>+<name> are checkouts of an earlier commit,
indexed. A case is the subject of a later commit and the lines of code it changed, of files that are still
as in the checkout. `--comments DIR` measures, in copies of the checkouts without documentation comments that
it makes there, whether the first sentence of a comment leads to its definition.
Contestants: `explore`, plain BM25 windows, the spans of the first three results of `search`, and codegraph's
explore where `--codegraph` names its program. Three that know the answer tell what can be reached at most:
`oracle` shows the gold and nothing else, `oracle, our files` the gold of the files that `explore` reads,
`oracle, our parts` the whole definitions among its best parts that have gold, best first. Tokens are 4
characters, counted as printed.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from bench.harness import Row
from bench.ranking import _plain, golden_repo
from bench.scratch import Bench, Repo
from gitindex.base.path_kind import file_kinds
from gitindex.base.worktree import find_worktree
from gitindex.extract.terms import decode_text
from gitindex.languages.table import language_of
from gitindex.query.explore import FILES, explore, parts_of
from gitindex.query.explore import LONGEST as LONGEST_PART
from gitindex.query.names.memory import Memory
from gitindex.query.search.memory import SearchMemory
from gitindex.query.search.query_text import Filters, parse_query
from gitindex.query.search.search import FileSearch, Ranked, search
from gitindex.query.search.snippets import count_terms
from gitindex.questions.explore import budget_of
from gitindex.questions.explore import text as explore_text
from gitindex.questions.ink import Ink
from gitindex.store.lexical import LexicalReader
from gitindex.view.tree import TreeView, open_tree
from tests.golden import HELD_OUT

CHARS = 4
"""Characters of a token."""
WINDOW = 40
MOST_FILES, MOST_LINES = 5, 150
LONGEST = 150
"""An edited definition of more lines is not gold as a whole; its edited lines are."""
GIT_LOG = "git log --no-merges --reverse -p -U0 --no-renames --full-index --no-color"
_BODIES = "function method constructor accessor class struct interface trait enum"
BODIES = frozenset(_BODIES.split())
NOISE = re.compile(
    r"(?i)^(merge|bump|release|revert|version|prepare|update dependenc|chore|docs?\b|start|typo)"
)
LOG = [*GIT_LOG.split(), "--format=%x00%s"]
HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+")
COMMENT = re.compile(r"\s*(//|#(?!\s*(include|define|if|endif|pragma|!))|/?\*|--|;;)")
Lines = dict[str, set[int]]
"""Numbers of lines by path, from 1."""
Shown = tuple[Lines, int]
"""The lines that an answer shows, and its characters."""


class Case(NamedTuple):
    """A question, the lines that were edited, and the definitions around them."""

    query: str
    edited: Lines
    definitions: list[tuple[str, int, int, int]]  # path, line of the name, first and last line
    name: str = ""


def commits(mirror: Path, folder: Path, view: TreeView, most: int) -> Iterator[Case]:
    """Yield cases from the commits that follow the checkout in the mirror."""
    repo = Repo(folder)
    blobs = {}
    for row in repo.git("ls-tree", "-r", "-z", "HEAD").split("\0"):
        if row:
            head, _, path = row.partition("\t")
            blobs[path] = head.split()[2]
    said = subprocess.run(
        [*LOG, f"{repo.git('rev-parse', 'HEAD')}..HEAD"],
        cwd=mirror,
        capture_output=True,
        check=False,
    ).stdout.decode("utf-8", "replace")
    for entry in said.split("\0")[1:]:
        subject, _, patch = entry.partition("\n")
        query = re.sub(r"\(?#\d+\)?|\[[\w ]+\]", "", subject).strip()
        if NOISE.match(query) or len(re.findall(r"[A-Za-z]{3,}", query)) < 4:
            continue
        edited = _edited(patch, blobs)
        if edited:
            yield Case(query, edited, _definitions(view, edited))
            most -= 1
            if not most:
                return


def _edited(patch: str, blobs: dict[str, str]) -> Lines:
    """Return the edited lines of code in files that are as in the checkout; none of a large change."""
    found: Lines = {}
    for part in patch.split("\ndiff --git ")[1:]:
        name, index = (
            re.search(r"^--- a/(.*)$", part, re.M),
            re.search(r"^index (\w+)\.\.", part, re.M),
        )
        if name is None or index is None or any(file_kinds(name[1])) or not _is_code(name[1]):
            continue
        if blobs.get(name[1]) != index[1]:
            continue
        for start, count in HUNK.findall(part):
            first, many = int(start), int(count or 1)
            lines = range(first, first + many) if many else (first, first + 1)
            found.setdefault(name[1], set()).update(n for n in lines if n)
    size = sum(map(len, found.values()))
    return found if len(found) <= MOST_FILES and size <= MOST_LINES else {}


def _is_code(path: str) -> bool:
    known = language_of(os.fsencode(path), b"")
    return known not in (
        None,
        "text",
        "markdown",
        "rst",
        "json",
        "yaml",
        "toml",
        "html",
        "css",
        "xml",
    )


def _symbols(view: TreeView, path: str) -> list[tuple[str, str, str, int, int, int]]:
    """Return name, kind, comment, name line, first and last line of the definitions of a file."""
    rows = view.rows(
        "SELECT (SELECT text FROM {names} WHERE id=s.name_id), s.kind, s.doc, s.line+1, s.start_line+1,"
        " s.end_line+1 FROM {live} l JOIN {symbols} s ON s.blob_id=l.blob_id WHERE l.path=?",
        os.fsencode(path),
    )
    return [row for row in rows if row[1] in BODIES]


def _definitions(view: TreeView, edited: Lines) -> list[tuple[str, int, int, int]]:
    """Return the innermost definitions around the edited lines."""
    found = set()
    for path, lines in edited.items():
        rows = [row[3:] for row in _symbols(view, path)]
        for line in lines:
            around = [row for row in rows if row[1] <= line <= row[2]]
            if around:
                found.add((path, *min(around, key=lambda row: row[2] - row[1])))
    return sorted(found)


class Contest:
    """What each contestant shows for a question in one repository."""

    def __init__(self, view: TreeView, folder: Path, codegraph: str) -> None:
        self._view, self._folder, self._codegraph = view, folder, codegraph
        self._lexical, self._names, self._plain = SearchMemory(), Memory(), _plain(view)
        self._reader = LexicalReader(view.worktree.lexical)

    def names(self) -> dict[str, Callable[[Case, int], Shown]]:
        asked = {"explore": self.explore, "bm25 windows": self.windows, "top 3": self.spans}
        asked |= {"codegraph": self.codegraph} if self._codegraph else {}
        found: dict[str, Callable[[Case, int], Shown]] = {
            name: lambda case, tokens, ask=ask: ask(case.query, tokens)  # type: ignore[misc]
            for name, ask in asked.items()
        }
        found["oracle"] = lambda case, tokens: self._taken(gold_spans(case), tokens)
        return found | {"oracle, our files": self.best_spans, "oracle, our parts": self.best_parts}

    def best_spans(self, case: Case, tokens: int) -> Shown:
        """The gold of the files that `explore` reads, and nothing else."""
        rows = self._ranked(case.query)[1]
        ours = {os.fsdecode(row.candidate.path) for row in rows}
        return self._taken((span for span in gold_spans(case) if span[0] in ours), tokens)

    def best_parts(self, case: Case, tokens: int) -> Shown:
        """Those of the parts between which `explore` chooses that have gold, as it shows them."""
        files, rows = self._ranked(case.query)
        gold = gold_lines(case)
        parts = []
        for part in parts_of(files, rows):
            path, (first, last) = os.fsdecode(part.row.candidate.path), part.passage[1:3]
            if not gold.isdisjoint((path, n) for n in range(first + 1, last + 2)):
                parts.append((path, first + 1, min(last + 1, first + LONGEST_PART)))
        return self._taken(parts, tokens)

    def _ranked(self, query: str) -> tuple[FileSearch, list[Ranked]]:
        files = FileSearch(self._view, self._lexical)
        return files, list(files.read(files.ranked(query, Filters())[:FILES]))

    def explore(self, query: str, tokens: int) -> Shown:
        answer = explore(
            self._view, query, budget_of(tokens, 0, Ink()), (), (self._lexical, self._names)
        )
        lines: Lines = defaultdict(set)
        for place in answer["places"]:
            first = place["startLine"]
            lines[place["path"]].update(range(first, first + place["code"].count("\n") + 1))
            for row in place.get("callers", ()):
                lines[row["path"]].add(row["line"])
        return lines, sum(len(line) + 1 for line in explore_text(answer, Ink()))

    def spans(self, query: str, tokens: int) -> Shown:
        """The first three results of search, whole."""
        rows = search(self._view, query, 3, memory=self._lexical)["results"]
        return self._taken(((r["path"], r["startLine"], r["endLine"]) for r in rows), tokens)

    def windows(self, query: str, tokens: int) -> Shown:
        """Windows of 40 lines of the 30 best files by BM25, best first."""
        terms = parse_query(query).terms
        known = self._reader.frequencies(terms)
        scored = []
        for path in self._plain(query)[:30]:
            if not _is_code(path):
                continue
            lines = self._lines(path)
            for at in range(0, len(lines), WINDOW):
                counts = count_terms("\n".join(lines[at : at + WINDOW]), terms)
                worth = sum(c / (c + 1.2) / (1 + known[t]) ** 0.5 for t, c in counts.items())
                scored.append((-worth, path, at + 1, min(at + WINDOW, len(lines))))
        return self._taken((row[1:] for row in sorted(scored)), tokens)

    def codegraph(self, query: str, tokens: int) -> Shown:
        """codegraph's explore, cut where the budget ends."""
        if not (self._folder / ".codegraph").is_dir():
            subprocess.run(
                [self._codegraph, "init", str(self._folder)], capture_output=True, check=False
            )
            with (self._folder / ".git/info/exclude").open("a") as exclude:
                exclude.write(".codegraph\n")
        done = subprocess.run(
            [self._codegraph, "explore", query, "--path", str(self._folder)],
            capture_output=True,
            text=True,
            check=False,
            stdin=subprocess.DEVNULL,
        )
        lines: Lines = defaultdict(set)
        path, room = "", tokens * CHARS
        for line in done.stdout.split("\n"):
            room -= len(line) + 1
            if room < 0:
                break
            head = re.search(r"([\w./@+-]+\.\w+)\b", line) if line.startswith(("#", "**")) else None
            if head and (self._folder / head[1]).is_file():
                path = head[1]
            number = re.match(r"\s*(\d+)(?:\t|\s*[|:│]|  )", line)
            if number and path:
                lines[path].add(int(number[1]))
        return lines, tokens * CHARS - max(room, 0)

    def _lines(self, path: str) -> list[str]:
        data = self._view.read([os.fsencode(path)]).get(os.fsencode(path), b"")
        return decode_text(data).split("\n")

    def _taken(self, regions: Iterable[tuple[str, int, int]], tokens: int) -> Shown:
        room, found = tokens * CHARS, defaultdict[str, set[int]](set)
        for path, first, last in regions:
            room -= len(path) + 12
            for number, line in enumerate(self._lines(path)[first - 1 : last], first):
                room -= len(line) + 1
                if room < 0:
                    return found, tokens * CHARS
                found[path].add(number)
        return found, tokens * CHARS - room


class Score(NamedTuple):
    """One answer against the gold of its case."""

    definitions: float
    recall: float
    precision: float
    gold: int  # lines shown of edited definitions, or edited themselves
    chars: int
    over: bool
    seconds: float


def gold_spans(case: Case) -> list[tuple[str, int, int]]:
    """Return the edited definitions that are not too long, and edited lines outside of them, as spans."""
    spans: list[tuple[str, int, int]] = []
    for path, number in sorted(gold_lines(case)):
        if spans and spans[-1][0] == path and spans[-1][2] == number - 1:
            spans[-1] = (path, spans[-1][1], number)
        else:
            spans.append((path, number, number))
    return spans


def gold_lines(case: Case) -> set[tuple[str, int]]:
    """Return the edited lines, and those of the definitions around them."""
    gold = {(path, n) for path, numbers in case.edited.items() for n in numbers}
    for path, _, first, last in case.definitions:
        if last - first < LONGEST:
            gold |= {(path, n) for n in range(first, last + 1)}
    return gold


def score(case: Case, shown: Shown, tokens: int, seconds: float) -> Score:
    lines, chars = shown
    edited = {(path, n) for path, numbers in case.edited.items() for n in numbers}
    seen = {(path, n) for path, numbers in lines.items() for n in numbers}
    gold = gold_lines(case)
    held = []
    for path, name, first, last in case.definitions:
        whole = {(path, n) for n in range(first, last + 1)}
        held.append(bool(whole & edited & seen) or (path, name) in seen)
    return Score(
        fmean(held) if held else float(bool(edited & seen)),
        len(edited & seen) / len(edited),
        len(gold & seen) / max(1, len(seen)),
        len(gold & seen),
        chars,
        chars > tokens * CHARS,
        seconds,
    )


def _cpu() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def _measure(
    name: str, cases: list[Case], contest: Contest, budgets: list[int], scores: dict[Any, Any]
) -> None:
    for contestant, ask in contest.names().items():
        for tokens in budgets:
            for case in cases:
                before = _cpu()
                shown = ask(case, tokens)
                one = score(case, shown, tokens, _cpu() - before)
                scores[contestant, tokens][name].append(one)


def _print(scores: dict[Any, dict[str, list[Score]]]) -> None:
    sys.stdout.write(
        "contestant, tokens: cases, definition recall, line recall, line precision, gold lines per 1,000"
        " tokens, mean tokens, answers over the budget, CPU p50 p95\n"
    )
    for (contestant, tokens), repos in scores.items():
        for name, rows in [*repos.items(), ("all", [row for r in repos.values() for row in r])]:
            per = 1_000 * sum(r.gold for r in rows) / max(1, sum(r.chars for r in rows) / CHARS)
            cpu = sorted(r.seconds for r in rows)
            sys.stdout.write(
                f"{contestant:13} {tokens:5} {name:24} {len(rows):4}"
                f" {fmean(r.definitions for r in rows):.3f} {fmean(r.recall for r in rows):.3f}"
                f" {fmean(r.precision for r in rows):.3f} {per:5.1f}"
                f" {fmean(r.chars for r in rows) / CHARS:6.0f} {sum(r.over for r in rows):3}"
                f" {cpu[len(cpu) // 2]:.3f} {cpu[int(len(cpu) * 0.95)]:.3f}\n"
            )


def blank_copy(folder: Path, copy: Path, most: int) -> None:
    """Copy a checkout without its documentation comments, and list their sentences with definitions."""
    with open_tree(find_worktree(os.fspath(folder)), ".") as view:
        paths = [os.fsdecode(path) for (path,) in view.rows("SELECT l.path FROM {live} l")]
        named: dict[str, Any] = {p: _symbols(view, p) for p in sorted(paths) if _is_code(p)}
    repo = Repo(copy).init()
    cases = []
    for path in paths:
        source = folder / path
        if not source.is_file() or source.is_symlink():
            continue
        (copy / path).parent.mkdir(parents=True, exist_ok=True)
        if path not in named:
            shutil.copyfile(source, copy / path)
            continue
        text = source.read_text(encoding="utf-8", errors="replace")
        (copy / path).write_text(_blanked(path, text, named[path]), encoding="utf-8")
        for name, kind, doc, line, first, last in named[path]:
            sentence = " ".join(re.split(r"\.\s|\n\s*\n", doc.strip())[0].split())
            plain = re.sub(r"[`*@#:<>{}/]+", " ", sentence).strip().rstrip(".")
            words = plain.split()
            if 5 <= len(words) <= 25 and not any(file_kinds(path)) and "class" not in kind:
                cases.append((plain, path, name, line, first, last))
    step = max(1, len(cases) // most)
    chosen = cases[::step][:most]
    (copy / ".gitignore").write_text("")
    repo.commit()
    repo.gitindex("index")
    (copy / ".git/evidence.json").write_text(json.dumps(chosen))


def _blanked(path: str, text: str, rows: list[Any]) -> str:
    lines = text.split("\n")
    if path.endswith(".py"):
        for first, last in _docstrings(text):
            indent = len(lines[first]) - len(lines[first].lstrip())
            lines[first : last + 1] = [" " * indent + '""', *[""] * (last - first)]
        return "\n".join(lines)
    for row in rows:
        at = row[4] - 2
        while at >= 0 and COMMENT.match(lines[at]):
            lines[at] = ""
            at -= 1
    return "\n".join(lines)


def _docstrings(text: str) -> Iterator[tuple[int, int]]:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) and body:
            one = body[0]
            is_text = isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant)
            if is_text and one.lineno > node.lineno and isinstance(one.value.value, str):
                yield one.lineno - 1, one.end_lineno - 1


def comments(copy: Path, tokens: int) -> list[tuple[bool, bool, bool, bool]]:
    """Return for each sentence: right file in ten, right name first there, at all, in explore."""
    found = []
    with open_tree(find_worktree(os.fspath(copy)), ".") as view:
        contest = Contest(view, copy, "")
        for query, path, name, line, _, _ in json.loads((copy / ".git/evidence.json").read_text()):
            results = search(view, query, 10, memory=contest._lexical)["results"]
            mine = [r for r in results if r["path"] == path]
            right = [r.get("name") == name and r["startLine"] <= line <= r["endLine"] for r in mine]
            shown, _ = contest.explore(query, tokens)
            found.append((bool(mine), right[:1] == [True], any(right), line in shown.get(path, ())))
    return found


def measure(bench: Bench) -> list[Row]:
    """Sentences of documentation comments, asked of packages without these comments."""
    repo, copy = golden_repo(HELD_OUT, bench.folder("evidence")), bench.folder("evidence-blank")
    blank_copy(repo.path, copy, 60)
    rows = comments(copy, 2_000)
    right = [row for row in rows if row[0]]
    return [
        Row(
            "the definition meant is shown first, share",
            fmean(r[1] for r in right),
            "",
            0.6,
            "goal",
        ),
        Row("explore shows it in 2,000 tokens, share", fmean(r[3] for r in rows), "", 0.55, "goal"),
    ]


def main(argv: list[str]) -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mirrors", type=Path, required=True)
    parser.add_argument("--repos", type=Path, nargs="+", required=True, help="checkouts, indexed")
    parser.add_argument("--comments", type=Path, help="folder for copies without comments")
    parser.add_argument("--cases", type=int, default=40, help="of each repository")
    parser.add_argument("--tokens", type=int, nargs="+", default=[2_000, 4_000])
    parser.add_argument("--codegraph", default="")
    parser.add_argument("--only", default="", help="one contestant")
    asked = parser.parse_args(argv)
    scores: dict[Any, dict[str, list[Score]]] = defaultdict(lambda: defaultdict(list))
    told = []
    for folder in asked.repos:
        if asked.comments:
            copy = asked.comments / folder.name
            if not (copy / ".git/evidence.json").is_file():
                blank_copy(folder, copy, asked.cases)
            told.append((folder.name, comments(copy, asked.tokens[0])))
            continue
        with open_tree(find_worktree(os.fspath(folder)), ".") as view:
            cases = list(commits(asked.mirrors / folder.name / "repo", folder, view, asked.cases))
            contest = Contest(view, folder, asked.codegraph)
            if asked.only:
                chosen = {asked.only: contest.names()[asked.only]}
                contest.names = lambda chosen=chosen: chosen  # type: ignore[method-assign,misc]
            _measure(folder.name, cases, contest, asked.tokens, scores)
    if told:
        sys.stdout.write(
            "repository: sentences, file in ten, name first | any where it is, explore\n"
        )
        told.append(("all", [row for _, rows in told for row in rows]))
    for name, rows in told:
        right = max(1, sum(row[0] for row in rows))
        first, some = (sum(row[n] for row in rows) / right for n in (1, 2))
        shown = fmean(row[3] for row in rows) if rows else 0.0
        sys.stdout.write(f"{name:28} {len(rows):4} {right:4} {first:.3f} {some:.3f} {shown:.3f}\n")
    if scores:
        _print(scores)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
