"""The history layer: what each commit costs once, and look-ups in it."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

from bench.harness import Row, percentile, timed
from bench.scratch import Bench, Repo, module_text, small_repo
from gitindex.base.worktree import find_worktree
from gitindex.query.history import callers_between, edge_log, symbol_log

COMMITS = 500
"""First-parent commits of a corpus that is a repository; a made one has fewer."""
MADE = 100
NAMES = 20
REPEATS = 5
_DEFINED = re.compile(r"^\s*(?:def|func|function|class) (\w+)", re.MULTILINE)


def measure(bench: Bench) -> list[Row]:
    """CPU of the first run over all commits, and milliseconds of CPU for one look-up."""
    repo = _with_history(bench)
    repo.gitindex("index")
    first = repo.gitindex("history", "index")
    count = int(repo.git("rev-list", "--first-parent", "--count", "HEAD"))
    database = Path(repo.git("rev-parse", "--git-common-dir").strip(), "gitindex", "history.db")
    size = (repo.path / database).stat().st_size
    worktree, names = find_worktree(os.fspath(repo.path)), _names(repo)
    between = f"{repo.git('rev-list', '--first-parent', '-n1', '--skip=50', 'HEAD').strip()}..HEAD"
    asked: dict[str, Callable[[str, str], object]] = {
        "history log": lambda one, _: symbol_log(worktree, one),
        "history when": lambda one, other: edge_log(worktree, one, other),
        "callers --between": lambda one, _: callers_between(worktree, one, between),
    }
    rows = [
        Row(f"history index, {count} commits", first.cpu, "s"),
        Row("  size", size / 1e6, "MB"),
    ]
    for name, ask in asked.items():
        used = [
            1000 * timed(lambda ask=ask, a=one, b=other: ask(a, b)).cpu  # type: ignore[misc]
            for _ in range(REPEATS)
            for one, other in zip(names, names[1:] + names[:1], strict=True)
        ]
        rows.append(Row(f"{name}, p50", percentile(used, 0.5), "ms", most=50))
        rows.append(Row("  p99", percentile(used, 0.99), "ms", most=50))
    return rows


def _with_history(bench: Bench) -> Repo:
    path = bench.folder("history") / "repo"
    if (bench.source / ".git").exists():
        source = f"file://{bench.source.resolve()}"
        Repo(path.parent).git("clone", "-q", "--depth", str(COMMITS), source, str(path))
        return Repo(path)
    repo = small_repo(path)
    for number in range(MADE):
        repo.write(f"pkg{number % 10}/mod{number}.py", module_text(number + 1000))
        repo.commit()
    return repo


def _names(repo: Repo) -> list[str]:
    """Names that files all over the tree define."""
    files = [name for name in repo.git("ls-files", "-z").split("\0") if name]
    found: dict[str, None] = {}
    for name in files[:: max(1, len(files) // 400)]:
        path = repo.path / name
        if path.is_file() and not path.is_symlink():
            found |= dict.fromkeys(_DEFINED.findall(path.read_text(errors="replace"))[:1])
    return list(found)[:NAMES]
