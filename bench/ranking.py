"""Ranking: plain BM25 and ours on golden queries, and on questions about public repositories.

`python -m bench ranking` measures the golden queries that are shipped. `python -m bench.ranking --dev DIR
--repos DIR` measures DIR/search.jsonl, one query a line: `{set, repo, commit, language, category, query,
gold: [paths], gold2?: [paths]}`. The repositories are folders `REPOS/<set>/<owner>+<name>`, indexed.
`--before FILE` compares with the lists that another version wrote with `--lists FILE`; `--features FILE`
keeps what ranking knows of every candidate, for `bench.fit_ranking`.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import pickle
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from bench.harness import TIMEOUT, Row
from bench.scratch import Bench, Repo
from gitindex.base.worktree import find_worktree
from gitindex.query.grep.engines import find_ripgrep
from gitindex.query.search.memory import SearchMemory
from gitindex.query.search.query_text import parse_query, split_query
from gitindex.query.search.search import RankingPass, search
from gitindex.store.lexical import LexicalQuery, LexicalReader
from gitindex.view.tree import TreeView, open_tree
from tests.golden import (
    DEPTH,
    HELD_OUT,
    TUNED,
    Case,
    GoldenSet,
    Ranker,
    copy_packages,
    ndcg,
    plain_bm25,
    usable,
)

DEEP = 50
FITTED = 70
"""Candidates whose features are kept: the first sum chooses from them."""


def measure(bench: Bench) -> list[Row]:
    rows = []
    for name, golden in (("tuned", TUNED), ("held out", HELD_OUT)):
        repo = golden_repo(golden, bench.folder(f"golden-{name.split()[0]}"))
        found = scores(repo, usable(golden, repo.path))
        ours = fmean(found["ours"])
        rows.append(
            Row(
                f"NDCG@10, {name}, {len(found['ours'])} queries",
                ours,
                "",
                fmean(found["bm25"]),
                "plain BM25",
                least_ratio=1.1,
            )
        )
        if "rg" in found:
            rows.append(Row("  the same", ours, "", fmean(found["rg"]), "ripgrep count"))
        else:
            sys.stderr.write("ranking: rg was not found, its rows are left out\n")
    return rows


def golden_repo(golden: GoldenSet, folder: Path) -> Repo:
    """A repository of a set's packages, indexed."""
    copy_packages(golden, folder)
    repo = Repo(folder).init()
    repo.commit()
    repo.gitindex("index")
    return repo


def scores(repo: Repo, cases: list[Case]) -> dict[str, list[float]]:
    """NDCG of every case for every ranker."""
    with open_tree(find_worktree(os.fspath(repo.path)), ".") as view:
        rankers: dict[str, Ranker] = {"bm25": plain_bm25(view), "ours": lambda q: ours(view, q)}
        if (program := find_ripgrep()) is not None:
            rankers["rg"] = lambda query: ripgrep_count(program, repo.path, query)
        return {
            name: [ndcg(case, ranker(case.query)) for case in cases]
            for name, ranker in rankers.items()
        }


def ours(view: TreeView, query: str) -> list[str]:
    """What `gitindex search` answers."""
    return [row["path"] for row in search(view, query, 2 * DEPTH)["results"]]


def ripgrep_count(program: str, root: Path, query: str) -> list[str]:
    """Files by the number of lines with one of the words."""
    words = [word.text for word in parse_query(query).words]
    wanted = [part for word in words for part in ("-e", word)]
    done = subprocess.run(
        [
            program,
            "--count",
            "--ignore-case",
            "--fixed-strings",
            "--no-messages",
            *wanted,
            "--",
            ".",
        ],
        cwd=root,
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )
    counted = (line.rpartition(":") for line in done.stdout.splitlines())
    found = sorted((-int(count), path.removeprefix("./")) for path, _, count in counted)
    return [path for _, path in found][:DEPTH]


class Answered(NamedTuple):
    """A query, and the paths that each ranker gives, best first."""

    query: dict[str, Any]
    lists: dict[str, list[str]]


