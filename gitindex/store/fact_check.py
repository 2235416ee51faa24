"""Compares what both stores hold of each blob with a new extraction. Writes nothing."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable
from typing import NamedTuple

from gitindex.base.errors import CorruptStore
from gitindex.base.escape import counted, safe_text
from gitindex.base.vocabulary import AGAIN, FactsStatus
from gitindex.extract.policy import PlannedBlob, reader_of
from gitindex.extract.pool import ExtractedBlob, Extractor, extract_blobs
from gitindex.extract.terms import MARK
from gitindex.git.interface import Repository
from gitindex.languages.facts import FactsKey, decode_facts
from gitindex.languages.table import extractor_id
from gitindex.store.blobs import BlobTable, all_late
from gitindex.store.connection import Database
from gitindex.store.entities import front_matter_of, row_of
from gitindex.store.lexical import LexicalReader
from gitindex.store.text_index import listed_words

SAMPLE = 200
"""Number of blobs that are extracted again unless all are requested; a new sample each time."""
SHOWN = 5
"""Maximum number of differences that a check names."""

Report = Callable[[str, float | None], None]


class Check(NamedTuple):
    """The result of one comparison."""

    name: str
    ok: bool
    detail: str


class _Blob(NamedTuple):
    """A row of `blobs` beside its facts."""

    blob_id: int
    language: str
    symbols: int
    lexical: bool


class Comparison(NamedTuple):
    """The result for some blobs: those that were extracted again, and what differed."""

    seen: list[FactsKey]
    wrong: dict[str, list[FactsKey]]
    quarantined: set[FactsKey]  # their extraction failed here, which proves nothing

    def differing(self) -> set[FactsKey]:
        """Return blobs that differ in anything, and whose extraction did not fail."""
        return {key for keys in self.wrong.values() for key in keys} - self.quarantined


class FactsCheck:
    """Compares blobs in both stores with a new extraction."""

    def __init__(
        self, database: Database, lexical: LexicalReader, full: bool, report: Report
    ) -> None:
        self._db = database
        self._lexical = lexical
        self._full = full
        self._report = report
        self._table = BlobTable(database)
        self._rows = {
            FactsKey(oid.hex(), extractor): _Blob(blob_id, language, symbols, bool(lexical))
            for blob_id, oid, extractor, language, symbols, lexical in database.rows(
                "SELECT id, oid, extractor, language, symbols, lexical FROM blobs"
            )
        }
        self._late = all_late(database)
        self._words = listed_words(database)
        self._blob_ids = lexical.blob_ids()
        self._terms: dict[str, Counter[str]] = {"body": Counter(), "names": Counter()}

    def checks(
        self, repository: Repository, extractor: Extractor, expected: dict[bytes, PlannedBlob]
    ) -> list[Check]:
        """Return the checks of facts, then of the lexical index: of a sample, or of every blob."""
        published = {plan.key: plan.language for plan in expected.values() if not plan.skip}
        chosen = self._choose(published)
        seen, wrong, _ = self.compare(repository, extractor, chosen)
        unread = [key for key in chosen if key not in set(seen) and key in published]
        wrong["facts"] += unread
        of = f"{len(seen)} of {len(self._rows)} blobs extracted again"
        results = [compared(name, of, _shown(keys)) for name, keys in wrong.items()]
        return [*results, self._lexical_whole(seen)]

    def compare(
        self, repository: Repository, extractor: Extractor, chosen: dict[FactsKey, str]
    ) -> Comparison:
        """Extract blobs again and compare everything stored of each."""
        wrong: dict[str, list[FactsKey]] = {"facts": [], "documents": [], "grep": [], "lexical": []}
        result = Comparison([], wrong, set())
        for derived in extract_blobs(chosen.items(), reader_of(repository), extractor):
            result.seen.append(derived.key)
            if derived.facts.status is FactsStatus.QUARANTINED:
                result.quarantined.add(derived.key)
            self._report("facts", 100.0 * len(result.seen) / len(chosen))
            for name, compare in (
                ("facts", self._same_facts),
                ("documents", self._same_document),
                ("grep", self._same_words),
                ("lexical", self._same_terms),
            ):
                if not compare(derived):
                    wrong[name].append(derived.key)
        return result

    def other_terms(self, seen: list[FactsKey]) -> str:
        """Return the lexical field that has terms which no blob of `seen` has; empty if none."""
        among = [key for key in seen if key in self._rows and self._rows[key].lexical]
        for field, expected in self._terms.items():
            if self._lexical.terms_among(among, field) != expected:
                return field
        return ""

    def _choose(self, published: dict[FactsKey, str]) -> dict[FactsKey, str]:
        """Return keys with languages: a sample, or all, including blobs of other branches."""
        if not self._full:
            some = random.sample(sorted(published), min(SAMPLE, len(published)))
            return {key: published[key] for key in some}
        others = {
            key: row.language
            for key, row in self._rows.items()
            if extractor_id(row.language) == key.extractor
        }
        return others | published

    def _same_facts(self, derived: ExtractedBlob) -> bool:
        row = self._rows.get(derived.key)
        if row is None:
            return False
        try:
            known = decode_facts(self._table.get(derived.key) or b"")
        except (
            ValueError,
            TypeError,
            AttributeError,
            CorruptStore,
        ):  # stored text that gitindex did not write
            return False
        if known is not None and known.status is FactsStatus.QUARANTINED:
            known = known._replace(
                reason=known.reason.removesuffix(AGAIN)
            )  # here it was tried once only
        if derived.key in self._late:
            derived = derived._replace(facts=derived.facts._replace(scopes=b""))
        counted = len(derived.facts.symbols), derived.is_searched
        return known == derived.facts and (row.symbols, row.lexical) == counted

    def _same_document(self, derived: ExtractedBlob) -> bool:
        front = front_matter_of(derived.facts.language, derived.data)
        row = self._rows.get(derived.key)
        stored = row and self._db.row(
            "SELECT topics, tags, summary, created_at FROM documents WHERE blob_id=?", row.blob_id
        )
        return stored == (row_of(front) if front else None)

    def _same_words(self, derived: ExtractedBlob) -> bool:
        """Does a text search find the blob: are its words listed, and its id beside its document?"""
        row = self._rows.get(derived.key)
        if row is None or not derived.is_searched:
            return True
        words = set(derived.body.split())
        listed = MARK.decode() in words or words <= self._words
        return listed and self._blob_ids.get(derived.key, row.blob_id) == row.blob_id

    def _same_terms(self, derived: ExtractedBlob) -> bool:
        """Are all terms there? Extra terms are checked over all documents together."""
        if not derived.is_searched:
            return True
        fields = {"body": set(derived.body.split()), "names": set(derived.names.split())}
        for field, terms in fields.items():
            self._terms[field].update(terms)
        return all(self._lexical.holds_all(derived.key, f, terms) for f, terms in fields.items())

    def _lexical_whole(self, seen: list[FactsKey]) -> Check:
        keys = {key for key, row in self._rows.items() if row.lexical}
        missing = keys - self._blob_ids.keys()
        if missing:
            return compared("lexical index", "documents", _shown(sorted(missing)))
        promised = self._db.row("SELECT lexical_docs FROM repo_state")[0]
        if promised != len(keys):
            detail = f"{promised} documents are promised, {len(keys)} are known"
            return Check("lexical index", False, detail)
        field = self.other_terms(seen)
        if field:
            return Check("lexical index", False, f"other terms in {field} than in the blobs")
        return Check("lexical index", True, counted(len(keys), "documents"))


def compared(name: str, what: str, differ: Iterable[bytes]) -> Check:
    """Return a check that passes if nothing differs; else it names the first few."""
    names = list(differ)
    if not names:
        return Check(name, True, what)
    some = ", ".join(map(safe_text, names[:SHOWN]))
    return Check(name, False, f"{len(names)} differ: {some}{', …' if names[SHOWN:] else ''}")


def _shown(keys: Iterable[FactsKey]) -> list[bytes]:
    return [f"{key.oid[:12]} as {key.extractor}".encode() for key in keys]
