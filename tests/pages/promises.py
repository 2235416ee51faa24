"""docs/promises.md: which tests hold each promise, and how many cases run. promises.tsv has the promises."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from tests.pages import ROOT, TORTURE, table, with_generated

SUITES = """## Totals of `make torture`

The sums count runs of the suite's present statements only (a moved import or a comment changes nothing):
`docs/torture.jsonl` has them all, each with the commit that it tried. *No* means that the goal has not been
reached since those statements changed. *Wrong* counts runs that a wrong answer, a false fresh or a traceback
ended, on earlier code of gitindex; *since* counts the cases of the suite after the last of them."""
GOALS = {
    "answers.answers": 1_000_000,
    "clones.cases": 1_000,
    "damaged_stores.database": 15_000,
    "damaged_stores.lexical": 3_000,
    "edits.cases": 1_000,
    "fuzzed_requests.cases": 100_000,
    "go_programs.cases": 2_500,
    "hostile_repositories.cases": 1_000,
    "java_programs.cases": 2_500,
    "kill_points.cases": 1_000,
    "lying_packs.kinds": 200,
    "policies.cases": 300,
    "power_cuts.cases": 250,
    "projects.cases": 1_000,
    "python_programs.cases": 2_500,
    "remedies.cases": 20_000,
    "removals.cases": 1_000,
    "renames.cases": 300,
    "shortages.cases": 1_000,
    "soak.cases": 2_000,
    "soak.calls": 20_000,
    "spoilt_packs.cases": 1_000,
    "team_kills.cases": 300,
    "team_questions.cases": 200_000,
    "typescript_programs.cases": 2_500,
}
"""What several runs of `make torture` together are to reach."""
NOT_KINDS = {"seconds", "code", "answers", "cases", "wrong"}


def collect() -> list[dict[str, Any]]:
    """What pytest collects, read by the plugin in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        answer = Path(folder, "collected.json")
        done = subprocess.run(
            [
                sys.executable,
                "-m",
                "pytest",
                "--collect-only",
                *("-m", ""),  # also the fault suites of a fixed size
                "-qq",
                "-p",
                "tests.pages.collection",
            ],
            cwd=ROOT,
            env={**os.environ, "GITINDEX_COLLECTED": str(answer)},
            capture_output=True,
            text=True,
            check=False,
            timeout=600,
        )
        assert answer.exists(), done.stdout[-2000:] + done.stderr[-2000:]
        found = json.loads(answer.read_text())
        assert isinstance(found, list)
        return found


def torture_sums() -> Counter[str]:
    """Cases of each suite in docs/torture.jsonl since the suite's own code last changed."""
    from tests.torture.__main__ import code_of
    from tests.torture.suites import SUITES

    sums: Counter[str] = Counter()
    for line in TORTURE.read_text().splitlines():
        for name, counts in json.loads(line)["suites"].items():
            if name in SUITES and counts["code"] == code_of(name):
                sums[name] += counts.get("answers", counts.get("cases", 0))
                if counts.get("wrong"):
                    sums.subtract({w: n for w, n in sums.items() if w.startswith(f"since {name}.")})
                else:
                    since = {w: n for w, n in counts.items() if w != "code"}
                    sums.update({f"since {name}.{what}": n for what, n in since.items()})
                sums.update({f"{name}.{what}": n for what, n in counts.items() if what != "code"})
    return sums


def render(page: str, collected: list[dict[str, Any]]) -> str:
    """The page with its tables written anew from the lists of promises and suites."""
    sums = torture_sums()
    sections: dict[str, list[list[str]]] = {}
    for section, id_, promise in _lines("promises.tsv"):
        rows = sections.setdefault(section, [])
        rows.append([f"<span id='{id_}'>{id_}</span>", promise, *_columns(id_, collected, sums)])
    head = ["id", "promise", "tests", "shown to fail by", "cases", "in `make torture`"]
    parts = [f"## {name}\n\n{table(head, rows)}" for name, rows in sections.items()]
    suites = [[f"`{name}`", about, *_total(name, sums)] for name, about in _lines("suites.tsv")]
    columns = ["suite", "cases", "goal", "so far", "wrong", "since", "reached"]
    return with_generated(page, "\n\n".join([*parts, SUITES, table(columns, suites)]))


def _lines(name: str) -> list[list[str]]:
    text = Path(__file__).with_name(name).read_text()
    return [line.split("\t") for line in text.splitlines()]


def _columns(id_: str, collected: list[dict[str, Any]], sums: Counter[str]) -> list[str]:
    held = [test for test in collected if id_ in test["promises"]]
    controls = [test for test in collected if id_ in test["controls"]]
    quick = [test for test in held if not test["torture"]]
    fixed = sum(test["cases"] for test in held if test["torture"])
    suites = sorted({suite for test in held for suite in test["suites"]})
    full = [f"{fixed:,} of fixed size"] * bool(fixed)
    full += [f"{suite}: {sums[suite]:,} so far" for suite in suites]
    return [
        _files(quick),
        _files(controls),
        f"{sum(test['cases'] for test in quick):,}",
        "<br>".join(full) or "–",
    ]


def _files(tests: list[dict[str, Any]]) -> str:
    """The files that hold these tests, and how many each has."""
    counts = Counter(test["test"].rpartition("(")[2].rstrip(")") for test in tests)
    shown = [f"`{name}`" + f" ({n})" * (n > 1) for name, n in sorted(counts.items())]
    return "<br>".join(shown) or "–"


def _total(what: str, sums: Counter[str]) -> list[str]:
    suite, _, kind = what.partition(".")
    if kind == "kinds" and what not in GOALS:
        names = {name.partition(".")[2] for name in sums if name.startswith(f"{suite}.")}
        kinds = [name for name in names - NOT_KINDS if sums[f"{suite}.{name}"]]
        return ["–", f"{len(kinds)} kinds", "–", "–", "–"]
    goal, done = GOALS[what], sums[what]
    wrong = sums[f"{what.partition('.')[0]}.wrong"]
    since = f"{sums[f'since {what}']:,}"
    return [f"{goal:,}", f"{done:,}", f"{wrong:,}", since, "yes" if done >= goal else "no"]


def unheld(collected: list[dict[str, Any]]) -> list[str]:
    """Promises that no test of `make test` holds."""
    held = {id_ for test in collected if not test["torture"] for id_ in test["promises"]}
    return [id_ for _, id_, _ in _lines("promises.tsv") if id_ not in held]
