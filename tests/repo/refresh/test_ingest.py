"""Facts and documents on their way in: whole batches, documents first, nothing of a batch that failed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pytest

from gitindex.base.errors import StoreError
from gitindex.base.vocabulary import FactsStatus
from gitindex.extract.pool import ExtractedBlob
from gitindex.languages.facts import BlobFacts, FactsKey
from gitindex.refresh import refresher as intake
from gitindex.refresh.public_files import create_store
from gitindex.refresh.refresher import Ingest
from gitindex.refresh.session import Session
from gitindex.store.blobs import all_late
from gitindex.store.lexical import LexicalReader
from gitindex.store.name_index import NameIndex, name_index_faults
from tests.support import Repo


@pytest.fixture
def session(repo: Repo) -> Iterator[Session]:
    create_store(repo.worktree)
    session = Session(repo.worktree)
    yield session
    session.close()


def found(number: int, status: FactsStatus = FactsStatus.PARSED) -> ExtractedBlob:
    facts = BlobFacts("python", status, 1)
    key = FactsKey(f"{number:040x}", "test")
    if status is FactsStatus.SKIPPED:
        return ExtractedBlob(key, facts)
    return ExtractedBlob(key, facts, b"some text %d\n" % number, f"some text {number}", "")


def ingest(session: Session, repo: Repo, blobs: Iterable[ExtractedBlob]) -> int:
    with Ingest(session) as taking:
        for blob in blobs:
            taking.add(blob)
    return taking.count


def held(session: Session) -> tuple[int, int]:
    """Blobs in SQLite, and documents that it promises."""
    row = session.database.row("SELECT (SELECT count(*) FROM blobs), lexical_docs FROM repo_state")
    return int(row[0]), int(row[1])


@pytest.mark.parametrize(
    ("limit", "value", "batches"),
    [
        ("FLUSH_BLOBS", 1500, 1),
        ("FLUSH_BLOBS", 2, 5),
        ("FLUSH_BYTES", 40, 3),
        ("FLUSH_SECONDS", -1.0, 10),
    ],
)
def test_everything_comes_in_batch_by_batch(
    repo: Repo,
    session: Session,
    monkeypatch: pytest.MonkeyPatch,
    limit: str,
    value: float,
    batches: int,
) -> None:
    monkeypatch.setattr(intake, "FEED_BYTES", 1)
    monkeypatch.setattr(intake, limit, value)
    commits: list[int] = []
    begun = session.database.write

    def counted() -> object:
        commits.append(1)
        return begun()

    monkeypatch.setattr(session.database, "write", counted)
    coming = [*map(found, range(9)), found(9, FactsStatus.SKIPPED)]
    assert ingest(session, repo, coming) == 10
    assert held(session) == (10, 9)
    assert LexicalReader(repo.worktree.lexical).documents == 9
    assert len(commits) == batches


def test_a_batch_whose_documents_are_not_there_leaves_nothing(
    repo: Repo, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    ingest(session, repo, [found(1)])
    monkeypatch.setattr(LexicalReader, "holds", lambda _self, _key: False)
    with pytest.raises(StoreError, match="did not store"):
        ingest(session, repo, [found(2), found(3)])
    assert held(session) == (1, 1)
    lost = found(3).key
    monkeypatch.setattr(LexicalReader, "holds", lambda _self, key: key != lost)
    with pytest.raises(StoreError, match="did not store"):
        ingest(session, repo, [found(2), found(3)])
    assert held(session) == (1, 1), "of so few documents each is read back"


def test_facts_come_with_their_scopes_if_nobody_says_otherwise(
    repo: Repo, session: Session
) -> None:
    ingest(session, repo, [found(1)])
    assert not all_late(session.database)
    with Ingest(session, late_scopes=True) as taking:
        taking.add(found(2))
    assert all_late(session.database) == {found(2).key}


def test_what_came_before_a_failure_in_an_earlier_batch_stays(
    repo: Repo, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(intake, "FEED_BYTES", 1)
    monkeypatch.setattr(intake, "FLUSH_BLOBS", 2)

    def coming() -> Iterator[ExtractedBlob]:
        yield from map(found, range(3))
        raise OSError("the workers are gone")

    with pytest.raises(OSError, match="workers"):
        ingest(session, repo, coming())
    assert held(session) == (2, 2)
    assert not BY_NAME & indexes(session), "the first load was not over"
    ingest(session, repo, [found(5)])
    assert indexes(session) >= BY_NAME
    assert session.database.row("PRAGMA foreign_keys")[0] == 1
    assert session.database.rows("PRAGMA foreign_key_check") == []
    assert name_index_faults(session.database) == []


def test_the_first_load_makes_the_indexes_by_name_at_its_end(repo: Repo, session: Session) -> None:
    assert indexes(session) >= BY_NAME
    ingest(session, repo, [found(1)])
    made = indexes(session)
    assert made >= BY_NAME
    session.database.run("INSERT INTO worktrees (name, root, generation) VALUES ('x', x'', 1)")
    NameIndex(session.database).remove([1])
    session.database.run("DELETE FROM blobs")
    before = session.database.row("PRAGMA schema_version")
    ingest(session, repo, [found(2)])
    assert session.database.row("PRAGMA schema_version") == before, "readers may be looking"


BY_NAME = {"symbols_by_name", "name_blobs"}


def indexes(session: Session) -> set[str]:
    rows = session.database.rows("SELECT name FROM sqlite_master")
    return {name for (name,) in rows}


def test_the_same_blob_again_is_no_new_document(repo: Repo, session: Session) -> None:
    for _ in range(2):
        ingest(session, repo, [found(1), found(2)])
    assert held(session) == (2, 2)
    assert LexicalReader(repo.worktree.lexical).documents == 2


def test_documents_that_a_failed_first_load_left_are_replaced(
    repo: Repo, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They were committed, their facts were not: the next load is a first one, but the index is not empty."""
    with monkeypatch.context() as broken:
        broken.setattr(LexicalReader, "holds", lambda _self, _key: False)
        with pytest.raises(StoreError, match="did not store"):
            ingest(session, repo, [found(1), found(2)])
    assert held(session) == (0, 0)
    assert LexicalReader(repo.worktree.lexical).documents == 2
    ingest(session, repo, [found(1), found(2), found(3)])
    assert held(session) == (3, 3)
    assert LexicalReader(repo.worktree.lexical).documents == 3
