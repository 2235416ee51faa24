"""Fit the weights of ranking: `python -m bench.fit_ranking FEATURES [--write]`. Needs numpy.

FEATURES is what `bench.ranking --features` wrote. A softmax over the candidates of each query is
fitted by gradient descent; what is printed is cross-validated, leaving one repository out at a time: every
query is ranked by weights that saw nothing of its repository. The first sum is fitted to the best 70
candidates, the whole sum to those that the product reads. `--write` puts the weights of all queries into
weights.py; `--ablate` tells what leaving each feature out costs.
"""

from __future__ import annotations

import argparse
import importlib
import pickle
import sys
from pathlib import Path
from typing import Any

from bench.ranking import gain
from gitindex.query.search.ranking import KINDS, RELATIVE, Features

ROUNDS, STEP, L2 = 400, 0.1, 0.0003
FIXED = {"asked_path": 9.0, "qualified": 4.0, "quoted": 2.0, "named": 1.0}
"""Features that the queries hardly use: set by hand."""
LOOKED = Features._fields.index("chunk")
WEIGHTS = Path(__file__).parent.parent / "gitindex" / "query" / "search" / "weights.py"


def main(argv: list[str]) -> int:
    """Fit, cross-validate, print; write if asked to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("features", type=Path)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--ablate", action="store_true")
    asked = parser.parse_args(argv)
    queries = [q for q in pickle.loads(asked.features.read_bytes()) if q["rows"]]
    names = list(Features._fields)
    final = _Fit(queries, names)
    first = _Fit(queries, names[:LOOKED])
    for label, fitted in (("first sum", first), ("whole sum", final)):
        sys.stdout.write(f"{label}: {_said(fitted.validated())}\n")
    if asked.ablate:
        for name in names:
            left = [other for other in names if other != name]
            sys.stdout.write(f"without {name}: {_said(_Fit(queries, left).validated())}\n")
    if asked.write:
        WEIGHTS.write_text(_module(first.weights(), final.weights()), encoding="utf-8")
    return 0


class _Fit:
    """The features of some queries, and weights for them."""

    def __init__(self, queries: list[dict[str, Any]], names: list[str]) -> None:
        np: Any = importlib.import_module("numpy")  # not among the development tools
        self._np, self._queries, self._names = np, queries, names
        columns = [Features._fields.index(name) for name in names]
        relative = [names.index(name) for name in RELATIVE if name in names]
        self._rows, self._gold = [], []
        whole = len(names) > LOOKED
        self._read = [query["read"] if whole else len(query["rows"]) for query in queries]
        for query, read in zip(queries, self._read, strict=True):
            rows = np.array([values for _, values in query["rows"][:read]])[:, columns]
            for column in relative:
                rows[:, column] /= rows[:, column].max() or 1.0
            self._rows.append(rows)
            self._gold.append(
                np.array([float(p in query["gold"]) for p, _ in query["rows"][:read]])
            )
        self._least = np.array([-np.inf if name in KINDS else 0.0 for name in names])
        self._most = np.array([0.0 if name in KINDS else np.inf for name in names])
        for name, value in FIXED.items():
            if name in names:
                self._least[names.index(name)] = self._most[names.index(name)] = value

    def weights(self, among: list[int] | None = None) -> dict[str, float]:
        """Fitted on some queries, or on all."""
        chosen = range(len(self._queries)) if among is None else among
        fitted = self._np.array(self._fitted(list(chosen)))
        return dict(zip(self._names, map(float, fitted), strict=True))

    def validated(self) -> dict[str, tuple[float, float]]:
        """NDCG@10 and hit@1 of every set, each repository ranked by weights that never saw it."""
        np = self._np
        repos = sorted({query["repo"] for query in self._queries})
        found: dict[str, list[tuple[float, float]]] = {}
        for held in repos:
            seen = [n for n, q in enumerate(self._queries) if q["repo"] != held]
            weights = np.array(self._fitted(seen))
            for number, query in enumerate(self._queries):
                if query["repo"] == held:
                    scores = self._rows[number] @ weights
                    order = [*np.argsort(-scores, kind="stable")]
                    order += range(len(order), len(query["rows"]))
                    paths = [query["rows"][n][0] for n in order]
                    score = gain(paths, query["gold"]), float(paths[0] in query["gold"])
                    for group in {query["set"], query["category"]}:
                        found.setdefault(group, []).append(score)
        return {
            name: (float(np.mean([g for g, _ in v])), float(np.mean([h for _, h in v])))
            for name, v in sorted(found.items())
        }

    def _fitted(self, chosen: list[int]) -> list[float]:
        np = self._np
        usable = [n for n in chosen if self._gold[n].any()]
        rows = np.concatenate([self._rows[n] for n in usable])
        gold = np.concatenate([self._gold[n] / self._gold[n].sum() for n in usable])
        ends = np.cumsum([0] + [len(self._gold[n]) for n in usable])
        owner = np.repeat(np.arange(len(usable)), np.diff(ends))
        weights, first, second = (np.zeros(len(self._names)) for _ in range(3))
        for turn in range(1, ROUNDS + 1):
            scores = rows @ weights
            shares = np.exp(scores - np.maximum.reduceat(scores, ends[:-1])[owner])
            shares /= np.add.reduceat(shares, ends[:-1])[owner]
            slope = rows.T @ (shares - gold) / len(usable) + L2 * weights
            first, second = 0.9 * first + 0.1 * slope, 0.99 * second + 0.01 * slope**2
            step = first / (1 - 0.9**turn) / (np.sqrt(second / (1 - 0.99**turn)) + 1e-8)
            weights = np.clip(weights - STEP * step, self._least, self._most)
        return [float(weight) for weight in weights]


def _said(scores: dict[str, tuple[float, float]]) -> str:
    return ", ".join(f"{name} {gain:.4f} / {hit:.4f}" for name, (gain, hit) in scores.items())


def _module(first: dict[str, float], final: dict[str, float]) -> str:
    lines = [
        '"""Weights of the features: generated by `python -m bench.fit_ranking`. Do not edit by hand."""',
        "",
        "from __future__ import annotations",
        "",
        "from gitindex.query.search.ranking import Features",
        "",
    ]
    for name, weights in (("FIRST", first), ("FINAL", final)):
        lines += [f"{name} = Features("]
        lines += [f"    {key}={value:.2f}," for key, value in weights.items() if round(value, 2)]
        lines += [")"]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
