"""The first index of real code: CPU of `gitindex index` against parsing alone, ctags and codegraph."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import sys
from pathlib import Path

from bench.harness import BARE_PYTHON, Row, Used, round_robin, run
from bench.scratch import Bench, Repo
from gitindex.base.compiled import VARIABLE

ROUNDS = 3
PARSE = [sys.executable, "-m", "bench.parse"]
CHECKOUT = Path(__file__).resolve().parent.parent
MOST_MS = {"django": 10_000, "flask": 700, "zephyr": 90_000}
"""Targets of corpora that are given by path, by the name of their folder."""
CODEGRAPH = "@colbymchenry/codegraph"
INSTALL_SECONDS = 120
INSTALLED = os.environ.get("GITINDEX_CODEGRAPH")
"""A codegraph that is there already."""


def measure(bench: Bench) -> list[Row]:
    folder = bench.folder("first_index")
    repo = bench.corpus()
    listing = folder / "files"
    names = [name for name in repo.git("ls-files", "-z").split("\0") if name]
    files = [name for name in names if "\n" not in name and (repo.path / name).is_file()]
    listing.write_text("\n".join(str(repo.path / name) for name in files))
    megabytes = sum((repo.path / name).stat().st_size for name in files) / 1e6

    def first() -> Used:
        _forget(repo)
        return repo.gitindex("index")

    def pure() -> Used:
        os.environ[VARIABLE] = "1"
        try:
            return first()
        finally:
            del os.environ[VARIABLE]

    variants = {
        "ours": first,
        "pure": pure,
        "parse": lambda: run([*PARSE, str(listing)], CHECKOUT),
        "python": lambda: run(BARE_PYTHON, repo.path),
    }
    ctags = universal_ctags()
    if ctags is not None:
        argv = [ctags, "-f", "/dev/null", "-L", str(listing)]
        variants["ctags"] = lambda: run(argv, repo.path)
    found = round_robin(variants, ROUNDS, warm_up=0)
    ours, parse = found["ours"], found["parse"]
    peer = found["ctags"].cpu if "ctags" in found else None
    graph = _codegraph(folder, repo)
    rate = 1000 * megabytes
    name = bench.source.name
    return [
        Row(
            f"first index, {len(files)} files, {megabytes:.1f} MB",
            ours.cpu,
            "ms",
            parse.cpu,
            "tree-sitter parse alone",
            most_ratio=4.3,
        ),
        Row("  without the compiled part", found["pure"].cpu, "ms", parse.cpu, "parse alone"),
        Row("  the same", ours.cpu, "ms", most=MOST_MS.get(name)),
        Row("  its largest process", ours.peak, "MB", most=500 if len(files) > 20_000 else 250),
        Row("  the same", ours.cpu, "ms", peer, "universal-ctags"),
        Row("  the same", ours.cpu, "ms", graph and 1000 * graph.cpu, "codegraph", most_ratio=1),
        Row(
            "  throughput per CPU second",
            rate / ours.cpu,
            "MB/s",
            rate / parse.cpu,
            "tree-sitter parse alone",
        ),
        Row("  wall, all processes", ours.wall, "ms", graph and 1000 * graph.wall, "codegraph"),
    ]


def _forget(repo: Repo) -> None:
    shutil.rmtree(repo.store, ignore_errors=True)
    shutil.rmtree(repo.path / ".llmc", ignore_errors=True)


def universal_ctags() -> str | None:
    """The ctags that is compared with; others have the same name."""
    found = shutil.which("ctags")
    if found is None:
        return None
    said = subprocess.run([found, "--version"], capture_output=True, text=True, check=False)
    return found if said.stdout.startswith("Universal Ctags") else None


def _codegraph(folder: Path, repo: Repo) -> Used | None:
    """What one first index by codegraph costs, in a copy; None where it does not install."""
    program = INSTALLED or _install_codegraph(folder)
    if program is None:
        sys.stderr.write(f"index: {CODEGRAPH} does not install here: skipped\n")
        return None
    copy = folder / "copy"
    shutil.copytree(repo.path, copy, ignore=shutil.ignore_patterns("gitindex", ".llmc"))
    os.environ["CODEGRAPH_TELEMETRY"] = "0"
    return run([program, "init", "--yes", "."], copy)


def _install_codegraph(folder: Path) -> str | None:
    npm = shutil.which("npm")
    if npm is None:
        return None
    home = pwd.getpwuid(os.getuid()).pw_dir  # where npm's own settings are
    argv = [npm, "install", "--no-audit", "--no-fund", "--prefix", str(folder), CODEGRAPH]
    try:
        subprocess.run(
            argv,
            cwd=folder,
            env={**os.environ, "HOME": home},
            timeout=INSTALL_SECONDS,
            capture_output=True,
            check=True,
        )
    except (subprocess.SubprocessError, OSError):
        return None
    return str(folder / "node_modules/.bin/codegraph")
