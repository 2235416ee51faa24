"""Clones, keys and packs for tests: everything real, made once where it can be."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gitindex.base.runner_lock import RunnerLock
from gitindex.extract.pool import Extractor
from gitindex.query.names.memory import Memory
from gitindex.query.references import ReferenceQuery, find_references
from gitindex.refresh.idle_work import verify_part
from gitindex.sharing import packs
from gitindex.sharing.adoption import Adopted
from gitindex.sharing.pack_file import DATABASE, Manifest, sign, unpack, write_pack
from gitindex.store.connection import open_reader
from gitindex.store.name_rows import join_places, split_places
from gitindex.view.tree import open_tree
from tests.support import Repo

SIGNER = "ci@example.com"


def quietly(_phase: str, _percent: float | None) -> None:
    """A report that nobody reads."""


class Team:
    """A repository with an index, a key that may sign, and a configuration that knows it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.key = folder / "key"
        self.home = folder / "home"
        self.origin = Repo(folder / "origin")

    def make(self) -> None:
        """Keys, configuration, and a repository with one commit and its index."""
        make_key(self.key)
        public = self.key.with_suffix(".pub").read_text()
        allowed = self.folder / "allowed"
        allowed.write_text(f'{SIGNER} namespaces="gitindex-pack" {public}')
        self.home.mkdir()
        usual = Path(os.environ["HOME"], ".gitconfig").read_text()
        text = f'{usual}[gitindex "pack"]\n\tsigners = {allowed}\n'
        (self.home / ".gitconfig").write_text(text)
        fill(self.origin)
        self.origin.index()

    def home_with(self, folder: Path, line: str) -> str:
        """Another home whose configuration has one more line about packs."""
        folder.mkdir()
        (folder / ".gitconfig").write_text(f"{(self.home / '.gitconfig').read_text()}\t{line}\n")
        return str(folder)

    def clone(self, name: str) -> Repo:
        """A new clone without an index."""
        target = self.folder / name
        shutil.rmtree(target, ignore_errors=True)
        subprocess.run(
            ["git", "clone", "-q", str(self.origin.path), str(target)], check=True, timeout=300
        )
        return Repo(target)

    def pack(self, folder: Path, repo: Repo | None = None, signed: bool = True) -> Path:
        """The pack of a repository's HEAD."""
        folder.mkdir(parents=True, exist_ok=True)
        key = str(self.key) if signed else ""
        made = packs.create((repo or self.origin).worktree, "HEAD", str(folder), key, quietly)
        return Path(made.path)


def fill(repo: Repo) -> None:
    """A few files of several languages, a document, and a commit."""
    repo.init()
    for number in range(4):
        repo.write(
            f"pkg/m{number}.py",
            f'"""Module {number}."""\nfrom pkg.base import helper\n\n\nclass Worker{number}:\n'
            f'    def run(self, x):\n        """Run it."""\n        return helper(x)\n',
        )
    repo.write("pkg/base.py", "def helper(x):\n    return x\n\n\ndef lonely():\n    return 1\n")
    repo.write("pkg/__init__.py", "")
    repo.write("web/app.ts", "export function start(a: number) {\n  return a;\n}\nstart(1);\n")
    repo.write(
        "docs/a.md", "---\ntags: [alpha, beta]\ncreated: 2024-01-02\n---\n# Title\n\nText.\n"
    )
    repo.commit("first")


def make_key(path: Path) -> None:
    """An SSH key without a passphrase."""
    subprocess.run(
        ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(path)], check=True, timeout=300
    )


def pull(repo: Repo, dest: Path | str) -> packs.Pulled:
    """Adopt the nearest pack and refresh, in this process."""
    return packs.pull(repo.worktree, str(dest), quietly)


def adopted(repo: Repo, dest: Path | str) -> Adopted:
    """The same, which must succeed."""
    found = pull(repo, dest).adopted
    assert found is not None
    return found


def verify_all(repo: Repo, workers: Extractor | None = None) -> None:
    """What an idle runner does, until nothing is left."""
    lock = RunnerLock(repo.worktree.lock)
    assert lock.acquire()
    own = Extractor()
    try:
        while verify_part(repo.worktree, workers or own):
            continue
    finally:
        own.close()
        lock.release()


def unverified(repo: Repo) -> int:
    """How many blobs of packs are not verified."""
    database = open_reader(repo.worktree.database)
    assert database is not None
    try:
        return int(database.row("SELECT count(*) FROM pack_blobs")[0])
    finally:
        database.close()


def rewrite(
    pack: Path,
    key: Path | None,
    change: Callable[[Path], Any],
    edit: Callable[[Manifest], Manifest],
) -> None:
    """Unpack, change members or the manifest, pack again, and sign as the owner of the key would."""
    folder = pack.parent / f"{pack.stem}.open"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    manifest = unpack(str(pack), str(folder))
    change(folder)
    names = [DATABASE, *sorted(f"lexical/{name}" for name in os.listdir(folder / "lexical"))]
    write_pack(str(pack), str(folder), names, edit(manifest))
    Path(f"{pack}.sig").unlink(missing_ok=True)
    if key is not None:
        sign(str(pack), str(key))


def in_database(*statements: str) -> Callable[[Path], None]:
    """A change of the facts themselves."""

    def change(folder: Path) -> None:
        connection = sqlite3.connect(folder / DATABASE, isolation_level=None)
        try:
            for statement in statements:
                connection.execute(statement)
        finally:
            connection.close()

    return change


def without_name(name: str) -> Callable[[Path], None]:
    """The places of a name are gone from every blob; the rows are well-formed."""

    def change(folder: Path) -> None:
        connection = sqlite3.connect(folder / DATABASE)
        (number,) = connection.execute("SELECT id FROM names WHERE text=?", (name,)).fetchone()
        rows = connection.execute("SELECT blob_id, names, places FROM occurrences").fetchall()
        for blob_id, *columns in rows:
            left = {i: at for i, at in split_places(*columns) if i != number}
            connection.execute("DELETE FROM occurrences WHERE blob_id=?", (blob_id,))
            if left:
                row = (blob_id, *join_places(left))
                connection.execute("INSERT INTO occurrences VALUES (?,?,?)", row)
        connection.commit()
        connection.close()

    return change


def certificate(repo: Repo, name: str, memory: Memory | None = None) -> dict[str, Any]:
    """What `refs` says."""
    with open_tree(repo.worktree, ".") as view:
        answer = dict(find_references(view, ReferenceQuery(name), memory))
    assert json.dumps(answer)
    return answer
