"""A1: a damaged store never answers wrong and says fresh; the next runner mends it by itself.

`GITINDEX_CORRUPTIONS=15000,3000 GITINDEX_SEED=7` sets how many there are, of SQLite and of Tantivy.
"""

from __future__ import annotations

import os
import random
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest

from gitindex.base.errors import GitIndexError
from gitindex.coordinator import IndexCoordinator
from gitindex.query.grep.grep import GrepQuery, grep, scan
from gitindex.query.grep.pattern import GrepPattern
from gitindex.refresh.runner import RefreshRequest, Runner
from gitindex.refresh.spool import Pace, append_event
from gitindex.store import checksums
from gitindex.store.scrub import check_store
from gitindex.view.live_scan import served_or_scanned
from gitindex.view.tree import NOW, open_tree
from tests.mcp_client import make_quiet
from tests.support import Repo

SQLITE, TANTIVY = map(int, os.environ.get("GITINDEX_CORRUPTIONS", "150,40").split(","))
SEED = int(os.environ.get("GITINDEX_SEED", "7"))
NAMES = [f"name_{number:03d}" for number in range(40)]
Change = Callable[[random.Random, bytes], bytes]


def _flip(chance: random.Random, data: bytes) -> bytes:
    at = chance.randrange(len(data))
    return data[:at] + bytes([data[at] ^ 1 << chance.randrange(8)]) + data[at + 1 :]


def _zero(chance: random.Random, data: bytes) -> bytes:
    size = chance.choice([1, 16, 512, 1024, 4096])
    at = chance.randrange(max(1, len(data) - size))
    return data[:at] + bytes(size) + data[at + size :]


def _garbage(chance: random.Random, data: bytes) -> bytes:
    size = chance.choice([4, 64, 4096])
    at = chance.randrange(max(1, len(data) - size))
    return data[:at] + chance.randbytes(size) + data[at + size :]


def _cut(chance: random.Random, data: bytes) -> bytes:
    return data[: chance.randrange(len(data))]


def _swap(chance: random.Random, data: bytes) -> bytes:
    pages = [data[at : at + 4096] for at in range(0, len(data), 4096)]
    one, two = (chance.randrange(len(pages)) for _ in range(2))
    pages[one], pages[two] = pages[two], pages[one]
    return b"".join(pages)


CHANGES: list[Change] = [_flip, _flip, _flip, _zero, _zero, _garbage, _cut, _swap]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Repo:
    repo = Repo(tmp_path_factory.mktemp("corruption") / "repo")
    repo.init()
    chance = random.Random(1)
    for number in range(20):
        lines = []
        for name in NAMES[number * 2 : number * 2 + 2]:
            lines += [f"def {name}(a):", f"    return {chance.choice(NAMES)}(a)", ""]
        repo.write(f"m{number:02d}.py", "\n".join(lines))
    repo.commit()
    repo.index()
    return repo


def _grep(repo: Repo, name: str) -> Any:
    question = GrepQuery(GrepPattern(name, fixed=True))

    def serve() -> Any:
        with open_tree(repo.worktree, ".") as view:
            return grep(view, question)

    return served_or_scanned(NOW, serve, lambda why: scan(repo.worktree, question, why))


def _true_lines(repo: Repo, name: str) -> list[tuple[str, int]]:
    return [
        (path.name, number)
        for path in sorted(repo.path.glob("*.py"))
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if name in line
    ]


def _ask_index(repo: Repo, name: str, kind: int) -> Any:
    """grep, references or search, of the index alone."""
    coordinator = IndexCoordinator(os.fspath(repo.path))
    if kind:
        return coordinator.get_references(name) if kind == 1 else coordinator.search(name)
    with open_tree(repo.worktree, ".") as view:
        return grep(view, GrepQuery(GrepPattern(name, fixed=True)))


def _wrong_and_fresh(repo: Repo, name: str, kind: int) -> str:
    """What is wrong with an answer that says fresh; empty where it is right, or does not say so."""
    places: list[Any] = _true_lines(repo, name)
    try:
        if kind == 0:
            answer = _grep(repo, name)
            found: list[Any] = [(hit["path"], hit["line"]) for hit in answer["results"]]
            assert found == places, "a live scan is right as well"
        elif kind == 1:
            answer = IndexCoordinator(os.fspath(repo.path)).get_references(name)
            references = [(hit["path"], hit["line"]) for hit in answer["references"]]
            defined = [(hit["path"], hit["line"]) for hit in answer["definitions"]]
            found = sorted({*references, *defined})
        else:
            answer = IndexCoordinator(os.fspath(repo.path)).search(name)
            found = [hit["path"] for hit in answer["results"]]
            missing = {path for path, _ in places} - set(found)
            places = found if not missing else sorted(missing)
    except GitIndexError as error:
        return "" if re.search("damaged|store|index", error.message) else error.message
    fresh = answer["freshness"]["state"] == "fresh"
    return f"{found} for {places}" if fresh and found != places else ""


