"""Damaged stores: a flipped, cut or zeroed file gives a refusal or the right answer, never a wrong one.

Answers are asked for in forks of this process, many wounds in each: damage may kill a process, which is
no answer at all, and then the next fork goes on. Two wounds in three leave every identity as it was
sealed, as a disk does that loses a bit. All questions about one wound go to one view of the index; in
one case of ten the scan that stands in for a refused answer is compared as well.
"""

from __future__ import annotations

import os
import random
import re
import traceback
from contextlib import suppress
from pathlib import Path
from typing import Any

from gitindex.base.errors import GitIndexError
from gitindex.query.grep.grep import GrepQuery, grep, scan
from gitindex.query.grep.pattern import GrepPattern
from gitindex.query.references import ReferenceQuery, find_references
from gitindex.query.search.search import search
from gitindex.query.symbols import SymbolQuery, list_symbols
from gitindex.store import checksums
from gitindex.view.live_scan import served_or_scanned
from gitindex.view.tree import NOW, TreeView, open_tree
from tests.support import Repo
from tests.torture import Clock

BATCH = 60
"""Wounds in one fork."""
SCANNED = 0.1
NAMES = [f"name_{number:02d}" for number in range(24)]
Place = tuple[str, int]


class Patient:
    """A repository with an index, what is true of it, and its store's files as they were written."""

    def __init__(self, path: Path) -> None:
        self.repo = Repo(path)
        self.repo.init()
        for number in range(0, len(NAMES), 2):
            one, two = NAMES[number : number + 2]
            text = f"def {one}(a):\n    return {two}(a)\n\n\ndef {two}(a):\n    return a\n"
            self.repo.write(f"m{number:02d}.py", text)
        self.repo.commit()
        self.repo.index()
        store = Path(self.repo.worktree.store)
        ours = ("id",)  # the name of the index: it has no checksum, and `remedies` damages it
        lexical = [
            p for p in (store / "lexical").iterdir() if p.name[0] != "." and p.name not in ours
        ]
        self.lexical = [
            (path, path.read_bytes()) for path in sorted(lexical) if path.stat().st_size
        ]
        self.database = (store / "facts.db", (store / "facts.db").read_bytes())
        self._places = {name: self._on_disk(name) for name in NAMES}

    def places(self, name: str) -> set[Place]:
        return self._places[name]

    def _on_disk(self, name: str) -> set[Place]:
        return {
            (path.name, number)
            for path in self.repo.path.glob("*.py")
            for number, line in enumerate(path.read_text().split("\n"), 1)
            if re.search(rf"\b{name}\b", line)
        }

    def ask(self, name: str, scanned: bool) -> None:
        """grep, symbols, references and search of one view; a refusal is an answer."""
        real = self.places(name)
        with suppress(GitIndexError), open_tree(self.repo.worktree, ".") as view:
            self._of_index(view, name, real)
        if scanned:
            found = served_or_scanned(
                NOW,
                lambda: self._served(_question(name)),
                lambda why: scan(self.repo.worktree, _question(name), why),
            )
            assert _places(found["results"]) == real, ("grep or scan", name, found)

    def _served(self, question: GrepQuery) -> Any:
        with open_tree(self.repo.worktree, ".") as view:
            return grep(view, question)

    def _of_index(self, view: TreeView, name: str, real: set[Place]) -> None:
        lines: Any = grep(view, _question(name))
        assert _places(lines["results"]) == real, ("grep", name, lines)
        found: Any = list_symbols(view, SymbolQuery(name))
        defined = _places([row for row in found["symbols"] if row["name"] == name])
        assert len(defined) == 1, ("symbols", name, found)
        assert defined <= real, ("symbols", name, found)
        told: Any = find_references(view, ReferenceQuery(name))
        listed = _places(told["references"] + told["definitions"])
        assert listed <= real, ("references", name, told)
        assert listed == real or not told["complete"], ("references", name, told)
        hits: Any = search(view, name, 10)
        assert {path for path, _ in real} <= {row["path"] for row in hits["results"]}, hits


