"""Ranking: NDCG@10 of plain BM25, of ours, and of counting keywords with ripgrep, on golden queries."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from statistics import fmean

from bench.harness import TIMEOUT, Row
from bench.scratch import Bench, Repo
from gitindex.base.worktree import find_worktree
from gitindex.query.grep.engines.ripgrep import find_ripgrep
from gitindex.query.search.query_text import parse_query
from gitindex.query.search.search import search
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
