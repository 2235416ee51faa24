"""Incremental equals full: 50 random histories, refreshed at random points, against a clean build."""

from __future__ import annotations

import random
import uuid
from collections.abc import Iterator
from pathlib import Path

import pygit2
import pytest

from gitindex.base.worktree import worktree_at
from gitindex.extract.pool import Extractor
from gitindex.languages.facts import FactsKey
from gitindex.refresh.public_files import create_store
from gitindex.refresh.queue import EMPTY
from gitindex.refresh.refresher import Refresher
from gitindex.refresh.session import Session
from gitindex.store.blobs import BlobTable
from gitindex.store.connection import open_reader
from gitindex.store.lexical import LexicalReader

HISTORIES = 30
GROUPS = 5
STEPS = 14

FOLDERS = ("", "lib", "lib/deep", "docs", "vendor")
NAMES = ("a.py", "b.ts", "c.js", "d.md", "e.txt", "f", "g.min.js", ".env", "h.bin")
POLICIES = {
    ".gitattributes": (
        "vendor/** linguist-vendored\n",
        "*.ts linguist-generated\n",
        "*.txt binary\n",
        "",
        "lib/*.py linguist-vendored\nlib/a.py -linguist-vendored\n",
    ),
    ".gitindexignore": ("docs/\n", "*.js\n!c.js\n", "lib/deep/**\n", "", "/f\n"),
    "lib/.gitattributes": ("*.py linguist-generated\n", "", "a.py binary\n"),
}

Tree = dict[str, tuple[bytes, int]]
"""Path → content and mode."""


class History:
    """A repository that is changed without git's help: trees are made by hand, HEAD is moved."""

    def __init__(self, path: Path, seed: int) -> None:
        self.root = path
        self.repository = pygit2.init_repository(str(path), initial_head="main")
        self._random = random.Random(seed)
        self._tree: Tree = {}
        self._branches: dict[str, Tree] = {}
        self._past: list[tuple[pygit2.Oid, Tree]] = []
        self._branch = "main"

    def step(self) -> None:
        """One random change of the history."""
        moves = [self._commit] * 6 + [self._switch, self._reset]
        self._random.choice(moves)()

    def _commit(self) -> None:
        for _ in range(self._random.randint(1, 5)):
            change = self._random.choice(
                (
                    self._write,
                    self._write,
                    self._write,
                    self._delete,
                    self._rename,
                    self._mode,
                    self._swap,
                    self._policy,
                )
            )
            change()
        self._record()

    def _record(self) -> None:
        name = f"refs/heads/{self._branch}"
        parents = [self._past[-1][0]] if self._past else []
        author = pygit2.Signature("A", "a@b", 1700000000 + len(self._past), 0)
        tree = _write_tree(self.repository, self._tree)
        commit = self.repository.create_commit(None, author, author, "x", tree, parents)
        self.repository.references.create(name, commit, force=True)
        self.repository.set_head(name)
        self._past.append((commit, dict(self._tree)))
        self._branches[self._branch] = dict(self._tree)

    def _switch(self) -> None:
        self._branch = self._random.choice(("main", "side", "other"))
        self._tree = dict(self._branches.get(self._branch, self._tree))
        self._record()

    def _reset(self) -> None:
        if self._past:
            commit, tree = self._random.choice(self._past)
            self.repository.set_head(commit)
            self._tree = dict(tree)

    def _write(self) -> None:
        folder, name = self._random.choice(FOLDERS), self._random.choice(NAMES)
        path = f"{folder}/{name}" if folder else name
        if not _blocked(self._tree, path):
            self._tree[path] = (_content(self._random, name), pygit2.GIT_FILEMODE_BLOB)

    def _delete(self) -> None:
        if self._tree:
            del self._tree[self._random.choice(sorted(self._tree))]

    def _rename(self) -> None:
        """The same blob under another name, perhaps as another language."""
        if self._tree:
            old = self._random.choice(sorted(self._tree))
            new = self._random.choice(("moved.py", "lib/moved.ts", "docs/moved.md", "run"))
            if not _blocked(self._tree, new):
                self._tree[new] = self._tree.pop(old)

    def _mode(self) -> None:
        if self._tree:
            path = self._random.choice(sorted(self._tree))
            mode = self._random.choice(
                (pygit2.GIT_FILEMODE_BLOB_EXECUTABLE, pygit2.GIT_FILEMODE_LINK)
            )
            self._tree[path] = (self._tree[path][0], mode)

    def _swap(self) -> None:
        """A folder becomes a file, or a file a folder."""
        below = [path for path in self._tree if path.startswith("lib/")]
        if below:
            for path in below:
                del self._tree[path]
            self._tree["lib"] = (b"a file now\n", pygit2.GIT_FILEMODE_BLOB)
        else:
            self._tree.pop("lib", None)
            self._tree["lib/again.py"] = (b"def again():\n    pass\n", pygit2.GIT_FILEMODE_BLOB)

    def _policy(self) -> None:
        path = self._random.choice(sorted(POLICIES))
        if not _blocked(self._tree, path):
            text = self._random.choice(POLICIES[path])
            self._tree[path] = (text.encode(), pygit2.GIT_FILEMODE_BLOB)


