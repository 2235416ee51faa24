"""What a person waits for: refs, explore and call graphs of names and questions never asked before.

Names and questions are drawn anew in every run from what the corpus defines. CPU time of all processes
counts; yardsticks run beside: `git grep -w` of the same name, and a bare interpreter.
"""

from __future__ import annotations

import os
import random
import re
import time
from collections.abc import Callable

from bench.harness import BARE_PYTHON, GITINDEX, Row, percentile, run
from bench.scratch import Bench, Repo
from gitindex.base.vocabulary import Direction
from gitindex.base.worktree import find_worktree
from gitindex.query.callgraph.answer import GraphQuery, call_graph
from gitindex.query.explore import explore
from gitindex.query.names.memory import Memory
from gitindex.query.references import ReferenceQuery, find_references
from gitindex.query.search.memory import SearchMemory
from gitindex.questions.explore import budget_of
from gitindex.questions.ink import Ink
from gitindex.view.tree import TreeView, open_tree

ASKED = int(os.environ.get("GITINDEX_BENCH_QUESTIONS", "100"))
TOKENS = 4_000
WORDS = 8
"""Words of a docstring that make a question."""


def measure(bench: Bench) -> list[Row]:
    """CPU of first questions, cold and warm."""
    repo = bench.indexed()
    with open_tree(find_worktree(os.fspath(repo.path)), ".") as view:
        names, others, questions = _names(view), _names(view), _questions(view)
    interpreter = percentile([_cpu(BARE_PYTHON, repo) for _ in range(9)], 0.5)
    ratios = [
        _cpu([*GITINDEX, "refs", name], repo) / _cpu(["git", "grep", "-n", "-w", name], repo)
        for name in names
    ]
    explored = [_cpu([*GITINDEX, "explore", one], repo) / interpreter for one in questions]
    warm = _warm(repo, names, others, questions)
    return [
        Row(
            "refs, first question, cold, p50, against git grep -w",
            percentile(ratios, 0.5),
            "×",
            most=2,
        ),
        Row("  p95", percentile(ratios, 0.95), "×", most=4),
        Row(
            "explore, unseen question, cold, p50",
            percentile(explored, 0.5),
            "interpreters",
            most=35,
        ),
        Row("  p95", percentile(explored, 0.95), "interpreters", most=70),
        Row("  worst", max(explored), "interpreters", most=130),
        *(
            Row(
                f"{name}, unseen, warm, p95",
                percentile(used, 0.95) / interpreter,
                "interpreters",
                most=most,
            )
            for (name, used), most in zip(warm.items(), (5, 26, 26), strict=True)
        ),
    ]


def _names(view: TreeView) -> list[str]:
    rows = view.rows("SELECT DISTINCT n.text FROM {names} n JOIN {symbols} s ON s.name_id=n.id")
    plain = sorted(name for (name,) in rows if re.fullmatch(r"[A-Za-z_]\w{2,}", name))
    return random.sample(plain, min(ASKED, len(plain)))


def _questions(view: TreeView) -> list[str]:
    rows = view.rows("SELECT s.doc FROM {symbols} s WHERE length(s.doc) > 40")
    texts = sorted({" ".join(re.findall(r"[A-Za-z]+", doc)[:WORDS]) for (doc,) in rows})
    return random.sample(texts, min(ASKED, len(texts)))


def _cpu(argv: list[str], repo: Repo) -> float:
    return 1000 * run(argv, repo.path, codes=(0, 1, 2)).cpu


def _warm(
    repo: Repo, names: list[str], others: list[str], questions: list[str]
) -> dict[str, list[float]]:
    """Milliseconds in one process, each question once."""
    lexical, binding = SearchMemory(), Memory()
    budget = budget_of(TOKENS, 0, Ink())
    with open_tree(find_worktree(os.fspath(repo.path)), ".") as view:
        find_references(view, ReferenceQuery("nosuchnameatall"), binding)
        return {
            "refs": [
                _took(lambda n: find_references(view, ReferenceQuery(n), binding), n) for n in names
            ],
            "explore": [
                _took(lambda q: explore(view, q, budget, (), (lexical, binding)), q)
                for q in questions
            ],
            "callers": [
                _took(lambda n: call_graph(view, GraphQuery(n, Direction.CALLERS), binding), n)
                for n in others
                if n not in names
            ],
        }


def _took(ask: Callable[[str], object], what: str) -> float:
    started = time.process_time()
    ask(what)
    return 1000 * (time.process_time() - started)
