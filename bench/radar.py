"""Work in several worktrees: planted breaks are found, harmless edits fit; CPU beside `git status`.

`RADAR_CASES` pairs of each kind in copies of the package `RADAR_PACKAGE`, edits not committed.
"""

from __future__ import annotations

import importlib.util
import os
import random
import resource
import shutil
import subprocess
import sys
from pathlib import Path

from bench.harness import Row
from bench.scratch import Bench, Repo
from gitindex.base.worktree import find_worktree
from gitindex.query.radar.answer import RadarMemory, RadarQuery, radar
from gitindex.view.tree import open_tree

CASES = int(os.environ.get("RADAR_CASES", "15"))
PACKAGE = os.environ.get("RADAR_PACKAGE", "starlette")
WORKTREES = 9


def measure(bench: Bench) -> list[Row]:
    """Found breaks, false ones, and the cost of ten worktrees."""
    repo = Repo(bench.folder("radar") / "main").init()
    spec = importlib.util.find_spec(PACKAGE)
    assert spec is not None
    assert spec.submodule_search_locations is not None
    source = next(iter(spec.submodule_search_locations))
    ignore = shutil.ignore_patterns("__pycache__")
    shutil.copytree(source, repo.path / PACKAGE, ignore=ignore)
    repo.commit()
    repo.gitindex("index")
    others = [repo.path.parent / f"w{n}" for n in range(WORKTREES)]
    for other in others:
        repo.git("worktree", "add", "-q", "--detach", os.fspath(other))
    root = os.path.realpath(repo.path)
    query = RadarQuery(find_worktree(root), root, [])
    memory, rng = RadarMemory(), random.Random(2)
    found, false, missed = 0, 0, []
    for _ in range(CASES):
        name = _plant(root, others[0], others[1], rng)
        verdict = _verdict(query, memory)
        found += verdict == "breaks"
        missed += [] if verdict == "breaks" else [name]
        _clean(others)
        _harmless(others[0], rng)
        _harmless(others[1], rng)
        false += _verdict(query, memory) == "breaks"
        _clean(others)
    sys.stderr.write("".join(f"radar: missed: {name}\n" for name in missed))
    for other in others:
        _harmless(other, rng)
    first, git = _cpu(lambda: radar(query, RadarMemory())), _cpu(lambda: _statuses(others, root))
    return [
        Row(f"radar, {PACKAGE}: planted breaks found of {CASES}", 100 * found / CASES, "%"),
        Row(f"  false breaks of {CASES}", false, "", most=0),
        Row("  ten worktrees, CPU", 1000 * first, "ms", 1000 * git, "git status of the ten"),
    ]


def _verdict(query: RadarQuery, memory: RadarMemory) -> str:
    rows = radar(query, memory)["pairs"]
    return str(next(r["verdict"] for r in rows if {r["ours"], r["theirs"]} == {"w0", "w1"}))


def _plant(root: str, one: Path, other: Path, rng: random.Random) -> str:
    """Rename a function where it is defined in one worktree, and call it anew in the other."""
    with open_tree(find_worktree(root), root) as view:
        rows = view.rows(
            "SELECT l.path, n.text FROM {symbols} s JOIN {names} n ON n.id=s.name_id"
            " JOIN {live} l ON l.blob_id=s.blob_id WHERE s.kind IN ('function', 'class')"
            " AND s.parent<0"
        )
    raw, name = rng.choice(sorted(set(rows)))
    path = os.fsdecode(raw)
    file = one / path
    text = file.read_text()
    for keyword in ("def", "class"):
        text = text.replace(f"{keyword} {name}(", f"{keyword} {name}_renamed(")
        text = text.replace(f"{keyword} {name}:", f"{keyword} {name}_renamed:")
    file.write_text(text)
    module = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    (other / "fresh.py").write_text(f"from {module} import {name}\n\nprint({name})\n")
    return f"{path}: {name}"


def _harmless(folder: Path, rng: random.Random) -> None:
    path = rng.choice(sorted(folder.glob(f"{PACKAGE}/**/*.py")))
    path.write_text(path.read_text() + f"\n\n_value_{rng.randrange(10**6)} = 1\n")


def _clean(folders: list[Path]) -> None:
    for folder in folders:
        for command in (("checkout", "-q", "."), ("clean", "-fdq")):
            subprocess.run(["git", *command], cwd=folder, check=True)


def _statuses(folders: list[Path], root: str) -> None:
    for folder in (*folders, Path(root)):
        command = ["git", "--no-optional-locks", "status", "--porcelain", "-uall"]
        subprocess.run(command, cwd=folder, check=True, capture_output=True)


def _cpu(work: object) -> float:
    def used() -> float:
        both = [resource.getrusage(w) for w in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        return sum(one.ru_utime + one.ru_stime for one in both)

    before = used()
    assert callable(work)
    work()
    return used() - before