def _try_all(repo: Repo, files: list[Path], times: int, capfd: pytest.CaptureFixture[str]) -> None:
    chance = random.Random(SEED)
    sound = {file: file.read_bytes() for file in files}
    for number in range(times):
        file = chance.choice(files)
        damaged = chance.choice(CHANGES)(chance, sound[file])
        if damaged == sound[file]:
            continue
        file.write_bytes(damaged)
        name = chance.choice(NAMES)
        wrong = _wrong_and_fresh(repo, name, number % 3)
        file.write_bytes(sound[file])
        assert not wrong, f"seed {SEED}, corruption {number} of {file.name}: {wrong}"
    assert "panicked" not in capfd.readouterr().err
    for kind in range(3):
        assert not _wrong_and_fresh(repo, NAMES[3], kind)
    assert repo.state() == "fresh", "what is put right is right again"


def test_a1_a_damaged_database_is_never_fresh_and_wrong(
    library: Repo, capfd: pytest.CaptureFixture[str]
) -> None:
    _try_all(library, [Path(library.worktree.database)], SQLITE, capfd)


def test_a1_a_damaged_lexical_index_is_never_fresh_and_wrong(
    library: Repo, capfd: pytest.CaptureFixture[str]
) -> None:
    files = [path for path in Path(library.worktree.lexical).iterdir() if path.name[0] != "."]
    _try_all(library, sorted(path for path in files if path.stat().st_size), TANTIVY, capfd)


def forge_identity(file: Path) -> None:
    """Let the seal name the file as it is now, and keep its checksums: a disk that lost a bit."""
    store, kind = (
        (file.parent, "facts") if file.name == "facts.db" else (file.parents[1], "lexical")
    )
    path = store / f"{kind}.checksums"
    _, _, body = path.read_bytes().partition(b"\n")
    found = file.stat()
    now = f"{found.st_ino} {found.st_size} {found.st_mtime_ns} {found.st_ctime_ns}"
    lines = body.decode().split("\n")
    for number, line in enumerate(lines):
        if line.startswith(f"{file.name} "):
            lines[number] = f"{file.name} {now} {' '.join(line.split(' ')[5:])}"
    body = "\n".join(lines).encode()
    path.write_bytes(b"%08x\n%s" % (crc32(body), body))


def test_a1_a_bit_that_the_disk_lost_is_noticed_by_who_reads_it(library: Repo) -> None:
    """One flip in every page, and in every lexical file, while all identities are as sealed."""
    chance = random.Random(SEED)
    store = Path(library.worktree.store)
    pages = range(0, (store / "facts.db").stat().st_size, 4096)
    lexical = [
        path
        for path in (store / "lexical").iterdir()
        if path.name[0] != "." and path.stat().st_size
    ]
    places = [(store / "facts.db", at + chance.randrange(4096)) for at in pages]
    places += [(file, chance.randrange(file.stat().st_size)) for file in sorted(lexical)]
    for file, at in places:
        sound = file.read_bytes()
        file.write_bytes(
            sound[:at] + bytes([sound[at] ^ 1 << chance.randrange(8)]) + sound[at + 1 :]
        )
        forge_identity(file)
        checksums._intact.clear()  # as in a new process
        kind = 2 if file in lexical else chance.randrange(3)
        with pytest.raises(GitIndexError, match="damaged"):
            _ask_index(library, chance.choice(NAMES), kind)
        file.write_bytes(sound)
        forge_identity(file)
    assert _grep(library, NAMES[0])["freshness"]["state"] == "fresh"