def _question(name: str) -> GrepQuery:
    return GrepQuery(GrepPattern(name, fixed=True))


def _places(rows: list[dict[str, Any]]) -> set[Place]:
    return {(row["path"], row["line"]) for row in rows}


def harm(rng: random.Random, sound: bytes) -> tuple[str, bytes]:
    """Flip a bit, cut the end off, zero or replace a stretch, or exchange two pages."""
    kind = rng.choice(["flip"] * 4 + ["cut", "zero", "garbage", "swap"])
    at, size = rng.randrange(len(sound)), rng.choice([1, 64, 4096])
    if kind == "flip":
        changed = sound[:at] + bytes([sound[at] ^ (1 << rng.randrange(8))]) + sound[at + 1 :]
    elif kind == "cut":
        changed = sound[:at]
    elif kind == "swap":
        pages = [sound[start : start + 4096] for start in range(0, len(sound), 4096)]
        rng.shuffle(pages)
        changed = b"".join(pages)
    else:
        stretch = bytes(size) if kind == "zero" else rng.randbytes(size)
        changed = (sound[:at] + stretch + sound[at + size :])[: len(sound)]
    return f"{kind} at {at}", changed


def _keep_identity(path: Path) -> None:
    """Name the file in the seal as it is now, with the checksums of what was written."""
    where = f"{path.parent if path.name == 'facts.db' else path.parents[1]}"
    sealed = f"{where}/{'facts' if path.name == 'facts.db' else 'lexical'}.checksums"
    held = checksums._read(sealed)
    assert isinstance(held, checksums.Checksums), held
    sums = held.files[path.name][1]
    checksums._write(
        sealed,
        held._replace(files={**held.files, path.name: (checksums._identity(str(path)), sums)}),
    )


def _batch(patient: Patient, rng: random.Random, done: int) -> None:
    """Wound, ask and mend, again and again; one byte for each goes through the pipe `done`."""
    for _ in range(BATCH):
        of_lexical, rotten = rng.random() < 0.2, rng.random() < 0.67
        path, sound = rng.choice(patient.lexical) if of_lexical else patient.database
        what, changed = harm(rng, sound)
        if changed == sound or (rotten and len(changed) != len(sound)):
            continue
        path.write_bytes(changed)
        if rotten:
            _keep_identity(path)
        checksums._intact.clear()  # as in a process that has read nothing yet
        try:
            patient.ask(rng.choice(NAMES), rng.random() < SCANNED)
        except AssertionError as error:
            raise AssertionError(f"{what} of {path.name}, rotten: {rotten}") from error
        path.write_bytes(sound)
        _keep_identity(path)
        os.write(done, b"l" if of_lexical else b"d")


def _forked(patient: Patient, seed: float, told: Path) -> tuple[bytes, bool]:
    """One batch in a fork: what it did, and whether it ended by itself."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        os.dup2(os.open(told, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 2)
        code = 0
        try:
            _batch(patient, random.Random(seed), write)
        except BaseException:  # whatever it is, the parent tells it
            os.write(2, traceback.format_exc().encode())
            code = 1
        os._exit(code)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        done = pipe.read()
    _, status = os.waitpid(child, 0)
    assert not os.WIFEXITED(status) or os.WEXITSTATUS(status) == 0, told.read_text()[-3000:]
    assert "panicked" not in told.read_text(), told.read_text()
    return done, os.WIFEXITED(status)


def damaged_stores(clock: Clock, rng: random.Random, folder: Path) -> None:
    """One wound to SQLite or Tantivy at a time; the answers are compared with the disk."""
    patient = Patient(folder / "repo")
    while clock.goes_on():
        for path, sound in (patient.database, *patient.lexical):
            if path.read_bytes() != sound:  # a fork died of its wound
                path.write_bytes(sound)
        done, ended = _forked(patient, rng.random(), folder / "told")
        clock.count("database", done.count(b"d"))
        clock.count("lexical", done.count(b"l"))
        clock.count("killed", int(not ended))
        clock.count(number=max(1, len(done)))
