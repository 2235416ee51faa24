"""Packs, their indexes and git's other files of objects, damaged: what cannot be read is missing."""

from __future__ import annotations

import hashlib
import random
import struct
import subprocess
from collections.abc import Callable
from contextlib import suppress
from functools import partial

import pytest

from gitindex.base.errors import GitIndexError, ObjectMissing
from gitindex.base.vocabulary import SkipReason
from gitindex.git.command import read_blobs
from gitindex.git.git_objects import GitCommandRepository
from gitindex.git.interface import Repository
from gitindex.git.libgit2 import Pygit2Repository
from tests.repo.git.test_loose_objects import in_a_child
from tests.support import Repo

ROUNDS = 40
PREPARED = {
    "one pack": [["repack", "-qadf"]],
    "two packs": [],
    "multi-pack-index": [["multi-pack-index", "write"]],
    "commit-graph": [["repack", "-qad"], ["commit-graph", "write", "--reachable"]],
}


@pytest.mark.parametrize("name", list(PREPARED))
def test_objects_are_the_same_in_every_form_of_packs(packed: Repo, name: str) -> None:
    for command in PREPARED[name]:
        packed.git(*command)
    repository = Pygit2Repository(packed.worktree)
    entries = list(repository.entries(repository.head().tree))
    found = {entry.oid: repository.read(entry.oid) for entry in entries}
    repository.close()
    assert found == read_blobs(str(packed.path), list(found))


@pytest.fixture
def packed(repo: Repo) -> Repo:
    """Two packs, with deltas."""
    text = "".join(f"def f{n}(): return {n}\n" for n in range(300))
    for number in range(4):
        repo.write("big.py", text.replace("f7(", f"changed_{number}("))
        repo.write(f"d/small{number}.py", f"def small_{number}(): pass\n")
        repo.commit()
        if number % 2:
            repo.git("repack", "-qd")
    repo.git("prune-packed")
    return repo


def contents(repo: Repo) -> dict[str, bytes]:
    """All objects, by git."""
    found = {}
    command = ("cat-file", "--batch-all-objects", "--batch-check")
    for line in repo.git(*command).splitlines():
        oid, kind, _ = line.split()
        read = ["git", "-C", str(repo.path), "cat-file", kind, oid]
        found[oid] = subprocess.run(read, capture_output=True, check=True, timeout=60).stdout
    return found