@pytest.fixture(scope="module")
def extractor() -> Iterator[Extractor]:
    made = Extractor(1)
    yield made
    made.close()


@pytest.mark.promise("I-04", "I-17", cases=6)
@pytest.mark.parametrize("group", range(GROUPS))
def test_incremental_equals_full(tmp_path: Path, extractor: Extractor, group: int) -> None:
    for seed in range(group, HISTORIES, GROUPS):
        history = History(tmp_path / f"history{seed}", seed)
        when = random.Random(-seed - 1)
        for number in range(STEPS):
            history.step()
            if number == 0 or when.random() < 0.4:
                _refresh(history.root, extractor)
        _refresh(history.root, extractor)
        clean = tmp_path / f"clean{seed}"
        _share(history, clean)
        _refresh(clean, extractor)
        assert list(_dump(history.root)) == list(_dump(clean)), f"history {seed}"
        history.repository.free()


def _refresh(root: Path, extractor: Extractor) -> None:
    """What a job does, without a runner's start-up: the workers live on."""
    worktree = worktree_at(str(root.resolve()))
    create_store(worktree)
    session = Session(worktree)
    session.jobs(worktree)
    session.extractor = extractor
    Refresher(worktree, session, lambda *_: None, make_folder=True).run(
        uuid.uuid4().hex, EMPTY, force=False
    )
    session.extractor = Extractor(1)
    session.close()


def _share(history: History, clean: Path) -> None:
    """A second repository over the same objects, at the same HEAD."""
    repository = pygit2.init_repository(str(clean))
    objects = Path(history.repository.path, "objects")
    Path(repository.path, "objects", "info", "alternates").write_text(f"{objects}\n")
    repository.free()
    repository = pygit2.Repository(str(clean))
    repository.set_head(history.repository.revparse_single("HEAD").id)
    repository.free()


def _dump(root: Path) -> Iterator[tuple[object, ...]]:
    """Mapping, facts and lexical presence of everything that is published; no row ids."""
    worktree = worktree_at(str(root.resolve()))
    database = open_reader(worktree.database)
    assert database is not None
    held = LexicalReader(worktree.lexical).blob_ids()
    table = BlobTable(database)
    row = database.row("SELECT id, tree, files, symbols FROM worktrees WHERE name='main'")
    yield tuple(row[1:])
    rows = database.rows(
        "SELECT p.path, p.policy, f.oid, f.mode, f.skip, b.extractor, b.lexical FROM files f"
        " JOIN paths p ON p.id=f.path_id LEFT JOIN blobs b ON b.id=f.blob_id"
        " WHERE f.worktree_id=? ORDER BY p.path",
        row[0],
    )
    for path, policy, oid, mode, skip, extractor, lexical in rows:
        key = FactsKey(oid.hex(), extractor) if extractor else None
        facts = table.get(key) if key else None
        assert key is None or (key in held) == bool(lexical), path
        yield path, policy, oid, mode, skip, extractor, lexical, facts
    database.close()


def _blocked(tree: Tree, path: str) -> bool:
    """Would `path` need a file to be a folder, or the other way round?"""
    above = path.split("/")[:-1]
    return any("/".join(above[:n]) in tree for n in range(1, len(above) + 1)) or any(
        other.startswith(f"{path}/") for other in tree
    )


def _content(source: random.Random, name: str) -> bytes:
    number = source.randint(0, 40)
    if name == "h.bin":
        return b"\0binary %d" % number
    if name == "g.min.js":
        return b"var a%d=1;" % number + b"f();" * 6000
    if name == "d.md":
        return b"# Title %d\n\nSome words.\n" % number
    if name == "f":
        return b"#!/usr/bin/env python3\ndef run_%d(): pass\n" % number
    return b"def name_%d():\n    return other_%d\n" % (number, number)


def _write_tree(repository: pygit2.Repository, files: Tree) -> pygit2.Oid:
    folders: dict[str, Tree] = {}
    builder = repository.TreeBuilder()
    for path, item in files.items():
        head, _, rest = path.partition("/")
        if rest:
            folders.setdefault(head, {})[rest] = item
        else:
            builder.insert(head, repository.create_blob(item[0]), item[1])
    for name, inside in folders.items():
        builder.insert(name, _write_tree(repository, inside), pygit2.GIT_FILEMODE_TREE)
    return builder.write()
