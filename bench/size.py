"""Disk: the store against the text it is about, and ten worktrees against one."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from bench.harness import Row
from bench.scratch import Bench, Repo

WORKTREES = 10


def measure(bench: Bench) -> list[Row]:
    folder = bench.folder("size")
    repo = bench.indexed()
    names = [name for name in repo.git("ls-files", "-z").split("\0") if name]
    text = sum((repo.path / name).lstat().st_size for name in names)
    one = _disk(repo.store) + _disk(repo.path / ".llmc")
    words, messages = (_tables(repo.store / "facts.db", name) / 1e6 for name in ("text", "subject"))
    facts = _disk(repo.store / "facts.db") / 1e6 - words - messages
    lexical = _disk(repo.store / "lexical") / 1e6
    trees = [Repo(folder / f"tree{i}") for i in range(1, WORKTREES)]
    for tree in trees:
        repo.git("worktree", "add", "-q", "--detach", str(tree.path))
        tree.gitindex("index")
    ten = _disk(repo.store) + sum(_disk(r.path / ".llmc") for r in (repo, *trees))
    return [
        Row("store, facts and lexical", facts + lexical, "MB", text / 1e6, "text", most_ratio=0.7),
        Row("  facts (SQLite)", facts, "MB", text / 1e6, "text"),
        Row("  lexical (Tantivy)", lexical, "MB", text / 1e6, "text"),
        Row("  text index, on top", words, "MB", text / 1e6, "text", most_ratio=0.15),
        Row("  words of commit messages, on top", messages, "MB", text / 1e6, "text"),
        Row(f"{WORKTREES} worktrees", ten / 1e6, "MB", one / 1e6, "one worktree", most_ratio=1.1),
    ]


def _tables(database: Path, prefix: str) -> int:
    """Bytes of the pages that hold the tables of a part of the store."""
    sql = "SELECT coalesce(sum(pgsize), 0) FROM dbstat WHERE name LIKE ? || '\\_%' ESCAPE '\\'"
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
        return int(connection.execute(sql, (prefix,)).fetchone()[0])


def _disk(path: Path) -> int:
    files = [path] if path.is_file() else [p for p in path.rglob("*") if p.is_file()]
    return sum(file.stat().st_blocks * 512 for file in files)
