"""go/types and javac as judges; the programs that ask them stand beside this file."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

from bench.oracles.marks import Mark, read_marks, run

_HERE = Path(__file__).parent


def go(root: Path, cache: Path) -> list[Mark]:
    """Every package below the root, its tests included; modules outside of it are not needed."""
    program = _program("go")
    built = cache / "go_types"
    cache.mkdir(parents=True, exist_ok=True)
    run([program, "build", "-o", str(built), str(_HERE / "go_types.go")], cache)
    return read_marks(run([str(built), str(root)], root), root)


def javac(sources: str) -> Callable[[Path, Path], list[Mark]]:
    """A judge of the Java files of one folder."""

    def judge(root: Path, _cache: Path) -> list[Mark]:
        told = run([_program("java"), str(_HERE / "Names.java"), str(root / sources)], root)
        return read_marks(told, root)

    return judge


def _program(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        raise OSError(f"there is no {name} here")
    return found
