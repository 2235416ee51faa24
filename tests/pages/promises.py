"""docs/promises.md: which tests hold each promise, and how many cases run."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from tests.pages import ROOT, TORTURE, cells, row

_ROW = re.compile(r"\| ([IP]-\d+) \|")


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
    return sums


def render(page: str, collected: list[dict[str, Any]]) -> str:
    """The page with all columns after the second filled anew."""
    sums = torture_sums()
    lines = []
    for line in page.splitlines():
        match = _ROW.match(line)
        lines.append(
            row([*cells(line)[:2], *_columns(match[1], collected, sums)]) if match else line
        )
    return "\n".join(lines) + "\n"


def _columns(id_: str, collected: list[dict[str, Any]], sums: Counter[str]) -> list[str]:
    held = [test for test in collected if id_ in test["promises"]]
    controls = [test for test in collected if id_ in test["controls"]]
    quick = [test for test in held if not test["torture"]]
    fixed = sum(test["cases"] for test in held if test["torture"])
    suites = sorted({suite for test in held for suite in test["suites"]})
    full = [f"{fixed:,} of fixed size"] * bool(fixed)
    full += [f"{suite}: {sums[suite]:,} so far" for suite in suites]
    return [
        "<br>".join(test["test"] for test in quick) or "none",
        "<br>".join(test["test"] for test in controls) or "–",
        f"{sum(test['cases'] for test in quick):,}",
        "<br>".join(full) or "–",
    ]


def unheld(page: str) -> list[str]:
    """Promises that no test holds."""
    rows = [(match[1], cells(line)) for line in page.splitlines() if (match := _ROW.match(line))]
    return [id_ for id_, fields in rows if fields[2] == "none"]
