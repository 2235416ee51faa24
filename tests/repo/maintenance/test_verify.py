"""verify, audit, gc. I-40: verify is honest: it passes a sound index and catches every seeded mutation."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import tempfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from gitindex.base.errors import Exit, GitIndexError
from gitindex.base.runner_lock import RunnerLock
from gitindex.extract.policy import reader_of
from gitindex.extract.pool import Extractor, extract_blobs
from gitindex.git.backend import open_repository
from gitindex.languages.facts import FactsKey
from gitindex.languages.syntax.extract import extract_facts
from gitindex.maintenance import gc
from gitindex.maintenance.audit import audit
from gitindex.maintenance.verify import verify
from gitindex.query.references import ReferenceQuery, find_references
from gitindex.refresh.public_files import create_store
from gitindex.refresh.runner import RefreshRequest, Runner
from gitindex.refresh.spool import append_event
from gitindex.store.checksums import CheckLevel, damage_of_store
from gitindex.store.connection import leave_log, open_reader
from gitindex.store.lexical import LexicalReader, LexicalWriter
from gitindex.view.snapshot import GateClosed
from gitindex.view.tree import NOW, TreeChoice, open_tree
from tests.support import Repo, accept_changes

PYTHON = '''"""Module."""
import os.path as p
from lib import util

__all__ = ["main"]


class Thing:
    """A thing."""

    def act(self, x):
        return util.helper(x)


def main():
    return Thing().act(p.sep)
'''
DOCUMENT = (
    "---\ntags: [c++, other]\nsummary: About\ndate: 2024-01-02\n---\n# Title\n\nSome words.\n"
)


@pytest.fixture(scope="module")
def workers() -> Iterator[Extractor]:
    made = Extractor(1)
    yield made
    made.close()


def _index(repo: Repo) -> None:
    create_store(repo.worktree)
    assert Runner(repo.worktree).serve(RefreshRequest(repo.worktree, "index"))


@pytest.fixture
def store(repo: Repo) -> Repo:
    """Code, a document, a script, what is skipped, and a blob of another branch; nobody works."""
    repo.write("app.py", PYTHON)
    repo.write("lib/util.py", "def helper(x):\n    return x\n")
    repo.write("doc.md", DOCUMENT)
    repo.write("web.ts", "import { a } from './b';\nexport const c = a;\n")
    repo.write("run", "#!/usr/bin/env python3\nimport sys\nsys.exit()\n")
    repo.write(".env", "SECRET=1\n")
    repo.write("image.bin", b"\0\1\2")
    repo.write(".gitattributes", "vendor/** linguist-vendored\n")
    repo.write("vendor/x.py", "import vendored\n")
    repo.commit("first")
    _index(repo)
    repo.git("switch", "-qc", "side")
    repo.write("side.py", "def sideways():\n    return unique_name\n")
    repo.write("side.md", "---\ntags: [side]\n---\nSide.\n")
    repo.commit("side")
    _index(repo)
    repo.git("switch", "-q", "main")
    _index(repo)
    return repo


def _verify(repo: Repo, workers: Extractor, full: bool = True, receipt: str = "") -> dict[str, Any]:
    return verify(repo.worktree, str(repo.path), receipt, full, workers)


def _wrong(repo: Repo, workers: Extractor, full: bool = True) -> list[str]:
    """The checks that fail; a closed gate or an error is one, too."""
    try:
        answer = _verify(repo, workers, full)
    except GateClosed as closed:
        return [closed.envelope["status"]]
    except GitIndexError as error:
        return [error.message]
    assert answer["verified"] == all(check["ok"] for check in answer["checks"])
    return [check["name"] for check in answer["checks"] if not check["ok"]]


def _snapshot(repo: Repo) -> dict[str, tuple[int, bytes]]:
    return {
        str(path): (path.stat().st_mtime_ns, path.read_bytes())
        for path in repo.path.rglob("*")
        if path.is_file()
    }


def test_a_sound_index_verifies_and_stays_as_it_is(
    store: Repo, workers: Extractor, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = _snapshot(store)
    for backend in ("git", "pygit2"):
        monkeypatch.setenv("GITINDEX_BACKEND", backend)
        for full in (False, True):
            assert _wrong(store, workers, full) == [], backend
    done = store.gitindex("verify", "--full")
    assert (done.returncode, "BAD" in done.stdout) == (0, False), done.stdout
    assert _snapshot(store) == before


def test_it_verifies_after_all_that_can_happen(store: Repo, workers: Extractor) -> None:
    store.write("app.py", "edited = 1\n")
    assert _wrong(store, workers) == [], "an edit is laid over what is published"
    store.commit("edited")
    assert _wrong(store, workers) == [], "published is the tree before, and says so"
    _index(store)
    store.git("commit", "-q", "--amend", "-m", "amended")
    store.git("mv", "app.py", "moved.py")
    store.write(".gitattributes", "lib/** linguist-generated\n")
    store.commit("policy")
    _index(store)
    assert _wrong(store, workers) == []
    store.git("worktree", "add", "-q", "../other", "side")
    other = Repo(store.path.parent / "other")
    _index(other)
    assert _wrong(other, workers) == []
    assert _wrong(store, workers) == []


def test_before_the_first_commit(repo: Repo, workers: Extractor) -> None:
    assert _wrong(repo, workers) == ["not_indexed"]
    _index(repo)
    assert _wrong(repo, workers) == []


MUTATED = {
    "blobs": "id oid extractor language status reason lines symbols interface_hash flags lexical",
    "names": "id text",
    "shapes": "id kind before after",
    "definitions": "blob_id ordinal name_id qualified_name shape_id line column above below parent"
    " exported doc",
    "occurrences": "blob_id names places",
    "scopes": "blob_id packed",
    "name_blobs": "name_id first others",
    "imports": "blob_id ordinal module names level line",
    "exports": "blob_id ordinal name",
    "documents": "blob_id topics tags summary created_at",
    "paths": "id path policy",
    "files": "worktree_id path_id oid mode blob_id skip",
    "worktrees": "id name generation tree head_commit files symbols fingerprint run_id",
}
NOT_PROVEN = {
    "worktrees": "root published_at",  # a hint where to look, and a time for display
}
OF_MAIN = "name_id=(SELECT id FROM names WHERE text='main')"
ROWS = {
    "blobs": "id=(SELECT blob_id FROM files JOIN paths ON id=path_id WHERE path=CAST('app.py' AS BLOB))",
    "names": "text='helper'",
    "shapes": "before='def ' AND after='(self, x)'",
    "definitions": "name_id=(SELECT id FROM names WHERE text='act')",
    "occurrences": "blob_id=(SELECT blob_id FROM files JOIN paths ON id=path_id"
    " WHERE path=CAST('app.py' AS BLOB))",
    "scopes": "blob_id=(SELECT blob_id FROM files JOIN paths ON id=path_id"
    " WHERE path=CAST('app.py' AS BLOB))",
    "name_blobs": "name_id=(SELECT min(name_id) FROM name_blobs WHERE others<>x'')",
    "imports": "module='lib'",
    "exports": "name='main'",
    "documents": "topics LIKE '%c++%'",
    "paths": "path=CAST('app.py' AS BLOB)",
    "files": "path_id=(SELECT id FROM paths WHERE path=CAST('app.py' AS BLOB))",
    "worktrees": "name='main'",
}


class Mutant:
    """One store that is changed behind its back and put right again, file by file."""

    def __init__(self, repo: Repo) -> None:
        self.repo = repo
        self._path = Path(repo.worktree.database)
        with closing(sqlite3.connect(self._path)):
            pass  # the last to close moves the log into the file
        leave_log(str(self._path))
        self._intact = self._path.read_bytes()

    def run(self, sql: str, *values: object) -> None:
        with closing(sqlite3.connect(self._path)) as connection:
            changed = connection.execute(sql, values).rowcount
            connection.commit()
        leave_log(str(self._path))  # as our writers do: readers wait for one
        accept_changes(self.repo.worktree.store)  # it is not about who wrote it
        assert changed, sql

    def rows(self, sql: str) -> list[Any]:
        with closing(sqlite3.connect(self._path)) as connection:
            found = connection.execute(sql).fetchall()
        leave_log(str(self._path))
        return found

    def restore(self) -> None:
        for suffix in ("-wal", "-shm"):
            Path(f"{self._path}{suffix}").unlink(missing_ok=True)
        self._path.write_bytes(self._intact)  # in place: another inode is another store
        leave_log(str(self._path))
        accept_changes(self.repo.worktree.store)


@pytest.mark.control("I-27", "I-40")
def test_i40_every_column_that_answers_rest_on_is_proven(store: Repo, workers: Extractor) -> None:
    mutant = Mutant(store)
    for table, listed in MUTATED.items():
        columns = {name for _, name, *_ in mutant.rows(f"PRAGMA table_info({table})")}
        proven, not_proven = set(listed.split()), set(NOT_PROVEN.get(table, "").split())
        assert columns == proven | not_proven, f"{table}: prove the new column, or say why not"
        for column in sorted(proven):
            where = ROWS[table]
            ((value,),) = mutant.rows(f'SELECT "{column}" FROM {table} WHERE {where} LIMIT 1')
            mutant.run(f'UPDATE {table} SET "{column}"=? WHERE {where}', _other(column, value))
            assert _wrong(store, workers), f"{table}.{column}: {value!r}"
            mutant.restore()
    assert _wrong(store, workers) == [], "restored"


def _other(column: str, value: object) -> object:
    if column in ("exported", "policy", "lexical"):
        return 1 - int(str(value))
    if column in ("id", "ordinal") or (column.endswith("_id") and isinstance(value, int)):
        return int(str(value)) + 1000
    if isinstance(value, int):
        return value + 1
    if isinstance(value, bytes):
        return value[:-1] + bytes([value[-1] ^ 1])
    return f"{value or ''}x"


STATEMENTS = {
    **{
        f"a row of {table} is gone": f"DELETE FROM {table} WHERE {where}"
        for table, where in ROWS.items()
    },
    "a path more": "INSERT INTO files SELECT 1, max(id)+1, zeroblob(20), 33188, NULL, 'secret' FROM paths",
    "a path that is skipped is not": "UPDATE files SET skip=NULL WHERE skip='secret'",
    "a path has the facts of another": "UPDATE files SET blob_id=(SELECT min(blob_id) FROM files)"
    " WHERE blob_id=(SELECT max(blob_id) FROM files)",
    "a symbol more": "INSERT INTO definitions SELECT blob_id, 99, name_id, 'x', shape_id, line,"
    " \"column\", 0, 0, -1, 1, '' FROM definitions LIMIT 1",
    "an export more": "INSERT INTO exports SELECT blob_id, 99, 'x' FROM exports LIMIT 1",
    "an import more": "INSERT INTO imports SELECT blob_id, 99, 'x', '[]', 0, 1 FROM imports LIMIT 1",
    "a document more": "INSERT INTO documents SELECT id, '[]', ' ', 'x', '' FROM blobs"
    " WHERE language='python' LIMIT 1",
    "facts of another branch": "UPDATE definitions SET shape_id="
    "(SELECT min(id) FROM shapes WHERE id<>shape_id)"
    " WHERE name_id=(SELECT id FROM names WHERE text='sideways')",
    "front matter of another branch": "UPDATE documents SET summary='x' WHERE topics LIKE '%side%'",
    "the number of documents": "UPDATE repo_state SET lexical_docs=lexical_docs-1",
    "a topic less": "UPDATE documents SET tags=' ' WHERE blob_id=(SELECT min(blob_id) FROM documents)",
    "a topic more": "UPDATE documents SET tags=tags || 'xff ' WHERE blob_id="
    "(SELECT min(blob_id) FROM documents)",
    "a skipped blob": "UPDATE blobs SET reason='oversize' WHERE reason='binary'",
    "a quarantined blob": "UPDATE blobs SET status='quarantined' WHERE id=1",
}


def test_i40_rows_added_and_removed(store: Repo, workers: Extractor) -> None:
    mutant = Mutant(store)
    for name, sql in STATEMENTS.items():
        mutant.run(sql)
        assert _wrong(store, workers), name
        mutant.restore()
    assert _wrong(store, workers) == []


def test_i40_the_text_index(store: Repo, workers: Extractor) -> None:
    """Other words under checksums that fit: no damage, but not the words of the blobs."""
    mutant = Mutant(store)
    for row_id, stored in mutant.rows("SELECT id, words FROM text_words"):
        before = zlib.decompress(stored)
        words = before.replace(b" helper ", b" helpes ", 1)
        if words != before:
            mutant.run("UPDATE text_words SET words=? WHERE id=?", words, row_id)
            assert _wrong(store, workers) == ["grep"]
            mutant.restore()
            return
    raise AssertionError("no list has the word")


Document = tuple[FactsKey, int]
LEXICAL: dict[str, Callable[[LexicalWriter, Document, str, str], None]] = {
    "the id of another blob": lambda writer, document, body, names: writer.add(
        document[0], document[1] + 1, body, names
    ),
    "a document is gone": lambda writer, document, _body, _names: writer.remove([document[0]]),
    "a term less": lambda writer, document, body, names: writer.add(
        *document, body.replace("sep", ""), names
    ),
    "a term more": lambda writer, document, body, names: writer.add(
        *document, body + " intruder", names
    ),
    "a name less": lambda writer, document, body, names: writer.add(
        *document, body, names.replace("act", "")
    ),
    "a name more": lambda writer, document, body, names: writer.add(
        *document, body, names + " intruder"
    ),
}


def test_i40_lexical_documents(store: Repo, workers: Extractor) -> None:
    oid = store.git("rev-parse", "HEAD:app.py").strip()
    ids = LexicalReader(store.worktree.lexical).blob_ids()
    (key,) = (k for k in ids if k.oid == oid)
    repository = open_repository(store.worktree)
    (derived,) = extract_blobs([(key, "python")], reader_of(repository), workers)
    repository.close()
    writer = LexicalWriter(store.worktree.lexical)
    for name, change in LEXICAL.items():
        change(writer, (key, ids[key]), derived.body, derived.names)
        writer.commit()
        for full in (False, True):
            assert _wrong(store, workers, full), name
        writer.add(key, ids[key], derived.body, derived.names)
        writer.commit()
        assert _wrong(store, workers, full=False) == [], name
    writer.close()


def test_i40_marker_and_stamp(store: Repo, workers: Extractor) -> None:
    marker, stamp = Path(store.worktree.marker), Path(store.worktree.stamp)
    sound = json.loads(marker.read_text())
    for name, value in sound.items():
        if name == "completedAt":
            continue  # a time, for display
        changed = [1] if isinstance(value, dict) else _other(name, value)
        marker.write_text(json.dumps(sound | {name: changed}))
        assert _wrong(store, workers), name
    marker.write_text(json.dumps(sound) + "\n")
    whole = stamp.read_text()
    words = whole.split()[:7]  # the store and the newest run
    for word in words:
        stamp.write_text(whole.replace(word, f"{word}9", 1))
        assert _wrong(store, workers), word
    stamp.write_text("")
    assert _wrong(store, workers)
    stamp.write_text(whole)
    assert _wrong(store, workers) == []


def test_i40_through_the_command(store: Repo, workers: Extractor) -> None:
    Mutant(store).run(f"UPDATE definitions SET line=line+1 WHERE {OF_MAIN}")
    done = store.gitindex("verify")
    assert done.returncode == Exit.NO
    assert "BAD facts: 1 differ" in done.stdout
    damaged = bytearray(Path(store.worktree.database).read_bytes())
    damaged[4096:] = os.urandom(len(damaged) - 4096)
    Path(store.worktree.database).write_bytes(damaged)
    assert _wrong(store, workers)


def test_a_receipt_is_derived_again(store: Repo, workers: Extractor) -> None:
    def receipt(ask: TreeChoice = NOW) -> str:
        with open_tree(store.worktree, ".", ask) as view:
            return json.dumps(view.envelope())

    def holds(text: str) -> bool:
        answer = _verify(store, workers, receipt=text)
        return bool(next(c["ok"] for c in answer["checks"] if c["name"] == "receipt"))

    clean = receipt()
    assert holds(clean)
    assert holds(json.dumps(json.loads(clean)["receipt"]))
    store.write("app.py", "edited = 1\n")
    edited, before, side = receipt(), receipt(TreeChoice(at="HEAD")), receipt(TreeChoice(at="side"))
    assert holds(edited)
    assert not holds(clean), "the files are not what they were"
    assert holds(before)
    assert holds(side)
    store.write("app.py", "staged = 1\n")
    store.git("add", "-A")
    staged = receipt(TreeChoice(staged=True))
    store.write("app.py", "edited = 2\n")
    assert holds(staged)
    assert not holds(edited)
    for field, value in (
        ("treeId", "0" * 40),
        ("treeId", "HEAD"),
        ("overlayDigest", "x"),
        ("generation", 99),
        ("fingerprint", "x"),
    ):
        forged = json.loads(receipt())["receipt"] | {field: value}
        assert not holds(json.dumps(forged)), field
    for nonsense in ("{}", "[]", "x", '{"receipt": null}', '{"treeId": 1}'):
        with pytest.raises(GitIndexError) as error:
            holds(nonsense)
        assert error.value.code is Exit.USAGE


def test_the_counts_of_an_answer_are_those_of_git(store: Repo, workers: Extractor) -> None:
    def wrong(answer: dict[str, Any]) -> list[str]:
        checks = _verify(store, workers, receipt=json.dumps(answer))["checks"]
        return [check["name"] for check in checks if not check["ok"]]

    store.write("new.py", "from lib.util import helper\n\n# helper helps\nhelper(1)\n")
    for tree in (NOW, TreeChoice(at="HEAD"), TreeChoice(at="side"), TreeChoice(staged=True)):
        with open_tree(store.worktree, ".", tree) as view:
            answer = json.loads(json.dumps(find_references(view, ReferenceQuery("helper"))))
        assert answer["accounted"]["total"] == (5 if tree is NOW else 2), tree
        assert wrong(answer) == [], tree
        counts = answer["accounted"]
        more = counts | {"references": counts["references"] + 1, "total": counts["total"] + 1}
        fewer = counts | {"references": counts["references"] + 1}
        assert wrong(answer | {"accounted": more}) == ["partition"], tree
        assert wrong(answer | {"accounted": fewer}) == ["partition"], tree
    with pytest.raises(GitIndexError, match="not a partition"):
        wrong(answer | {"accounted": {}})


def test_audit_equals_a_clean_build(store: Repo) -> None:
    before, temp = _snapshot(store), set(os.listdir(tempfile.gettempdir()))
    store_answer = audit(store.worktree, ".", lambda *_: None)
    assert (store_answer["equal"], store_answer["paths"]) == (True, 9), store_answer
    assert _snapshot(store) == before
    left = set(os.listdir(tempfile.gettempdir())) - temp
    assert not any(name.startswith("gitindex-audit-") for name in left)
    mutant = Mutant(store)
    for sql, path, differs in (
        (f"UPDATE definitions SET line=9 WHERE {OF_MAIN}", "app.py", "facts"),
        ("DELETE FROM documents WHERE topics LIKE '%c++%'", "doc.md", "document"),
        ("UPDATE files SET skip='ignored' WHERE skip='secret'", ".env", "skip"),
    ):
        mutant.run(sql)
        found = audit(store.worktree, ".", lambda *_: None)
        assert found["differences"] == [{"path": path, "differs": [differs]}]
        mutant.restore()
    mutant.run("DELETE FROM exports")
    assert store.gitindex("audit").returncode == Exit.NO


def test_audit_of_a_sha256_repository(tmp_path: Path) -> None:
    repo = Repo(tmp_path / "sha256")
    repo.init("--object-format=sha256")
    repo.write("a.py", "import b\n")
    repo.commit()
    _index(repo)
    assert audit(repo.worktree, ".", lambda *_: None)["equal"]


def test_gc_removes_what_nobody_needs(store: Repo, workers: Extractor) -> None:
    assert gc.survey(store.worktree)["removedBlobs"] == 0, "a branch still has them"
    tip = store.git("rev-parse", "side").strip()
    store.git("branch", "-qD", "side")
    before = _snapshot(store)
    dry = gc.survey(store.worktree)
    assert (dry["removedBlobs"], dry["removedDocuments"], dry["dryRun"]) == (2, 2, True)
    assert _snapshot(store) == before
    with open_tree(store.worktree, ".") as reader:
        counted = "SELECT count(*) FROM blobs"
        (was,) = reader.served.database.row(counted)
        done = store.answer("gc")  # of a process of its own, as a writer beside a reader is
        assert reader.served.database.row(counted) == (was,), "a reader keeps its snapshot"
    assert (done["removedBlobs"], done["removedDocuments"], done["keptBlobs"]) == (2, 2, was - 2)
    assert _wrong(store, workers) == []
    assert store.state() == "fresh"
    assert _counts(store) == (0, 0, 0), "no name, text or topic is left"
    assert gc.collect(store.worktree, lambda *_: None)["removedBlobs"] == 0
    store.git("reset", "-q", "--hard", tip)
    _index(store)
    assert _wrong(store, workers) == []
    assert _counts(store) == (1, 2, 1)


def _counts(repo: Repo) -> tuple[int, int, int]:
    """Names, blobs of the text index and topics of the side branch."""
    database = open_reader(repo.worktree.database)
    assert database is not None
    with closing(database):
        (names,) = database.row("SELECT count(*) FROM names WHERE text='unique_name'")
        known = {blob_id for (blob_id,) in database.rows("SELECT id FROM blobs")}
        ours = database.rows(
            "SELECT f.blob_id FROM files f JOIN paths p ON p.id=f.path_id"
            " WHERE CAST(p.path AS TEXT) LIKE 'side%'"
        )
        searched = set(LexicalReader(repo.worktree.lexical).blob_ids().values())
        assert searched <= known
        (topics,) = database.row("SELECT count(*) FROM documents WHERE topics LIKE '%side%'")
    return names, len(searched & {blob_id for (blob_id,) in ours}), topics


def test_gc_returns_the_space(store: Repo, workers: Extractor) -> None:
    """The database file is cut, beside a reader, and every checksum fits."""
    before = os.path.getsize(store.worktree.database)
    store.git("checkout", "-qb", "large")
    for part in range(40):
        lines = (f"def large_{part}_{n}(argument_{n}): return {n}\n" for n in range(200))
        store.write(f"large{part}.py", "".join(lines))
    store.commit("large")
    _index(store)
    store.git("checkout", "-q", "main")
    store.git("branch", "-qD", "large")
    _index(store)
    grown = os.path.getsize(store.worktree.database)
    assert grown > before + gc.MIN_FREE_BYTES
    assert store.answer("gc")["reusableBytes"] < gc.MIN_FREE_BYTES
    assert os.path.getsize(store.worktree.database) < (before + grown) / 2
    assert damage_of_store(store.worktree.store, CheckLevel.FULL) == ""
    assert _wrong(store, workers) == []
    assert store.state() == "fresh"


def test_gc_ends_what_a_killed_one_began(store: Repo, workers: Extractor) -> None:
    writer = LexicalWriter(store.worktree.lexical)
    writer.add(FactsKey("0" * 40, "1:text"), 1, "left behind", "")
    writer.commit()
    writer.close()
    assert _wrong(store, workers) == [], "a document of no blob is never served"
    assert store.gitindex("gc").returncode == 0
    assert FactsKey("0" * 40, "1:text") not in LexicalReader(store.worktree.lexical).blob_ids()
    assert _wrong(store, workers) == []


def test_gc_forgets_worktrees_that_are_gone(store: Repo, workers: Extractor) -> None:
    store.git("worktree", "add", "-q", "--detach", "../other", "main")
    other = Repo(store.path.parent / "other")
    other.write("only.py", "only_here = 1\n")
    other.commit("detached")
    _index(other)
    assert gc.survey(store.worktree)["removedBlobs"] == 0
    stamp = Path(other.worktree.stamp)
    shutil.rmtree(other.path)
    assert gc.survey(store.worktree)["forgottenWorktrees"] == [], "git still knows it"
    store.git("worktree", "prune")
    assert gc.survey(store.worktree)["forgottenWorktrees"] == ["wt-other"]
    done = gc.collect(store.worktree, lambda *_: None)
    assert (done["forgottenWorktrees"], done["removedBlobs"]) == (["wt-other"], 1)
    assert not stamp.exists()
    assert _wrong(store, workers) == []


def test_gc_waits_for_the_runner(store: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gc, "LOCK_WAIT_SECONDS", 0.1)
    lock = RunnerLock(store.worktree.lock)
    assert lock.acquire()
    try:
        with pytest.raises(GitIndexError, match="another runner"):
            gc.collect(store.worktree, lambda *_: None)
    finally:
        lock.release()
    gc.collect(store.worktree, lambda *_: None)
    assert store.gitindex("gc", "--dry-run", "--json").returncode == 0


def test_gc_serves_the_event_that_was_left_to_it(store: Repo, workers: Extractor) -> None:
    """A hook that sees a runner at work starts none: whoever holds the lock looks afterwards."""
    store.write("app.py", "changed = 1\n")
    store.commit("changed")
    append_event(store.worktree, "post-commit")
    assert store.gitindex("gc").returncode == 0
    store.wait_fresh()
    store.wait_idle()
    assert _wrong(store, workers) == []


def test_gc_needs_an_index(repo: Repo) -> None:
    for args in (("gc",), ("verify",)):
        assert repo.gitindex(*args).returncode == Exit.GATED
    with pytest.raises(GitIndexError, match="not indexed"):
        gc.survey(repo.worktree)
    assert not os.path.exists(repo.worktree.store)


def test_names_that_a_package_passes_on_are_stored_in_their_order() -> None:
    names = [f"name_{n}" for n in range(80)]
    source = "".join(f"from .core import {name} as {name}\n" for name in names).encode()
    orders = {extract_facts(source, "python").exports for _ in range(5)}
    assert orders == {tuple(names)}
