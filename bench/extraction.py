"""Facts per core and with two processes: against parsing, the grammar's tags query, and ctags."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from bench.first_index import CHECKOUT, PARSE, universal_ctags
from bench.harness import TIMEOUT, Row, Used, round_robin, run
from bench.scratch import Bench
from gitindex.extract.pool import ALONE_BYTES

ROUNDS = 3
ENOUGH = 5_000_000
"""Bytes that are measured of one language."""
MOST_BYTES = 400_000
"""Larger files are mostly data."""

OTHERS = [Path(folder) for folder in (os.environ.get("GITINDEX_CORPUS"),) if folder]
"""Sources of other languages: `python -m tests.ctags.corpus FOLDER` fills such a folder."""
LANGUAGES = {
    "Python": (".py", 1.25),
    "C": (".c", 1.25),
    "TypeScript": (".ts", 1.67),
    "Go": (".go", 1.25),
}
"""Suffix, and the target: time of ours over parse and tags (0.8 × the speed; TypeScript 0.6 ×)."""


def measure(bench: Bench) -> list[Row]:
    folder = bench.folder("extraction")
    rows: list[Row] = []
    for language, (suffix, most) in LANGUAGES.items():
        roots = [bench.corpus().path] if language == "Python" else OTHERS
        files = list(_some(sorted(p for root in roots for p in root.rglob(f"*{suffix}"))))
        size = sum(file.stat().st_size for file in files) / 1e6
        if size < 0.2:
            sys.stderr.write(f"extraction: no {language} sources, set GITINDEX_CORPUS: skipped\n")
            continue
        listing = folder / language
        listing.write_text("\n".join(map(str, files)))
        rows += _language(f"{language}, {size:.1f} MB", size, listing, most)
    return rows


def _language(name: str, size: float, listing: Path, most: float) -> list[Row]:
    modes = {mode: _mode(listing, mode) for mode in ("facts", "parse", "tags", "1", "2")}
    ctags = universal_ctags()
    if ctags is not None:
        argv = [ctags, "--fields=+n", "-f", "/dev/null", "-L", str(listing)]
        modes["ctags"] = lambda: run(argv, CHECKOUT)
    found = round_robin(modes, ROUNDS, warm_up=0)
    facts, one, two = found["facts"].cpu, found["1"], found["2"]
    peer = found["ctags"].cpu if ctags is not None else None
    rate = 1000 * size
    return [
        Row(
            f"extraction, {name}",
            facts,
            "ms",
            found["tags"].cpu,
            "parse and the grammar's tags query",
            most_ratio=most,
        ),
        Row("  the same", facts, "ms", found["parse"].cpu, "tree-sitter parse alone"),
        Row("  the same", facts, "ms", peer, "universal-ctags"),
        Row(
            "  per core", rate / facts, "MB/s", rate / found["parse"].cpu, "tree-sitter parse alone"
        ),
        *(
            [Row("  two workers, wall", two.wall, "ms", one.wall, "one worker", most_ratio=0.625)]
            if size * 1e6 > 2 * ALONE_BYTES
            else []
        ),
    ]


def _mode(listing: Path, mode: str) -> Callable[[], Used]:
    def measure() -> Used:
        argv = [*PARSE, str(listing), mode]
        done = subprocess.run(argv, cwd=CHECKOUT, capture_output=True, timeout=TIMEOUT, check=True)
        cpu, wall = map(float, done.stdout.split())
        return Used(cpu, wall)

    return measure


def _some(files: list[Path]) -> Iterator[Path]:
    """Files from all over a list, until there is enough of them."""
    size = 0
    stride = 1 + sum(file.stat().st_size for file in files) // ENOUGH
    for file in files[::stride]:
        length = file.stat().st_size
        if length <= MOST_BYTES and not file.name.endswith(".d.ts") and size + length <= ENOUGH:
            size += length
            yield file