def test_a1_what_the_disk_lost_is_answered_by_a_scan_and_mended(tmp_path: Path) -> None:
    repo = make_quiet(Repo(tmp_path / "repo"))
    file = Path(repo.worktree.database)
    for mend in ("index", "run"):
        data = bytearray(file.read_bytes())
        data[-100] ^= 1
        file.write_bytes(data)
        forge_identity(file)
        done = repo.gitindex("grep", "helper")
        assert "answered by a live scan: the store is damaged" in done.stderr
        assert done.stdout.count("helper") == 2
        if mend == "index":
            assert repo.gitindex("index").returncode == 0
        else:
            repo.commit("empty", "--allow-empty")
            Runner(repo.worktree, Pace(0.0, 0.01, 0.0)).serve()
        assert repo.gitindex("grep", "helper").stderr == ""
        check_store(repo.worktree.store)
        assert repo.state() == "fresh"


@pytest.mark.parametrize("torn", [".store", ".term", "meta.json", "gone"])
def test_a1_a_lexical_file_that_a_power_cut_tore_is_mended(tmp_path: Path, torn: str) -> None:
    """Its writer had not got to its end: the seal is open and does not know the file."""
    repo = make_quiet(Repo(tmp_path / "repo"))
    lexical = Path(repo.worktree.lexical)
    file = next(lexical.glob("*.store" if torn == "gone" else f"*{torn}"))
    if torn == "gone":
        for part in lexical.glob(f"{file.stem}*"):
            part.unlink()
    else:
        file.write_bytes(file.read_bytes()[:-6])
    checksums._write(f"{lexical.parent}/lexical.checksums", checksums.Checksums(True, {}))
    with pytest.raises(GitIndexError, match=r"is torn|is not what was written"):
        check_store(repo.worktree.store)
    append_event(repo.worktree, "post-commit")
    Runner(repo.worktree).serve()
    assert repo.state() == "fresh"
    repo.assert_published()


@pytest.mark.parametrize("half", ["facts.db", "lexical"])
def test_a1_status_says_so_and_the_next_runner_mends(tmp_path: Path, half: str) -> None:
    repo = Repo(tmp_path / "repo")
    repo.init()
    repo.write("a.py", "def alpha():\n    return 1\n")
    repo.commit()
    repo.index()
    store = Path(repo.worktree.store)
    file = store / half if half == "facts.db" else next((store / half).glob("*.store"))
    file.write_bytes(_flip(random.Random(3), file.read_bytes()))
    status = repo.gitindex("status")
    assert status.returncode == 4
    assert status.stdout.startswith("error: the store is damaged")
    told = repo.answer("status")
    assert (told["state"], told["indexStatus"]["index_state"]) == ("error", "error")
    assert told["indexStatus"]["last_error"].startswith("the store is damaged")
    with pytest.raises(GitIndexError, match="damaged"):
        check_store(repo.worktree.store)
    answer = _grep(repo, "alpha")
    assert answer["freshness"]["state"] == "unknown"
    assert "damaged" in answer["warnings"][0]
    assert repo.gitindex("doctor").returncode == 4
    Runner(repo.worktree).serve(RefreshRequest(repo.worktree, "test"))
    assert repo.state() == "fresh"
    check_store(repo.worktree.store)
    assert _grep(repo, "alpha")["freshness"]["state"] == "fresh"


def test_a1_a_sound_copy_is_not_damaged(tmp_path: Path) -> None:
    """Other identities, the same bytes: read through once, and served."""
    repo = Repo(tmp_path / "repo")
    repo.init()
    repo.write("a.py", "def alpha():\n    return 1\n")
    repo.commit()
    repo.index()
    for file in Path(repo.worktree.store).rglob("*"):
        if file.is_file() and file.stat().st_size:
            file.write_bytes(file.read_bytes())
    assert repo.state() == "fresh"
    assert _grep(repo, "alpha")["freshness"]["state"] == "fresh"


def test_a1_a_runner_that_lives_seals_only_what_it_wrote(tmp_path: Path) -> None:
    """Damage that happens while a writer has the store open is not sealed by its next publish."""
    repo = Repo(tmp_path / "repo")
    repo.init()
    repo.write("a.py", "def alpha():\n    return 1\n" * 400)
    repo.commit()
    repo.index()
    database = Path(repo.worktree.database)
    before = database.read_bytes()
    changed = bytearray(before)
    changed[-100] ^= 1
    repo.write("b.py", "def beta():\n    return 1\n")
    repo.commit()
    subprocess.run(["sync"], check=False)
    database.write_bytes(bytes(changed))
    repo.index()
    check_store(repo.worktree.store)
    assert repo.state() == "fresh"
