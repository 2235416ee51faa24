"""Blob facts in SQLite: a FactsCache over tables, and the ids the mapping refers to."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from gitindex.facts import BlobFacts, FactsKey, Import, Symbol, decode_facts, encode_facts
from gitindex.store.connection import Database
from gitindex.words import FactsStatus

CHUNK = 400
"""Values bound in one statement."""


class BlobTable:
    """The local FactsCache. `put` joins the caller's transaction if there is one."""

    def __init__(self, database: Database) -> None:
        self._db = database
        self._names: dict[str, int] = {}

    def missing(self, keys: list[FactsKey]) -> list[FactsKey]:
        held = self.ids(keys)
        return [key for key in keys if key not in held]

    def get(self, key: FactsKey) -> bytes | None:
        row = self._db.row(
            "SELECT id, language, status, reason, lines, interface_hash, flags"
            " FROM blobs WHERE oid=? AND extractor=?",
            bytes.fromhex(key.oid), key.extractor,
        )  # fmt: skip
        return encode_facts(self._load(*row)) if row else None

    def put(self, key: FactsKey, payload: bytes) -> None:
        facts = decode_facts(payload)
        if facts is None:
            return
        try:
            with self._db.joined():
                if self.missing([key]):
                    self.add(key, facts, lexical=False)
        except BaseException:
            self.forget_names()
            raise

    def ids(self, keys: Iterable[FactsKey]) -> dict[FactsKey, int]:
        """Row ids of the keys that are held."""
        found: dict[FactsKey, int] = {}
        for extractor, oids in _by_extractor(keys).items():
            for at in range(0, len(oids), CHUNK):
                part = oids[at : at + CHUNK]
                marks = ",".join("?" * len(part))
                rows = self._db.rows(
                    f"SELECT oid, id FROM blobs WHERE extractor=? AND oid IN ({marks})",
                    extractor, *part,
                )  # fmt: skip
                found.update((FactsKey(oid.hex(), extractor), blob_id) for oid, blob_id in rows)
        return found

    def add(self, key: FactsKey, facts: BlobFacts, lexical: bool) -> bool:
        """Keep the facts of a blob, replacing older ones; True if there were none.

        The caller holds the write transaction.
        """
        oid = bytes.fromhex(key.oid)
        values = (
            facts.language, facts.status, facts.reason, facts.lines, len(facts.symbols),
            facts.interface_hash, ",".join(facts.flags), lexical,
        )  # fmt: skip
        held = self._db.row("SELECT id FROM blobs WHERE oid=? AND extractor=?", oid, key.extractor)
        if held is None:
            blob_id = self._db.insert(
                "INSERT INTO blobs (oid, extractor, language, status, reason, lines, symbols,"
                " interface_hash, flags, lexical) VALUES (?,?,?,?,?,?,?,?,?,?)",
                oid, key.extractor, *values,
            )  # fmt: skip
        else:
            blob_id = int(held[0])
            self._db.run(
                "UPDATE blobs SET language=?, status=?, reason=?, lines=?, symbols=?,"
                " interface_hash=?, flags=?, lexical=? WHERE id=?",
                *values, blob_id,
            )  # fmt: skip
            for table in ("symbols", "occurrences", "imports", "exports"):
                self._db.run(f"DELETE FROM {table} WHERE blob_id=?", blob_id)
        self._add_children(blob_id, facts)
        return held is None

    def _add_children(self, blob_id: int, facts: BlobFacts) -> None:
        name_ids = self._name_ids([s.name for s in facts.symbols] + list(facts.postings))
        self._db.run_many(
            "INSERT INTO symbols VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)",
            ((blob_id, i, name_ids[s.name], *s[1:]) for i, s in enumerate(facts.symbols)),
        )
        self._db.run_many(
            "INSERT INTO occurrences VALUES (?,?,?)",
            sorted((name_ids[name], blob_id, places) for name, places in facts.postings.items()),
        )
        self._db.run_many(
            "INSERT INTO imports VALUES (?,?,?,?,?,?)",
            (
                (blob_id, i, m.module, json.dumps(m.names), m.level, m.line)
                for i, m in enumerate(facts.imports)
            ),
        )
        self._db.run_many(
            "INSERT INTO exports VALUES (?,?,?)",
            ((blob_id, i, name) for i, name in enumerate(facts.exports)),
        )

    def forget_names(self) -> None:
        """Drop the cache of name ids: after a rollback, or when it grew too large."""
        self._names.clear()

    def _name_ids(self, names: list[str]) -> dict[str, int]:
        unknown = sorted({name for name in names if name not in self._names})
        if unknown:
            self._db.run_many(
                "INSERT INTO names (text) VALUES (?) ON CONFLICT DO NOTHING",
                ((name,) for name in unknown),
            )
            for at in range(0, len(unknown), CHUNK):
                part = unknown[at : at + CHUNK]
                marks = ",".join("?" * len(part))
                sql = f"SELECT text, id FROM names WHERE text IN ({marks})"
                self._names.update(self._db.rows(sql, *part))
        return self._names

    def _load(
        self, blob_id: int, language: str, status: str, reason: str, lines: int,
        interface_hash: str, flags: str,
    ) -> BlobFacts:  # fmt: skip
        symbols = self._db.rows(
            'SELECT n.text, qualified_name, kind, line, "column", start_line, end_line, signature,'
            " doc, parent, exported FROM symbols JOIN names n ON n.id = name_id"
            " WHERE blob_id=? ORDER BY ordinal",
            blob_id,
        )
        imports = self._db.rows(
            "SELECT module, names, level, line FROM imports WHERE blob_id=? ORDER BY ordinal",
            blob_id,
        )
        exports = self._db.rows(
            "SELECT name FROM exports WHERE blob_id=? ORDER BY ordinal", blob_id
        )
        postings = self._db.rows(
            "SELECT n.text, places FROM occurrences JOIN names n ON n.id = name_id"
            " WHERE blob_id=? ORDER BY n.text",
            blob_id,
        )
        return BlobFacts(
            language=language,
            status=FactsStatus(status),
            lines=lines,
            reason=reason,
            symbols=tuple(Symbol._make((*row[:-1], bool(row[-1]))) for row in symbols),
            imports=tuple(Import(m, _pairs(n), lv, ln) for m, n, lv, ln in imports),
            exports=tuple(name for (name,) in exports),
            interface_hash=interface_hash,
            flags=tuple(filter(None, flags.split(","))),
            postings=dict(postings),
        )


def _pairs(text: str) -> tuple[tuple[str, str], ...]:
    return tuple((a, b) for a, b in json.loads(text))


def _by_extractor(keys: Iterable[FactsKey]) -> dict[str, list[bytes]]:
    groups: dict[str, list[bytes]] = {}
    for key in keys:
        groups.setdefault(key.extractor, []).append(bytes.fromhex(key.oid))
    return groups


def dump(database: Database) -> Iterator[str]:
    """A canonical text of all facts, without row ids: equal dumps mean equal stores."""
    table = BlobTable(database)
    for oid, extractor in database.rows("SELECT oid, extractor FROM blobs ORDER BY oid, extractor"):
        payload = table.get(FactsKey(oid.hex(), extractor)) or b""
        yield f"{oid.hex()} {extractor} {payload.hex()}"
