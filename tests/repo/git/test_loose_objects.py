"""Loose objects that were cut short, exchanged or are no files: missing, never a loop without an end."""

from __future__ import annotations

import os
import resource
import signal
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from gitindex.base.errors import GitIndexError, ObjectMissing
from gitindex.base.vocabulary import SkipReason
from gitindex.base.worktree import worktree_at
from gitindex.git.git_objects import GitCommandRepository
from gitindex.git.libgit2 import Pygit2Repository
from tests.support import Repo

SECONDS = 60


def loose(repo: Repo, name: str) -> tuple[str, Path]:
    """The id of an object and its file, which may be written from now on."""
    oid = repo.git("rev-parse", name).strip()
    path = repo.path / ".git/objects" / oid[:2] / oid[2:]
    path.chmod(0o600)
    return oid, path


def in_a_child(work: Callable[[], None]) -> None:
    """Run something that must end, in a process that the alarm ends otherwise."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.alarm(SECONDS)
            work()
            code = 0
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.fixture
def numbers(repo: Repo) -> Repo:
    repo.write("numbers.py", "".join(f"x = {n}\n" for n in range(3_000)))
    repo.write("small.py", "def small(): pass\n")
    repo.commit()
    return repo


@pytest.mark.promise("I-42")
@pytest.mark.parametrize("packed", [False, True], ids=["loose", "packed"])
def test_without_descriptors_nothing_is_missing(numbers: Repo, packed: bool) -> None:
    oid = numbers.git("rev-parse", "HEAD:small.py").strip()
    if packed:
        numbers.git("repack", "-qad")

    def read_without_descriptors() -> None:
        repository = Pygit2Repository(numbers.worktree)
        before = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (0, before[1]))
        for ask in (repository.read, repository.size):
            with pytest.raises(GitIndexError, match="Too many open files") as raised:
                ask(oid)
            assert not isinstance(raised.value, ObjectMissing)
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
        assert repository.read(oid) == b"def small(): pass\n"

    in_a_child(read_without_descriptors)


@pytest.mark.promise("I-35")
@pytest.mark.parametrize("name", ["HEAD:numbers.py", "HEAD:small.py"])
def test_a_blob_that_was_cut_short_is_missing(numbers: Repo, name: str) -> None:
    """libgit2 1.9 would inflate what is not there, for ever: it reads no objects here."""
    oid, path = loose(numbers, name)
    whole = path.read_bytes()

    def read_all() -> None:
        for size in {*range(len(whole) // 2)[:30], len(whole) // 2, len(whole) - 15}:
            path.write_bytes(whole[:size])
            repository = Pygit2Repository(numbers.worktree)
            with pytest.raises(ObjectMissing):
                repository.read(oid)

    in_a_child(read_all)
    path.write_bytes(whole[: len(whole) // 2])
    in_a_child(numbers.index)
    lost = [row.path for row in numbers.mapping() if row.skip == SkipReason.MISSING_BLOB]
    assert lost == [name.removeprefix("HEAD:").encode()]


@pytest.mark.parametrize("name", ["HEAD", "HEAD^{tree}"])
def test_a_commit_or_tree_that_was_cut_short_is_said(numbers: Repo, name: str) -> None:
    _, path = loose(numbers, name)
    path.write_bytes(path.read_bytes()[:20])

    def read() -> None:
        repository = Pygit2Repository(numbers.worktree)
        with pytest.raises(GitIndexError):
            list(repository.entries(repository.head().tree))

    in_a_child(read)


def test_what_is_no_object_is_missing(numbers: Repo) -> None:
    (oid, path), (_, other) = loose(numbers, "HEAD:numbers.py"), loose(numbers, "HEAD:small.py")
    exchanged = other.read_bytes()
    for make in (
        lambda: path.write_bytes(exchanged),
        lambda: path.write_bytes(b"x" * 100),
        path.mkdir,
        lambda: path.symlink_to("/dev/zero"),
    ):
        if path.is_dir():
            path.rmdir()
        else:
            path.unlink()
        make()
        with pytest.raises(ObjectMissing):
            Pygit2Repository(numbers.worktree).read(oid)


def test_git_is_not_waited_for_without_end(numbers: Repo) -> None:
    """It opens a pipe in place of an object, and waits for somebody who writes into it."""
    oid, path = loose(numbers, "HEAD:numbers.py")
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(GitIndexError, match="did not answer in time"):
        GitCommandRepository(numbers.worktree, timeout=0.5).read(oid)


@pytest.mark.parametrize("digits", [1, 15, 18, 19, 50])
def test_a_size_that_is_a_lie(numbers: Repo, digits: int) -> None:
    """One of fifty digits raised an OverflowError."""
    for name in ("HEAD:small.py", "HEAD"):
        oid, path = loose(numbers, name)
        path.write_bytes(zlib.compress(b"blob " + b"9" * digits + b"\0def small(): pass\n"))
        with pytest.raises(ObjectMissing):
            Pygit2Repository(numbers.worktree).read(oid)


def test_a_whole_copy_is_found_wherever_it_is(numbers: Repo, tmp_path: Path) -> None:
    text = (numbers.path / "numbers.py").read_bytes()
    numbers.git("clone", "-q", "--shared", str(numbers.path), str(tmp_path / "one"))
    numbers.git("clone", "-q", "--shared", str(tmp_path / "one"), str(tmp_path / "two"))
    oid, path = loose(numbers, "HEAD:numbers.py")
    for folder in (numbers.path, tmp_path / "one", tmp_path / "two"):
        repository = Pygit2Repository(worktree_at(str(folder)))
        assert (repository.read(oid), repository.size(oid)) == (text, len(text))
        assert repository.head().commit == numbers.git("rev-parse", "HEAD").strip()
    numbers.git("repack", "-qa")
    path.write_bytes(b"cut")
    repository = Pygit2Repository(numbers.worktree)
    assert (repository.read(oid), repository.size(oid)) == (text, len(text))
