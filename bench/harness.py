"""Measuring: CPU time of waited-for children, medians of interleaved runs, one aligned table."""

from __future__ import annotations

import ctypes
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

TIMEOUT = 300
PR_SET_CHILD_SUBREAPER = 36
BARE_PYTHON = [sys.executable, "-I", "-c", "pass"]
GITINDEX = [str(Path(sys.executable).with_name("gitindex"))]


class Used(NamedTuple):
    """What a process cost, its waited-for children included; seconds."""

    cpu: float
    wall: float
    peak: float = 0.0  # MB of its largest process, where it is known


class Row(NamedTuple):
    """One line of the table. A target bounds `ours`, or the ratio to the peer."""

    name: str
    ours: float
    unit: str
    peer: float | None = None
    peer_name: str = ""
    most: float | None = None  # target for `ours`
    most_ratio: float | None = None  # target for ours ÷ peer
    least_ratio: float | None = None  # the same, where more is better

    @property
    def ratio(self) -> float | None:
        return self.ours / self.peer if self.peer else None

    @property
    def met(self) -> bool | None:
        if self.most is not None:
            return self.ours <= self.most
        if self.most_ratio is not None and self.ratio is not None:
            return self.ratio <= self.most_ratio
        if self.least_ratio is not None and self.ratio is not None:
            return self.ratio >= self.least_ratio
        return None

    @property
    def target(self) -> str:
        if self.most is not None:
            return f"≤ {self.most:g} {self.unit}".rstrip()
        if self.least_ratio is not None:
            return f"≥ {self.least_ratio:g} ×"
        return f"≤ {self.most_ratio:g} ×" if self.most_ratio is not None else ""


def isolate(home: Path) -> None:
    """No configuration but ours, a clock that stands still for git, orphans become our children."""
    for name in [n for n in os.environ if n.startswith(("GIT", "PYTHON", "XDG_"))]:
        del os.environ[name]
    for name in ("CI", "SKIP"):
        os.environ.pop(name, None)
    who = {"NAME": "B", "EMAIL": "b@example.com", "DATE": "1700000000 +0000"}
    for role in ("AUTHOR", "COMMITTER"):
        os.environ.update({f"GIT_{role}_{key}": value for key, value in who.items()})
    os.environ.update(HOME=str(home), GIT_CONFIG_NOSYSTEM="1", GIT_EDITOR=":", LC_ALL="C.UTF-8")
    home.mkdir(parents=True, exist_ok=True)
    (home / ".gitconfig").write_text("[init]\n\tdefaultBranch = main\n[gc]\n\tauto = 0\n")
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def run(argv: Iterable[str], cwd: Path, codes: tuple[int, ...] = (0,)) -> Used:
    """Run a command to its end; what it left in the background is not counted."""
    argv = list(argv)
    started = time.perf_counter()
    null = subprocess.DEVNULL
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(argv, cwd=cwd, stdin=null, stdout=null, stderr=errors)
        _, status, used = os.wait4(process.pid, 0)
        wall = time.perf_counter() - started
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode not in codes:
            errors.seek(0)
            raise RuntimeError(f"{argv}: {process.returncode} {errors.read().decode()}")
    return Used(used.ru_utime + used.ru_stime, wall, used.ru_maxrss / 1024)


def timed(work: Callable[[], object]) -> Used:
    """What work costs in this process, children it has waited for included."""
    cpu, wall = cpu_seconds(), time.perf_counter()
    work()
    return Used(cpu_seconds() - cpu, time.perf_counter() - wall)


def cpu_seconds() -> float:
    """CPU time so far of this process and the children it has waited for."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def round_robin(
    variants: Mapping[str, Callable[[], Used | None]], rounds: int, warm_up: int = 1
) -> dict[str, Used]:
    """Medians per variant, in milliseconds; a round runs each once. None: a run that does not count."""
    seen: dict[str, list[Used]] = {name: [] for name in variants}
    for number in range(-warm_up, rounds):
        for name, measure in variants.items():
            used = measure()
            if number >= 0 and used is not None:
                seen[name].append(used)
    return {name: median_ms(used) for name, used in seen.items()}


def median_ms(used: list[Used]) -> Used:
    return Used(
        1000 * statistics.median(u.cpu for u in used),
        1000 * statistics.median(u.wall for u in used),
        max(u.peak for u in used),
    )


def percentile(values: list[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def table(rows: list[Row]) -> str:
    """The rows as aligned text."""
    heads = ("what", "ours", "against", "ratio", "target", "")
    cells = [heads, *(_cells(row) for row in rows)]
    widths = [max(len(line[i]) for line in cells) for i in range(len(heads))]
    lines = []
    for line in cells:
        name, *rest = (text.ljust(width) for text, width in zip(line, widths, strict=True))
        lines.append("  ".join((name, *rest)).rstrip())
    lines.insert(1, "  ".join("-" * width for width in widths))
    return "\n".join(lines)


def _cells(row: Row) -> tuple[str, ...]:
    peer = f"{_number(row.peer)} {row.unit}".rstrip() if row.peer is not None else "n/a"
    against = f"{peer} ({row.peer_name})" if row.peer_name else ""
    ratio = f"{row.ratio:.2f}" if row.ratio is not None else ""
    met = {True: "met", False: "MISSED", None: ""}[row.met]
    return row.name, f"{_number(row.ours)} {row.unit}".rstrip(), against, ratio, row.target, met


def _number(value: float) -> str:
    if value == int(value) or abs(value) >= 1000:
        return f"{value:.0f}"
    return f"{value:.2f}" if abs(value) < 10 else f"{value:.1f}"
