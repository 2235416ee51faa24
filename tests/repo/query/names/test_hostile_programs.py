"""Programs written to mislead: no occurrence that is bound to the target is outside of the lists.

The calls were recorded by running each program with its own language; NAME is the name that is asked
for, PKG the folder of the program. A line that ran the target and has its name must be among the
references, the possible or the unlikely places. Where a line is not, the answer says which assumption
the program breaks.
"""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from gitindex.query.names.memory import Memory
from gitindex.query.references import ReferenceQuery, find_references
from gitindex.view.tree import open_tree
from tests.support import Repo

_FILE = Path(__file__).parents[3] / "fixtures" / "hostile_programs.jsonl"
PROGRAMS = [json.loads(line) for line in _FILE.read_text().splitlines()]
LANGUAGES = sorted({program["language"] for program in PROGRAMS})
MAX_EXCUSED = 0.05
"""Share of programs that may break an assumption which the answer states."""


class Outcome(NamedTuple):
    """What an answer about one program is."""

    missing: list[str]  # lines with the name that ran the target, and are in none of the lists
    assumes: list[str]
    complete: bool
    adds_up: bool


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_use_is_excluded(repo: Repo, language: str) -> None:
    repo.index_files({"go.mod": "module m\n\ngo 1.19\n"})
    wrong, excused, asked = list[str](), list[str](), 0
    for number, program in enumerate(PROGRAMS):
        if program["language"] == language:
            found = _ask(repo, program, f"pkg{number}", f"Name{number}x")
            shutil.rmtree(repo.path / f"pkg{number}")
            asked += 1
            assert found.adds_up, number
            rebinds = any("sys.modules" in text for text in program["files"].values())
            (excused if found.assumes or rebinds else wrong).extend(found.missing)
    assert not wrong, "\n".join(wrong)
    assert len(excused) <= max(1, MAX_EXCUSED * asked), "\n".join(excused)


def _ask(repo: Repo, program: dict[str, Any], folder: str, name: str) -> Outcome:
    """Ask for the references to one program's target, which is on disk only."""

    def real(text: str) -> str:
        return text.replace("NAME", name).replace("PKG", folder)

    texts = {f"{folder}/{real(path)}": real(text) for path, text in program["files"].items()}
    for path, text in texts.items():
        repo.write(path, text)
    ran = {(f"{folder}/{real(path)}", line) for path, line in program["called"] + program["used"]}
    symbol = f"{next(iter(texts))}#{real(program['asked'])}"
    with open_tree(repo.worktree, ".") as view:
        asked = ReferenceQuery(symbol, limit=500, everything=True)
        answer: dict[str, Any] = dict(find_references(view, asked, Memory()))
    assert answer["definitions"], symbol
    rows = [row for key in ("references", "possible", "unlikely") for row in answer[key]]
    listed = {(row["path"], row["line"]) for row in rows}
    spelled = {place for place in ran if _spells(texts, place, name)}
    missing = [f"{symbol}: {path}:{line}" for path, line in sorted(spelled - listed)]
    words = sum(len(re.findall(rf"\b{name}\b", text, re.ASCII)) for text in texts.values())
    counts = answer["accounted"]
    summed = sum(counts[group] for group in counts if group not in ("total", "aliased", "decoded"))
    adds_up = summed == counts["total"] == words and answer["accountedFor"]
    told = [one["assumption"] for one in answer["assumes"]]
    return Outcome(missing, told, answer["complete"], adds_up)


def _spells(texts: dict[str, str], place: tuple[str, int], name: str) -> bool:
    path, line = place
    lines = texts.get(path, "").splitlines()
    return line <= len(lines) and re.search(rf"\b{name}\b", lines[line - 1]) is not None
