"""What a judge prints: places and the symbols that stand there, one form for every language."""

from __future__ import annotations

import os
import pwd
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

TIMEOUT = 1_800


class Mark(NamedTuple):
    """A name at a place; line and column are 0-based, the column counts bytes."""

    path: str
    line: int
    column: int
    symbol: str
    defines: bool


def run(argv: Iterable[str], cwd: Path) -> bytes:
    """What a program prints; it sees the user's own home, where the settings of npm and pip are."""
    home = pwd.getpwuid(os.getuid()).pw_dir
    done = subprocess.run(
        list(argv),
        cwd=cwd,
        env={**os.environ, "HOME": home},
        timeout=TIMEOUT,
        check=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    return done.stdout


def read_marks(printed: bytes, root: Path) -> list[Mark]:
    """Marks from lines `PATH TAB LINE TAB COLUMN TAB SYMBOL TAB d|u`, 1-based; paths below `root`."""
    found = []
    for line in printed.decode("utf-8", "replace").splitlines():
        path, row, column, symbol, role = line.split("\t")
        if path.startswith(f"{root}/"):
            inner = path[len(f"{root}/") :]
            found.append(Mark(inner, int(row) - 1, int(column) - 1, symbol, role == "d"))
    return found
