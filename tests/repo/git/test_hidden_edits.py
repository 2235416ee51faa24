"""Edits that git was told, or can be led, not to see. The bytes on disk are the oracle, not git's status."""

from __future__ import annotations

import os
import random
import re
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from gitindex.base.locations import shipped_folder
from gitindex.base.vocabulary import EditScope, IndexState
from gitindex.freshness.observation import observe
from gitindex.freshness.verdict import judge
from gitindex.git import hidden_edits as unseen
from gitindex.git.command import HARDENING, run_git
from gitindex.git.index_file import (
    SECOND,
    SIZE,
    ComparedEntry,
    UncheckedEntry,
    Unreadable,
    find_unchecked,
)
from gitindex.git.interface import blob_id
from gitindex.install.aliases import install_aliases
from gitindex.refresh.public_files import is_tracked
from tests.support import Repo, wait_for

NEW = "def another():\n    return 42\n"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One of its own: aliases are installed there."""
    folder = tmp_path / "home"
    folder.mkdir()
    shutil.copy(Path(os.environ["HOME"], ".gitconfig"), folder / ".gitconfig")
    monkeypatch.setenv("HOME", str(folder))


def _assume_unchanged(repo: Repo) -> None:
    repo.git("update-index", "--assume-unchanged", "lib/util.py")
    repo.write("lib/util.py", NEW)


def _skip_worktree(repo: Repo) -> None:
    repo.git("update-index", "--skip-worktree", "lib/util.py")
    repo.write("lib/util.py", NEW)


def _both_bits(repo: Repo) -> None:
    repo.git("update-index", "--assume-unchanged", "lib/util.py")
    _skip_worktree(repo)


def _ignore_stat(repo: Repo) -> None:
    """Every file that git writes is then assumed to be unchanged."""
    repo.git("config", "core.ignoreStat", "true")
    repo.git("rm", "-q", "--cached", "-r", ".")
    repo.git("reset", "-q", "--hard")
    repo.write("lib/util.py", NEW)


def _outside_of_a_sparse_checkout(repo: Repo) -> None:
    repo.git("config", "sparse.expectFilesOutsideOfPatterns", "true")
    repo.git("sparse-checkout", "set", "--no-cone", "/app.py")
    assert not (repo.path / "lib").exists()
    repo.write("lib/util.py", NEW)


def _times_not_trusted(repo: Repo) -> None:
    repo.git("config", "core.trustctime", "false")
    _same_size_and_times(repo)


def _least_stat(repo: Repo) -> None:
    repo.git("config", "core.trustctime", "false")
    repo.git("config", "core.checkStat", "minimal")
    _same_size_and_times(repo)


def _same_size_and_times(repo: Repo) -> None:
    path = repo.path / "lib/util.py"
    os.utime(path, (1_600_000_000, 1_600_000_000))  # long before git's index was written
    repo.git("update-index", "--refresh")
    looked = int(path.stat().st_ctime)
    wait_for(lambda: int(time.time()) > looked)
    path.write_text("def another():\n    return 4\n")
    assert path.stat().st_size == len("def helper():\n    return 42\n")
    os.utime(path, (1_600_000_000, 1_600_000_000))


def _times_given_back_within_a_second(repo: Repo) -> None:
    """Git compares whole seconds: it must have looked in the second of the edit."""
    path = repo.path / "lib/util.py"
    text = path.read_text()
    while True:
        path.write_text(text)
        os.utime(path, (1_600_000_000, 1_600_000_000))
        repo.git("update-index", "--refresh")
        before = path.stat()
        path.write_text("def another():\n    return 4\n")
        os.utime(path, (1_600_000_000, 1_600_000_000))
        if int(path.stat().st_ctime) == int(before.st_ctime):
            return


def _monitor_that_lies(repo: Repo) -> None:
    monitor = repo.path / ".git/monitor"
    monitor.write_text('#!/bin/sh\nprintf "token\\0"\n')
    monitor.chmod(0o755)
    repo.git("config", "core.fsmonitor", str(monitor))
    repo.git("update-index", "--fsmonitor")
    repo.git("status")
    repo.write("lib/util.py", NEW)


def _replaced_tree(repo: Repo) -> None:
    """`git replace` makes git take one tree for the other; the index is keyed by what ids say."""
    first, was = repo.git("rev-parse", "HEAD").strip(), repo.tree()
    repo.write("lib/util.py", NEW)
    repo.git("commit", "-qam", "other", env={"GITINDEX": "0"})
    other = repo.tree()
    repo.git("reset", "-q", "--hard", first)
    repo.git("replace", was, other)
    repo.git("reset", "-q", "--hard")


def _work_tree_elsewhere(repo: Repo) -> None:
    elsewhere = repo.path.parent / "elsewhere"
    shutil.copytree(repo.path, elsewhere, ignore=shutil.ignore_patterns(".git", ".llmc"))
    repo.git("config", "core.worktree", str(elsewhere))
    repo.write("lib/util.py", NEW)


HIDING: dict[str, Callable[[Repo], None]] = {
    "assume-unchanged": _assume_unchanged,
    "skip-worktree": _skip_worktree,
    "both-bits": _both_bits,
    "ignore-stat": _ignore_stat,
    "outside-of-a-sparse-checkout": _outside_of_a_sparse_checkout,
    "times-not-trusted": _times_not_trusted,
    "least-stat": _least_stat,
    "times-given-back-within-a-second": _times_given_back_within_a_second,
    "monitor-that-lies": _monitor_that_lies,
    "replaced-tree": _replaced_tree,
    "work-tree-elsewhere": _work_tree_elsewhere,
}


@pytest.mark.parametrize("hide", HIDING.values(), ids=HIDING)
def test_r4_an_edit_that_git_status_does_not_show(
    quiet: Repo, hide: Callable[[Repo], None]
) -> None:
    install_aliases()
    hide(quiet)
    assert quiet.git("status", "--porcelain", "--untracked-files=no") == "", "git sees nothing"
    assert quiet.state() == "fresh", "edits are laid over, and counted"
    status = quiet.gitindex("status")
    assert status.returncode == 0
    assert status.stdout.endswith("; 1 edited path overlaid\n")
    for command in ("check", "status"):
        told = quiet.gitindex(command, "--clean")
        assert (told.returncode, "1 tracked path differs from HEAD" in told.stdout) == (1, True)
    assert quiet.git("fresh") == "fresh\n"
    for command in ("search", "grep", "symbols"):
        found = quiet.answer(command, "another")
        freshness = {key: found["freshness"][key] for key in ("state", "exact", "edits", "branch")}
        expected = {"state": "fresh", "exact": True, "edits": 1, "branch": "main"}
        assert freshness == expected, command
        assert "lib/util.py" in str(found.get("results") or found.get("symbols")), command
    assert "def helper" not in str(quiet.answer("grep", "helper")["results"])


def test_the_shell_asks_git_as_python_does() -> None:
    script = Path(shipped_folder("hooks"), "fresh.sh").read_text()
    assert "-c core.fsmonitor=false" in script
    assert "core.fsmonitor=false" in HARDENING
    assert "--no-optional-locks --no-replace-objects" in script
    assert "git status" not in script.replace("`gitindex status`", ""), "edits decide nothing"


def test_covered_files_that_are_as_git_has_them_are_fresh(quiet: Repo) -> None:
    (quiet.path / "link").symlink_to("app.py")
    quiet.write(".gitattributes", "*.bat text eol=crlf\n*.big -text\n")
    quiet.write("run.bat", "echo\r\n")
    quiet.write("large.big", b"x" * (unseen.MAX_BYTES + 1))
    quiet.git("add", "-A")
    quiet.git("commit", "-qm", "kinds", env={"GITINDEX": "0"})
    quiet.index()
    assert b"\r\n" in (quiet.path / "run.bat").read_bytes()
    names = quiet.git("ls-files").split()
    for bit in ("--assume-unchanged", "--skip-worktree"):
        quiet.git("update-index", bit, *names)
        assert _edits(quiet) == 0, bit
    (quiet.path / "lib/util.py").unlink()
    assert _edits(quiet) == 0, "as a sparse checkout leaves it out"
    for name in ("link", "run.bat", "large.big", "app.py"):
        kept = quiet.path / f"{name}.kept"
        (quiet.path / name).rename(kept)
        (quiet.path / name).write_text("other")
        assert _edits(quiet) == 2, name  # and the new one beside it
        (quiet.path / name).unlink()
        kept.rename(quiet.path / name)
    assert _edits(quiet) == 0


@pytest.mark.parametrize("kind", ["missing", "folder", "fifo", "link", "unreadable"])
def test_something_else_in_a_covered_files_place(quiet: Repo, kind: str) -> None:
    path = quiet.path / "lib/util.py"
    quiet.git("update-index", "--assume-unchanged", "lib/util.py")
    text = path.read_text()
    path.unlink()
    if kind == "folder":
        path.mkdir()
    elif kind == "fifo":
        os.mkfifo(path)
    elif kind == "link":
        (quiet.path.parent / "same").write_text(text)
        path.symlink_to(quiet.path.parent / "same")
    elif kind == "unreadable":
        path.write_text("x")
        path.chmod(0)
    assert _edits(quiet) == 1


def test_a_file_in_the_place_of_a_submodule(quiet: Repo, tmp_path: Path) -> None:
    other = Repo(tmp_path / "other")
    other.init()
    other.write("a.py", "a = 1\n")
    other.commit()
    quiet.git("submodule", "--quiet", "add", str(other.path), "sub")
    quiet.git("commit", "-qm", "submodule", env={"GITINDEX": "0"})
    quiet.index()
    install_aliases()
    Repo(quiet.path / "sub").write("b.py", "b = 1\n")
    Repo(quiet.path / "sub").commit()
    assert _edits(quiet) == 0, "another commit of it changes no answer"
    assert quiet.git("fresh").startswith("fresh")
    shutil.rmtree(quiet.path / "sub")
    quiet.write("sub", NEW)
    assert _edits(quiet) == 1
    assert quiet.gitindex("check", "--clean").returncode == 1
    assert quiet.git("fresh") == "fresh\n"
    assert quiet.answer("grep", "another")["results"]


class Record(NamedTuple):
    """One entry as `git ls-files` prints it."""

    tag: str
    mode: int
    oid: str
    path: bytes
    details: bytes  # times and size


def _records(repo: Repo) -> Iterator[Record]:
    """All entries, as git itself reads its index."""
    output = run_git(str(repo.path), "ls-files", "-v", "-s", "--debug", "-z")
    records = output.split(b"\0")
    for number, after in enumerate(records[1:]):
        # The details of an entry precede the next one, in five lines.
        meta, path = records[number].split(b"\n", 5 if number else 0)[-1].split(b"\t", 1)
        tag, mode, oid, _ = meta.decode().split(" ")
        yield Record(tag, int(mode, 8), oid, path, after)


def _unchecked(record: Record) -> UncheckedEntry | None:
    times = _time(record.details, b"ctime: "), _time(record.details, b"mtime: ")
    covered = _is_covered(record)
    if not covered and times[0] // SECOND == times[1] // SECOND:
        return None
    return UncheckedEntry(record.path, record.mode, record.oid, times, covered, record.tag in "sS")


def _compared(record: Record) -> ComparedEntry | None:
    if record.mode >> 12 != 8 or _is_covered(record):
        return None
    numbers = [int(text) & 0xFFFFFFFF for text in re.findall(rb"\d+", record.details)[:9]]
    *times_and_inode, user, group, size = numbers
    stat = b"".join(n.to_bytes(4) for n in (*times_and_inode, record.mode, user, group, size))
    return ComparedEntry(record.path, record.oid, stat + bytes.fromhex(record.oid), size)


def _is_covered(record: Record) -> bool:
    return record.tag.islower() or record.tag == "S"


def _time(details: bytes, name: bytes) -> int:
    seconds, nanoseconds = details.split(name, 1)[1].split(b"\n", 1)[0].split(b":")
    return int(seconds) * SECOND + int(nanoseconds)


FORMATS: dict[str, tuple[tuple[str, ...], bool]] = {
    "v2": (("update-index", "--index-version", "2"), True),
    "v4": (("update-index", "--index-version", "4"), False),
    "split": (("update-index", "--split-index"), False),
    "untracked-cache": (("update-index", "--force-untracked-cache"), True),
    "sparse": (("sparse-checkout", "set", "--sparse-index", "d1"), False),
}


@pytest.mark.parametrize("name", [*FORMATS, "sha256"])
def test_git_and_we_find_the_same_doubtful_entries(repo: Repo, name: str, tmp_path: Path) -> None:
    """Every name length, all combinations of bits, every format of git's index."""
    made = Repo(tmp_path / "sha256") if name == "sha256" else repo
    if name == "sha256":
        made.init("--object-format=sha256")
    names = [f"d{n % 3}/{'n' * n}é" for n in range(1, 40)] + ["x" * 250, "y/" * 2_040 + "z"]
    for path in names[:-1]:
        made.write(path, path)
    made.git("add", "-A")
    oid = made.git("rev-parse", f":{names[0]}").strip()
    made.git("update-index", "--add", "--cacheinfo", f"100644,{oid},{names[-1]}")
    made.git("commit", "-qm", "names")
    chosen = random.Random(3)
    for bit in ("--assume-unchanged", "--skip-worktree"):
        made.git("update-index", bit, *chosen.sample(names, 15))
    for path in names[:20]:
        os.utime(made.path / path, (1_600_000_000, 1_600_000_000))
    made.git("update-index", "-q", "--refresh")
    made.write("later", "x")
    made.git("add", "-N", "later")
    options, walked = FORMATS.get(name, ((), True))
    if options:
        made.git(*options)
    data = Path(made.worktree.git_dir, "index").read_bytes()
    records = list(_records(made))
    listed = [entry for record in records if (entry := _unchecked(record))]
    assert {entry.covered for entry in listed} == {True, False}
    assert {entry.oid for entry in listed} <= {
        made.git("rev-parse", f":{p}").strip() for p in names
    }
    probe = unseen.probe_index(made.worktree, len(oid))
    assert sorted(probe.unchecked) == sorted(listed)
    compared = [file for record in records if (file := _compared(record))]
    known = frozenset(entry.key[SIZE:] for entry in compared[::2])
    assert sorted(probe.beyond(frozenset())) == sorted(compared)
    rest = sorted(entry for entry in compared if entry.key[SIZE:] not in known)
    assert sorted(probe.beyond(known)) == rest
    if walked:
        assert sorted(find_unchecked(data, len(oid) // 2)) == sorted(listed)
    else:
        with pytest.raises(Unreadable):
            find_unchecked(data, len(oid) // 2)
    for cut in range(0, len(data), 97):
        with pytest.raises(Unreadable):  # a part of an index is never taken for a whole one
            find_unchecked(data[:cut], len(oid) // 2)


@pytest.mark.parametrize("bit", ["--assume-unchanged", "--skip-worktree"])
def test_r4_a_hidden_executable_bit_is_counted_once(quiet: Repo, bit: str) -> None:
    quiet.git("update-index", bit, "app.py", "lib/util.py")
    (quiet.path / "app.py").chmod(0o755)
    assert _edits(quiet) == 1
    quiet.write("app.py", "edited = 1\n")
    assert _edits(quiet) == 1
    quiet.git("config", "core.fileMode", "false")
    assert _edits(quiet) == 1
    quiet.write("app.py", quiet.git("show", "HEAD:app.py"))
    assert _edits(quiet) == 0, "git does not look at modes here"


def _edits(repo: Repo) -> int | None:
    """How many paths every reader lays over; it is fresh all the same."""
    seen = observe(repo.worktree, EditScope.ALL)
    assert judge(seen).state is IndexState.FRESH
    assert len(seen.head.dirty) == len(set(seen.head.dirty))
    return seen.head.edits


def test_blob_id_is_git_s(repo: Repo) -> None:
    repo.write("a", b"a\0b\r\n")
    assert blob_id(b"a\0b\r\n", 40) == repo.git("hash-object", "--no-filters", "a").strip()


def test_commits_of_an_upstream_are_not_counted(quiet: Repo, tmp_path: Path) -> None:
    """That took a walk through its history at every look, and failed where a part of it is missing."""
    install_aliases()
    there = Repo(tmp_path / "there")
    quiet.git("clone", "-q", "--no-local", str(quiet.path), str(there.path))
    there.git("commit", "-q", "--allow-empty", "-m", "one")
    lost = there.git("rev-parse", "HEAD").strip()
    there.git("commit", "-q", "--allow-empty", "-m", "two")
    quiet.git("fetch", "-q", str(there.path), "main:refs/remotes/there/main")
    quiet.git("config", "remote.there.url", str(there.path))
    quiet.git("config", "remote.there.fetch", "+refs/heads/*:refs/remotes/there/*")
    quiet.git("branch", "-q", "--set-upstream-to=there/main")
    (quiet.path / ".git/objects" / lost[:2] / lost[2:]).unlink()
    assert quiet.try_git("status", "--porcelain=v2", "--branch").returncode != 0, "git counts"
    assert quiet.verdict().state is IndexState.FRESH
    assert quiet.git("fresh").startswith("fresh")


TRACKED = {
    "nothing": (),
    "version 4": ("index.version=4",),
    "a split index": ("core.splitIndex=true",),
}


@pytest.mark.parametrize("name", TRACKED)
def test_a_tracked_status_folder_is_found_in_every_format_of_the_index(
    repo: Repo, name: str
) -> None:
    settings = [word for setting in TRACKED[name] for word in ("-c", setting)]
    for number in range(40):
        repo.write(f".link{number}/.lllmc.link", "x\n")
    repo.git(*settings, "add", ".")
    for key in TRACKED[name]:
        repo.git("config", *key.split("="))
    repo.git("update-index", "--force-write-index")
    assert not is_tracked(repo.worktree)
    repo.write(".llmc/rag_index_status.json", "{}\n")
    assert not is_tracked(repo.worktree)
    repo.git("add", "-f", ".llmc/rag_index_status.json")
    assert is_tracked(repo.worktree)
    repo.git("rm", "-q", "--cached", ".llmc/rag_index_status.json")
    assert not is_tracked(repo.worktree)
