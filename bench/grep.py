"""Grep against ripgrep and `git grep` on the same tree: warm, cold, and the text index's own cost."""

from __future__ import annotations

import os
import shutil
import sys
import sysconfig
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from bench.harness import GITINDEX, Row, round_robin, run, timed
from bench.scratch import SUFFIXES, Bench, Repo
from gitindex.base.worktree import find_worktree
from gitindex.extract.policy import skip_content
from gitindex.extract.terms import document_text
from gitindex.query.grep.engines import find_ripgrep
from gitindex.query.grep.grep import GrepQuery, grep
from gitindex.query.grep.pattern import GrepPattern
from gitindex.store.connection import open_reader, open_writer
from gitindex.store.text_index import WordListWriter
from gitindex.view.tree import open_tree

ROUNDS = 5
LIMIT = 1_000  # what the command shows
FILES = 5_600
MAX_FILE = 60_000
RARE = (4, 8)
"""In how many files a name stands that a selective pattern is made of."""
OTHERS = {
    "in one file of ten": GrepPattern(r"class \w+Manager\b"),
    "everywhere, cut at 1000": GrepPattern("self"),
    "nothing narrows": GrepPattern(r"\d{9}"),
    "either of two": GrepPattern("TODO|FIXME"),
    "a phrase": GrepPattern("is not a valid", fixed=True),
    "a call": GrepPattern(r"\w+\.close\(\)"),
    "a line start": GrepPattern(r"^from \w+ import"),
    "two letters": GrepPattern("qx"),
}


def measure(bench: Bench) -> list[Row]:
    repo = _django_size(bench)
    program = find_ripgrep()
    if program is None:
        sys.stderr.write("grep: rg was not found, nothing is compared\n")
        return _own_cost(bench, repo)
    rare = _rare_name(repo)
    rows = _compare(repo, program, "a rare name", GrepPattern(rare), 0.1)
    rows += _compare(repo, program, "a rare pattern", GrepPattern(rf"{rare}\W+\w+"), 0.1)
    for name, needle in OTHERS.items():
        rows += _compare(repo, program, name, needle, 1.0)
    return rows + _own_cost(bench, repo)


def _django_size(bench: Bench) -> Repo:
    """The corpus, if it is a repository; else files of it and of what is installed, as many as Django has."""
    path = bench.folder("grep") / "tree"
    if (bench.source / ".git").exists():
        run(
            ["git", "clone", "-q", "--shared", os.fspath(bench.source), os.fspath(path)],
            path.parent,
        )
        return _indexed(Repo(path))
    for number, origin in enumerate(islice(_files(bench), FILES)):
        target = path / f"part{number // 1000}" / Path(*origin.parts[-4:])
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(origin, target)
    repo = Repo(path).init()
    repo.commit()
    repo.git("repack", "-q", "-a", "-d")
    return _indexed(repo)


def _indexed(repo: Repo) -> Repo:
    repo.gitindex("index")
    repo.git("status")  # git compares bytes until its stamps are younger than the files
    return repo


def _rare_name(repo: Repo) -> str:
    """The first getter that a few files name."""
    database = open_reader(os.fspath(repo.store / "facts.db"))
    assert database is not None
    row = database.row(
        "SELECT text FROM names JOIN name_blobs ON name_id=names.id, json_each(blob_list(first, others))"
        " WHERE text GLOB 'get_*' GROUP BY text HAVING count(*) BETWEEN ? AND ? ORDER BY text LIMIT 1",
        *RARE,
    )
    database.close()
    return str(row[0])


def _files(bench: Bench) -> Iterator[Path]:
    for root in (bench.source, Path(sysconfig.get_path("purelib"))):
        for folder, folders, names in os.walk(root):
            folders[:] = sorted(set(folders) - {"__pycache__", ".git", ".llmc", "site-packages"})
            for path in (Path(folder, name) for name in sorted(names)):
                if path.suffix in SUFFIXES and path.is_file() and path.stat().st_size <= MAX_FILE:
                    yield path


def _compare(repo: Repo, program: str, name: str, needle: GrepPattern, target: float) -> list[Row]:
    """One pattern: the index and the files alone, the whole answer, the cold command."""
    worktree = find_worktree(os.fspath(repo.path))
    question = GrepQuery(needle, limit=LIMIT)

    def whole() -> None:
        with open_tree(worktree, ".") as view:
            grep(view, question)

    with open_tree(worktree, ".") as view:
        variants = {
            "rg": lambda: run([program, "-n", "-e", needle.text, "."], repo.path, codes=(0, 1)),
            "look": lambda: timed(lambda: grep(view, question)),
            "whole": lambda: timed(whole),
            "cold": lambda: run([*GITINDEX, "grep", needle.text], repo.path, codes=(0, 1)),
            "git": lambda: run(["git", "grep", "-nP", "-e", needle.text], repo.path, codes=(0, 1)),
        }
        found = round_robin(variants, ROUNDS)
    rows = []
    for said, key in (
        (f"grep, {name}: index and files, warm", "look"),
        ("  whole answer, warm (git status proves it)", "whole"),
        ("  gitindex grep, cold", "cold"),
    ):
        ours = found[key]
        rows += [
            Row(said, ours.cpu, "ms", found["rg"].cpu, "rg", most_ratio=target),
            Row("    wall", ours.wall, "ms", found["rg"].wall, "rg", most_ratio=target),
        ]
    rows.append(Row("    the same", found["cold"].cpu, "ms", found["git"].cpu, "git grep"))
    return rows


def _own_cost(bench: Bench, repo: Repo) -> list[Row]:
    """What the word list takes: time to make it, and room."""
    files = [repo.path / name for name in repo.git("ls-files", "-z").split("\0") if name]
    found = (path.read_bytes() for path in files if path.is_file())
    texts = [data for data in found if skip_content(data) is None]
    total = sum(map(len, texts))
    database = open_writer(os.fspath(bench.folder("text_index") / "facts.db"))
    database.run("PRAGMA foreign_keys=OFF")
    table = WordListWriter(database)
    bodies = [document_text(data, ())[0] for data in texts]
    started = time.process_time()
    with database.write():
        for body in bodies:
            table.add(body)
        table.flush()
    used = time.process_time() - started
    database.close()
    return [
        Row("word list, CPU to make it", 1000 * used, "ms"),
        Row("  throughput", total / 1e6 / used, "MB/s"),
        Row("  size", _size(repo) / total, "of the text", most=0.15),
    ]


def _size(repo: Repo) -> int:
    database = open_reader(os.fspath(Path(repo.store, "facts.db")))
    assert database is not None
    size = database.row("SELECT sum(length(words)) FROM text_words")[0]
    database.close()
    return int(size)
