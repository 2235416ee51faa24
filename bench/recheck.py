"""Answers rechecked by their receipts after random edits, against asking everything again.

`RECHECK_EDITS` edits (by `RECHECK_SEED`) of the package of an installed library, `RECHECK_ANSWERS` answers.
"""

from __future__ import annotations

import importlib.util
import json
import os
import random
import resource
import shutil
import sys
from pathlib import Path
from typing import Any

from bench.harness import Row
from bench.scratch import Bench, Repo
from gitindex.base.worktree import find_worktree
from gitindex.query.names.memory import Memory
from gitindex.query.recheck import parse_receipts, recheck
from gitindex.query.references import ReferenceQuery, find_references
from gitindex.view.overlay import FactsMemory
from gitindex.view.tree import NOW, TreeView, open_tree

EDITS = int(os.environ.get("RECHECK_EDITS", "40"))
ANSWERS = int(os.environ.get("RECHECK_ANSWERS", "60"))
SEED = int(os.environ.get("RECHECK_SEED", "11"))
PACKAGE = os.environ.get("RECHECK_PACKAGE", "starlette")
MANY = 1_000
FACTS = FactsMemory()


def measure(bench: Bench) -> list[Row]:
    """Missed and needless invalidations, and the cost of many receipts at once."""
    repo = Repo(bench.folder("recheck")).init()
    spec = importlib.util.find_spec(PACKAGE)
    assert spec is not None
    assert spec.submodule_search_locations is not None
    source = next(iter(spec.submodule_search_locations))
    ignore = shutil.ignore_patterns("__pycache__")
    shutil.copytree(source, repo.path / PACKAGE, ignore=ignore)
    repo.commit()
    repo.gitindex("index")
    root = os.path.realpath(repo.path)
    names = _names(root)
    before = {name: _ask(root, name) for name in names}
    missed, needless, still = [], 0, 0
    rng = random.Random(SEED)
    for _ in range(EDITS):
        path, old = _edit(Path(root), names, rng)
        with open_tree(find_worktree(root), root, NOW, FACTS) as view:
            text = "\n".join(json.dumps(answer) for answer in before.values())
            rows = recheck(view, parse_receipts(text))["answers"]
        for name, row in zip(names, rows, strict=True):
            same = _facts(_ask(root, name)) == _facts(before[name])
            if row["verdict"] == "still true":
                still += 1
                missed += [] if same else [f"{name} after an edit of {path}"]
            else:
                needless += same
        _restore(path, old)
    for line in missed[:10]:
        sys.stderr.write(f"recheck: missed: {line}\n")
    total = EDITS * len(names)
    return [
        Row(f"recheck, {PACKAGE}: missed of {total}", len(missed), "", most=0),
        Row("  needless", 100 * needless / total, "%", most=10),
        Row(f"  {MANY} receipts, CPU", 1000 * _cost(root, list(before.values())), "ms"),
        Row(
            "  bytes of a receipt, largest", max(_size(a) for a in before.values()), "", most=1_500
        ),
    ]


def _names(root: str) -> list[str]:
    with open_tree(find_worktree(root), root, NOW, FACTS) as view:
        rows = view.rows(
            "SELECT DISTINCT n.text FROM {symbols} s JOIN {names} n ON n.id=s.name_id"
            " JOIN {live} l ON l.blob_id=s.blob_id WHERE s.kind IN ('function', 'method', 'class')"
        )
    names = sorted({name for (name,) in rows if len(name) > 3})
    random.Random(3).shuffle(names)
    return names[:ANSWERS]


def _ask(root: str, name: str) -> dict[str, Any]:
    with open_tree(find_worktree(root), root, NOW, FACTS) as view:
        return _answer(view, name)


def _answer(view: TreeView, name: str) -> dict[str, Any]:
    memory = Memory(workers=FACTS.kept_workers())
    return dict(find_references(view, ReferenceQuery(name, limit=1_000), memory))


def _facts(answer: dict[str, Any]) -> Any:
    kept = ("definitions", "references", "possible", "accounted", "complete", "absent", "reasons")
    rows = json.loads(json.dumps({name: answer[name] for name in kept}))
    for row in (*rows["definitions"], *rows["references"]):
        row.pop("source", None)
    return rows


def _edit(root: Path, names: list[str], rng: random.Random) -> tuple[Path, bytes | None]:
    """Change one file at random: a line, a call, a definition, a deletion, a new file."""
    files = sorted(root.glob(f"{PACKAGE}/**/*.py"))
    path, kind, name = rng.choice(files), rng.randrange(6), rng.choice(names)
    if kind == 0:
        new = root / PACKAGE / f"new_{rng.randrange(1_000)}.py"
        new.write_text(f"from {PACKAGE} import *\n\nvalue = {rng.randrange(99)}\n")
        return new, None
    old = path.read_bytes()
    lines = old.decode().split("\n")
    at = rng.randrange(len(lines))
    if kind == 1:
        lines.insert(len(lines) - 1, f"\n\ndef added_{at}():\n    return {name}()\n")
    elif kind == 2:
        del lines[at]
    elif kind == 3:
        lines[at] = lines[at].replace("self.", "self.other_").replace(" = ", " = 1 or ")
    elif kind == 4:
        lines.insert(0, f"# a note about {at}")
    else:
        path.unlink()
        return path, old
    path.write_text("\n".join(lines))
    return path, old


def _restore(path: Path, old: bytes | None) -> None:
    if old is None:
        path.unlink()
    else:
        path.write_bytes(old)


def _cost(root: str, answers: list[dict[str, Any]]) -> float:
    """Return the CPU of rechecking many receipts after one edit."""
    path = next(iter(sorted(Path(root).glob(f"{PACKAGE}/*.py"))))
    old = path.read_bytes()
    path.write_bytes(old + b"\n# a note\n")
    text = "\n".join(json.dumps(answers[n % len(answers)]) for n in range(MANY))
    try:
        with open_tree(find_worktree(root), root, NOW, FACTS) as view:
            began = resource.getrusage(resource.RUSAGE_SELF)
            recheck(view, parse_receipts(text))
            ended = resource.getrusage(resource.RUSAGE_SELF)
    finally:
        path.write_bytes(old)
    return ended.ru_utime + ended.ru_stime - began.ru_utime - began.ru_stime


def _size(answer: dict[str, Any]) -> int:
    return len(json.dumps(answer["receipt"]))