def main(argv: list[str]) -> int:
    """Print a table per set, category, language and repository."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dev", type=Path, required=True)
    parser.add_argument("--repos", type=Path, required=True)
    parser.add_argument("--features", type=Path)
    parser.add_argument("--lists", type=Path, help="write every list, as JSON lines")
    parser.add_argument("--before", type=Path, help="lists that another version wrote")
    asked = parser.parse_args(argv)
    queries = [json.loads(line) for line in (asked.dev / "search.jsonl").open(encoding="utf-8")]
    for query in queries:  # second golds count like the first
        query["gold"] = list(dict.fromkeys(query["gold"] + query.get("gold2", [])))
    answered, features = _answers(queries, asked.repos)
    if asked.before:
        _join(answered, asked.before)
    if asked.features:
        asked.features.write_bytes(pickle.dumps(features))
    if asked.lists:
        lines = (json.dumps(row.query | {"lists": row.lists}) + "\n" for row in answered)
        asked.lists.write_text("".join(lines), encoding="utf-8")
    for fields in (("set",), ("set", "category"), ("set", "language"), ("set", "repo")):
        _table(answered, fields)
    return 0


def _answers(
    queries: list[dict[str, Any]], repos: Path
) -> tuple[list[Answered], list[dict[str, Any]]]:
    groups: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for query in queries:
        groups[query["set"], query["repo"]].append(query)
    answered: list[Answered] = []
    features: list[dict[str, Any]] = []
    for (name, repo), group in groups.items():
        folder = repos / name / repo.replace("/", "+")
        if not folder.is_dir():
            sys.stderr.write(f"{folder} is missing: its queries are left out\n")
            continue
        with open_tree(find_worktree(os.fspath(folder)), ".") as view:
            memory = SearchMemory()
            plain = _plain(view)
            for query in group:
                ours = search(view, query["query"], DEEP, memory=memory)["results"]
                lists = {"bm25": plain(query["query"]), "ours": [row["path"] for row in ours]}
                answered.append(Answered(query, lists))
                features.append(query | _features(view, query["query"], memory))
    return answered, features


def _features(view: TreeView, text: str, memory: SearchMemory) -> dict[str, Any]:
    """The features of the best candidates: of those that the product reads, the first `read`, all."""
    ranking = RankingPass(view, split_query(text).queries[0], memory, [])
    chosen, others = ranking.chosen(ranking.first())
    rows = [*ranking.with_texts(chosen), *others[: max(0, FITTED - len(chosen))]]
    listed = [(row.candidate.name, list(row.features)) for row in rows]
    return {"rows": listed, "read": len(chosen)}


def _plain(view: TreeView) -> Any:
    """BM25 over the same terms of the same texts, and nothing else."""
    reader = LexicalReader(view.worktree.lexical)
    rows = view.rows("SELECT l.path, l.oid FROM {live} l")
    paths = {oid.hex(): path.decode("utf-8", "replace") for path, oid in rows}

    def ranked(text: str) -> list[str]:
        terms = [(t, 1.0) for query in split_query(text).queries for t in query.terms]
        hits = reader.search(LexicalQuery(terms, name_boost=0.0), DEEP)
        return [paths[hit.key.oid] for hit in hits if hit.key.oid in paths]

    return ranked


def _join(answered: list[Answered], before: Path) -> None:
    """Add the lists of another version as `before`."""
    known = {}
    for line in before.open(encoding="utf-8"):
        row = json.loads(line)
        known[row["set"], row["repo"], row["query"]] = row["lists"]["ours"]
    for row in answered:
        key = (row.query["set"], row.query["repo"], row.query["query"])
        if key in known:
            row.lists["before"] = known[key]


def gain(paths: Iterable[str], gold: list[str]) -> float:
    """NDCG@10 over files, each at its first place."""
    unique = list(dict.fromkeys(paths))[:DEPTH]
    gain = sum(1 / math.log2(n + 2) for n, path in enumerate(unique) if path in gold)
    return gain / sum(1 / math.log2(n + 2) for n in range(min(DEPTH, len(gold))))


def _table(answered: list[Answered], fields: tuple[str, ...]) -> None:
    groups: dict[tuple[str, ...], list[Answered]] = defaultdict(list)
    for row in answered:
        groups[tuple(row.query[field] for field in fields)].append(row)
    sys.stdout.write(f"\n{' / '.join(fields)}: queries, then NDCG@10 hit@1 R@50 of each ranker\n")
    for key, rows in sorted(groups.items()):
        said = [f"{' '.join(key):48} {len(rows):4}"]
        for ranker in ("bm25", "before", "ours"):
            known = [row for row in rows if ranker in row.lists]
            if known:
                said.append(f"{ranker} {_scores(known, ranker)}")
        sys.stdout.write("  ".join(said) + "\n")


def _scores(rows: list[Answered], ranker: str) -> str:
    lists = [(list(dict.fromkeys(row.lists[ranker])), row.query["gold"]) for row in rows]
    gains = fmean(gain(paths, gold) for paths, gold in lists)
    first = fmean(float(bool(paths) and paths[0] in gold) for paths, gold in lists)
    recall = fmean(sum(g in paths[:DEEP] for g in gold) / len(gold) for paths, gold in lists)
    return f"{gains:.3f} {first:.3f} {recall:.3f}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
