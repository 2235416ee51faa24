"""Publishes a tree to the team's index: documents first, then the tree, in one fenced transaction."""

from __future__ import annotations

import base64
import hashlib
import json
import os
from collections.abc import Callable, Collection, Iterator
from typing import Any, NamedTuple

from gitindex.base.errors import GitIndexError, NotIndexed, ObjectMissing
from gitindex.base.pattern import compile_later
from gitindex.base.version import __version__
from gitindex.base.worktree import Worktree
from gitindex.git.backend import open_repository
from gitindex.git.command import try_git
from gitindex.git.interface import Repository, TooManyPaths
from gitindex.git.settings import user_setting
from gitindex.languages.facts import BlobFacts, FactsKey, decode_facts, encode_facts
from gitindex.sharing.membership import Membership, require_membership, save_membership
from gitindex.sharing.packages import import_roots, packages_of
from gitindex.sharing.server import Server, connected
from gitindex.store import mapping
from gitindex.store.blobs import BlobTable, imported_facts
from gitindex.store.connection import Database, open_reader
from gitindex.store.mapping import Published

BATCH_BYTES = 4 << 20
"""Documents that one statement sends: the server parses a batch in memory."""
MAX_TEXT = 1 << 19
"""Longer files are generated or data: their trigrams would fill the server's index."""
PUBLISH_MS = 300_000
MAX_LAG_MS = (1 << 31) - 1

_NUL = compile_later(r"(?<!\\)((?:\\\\)*)\\u0000")

Report = Callable[[str, float | None], None]


class PublishResult(NamedTuple):
    """The result of a push."""

    outcome: str  # published, already, fenced_off, nothing
    documents: int = 0
    paths: int = 0


def push(worktree: Worktree, report: Report, only_pushed: bool = False) -> PublishResult:
    """Publish the index of this clone; `only_pushed`: only if HEAD is on the remote branch."""
    membership = require_membership(worktree)
    database = open_reader(worktree.database)
    if database is None:
        raise NotIndexed
    try:
        with database.snapshot():
            row = mapping.published(database, worktree.id)
            if row is None or row.tree is None or row.head_commit is None:
                raise NotIndexed
            if only_pushed and not _is_on_remote(worktree, row.head_commit, membership.ref):
                return PublishResult("nothing")
            if imported_facts(database) is not None:
                raise GitIndexError("facts of a pack are not verified yet", "`gitindex pack check`")
            report("connect", None)
            with connected(membership.url, PUBLISH_MS, patient=True) as server:
                found = _publish(worktree, server, database, row, membership, report)
    finally:
        database.close()
    if found.outcome in ("published", "already"):
        save_membership(worktree, membership._replace(pushed=row.tree))
    return found


def _publish(
    worktree: Worktree,
    server: Server,
    database: Database,
    row: Published,
    membership: Membership,
    report: Report,
) -> PublishResult:
    fence, base, fingerprint, _ = server.rows(
        "SELECT * FROM gi_begin(%s, %s)", membership.repo, membership.ref
    )[0]
    if (base, fingerprint) == (row.tree, row.fingerprint):
        return PublishResult("already")
    changed = None if fingerprint != row.fingerprint else _changes(worktree, base, row.tree or "")
    put, gone = _put_and_gone(_mapping(database, row.worktree_id), changed)
    delta = {
        "commit": row.head_commit,
        "tree": row.tree,
        "fingerprint": row.fingerprint,
        "runId": row.run_id,
        "base": base,
        "whole": changed is None,
        "gone": [_text(path) for path in gone],
        "packages": packages_of(worktree, row.head_commit or "HEAD"),
    }
    batches = _batches(worktree, database, sorted({FactsKey(oid, by) for _, oid, by in put}))
    done, sent = _send(server, batches, membership, (fence, delta, put), report)
    if membership.fleet:
        server.rows(
            "SELECT gi_note_fleet(%s, %s, 'fresh', %s, NULL, NULL, %s)",
            membership.repo,
            membership.fleet,
            _lag_ms(database, row.worktree_id),
            __version__,
        )
    return PublishResult("published" if done else "fenced_off", sent, len(put))


def _put_and_gone(
    rows: list[tuple[bytes, str, str]], changed: Collection[bytes] | None
) -> tuple[list[tuple[bytes, str, str]], list[bytes]]:
    """Rows that are sent, and changed paths that are no longer there; None: everything is sent."""
    if changed is None:
        return rows, []
    kept = {path for path, _, _ in rows}
    put = [row for row in rows if row[0] in changed]
    return put, [path for path in changed if path not in kept]


