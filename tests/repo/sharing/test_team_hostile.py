"""Hostile members of a team: what a writer may spoil is what they publish, and nothing else."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import psycopg
import pytest

from gitindex.base.errors import GitIndexError
from gitindex.sharing import team_questions
from gitindex.sharing.server import Server, connected
from gitindex.store.connection import open_reader
from tests.packs import fill
from tests.postgres import Cluster
from tests.support import Repo
from tests.team import asked_of_team, join, push, see


@pytest.fixture(autouse=True)
def _own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def test_a_writer_cannot_replace_what_another_publishes(
    cluster: Cluster, database: str, sources: tuple[Repo, Repo]
) -> None:
    """The same blob with other facts, stored first: the honest repository keeps its own."""
    library, _ = sources
    (oid, extractor) = _blob(library, b"pkg/base.py")
    lie = _document(oid, extractor, ["evil"])
    with connected(cluster.url(database, "ci2"), patient=True) as mallory:
        _publish(mallory, "mallory", {"a.py": lie})
    join(cluster, database, library)
    assert push(library).outcome == "published"
    see(cluster, database, "library", "alice")
    names = ("helper", "lonely", "evil")
    hits = [asked_of_team(cluster, database, "alice", team_questions.definitions, n) for n in names]
    assert [[(h["path"], h["trust"]["writer"]) for h in found] for found in hits] == [
        [("pkg/base.py", "ci")],
        [("pkg/base.py", "ci")],
        [],
    ]
    asked = asked_of_team(cluster, database, "alice", team_questions.references, "helper")
    assert {"pkg/m0.py", "pkg/m3.py"} <= {hit["path"] for hit in asked}


def test_a_blob_id_alone_shows_nothing_of_an_invisible_repository(
    cluster: Cluster, database: str, sources: tuple[Repo, Repo]
) -> None:
    """A writer who saw an id (in a mail, in a log) cannot put that blob into a tree of their own."""
    library, _ = sources
    join(cluster, database, library)
    push(library)
    oid, extractor = _blob(library, b"pkg/base.py")
    with connected(cluster.url(database, "ci2"), patient=True) as mallory:
        _publish(mallory, "mallory", {"a.py": _document(oid, extractor, ["mine"])})
        assert _visible(mallory) == {"mallory"}
        repo, fence = _begin(mallory, "mallory")
        for guess in (oid, oid + "0" * 24, hashlib.sha256(bytes.fromhex(oid)).hexdigest()):
            with pytest.raises(psycopg.Error, match="documents are missing"):
                mallory.rows(_PUBLISH, repo, fence, _delta({"a.py": guess}))
        rows = mallory.rows("SELECT doc_id FROM gi_facts(%s)", [*range(1, 100)])
        assert len(rows) == 1
        assert not mallory.rows("SELECT * FROM gi_definitions('helper', 9)")


def test_a_document_is_stored_under_its_own_digest(cluster: Cluster, database: str) -> None:
    with connected(cluster.url(database, "ci"), patient=True) as server:
        text = _document("00" * 20, "e", ["one"])
        _publish(server, "own", {"a.py": text})
        rows = server.rows("SELECT gi_missing(%s)", [_digest(text), _digest(f"{text} ")])
    assert [bytes(digest) for (digest,) in rows] == [_digest(f"{text} ")]


def test_only_a_writer_registers_a_repository(
    cluster: Cluster, database: str, tmp_path: Path
) -> None:
    """Else any reader could take the name of a repository before its owner does."""
    repo = Repo(tmp_path / "new")
    fill(repo)
    repo.index()
    with pytest.raises(GitIndexError, match="only writers register"):
        join(cluster, database, repo, "bob")
    join(cluster, database, repo)
    see(cluster, database, "new", "bob")
    join(cluster, database, repo, "bob")


def test_rights_are_not_given_to_the_wrong_repository_of_a_name(
    cluster: Cluster, database: str
) -> None:
    """Whoever registers the name of another's repository does not get its members."""
    for user, root in (("ci2", "theirs"), ("ci", "ours")):
        with connected(cluster.url(database, user), patient=True) as server:
            server.rows("SELECT gi_join(%s, '', 'payroll', 'main')", root)
    with pytest.raises(psycopg.Error, match="2 repositories have this name"):
        _set_member(cluster, database, "payroll")
    _set_member(cluster, database, "ours ")
    with connected(cluster.url(database, "alice"), patient=True) as server:
        assert [row[0] for row in server.rows("SELECT identity FROM gi_repos()")] == ["ours "]


def test_an_id_that_is_given_twice_fails_the_push(
    cluster: Cluster, database: str, sources: tuple[Repo, Repo]
) -> None:
    """A sequence that went back (a copied database that crashed) must not lose names silently."""
    library, program = sources
    join(cluster, database, library)
    push(library)
    for table in ("gi_name", "gi_doc"):
        cluster.run(database, f"SELECT setval('gitindex.{table}_id_seq', 1)")
        join(cluster, database, program)
        with pytest.raises(GitIndexError, match="unavailable: duplicate key"):
            push(program)
        cluster.run(database, f"SELECT setval('gitindex.{table}_id_seq', 1000)")
    assert push(program).outcome == "published"


_PUBLISH = "SELECT gi_publish(%s, 'main', %s, %s::jsonb)"


def _publish(server: Server, name: str, documents: dict[str, str]) -> None:
    """Publish made-up documents as a writer would who speaks SQL."""
    repo, fence = _begin(server, name)
    server.rows("SELECT gi_put_docs(%s::text[])", [*documents.values()])
    digests = {path: _digest(text).hex() for path, text in documents.items()}
    assert server.rows(_PUBLISH, repo, fence, _delta(digests))[0][0]


def _begin(server: Server, name: str) -> tuple[int, int]:
    repo = server.rows("SELECT gi_join(%s, '', %s, 'main')", f"root-{name}", name)[0][0]
    return repo, server.rows("SELECT fence FROM gi_begin(%s, 'main')", repo)[0][0]


def _delta(digests: dict[str, str]) -> str:
    told: dict[str, Any] = {"runId": repr(digests), "tree": "t", "whole": True, "gone": []}
    return json.dumps(told | {"packages": [], "put": [*map(list, digests.items())]})


def _document(oid: str, extractor: str, names: list[str]) -> str:
    told: dict[str, Any] = {"oid": oid, "extractor": extractor, "size": 1, "names": names}
    symbols = [[name, "function", 1, True, name] for name in names]
    return json.dumps(told | {"symbols": symbols, "imports": [], "payload": ""})


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()


def _visible(server: Server) -> set[str]:
    return {row[0] for row in server.rows("SELECT name FROM gi_repos()")}


def _set_member(cluster: Cluster, database: str, repo: str) -> None:
    with psycopg.connect(cluster.url(database, "boss"), autocommit=True) as boss:
        boss.execute("SELECT gitindex.gi_set_member(%s, 'alice', true, false)", (repo,))


def _blob(repo: Repo, path: bytes) -> tuple[str, str]:
    database = open_reader(repo.worktree.database)
    assert database is not None
    try:
        oid, extractor = database.row(
            "SELECT f.oid, b.extractor FROM files f JOIN paths p ON p.id=f.path_id"
            " JOIN blobs b ON b.id=f.blob_id WHERE p.path=?",
            path,
        )
        return bytes(oid).hex(), extractor
    finally:
        database.close()
