"""Importing an indexer's output: occurrences a second, against reading the protobuf."""

from __future__ import annotations

import io
import os
import tokenize
from collections import Counter
from pathlib import Path
from typing import Any

from bench.harness import Row, Used, round_robin, timed
from bench.scratch import Bench
from gitindex.base.worktree import worktree_at
from gitindex.git.backend import open_repository
from gitindex.semantic.scip.facts import IndexerQuirks, Syntax
from gitindex.semantic.scip.importer import documents_by_path, externals, read_output, understand
from gitindex.semantic.scip.job import read_syntax
from gitindex.semantic.scip.schema import messages
from gitindex.store import mapping
from gitindex.store import semantic as store
from gitindex.store.connection import Database, open_writer

ROUNDS = 3
FILES = 25
"""Of the corpus; enough for a rate, and for a benchmark that ends."""


def measure(bench: Bench) -> list[Row]:
    repo = bench.indexed()
    worktree = worktree_at(os.path.realpath(repo.path))
    repository = open_repository(worktree)
    entries = [e for e in repository.entries(repository.head().tree) if e.path.endswith(b".py")]
    texts = {e.path: repository.read(e.oid) for e in entries}
    wanted = {e.path: e.oid for e in entries if texts[e.path].isascii()}
    wanted = dict(sorted(wanted.items(), key=lambda item: -len(texts[item[0]]))[:FILES])
    repository.close()
    output = _output(Path(worktree.root), {path: texts[path].decode() for path in wanted})
    database = open_writer(worktree.database)
    row = mapping.published(database, worktree.id)
    assert row is not None
    published = store.published_files(database, row.worktree_id)
    context_id = store.context_row(database, "bench", "python", b"")
    runs = iter(range(1000))

    def syntax(path: bytes) -> Syntax:
        return read_syntax(database, published[path].blob_id)

    def decode() -> None:
        """What any reader must do: every field of every occurrence, as Python values."""
        for document in messages()["Index"].FromString(output).documents:
            for one in document.occurrences:
                _ = tuple(one.range), one.symbol, one.symbol_roles

    def import_all(version: str) -> None:
        documents = documents_by_path(read_output(output), worktree.root, "")
        found = understand(documents, wanted, wanted, texts.get, syntax, IndexerQuirks())
        _keep(database, store.FactsOrigin(context_id, "c", version), found)

    variants = {
        "decode": lambda: timed(decode),
        "first": lambda: timed(lambda: import_all(f"v{next(runs)}")),
        "again": lambda: timed(lambda: import_all("same")),
    }
    found = round_robin(variants, ROUNDS)
    database.close()
    count = sum(len(d.occurrences) for d in messages()["Index"].FromString(output).documents)
    rates = {name: _rate(count, used) for name, used in found.items()}
    return [
        Row(
            f"SCIP import, {count} occurrences",
            found["first"].cpu,
            "ms",
            found["decode"].cpu,
            "reading the protobuf",
        ),
        Row("  rate, new facts", rates["first"], "k occurrences/s"),
        Row("  rate, the same output again (no row changes)", rates["again"], "k occurrences/s"),
        Row("  rate, reading the protobuf", rates["decode"], "k occurrences/s"),
    ]


def _keep(database: Database, origin: store.FactsOrigin, found: Any) -> None:
    writer = store.SemanticWriter(database)
    with database.write():
        for file in found.files:
            writer.save(origin, file.path, file.oid, file.facts, file.edges)
        writer.add_externals(origin.context_id, externals(found, found.files))


def _rate(count: int, used: Used) -> float:
    return count / used.cpu


def _output(root: Path, texts: dict[bytes, str]) -> bytes:
    """What an indexer might say: every name is a symbol, defined where it is first seen."""
    index = messages()["Index"]()
    index.metadata.tool_info.name = "scip-python"
    index.metadata.project_root = root.as_uri()
    seen: Counter[str] = Counter()
    for path, text in texts.items():
        document = index.documents.add(relative_path=os.fsdecode(path))
        try:
            tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
        except (tokenize.TokenError, SyntaxError):
            continue
        for token in tokens:
            if token.type == tokenize.NAME:
                line, column = token.start
                occurrence = document.occurrences.add(range=[line - 1, column, token.end[1]])
                occurrence.symbol = f"scip-python python bench 1 `m`/{token.string}()."
                occurrence.symbol_roles = int(not seen[token.string])
                seen[token.string] += 1
    return bytes(index.SerializeToString())