def _send(
    server: Server,
    batches: Iterator[dict[FactsKey, str]],
    membership: Membership,
    content: tuple[int, dict[str, Any], list[tuple[bytes, str, str]]],
    report: Report,
) -> tuple[bool, int]:
    """Send documents and mapping in one transaction; False if a later run has superseded it."""
    fence, delta, put = content
    digests: dict[FactsKey, str] = {}
    sent = 0
    with server.transaction():
        for batch in batches:
            named = {key: hashlib.sha256(text.encode()).digest() for key, text in batch.items()}
            rows = server.rows("SELECT gi_missing(%s)", [*named.values()])
            unknown = {bytes(digest) for (digest,) in rows}
            lacking = [text for key, text in batch.items() if named[key] in unknown]
            if lacking:
                server.rows("SELECT gi_put_docs(%s::text[])", lacking)
            sent += len(lacking)
            digests |= {key: digest.hex() for key, digest in named.items()}
            report("documents", 100.0 * len(digests) / max(len(put), 1))
        report("publish", None)
        listed = [[_text(path), digests[FactsKey(oid, extractor)]] for path, oid, extractor in put]
        done = server.rows(
            "SELECT gi_publish(%s, %s, %s, %s::jsonb)",
            membership.repo,
            membership.ref,
            fence,
            _json(delta | {"put": listed}),
        )
    return bool(done[0][0]), sent


def _lag_ms(database: Database, worktree_id: int) -> int | None:
    """Return the median time that the last refreshes took from the queue to fresh."""
    rows = database.rows(
        "SELECT 1000 * (finished_at - created_at) FROM refresh_jobs WHERE worktree_id=?"
        " AND context_id=0 AND status='completed' ORDER BY id DESC LIMIT 50",
        worktree_id,
    )
    waited = sorted(int(wait) for (wait,) in rows if wait is not None)
    return min(waited[len(waited) // 2], MAX_LAG_MS) if waited else None


def _is_on_remote(worktree: Worktree, commit: str, ref: str) -> bool:
    """Is a commit on the remote branch of the team's index? Unpushed commits are not published."""
    named = f"refs/remotes/origin/{ref}"
    return try_git(worktree.root, "merge-base", "--is-ancestor", commit, named).returncode == 0


def _changes(worktree: Worktree, old: str | None, new: str) -> set[bytes] | None:
    if old is None:
        return None
    repository = open_repository(worktree)
    try:
        return {path for path, _ in repository.changes(old, new)}
    except (ObjectMissing, TooManyPaths, GitIndexError):
        return None
    finally:
        repository.close()


def _mapping(database: Database, worktree_id: int) -> list[tuple[bytes, str, str]]:
    rows = database.rows(
        "SELECT p.path, f.oid, b.extractor FROM files f JOIN paths p ON p.id=f.path_id"
        " JOIN blobs b ON b.id=f.blob_id WHERE f.worktree_id=? AND b.status<>'skipped' ORDER BY p.path",
        worktree_id,
    )
    return [(path, oid.hex(), extractor) for path, oid, extractor in rows]


def _batches(
    worktree: Worktree, database: Database, keys: list[FactsKey]
) -> Iterator[dict[FactsKey, str]]:
    """Yield documents as the texts whose digests name them, a few megabytes at a time."""
    with_text = user_setting(worktree, "gitindex.team.text") != "false"
    repository = open_repository(worktree)
    try:
        yield from _documents(BlobTable(database), keys, repository if with_text else None)
    finally:
        repository.close()


def _documents(
    table: BlobTable, keys: list[FactsKey], repository: Repository | None
) -> Iterator[dict[FactsKey, str]]:
    batch, size = dict[FactsKey, str](), 0
    for key in keys:
        facts = decode_facts(table.get(key) or b"")
        if facts is None:
            raise GitIndexError("facts cannot be read", "run `gitindex index --force`")
        facts = facts._replace(scopes=b"")  # the server reads none, and they may not be there yet
        document = _document(key, facts)
        if repository is not None and (content := _content(repository, key.oid)) is not None:
            document["content"] = content
        batch[key] = _json(document)
        size += len(batch[key])
        if size > BATCH_BYTES:
            yield batch
            batch, size = {}, 0
    if batch:
        yield batch


def _content(repository: Repository, oid: str) -> str | None:
    """Return the text of a blob; None where it is too long to be sent, or no text."""
    try:
        if repository.size(oid) > MAX_TEXT:
            return None
        return repository.read(oid).decode()
    except (ObjectMissing, UnicodeDecodeError):
        return None


def _document(key: FactsKey, facts: BlobFacts) -> dict[str, Any]:
    names = {*facts.postings, *(symbol.name for symbol in facts.symbols)}
    return {
        "oid": key.oid,
        "extractor": key.extractor,
        "size": facts.lines,
        "names": sorted(names),
        "symbols": [[s.name, s.kind, s.line + 1, s.exported, s.qualified] for s in facts.symbols],
        "imports": sorted(import_roots(facts)),
        "payload": base64.b64encode(encode_facts(facts)).decode(),
    }


def _json(value: object) -> str:
    """Return JSON that PostgreSQL accepts: it stores no NUL. A text that spells one keeps it."""
    return _NUL.sub("\\1�", json.dumps(value, ensure_ascii=False))


def _text(path: bytes) -> str:
    return os.fsdecode(path).encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
