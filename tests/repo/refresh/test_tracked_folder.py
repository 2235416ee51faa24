"""Files of ours that somebody adds to git: the runner refuses, the hook changes only bytes we wrote."""

from __future__ import annotations

import os
import shutil
import subprocess
import threading
from itertools import product
from pathlib import Path

import pytest

from gitindex.base.errors import GitIndexError
from gitindex.base.locations import shipped_folder
from gitindex.base.vocabulary import IndexState
from gitindex.coordinator import IndexCoordinator
from gitindex.freshness.observation import prove
from gitindex.freshness.status_file import (
    StatusRecord,
    parse_object,
    render_status,
    status_fields,
)
from gitindex.refresh import public_files
from gitindex.refresh.lifecycle import clear
from gitindex.refresh.refresher import Refresher
from tests.support import TIMEOUT, Repo

STATUS, STALE = ".llmc/rag_index_status.json", ".llmc/stale_status.json"
UNSEEN = {"GITINDEX": "0"}
HOOK = Path(shipped_folder("hooks"), "event.sh")


def fire(repo: Repo, script: Path = HOOK) -> None:
    """Run the hook as git would, with no runner that could follow."""
    Path(repo.worktree.store, "python").write_text("/bin/false\n")
    command = ["sh", "-c", f"gitindex_event=post-commit; . '{script}'"]
    subprocess.run(command, cwd=repo.path, timeout=TIMEOUT, check=True)


def contents(repo: Repo) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (repo.path / ".llmc").iterdir()}


def test_a4_the_hook_still_marks_what_nobody_added(quiet: Repo) -> None:
    before, inode = contents(quiet), (quiet.path / STATUS).stat().st_ino
    stale = before["stale_status.json"]
    for _ in range(2):
        fire(quiet)
        assert contents(quiet) == {**before, "rag_index_status.json": stale}
    assert (quiet.path / STATUS).stat().st_ino == inode, "one write in place, no program"


@pytest.mark.parametrize("state", list(IndexState))
def test_a4_what_the_hook_writes_covers_the_status_of_any_state(state: IndexState) -> None:
    """A runner may replace the status between the hook's look and its write."""
    record = StatusRecord('/r/"index_state": "fresh"', state, "2026-11-17T00:00:00Z", "a" * 40, "5")
    stale = render_status(record._replace(index_state=IndexState.STALE))
    assert len(render_status(record)) == len(stale)
    assert parse_object(render_status(record)) == status_fields(record)


def test_a4_no_mixture_of_the_two_words_is_a_state() -> None:
    """A reader during the write sees some bytes of each."""
    for picked in product("fs", "rt", "ea", "sl", "he"):
        word = "".join(picked)
        assert word in ("fresh", "stale") or word not in list(IndexState)


def test_a4_while_git_writes_its_index_the_hook_waits_for_the_runner(quiet: Repo) -> None:
    before = contents(quiet)
    (quiet.path / ".git/index.lock").touch()
    fire(quiet)
    assert contents(quiet) == before


def test_a4_a_tracked_folder_is_refused_and_the_hook_ends(quiet: Repo) -> None:
    """The hook says `stale` of bytes that the runner wrote, once; nobody says `fresh` of them again."""
    quiet.git("add", "-f", ".llmc")
    quiet.git("commit", "-qm", "ours", env=UNSEEN)
    fire(quiet)
    before = contents(quiet)
    done = quiet.gitindex("index")
    assert done.returncode == 4
    assert ".llmc is tracked by git" in done.stderr
    fire(quiet)
    assert contents(quiet) == before


def test_a4_an_add_during_a_long_job(quiet: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder was free when the job began; its marker is not written into what git tracks now."""
    quiet.write("more.py", "def more(): pass\n")
    quiet.git("add", "more.py")
    quiet.git("commit", "-qm", "more", env=UNSEEN)
    before, read_back = contents(quiet), Refresher._read_back

    def added(self: Refresher, run_id: str) -> None:
        quiet.git("add", "-f", ".llmc")
        read_back(self, run_id)

    monkeypatch.setattr(Refresher, "_read_back", added)
    with pytest.raises(GitIndexError, match="tracked"):
        IndexCoordinator(str(quiet.path)).reindex_incremental()
    assert contents(quiet) == before


def test_a4_a_checkout_while_the_runner_waits_to_write(
    quiet: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before the first status of a clone a runner waits for a second: a branch may come meanwhile."""
    marker = prove(quiet.worktree).marker
    assert marker is not None
    (quiet.path / STATUS).unlink()

    def switched(_worktree: object) -> bool:
        quiet.write(STATUS, "{}\n")
        quiet.git("add", "-f", STATUS)
        return False

    monkeypatch.setattr(public_files, "_is_being_removed", switched)
    public_files.publish_status(quiet.worktree, marker, make=False)
    assert (quiet.path / STATUS).read_text() == "{}\n"


def test_a4_a_checkout_that_has_not_written_its_index_yet(quiet: Repo) -> None:
    marker = prove(quiet.worktree).marker
    assert marker is not None
    index = quiet.path / ".git/index"
    before = index.read_bytes()
    quiet.write(STATUS, "{}\n")
    quiet.git("add", "-f", STATUS)
    index.rename(index.with_name("index.lock"))
    index.write_bytes(before)
    ended = threading.Timer(0.2, lambda: index.with_name("index.lock").rename(index))
    ended.start()
    public_files.publish_status(quiet.worktree, marker)
    ended.join()
    assert (quiet.path / STATUS).read_text() == "{}\n"


def test_a_folder_that_another_thread_makes_meanwhile_is_taken(
    repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The progress of a job is told by a thread of its own: the job failed once and began again."""

    def made(_worktree: object) -> bool:
        (repo.path / ".llmc").mkdir()
        return False

    repo.index_files({"a.py": "a = 1\n"})
    shutil.rmtree(repo.path / ".llmc")
    monkeypatch.setattr(public_files, "_is_being_removed", made)
    public_files.ensure_folder(repo.worktree)
    assert (repo.path / ".llmc/.gitignore").exists()
    assert (repo.path / ".llmc").stat().st_mode & 0o777 == 0o700


def test_a4_clear_and_sweeping_leave_tracked_files(quiet: Repo) -> None:
    quiet.write(".llmc/.old.1-0.tmp", "mine\n")
    os.utime(quiet.path / ".llmc/.old.1-0.tmp", (1, 1))
    quiet.git("add", "-f", ".llmc")
    before = contents(quiet)
    public_files.sweep_litter(quiet.worktree)
    clear(quiet.worktree, quiet.worktree.root)
    assert contents(quiet) == before
    assert not Path(quiet.worktree.database).exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_a14_the_hook_leaves_a_folder_of_another_user_alone(quiet: Repo) -> None:
    before = contents(quiet)
    os.chown(quiet.path / ".llmc", 12345, 12345)
    fire(quiet)
    assert contents(quiet) == before
