"""A commit read from its objects says what `git log` says."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

import pytest

from gitindex.git.backend import CHOICE, open_repository
from gitindex.git.subjects import CommitMessage, parents_may_differ, read_commit, read_commits
from tests.support import TIMEOUT, Repo

PIECES = [
    b"word", b"two words", b" ", b"\t", b"\n", b"\n\n", b"\r\n", b"\x0b", b"\x0c", b"\xff\xfe",
    "große Änderung".encode(), b"Signed-off-by: A B <a@b>", b"# no comment", b"\x01", b"  lead",
    b"trail  ", b"\xc2\xa0", b"x" * 400,
]  # fmt: skip


def _write_commit(repo: Repo, data: bytes) -> str:
    done = subprocess.run(
        [
            "git",
            "-C",
            str(repo.path),
            "hash-object",
            "-t",
            "commit",
            "-w",
            "--stdin",
            "--literally",
        ],
        input=data,
        capture_output=True,
        timeout=TIMEOUT,
        check=True,
    )
    return done.stdout.decode().strip()


def _said_by_git(repo: Repo, oid: str) -> CommitMessage:
    found = read_commits(str(repo.path), [oid])
    assert found is not None
    return found[0]


def _trees(repo: Repo) -> list[str]:
    """Trees that differ in contents, modes, links, kinds, a submodule, and in many paths."""
    trees = []
    repo.write("a.py", "x = 1\n")
    repo.write("d/b.py", "y = 1\n")
    trees.append(_tree(repo))
    repo.write("d/b.py", "y = 2\n")
    (repo.path / "a.py").chmod(0o755)
    trees.append(_tree(repo))
    (repo.path / "d/b.py").unlink()
    (repo.path / "d").rmdir()
    repo.write("d", "now a file\n")
    (repo.path / "link").symlink_to("a.py")
    trees.append(_tree(repo))
    repo.git("update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},sub")
    trees.append(repo.git("write-tree").strip())
    for number in range(30):
        repo.write(f"many/{number}.py", f"z = {number}\n")
    trees.append(_tree(repo))
    return trees


def _tree(repo: Repo) -> str:
    repo.git("add", "-A")
    return repo.git("write-tree").strip()


@pytest.mark.parametrize("backend", ["pygit2", "git"])
def test_random_commits(repo: Repo, backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    repo.commit("first", "--allow-empty")
    trees = _trees(repo)
    monkeypatch.setenv(CHOICE, backend)
    opened = open_repository(repo.worktree)
    dice = random.Random(backend)
    made: list[str] = []
    read = 0
    for _ in range(150):
        parents = dice.sample(made, min(len(made), dice.choice((0, 1, 1, 1, 1, 2))))
        lines = [f"tree {dice.choice(trees)}", *(f"parent {p}" for p in parents)]
        lines += ["author A <a@b> 1 +0000", "committer A <a@b> 1 +0000"]
        odd = dice.random()
        if odd < 0.1:
            lines.append("encoding ISO-8859-1")
        elif odd < 0.2:
            lines.append("gpgsig -----BEGIN\n \n encoding x\n -----END")
        message = b"".join(dice.choices(PIECES, k=dice.randint(0, 12)))
        oid = _write_commit(repo, "\n".join(lines).encode() + b"\n\n" + message)
        found = read_commit(opened, oid)
        if found is not None:
            said = _said_by_git(repo, oid)
            assert sorted(found.paths) == sorted(said.paths), oid
            assert _comparable(found) == _comparable(said), message
            bare = read_commit(opened, oid, with_paths=False)
            assert bare == found._replace(paths=())
            read += 1
        made.append(oid)
    opened.close()
    assert read > 100


def _comparable(commit: CommitMessage) -> CommitMessage:
    return commit._replace(body=commit.body.rstrip("\n"), paths=())


def test_git_is_asked_where_parents_may_differ(repo: Repo, tmp_path: Path) -> None:
    for number in range(3):
        repo.write("a.py", f"x = {number}\n")
        repo.commit(f"c{number}")
    assert not parents_may_differ(repo.worktree)
    subprocess.run(
        ["git", "clone", "-q", "--depth=1", f"file://{repo.path}", str(tmp_path / "s")],
        timeout=TIMEOUT,
        check=True,
    )
    assert parents_may_differ(Repo(tmp_path / "s").worktree)


def test_what_is_no_commit_is_left_to_git(repo: Repo) -> None:
    repo.write("a.py", "x = 1\n")
    head = repo.commit()
    opened = open_repository(repo.worktree)
    assert read_commit(opened, head) is not None
    assert read_commit(opened, repo.git("rev-parse", "HEAD:a.py").strip()) is None
    assert read_commit(opened, "1" * 40) is None
    with_zero = f"tree {repo.tree()}\nauthor A <a@b> 1 +0000\ncommitter A <a@b> 1 +0000\n\na\0b"
    assert read_commit(opened, _write_commit(repo, with_zero.encode())) is None
    opened.close()
