"""Read what each test executed from a database of coverage.py: foreign bytes, in memory, bounded."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from gitindex.store.connection import Connection, SqliteError
from gitindex.store.other_databases import open_bytes

MAX_BYTES = 64 << 20  # of a foreign file that is read into memory
MAX_FILES = 100_000  # rows of a foreign database that are read
MAX_ROWS = 1_000_000
"""Rows of one file: more tests than any project has, times its branches."""
MAX_LINE = 1 << 20  # the longest file whose lines are kept: files above 4 MB have no facts
MAX_SECONDS = 2.0  # of one statement: a hostile schema may loop
_TABLES = frozenset({"file", "context", "line_bits", "arc"})

Executed = dict[str, set[int]]  # context → lines, 1-based


class CoverageData:
    """One database with contexts. What is malformed, a view or too much counts as unknown."""

    def __init__(self, connection: Connection, paths: dict[str, int]) -> None:
        self._connection = connection
        self.paths = paths
        """Measured files as coverage.py names them."""

    def contexts(self) -> list[str]:
        """Return the names of everything that ran."""
        try:
            rows = self._connection.execute(f"SELECT context FROM context LIMIT {MAX_ROWS}")
            return [str(name) for (name,) in rows if name]
        except SqliteError:
            return []

    def executed(self, path: str) -> Executed:
        """Return the lines of a measured file that each context executed."""
        by_context: Executed = {}
        if path not in self.paths:
            return by_context
        try:
            for context, lines in self._rows(self.paths[path]):
                by_context.setdefault(context, set()).update(lines)
        except (SqliteError, ValueError, TypeError):  # ValueError: text that is no UTF-8
            return {}
        return by_context

    def _rows(self, file: int) -> Iterator[tuple[str, list[int]]]:
        contexts = "CROSS JOIN context c ON c.id=t.context_id WHERE t.file_id=? AND c.context<>''"
        for context, bits in self._connection.execute(
            f"SELECT c.context, t.numbits FROM line_bits t {contexts} LIMIT {MAX_ROWS}", (file,)
        ):
            yield str(context), _lines(bytes(bits))
        for context, *ends in self._connection.execute(
            f"SELECT c.context, t.fromno, t.tono FROM arc t {contexts} LIMIT {MAX_ROWS}", (file,)
        ):
            yield str(context), [n for n in map(int, ends) if 0 < n < MAX_LINE]  # -n: an entry


@contextmanager
def read_coverage(data: bytes) -> Iterator[CoverageData | None]:
    """Open the bytes of a `.coverage` file; None where it has no contexts or is none."""
    connection = open_bytes(data, MAX_SECONDS)
    try:
        yield None if connection is None else _open(connection)
    finally:
        if connection is not None:
            connection.close()


def _open(connection: Connection) -> CoverageData | None:
    """Nothing of the schema is run: only plain tables with plain columns are read."""
    try:
        if not all(_is_plain(connection, name) for name in _TABLES):
            return None
        if not connection.execute("SELECT 1 FROM context WHERE context<>'' LIMIT 1").fetchone():
            return None
        rows = connection.execute(f"SELECT path, id FROM file LIMIT {MAX_FILES}").fetchall()
        return CoverageData(connection, {str(path): int(number) for path, number in rows})
    except (SqliteError, ValueError, TypeError, OverflowError):
        return None


def _is_plain(connection: Connection, name: str) -> bool:
    """Return whether a name is a table, not a view or virtual, without computed columns."""
    declared = connection.execute(
        "SELECT sql FROM sqlite_master WHERE type='table' AND name=?", (name,)
    ).fetchone()
    hidden = [row[6] for row in connection.execute(f"PRAGMA table_xinfo({name})")]
    return declared is not None and str(declared[0]).startswith("CREATE TABLE") and not any(hidden)


def _lines(bits: bytes) -> list[int]:
    """Return the numbers of the bits that are set, as coverage.py packs lines."""
    return [
        at * 8 + bit
        for at, byte in enumerate(bits[: MAX_LINE // 8])
        if byte
        for bit in range(8)
        if byte >> bit & 1
    ]