def damage(data: bytes, rng: random.Random) -> bytes:
    """Cut, flipped, zeroed or exchanged bytes; sometimes under a checksum that is right."""
    new = bytearray(data)
    at, size = rng.randrange(len(new)), rng.choice([1, 4, 20, 512])
    kind = rng.randrange(5)
    if kind == 0:
        del new[at:]
    elif kind == 1:
        new[at] ^= 1 << rng.randrange(8)
    elif kind == 2:
        new[at : at + size] = bytes(len(new[at : at + size]))
    elif kind == 3:
        new[at : at + size] = b"\xff" * len(new[at : at + size])
    else:
        one, two = (rng.randrange(len(new) // 4) * 4 for _ in range(2))
        new[one : one + 4], new[two : two + 4] = new[two : two + 4], new[one : one + 4]
    if len(new) > 20 and rng.random() < 0.4:
        new[-20:] = hashlib.sha1(new[:-20]).digest()
    return bytes(new)


def assert_right_or_missing(repository: Repository, head: str, whole: dict[str, bytes]) -> None:
    read_all(repository, whole)
    found = repository.head()
    assert found.commit == head
    assert len(list(repository.entries(found.tree))) == 5


def read_all(repository: Repository, whole: dict[str, bytes]) -> int:
    """Returns how many objects were there; none may be another one."""
    there = 0
    for oid, data in whole.items():
        try:
            assert repository.read(oid) == data
            assert repository.size(oid) == len(data)
            there += 1
        except ObjectMissing:
            continue
    return there


@pytest.mark.parametrize("damaged", [False, True])
def test_loose_objects_of_an_alternate_are_found_beside_packs(packed: Repo, damaged: bool) -> None:
    whole = contents(packed)
    packs = packed.path / ".git/objects/pack"
    for path in sorted(packs.glob("*.pack")):
        data = path.read_bytes()
        subprocess.run(
            ["git", "-C", str(packed.path), "-c", "core.hooksPath=/dev/null", "init", "-q", "copy"],
            check=True,
        )
        unpack = ["git", "-C", str(packed.path / "copy"), "unpack-objects", "-q"]
        subprocess.run(unpack, input=data, check=True, timeout=60)
        if damaged:
            path.chmod(0o600)
            path.write_bytes(data[:12] + bytes(len(data) - 32) + data[-20:])
    loose = packed.path / "copy/.git/objects"
    alternates = packed.path / ".git/objects/info/alternates"
    alternates.write_text(f"{loose}\n")

    def look() -> None:
        repository = Pygit2Repository(packed.worktree)
        assert len(list(repository.entries(repository.head().tree))) == 5
        assert read_all(repository, whole) == len(whole)

    in_a_child(look)


@pytest.mark.promise("I-35", cases=ROUNDS)
@pytest.mark.parametrize("kind", PREPARED)
def test_a_damaged_file_of_objects_is_never_read_wrong(packed: Repo, kind: str) -> None:
    for command in PREPARED[kind]:
        packed.git(*command)
    rng = random.Random(kind)
    whole, head = contents(packed), packed.git("rev-parse", "HEAD").strip()
    objects = packed.path / ".git/objects"
    files = [p for name in ("pack", "info") for p in sorted((objects / name).iterdir())]
    backends: list[Callable[[], Repository]] = [
        lambda: Pygit2Repository(packed.worktree),
        lambda: GitCommandRepository(packed.worktree),
    ]

    def look(make: Callable[[], Repository]) -> None:
        with suppress(GitIndexError):
            assert_right_or_missing(make(), head, whole)

    for number in range(
        ROUNDS
    ):  # each in a process of its own: a file that is mapped never changes
        path = rng.choice(files)
        path.chmod(0o600)
        sound = path.read_bytes()
        path.write_bytes(damage(sound, rng))
        for make in backends[: 1 if number % 4 else 2]:
            in_a_child(partial(look, make))
        path.write_bytes(sound)


def exchange(repo: Repo, one: str, two: str) -> None:
    """Let the pack's index name each of two objects for the other, with sound checksums."""
    [path] = (repo.path / ".git/objects/pack").glob("*.idx")
    path.chmod(0o600)
    data = bytearray(path.read_bytes())
    [count] = struct.unpack(">I", data[8 + 255 * 4 : 8 + 256 * 4])
    names = [data[1032 + 20 * n :][:20].hex() for n in range(count)]
    offsets = 1032 + 24 * count
    a, b = (offsets + 4 * names.index(oid) for oid in (one, two))
    data[a : a + 4], data[b : b + 4] = data[b : b + 4], data[a : a + 4]
    data[-20:] = hashlib.sha1(data[:-20]).digest()
    path.write_bytes(data)


@pytest.mark.parametrize("backend", ["pygit2", "git"])
def test_another_object_is_none(repo: Repo, backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """git gives the other one's bytes without a word; readers answer from the disk."""
    monkeypatch.setenv("GITINDEX_BACKEND", backend)
    repo.write("a.py", "def alpha(): pass\n")
    repo.write("b.py", "def beta(): return alpha()\n")
    repo.commit()
    repo.git("repack", "-qad")
    a, b = (repo.git("rev-parse", f"HEAD:{name}").strip() for name in ("a.py", "b.py"))
    exchange(repo, a, b)
    assert repo.git("cat-file", "-p", a) == "def beta(): return alpha()\n"
    for repository in (Pygit2Repository(repo.worktree), GitCommandRepository(repo.worktree)):
        with pytest.raises(ObjectMissing):
            repository.read(a)
        repository.close()
    assert read_blobs(str(repo.path), [a, b]) == {}
    repo.index()
    lost = {row.path for row in repo.mapping() if row.skip == SkipReason.MISSING_BLOB}
    assert lost == {b"a.py", b"b.py"}
    assert repo.gitindex("grep", "alpha").stdout.splitlines() == [
        "a.py:1:def alpha(): pass",
        "b.py:1:def beta(): return alpha()",
    ]
    assert "b.py:1" in repo.gitindex("refs", "alpha").stdout
    assert "a.py:1" in repo.gitindex("symbols", "alpha").stdout
    assert repo.gitindex("read", "a.py", "--at", "HEAD").returncode == 1


def test_a_blob_that_is_missing_here_and_on_disk_stays_skipped(repo: Repo) -> None:
    """A sparse checkout of a partial clone: nothing is laid over, and it is no deleted file."""
    repo.write("here.py", "def here(): pass\n")
    repo.write("away/gone.py", "def gone(): pass\n")
    repo.commit()
    repo.git("sparse-checkout", "set", "--cone", "nothing")
    oid = repo.git("rev-parse", "HEAD:away/gone.py").strip()
    (repo.path / ".git/objects" / oid[:2] / oid[2:]).unlink()
    repo.index()
    answer = repo.answer("grep", "def")
    assert [row["path"] for row in answer["results"]] == ["here.py"]
    assert answer["notSearched"] == {"missing_blob": 1}
    assert answer["freshness"]["overlayPaths"] == 0
    assert answer["receipt"]["overlayDigest"] is None


def test_one_unreadable_blob_hides_no_other(repo: Repo) -> None:
    for number in range(6):
        repo.write(f"f{number}.py", f"x = {number}\n" * 50)
    repo.commit()
    oids = [repo.git("rev-parse", f"HEAD:f{number}.py").strip() for number in range(6)]
    for oid in (oids[1], oids[2], oids[5]):
        path = repo.path / ".git/objects" / oid[:2] / oid[2:]
        path.chmod(0o600)
        path.write_bytes(path.read_bytes()[:20])
    assert set(read_blobs(str(repo.path), oids)) == {oids[0], oids[3], oids[4]}


@pytest.mark.parametrize("size", [10, 200])
def test_a_pack_that_was_cut_is_said(packed: Repo, size: int) -> None:
    """A refresh ends, with what it lost by name or with an error; it never claims what it lacks."""
    packed.git("repack", "-qad")
    packed.index()
    [pack] = (packed.path / ".git/objects/pack").glob("*.pack")
    pack.chmod(0o600)
    pack.write_bytes(pack.read_bytes()[:size])
    for question in (["index", "--force"], ["status"], ["grep", "small_3"]):
        done = packed.gitindex(*question)
        assert "Traceback" not in done.stderr, done
    assert packed.gitindex("status").returncode != 0
    assert packed.gitindex("grep", "small_3").returncode == 4  # git itself fails here
