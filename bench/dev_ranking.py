"""Ranking on questions about public repositories: `python -m bench.dev_ranking --dev DIR --repos DIR`.

DIR/search.jsonl has one query a line: `{set, repo, commit, language, category, query, gold: [paths]}`.
The repositories are folders `REPOS/<set>/<owner>+<name>`, indexed. `--features FILE` keeps what ranking
knows of every candidate, for `bench.fit_ranking`; `--before FILE` compares with the lists of another run.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import pickle
import sys
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from gitindex.base.worktree import find_worktree
from gitindex.query.search.long_query import split_query
from gitindex.query.search.search import RankingPass, search
from gitindex.store.lexical import LexicalMemory, LexicalQuery, LexicalReader
from gitindex.view.tree import TreeView, open_tree

DEPTH, DEEP = 10, 50
FITTED = 70
"""Candidates whose features are kept: more than are ranked, so that weights can change."""


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
            memory = LexicalMemory()
            plain = _plain(view)
            for query in group:
                ours = search(view, query["query"], DEEP, memory=memory)["results"]
                lists = {"bm25": plain(query["query"]), "ours": [row["path"] for row in ours]}
                answered.append(Answered(query, lists))
                features.append(query | {"rows": _features(view, query["query"], memory)})
    return answered, features


def _features(view: TreeView, text: str, memory: LexicalMemory) -> list[tuple[str, list[float]]]:
    ranking = RankingPass(view, split_query(text).queries[0], memory, [])
    rows = ranking.looked_at(ranking.first()[:FITTED])
    return [(row.candidate.name, list(row.features)) for row in rows]


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


def ndcg(paths: Iterable[str], gold: list[str]) -> float:
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
    gains = fmean(ndcg(paths, gold) for paths, gold in lists)
    first = fmean(float(bool(paths) and paths[0] in gold) for paths, gold in lists)
    recall = fmean(sum(g in paths[:DEEP] for g in gold) / len(gold) for paths, gold in lists)
    return f"{gains:.3f} {first:.3f} {recall:.3f}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
