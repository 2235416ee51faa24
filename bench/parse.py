"""`python -m bench.parse LISTING [parse|tags|facts|WORKERS]`: reads every listed file, and keeps nothing.

The floor of a first index; that floor with the grammar's own tags query; our facts; our worker pool.
Prints the CPU and wall seconds of the files after the first, which pays for imports and queries.
"""

from __future__ import annotations

import os
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from importlib import import_module
from itertools import islice
from pathlib import Path

from tree_sitter import Language, Parser, Query, QueryCursor

from gitindex.extract.frames import WorkRequest
from gitindex.extract.pool import Extractor, Task
from gitindex.languages.facts import FactsKey
from gitindex.languages.syntax.extract import extract_facts
from gitindex.languages.syntax.parser import parse_tree
from gitindex.languages.table import BY_NAME, language_of

File = tuple[bytes, str]
"""Bytes and their language."""
Work = Callable[[Iterable[File]], None]


def main() -> int:
    """Do one thing to all files that the file given first lists."""
    mode = sys.argv[2] if len(sys.argv) > 2 else "parse"
    files = _read(Path(sys.argv[1]))
    work = _in_children(int(mode)) if mode.isdigit() else _one_by_one(_WORK[mode])
    work(islice(files, 1))
    cpu, wall = time.process_time(), time.perf_counter()
    work(files)
    print(time.process_time() - cpu, time.perf_counter() - wall)
    return 0


def _one_by_one(work: Callable[[bytes, str], object]) -> Work:
    def run(files: Iterable[File]) -> None:
        for data, language in files:
            work(data, language)

    return run


def _read(listing: Path) -> Iterator[File]:
    for name in listing.read_text().splitlines():
        data = Path(name).read_bytes()
        yield data, language_of(os.fsencode(name), data[:8000])


def _tags(data: bytes, language: str) -> None:
    """Parse and run the query that ships with the grammar."""
    parser, query = _tagger(language)
    QueryCursor(query).captures(parser.parse(data).root_node)


@cache
def _tagger(language: str) -> tuple[Parser, Query]:
    row = BY_NAME[language]
    module = import_module(row.dist.replace("-", "_"))
    grammar = Language(getattr(module, row.function)())
    return Parser(grammar), Query(grammar, module.TAGS_QUERY)


def _in_children(workers: int) -> Work:
    extractor = Extractor(workers)

    def run(files: Iterable[File]) -> None:
        tasks = (Task(FactsKey("", ""), WorkRequest(language, data)) for data, language in files)
        deque(extractor.extract(tasks), maxlen=0)

    return run


_WORK: dict[str, Callable[[bytes, str], object]] = {
    "parse": parse_tree,
    "tags": _tags,
    "facts": extract_facts,
}

if __name__ == "__main__":
    sys.exit(main())
