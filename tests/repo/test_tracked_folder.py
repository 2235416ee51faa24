"""Files of ours that somebody adds to git: from that moment on neither hook nor runner touches them."""

from __future__ import annotations

import os
import subprocess
import threading
from itertools import product
from pathlib import Path

import pytest

from gitindex.base.atomic_file import write_atomic
from gitindex.base.errors import GitIndexError
from gitindex.base.shipped import shipped_folder
from gitindex.base.vocabulary import IndexState
from gitindex.coordinator import IndexCoordinator
from gitindex.freshness.status_file import (
    StatusRecord,
    parse_object,
    render_status,
    status_fields,
)
from gitindex.refresh import public_files, public_folder
from gitindex.refresh.lifecycle import clear
from gitindex.refresh.public_folder import TrackedFolder, changing
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


@pytest.mark.parametrize("what", [".llmc", STATUS, STALE, ".llmc/completion_marker.json"])
def test_a4_what_is_added_and_committed_stays_as_it_was_added(quiet: Repo, what: str) -> None:
    """The hook of that very commit runs before any runner could look."""
    before = contents(quiet)
    quiet.git("add", "-f", what)
    quiet.git("commit", "-qm", "ours")
    quiet.wait_idle()
    assert quiet.git("status", "--porcelain") == ""
    with pytest.raises(GitIndexError, match="tracked"):
        IndexCoordinator(str(quiet.path)).reindex_incremental()
    tracked = [os.path.basename(path) for path in quiet.git("ls-files", ".llmc").split()]
    assert {name: contents(quiet)[name] for name in tracked} == {n: before[n] for n in tracked}
    quiet.git("rm", "-rq", "--cached", ".llmc")
    quiet.git("commit", "-qm", "not ours")
    quiet.wait_idle()
    quiet.index()
    assert quiet.state() == "fresh"


@pytest.mark.parametrize("what", [STATUS, STALE])
def test_a4_the_hook_knows_the_objects_of_both_files(quiet: Repo, what: str) -> None:
    before = contents(quiet)
    quiet.git("add", "-f", what)
    fire(quiet)
    assert contents(quiet) == before


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


def test_a4_a_repository_of_sha256(tmp_path: Path) -> None:
    repo = Repo(tmp_path / "repo")
    repo.init("--object-format=sha256")
    repo.write("app.py", "def main(): pass\n")
    repo.commit()
    repo.index()
    before = contents(repo)
    repo.git("add", "-f", STATUS)
    fire(repo)
    assert contents(repo) == before
    repo.git("rm", "-q", "--cached", STATUS)


@pytest.mark.parametrize("state", [IndexState.FRESH, IndexState.ERROR])
def test_a4_an_add_during_the_hooks_change(quiet: Repo, tmp_path: Path, state: IndexState) -> None:
    """The object appears between the hook's look and its change: the bytes are put back."""
    if state is IndexState.ERROR:
        public_files.write_state(quiet.worktree, state, "told")
    adding = f"git add -f {STATUS} {STALE}; "
    change = {IndexState.FRESH: "printf '%s\\n' \"$stale\" 1<>", IndexState.ERROR: 'LC_ALL=C "$mv"'}
    script = tmp_path / "event.sh"
    told = HOOK.read_text()
    assert told.count(change[state]) == 1
    script.write_text(told.replace(change[state], adding + change[state]))
    before = contents(quiet)
    fire(quiet, script)
    assert quiet.git("ls-files", ".llmc").split() == [STATUS, STALE]
    assert quiet.git("diff", "--name-only") == ""
    assert contents(quiet) == before


def test_a4_while_git_writes_its_index_the_hook_waits_for_the_runner(quiet: Repo) -> None:
    before = contents(quiet)
    (quiet.path / ".git/index.lock").touch()
    fire(quiet)
    assert contents(quiet) == before


@pytest.mark.parametrize("attribute", ["filter=lfs", "ident", "working-tree-encoding=UTF-16"])
def test_a4_a_file_that_git_would_convert_is_left_to_the_runner(
    quiet: Repo, attribute: str
) -> None:
    """Its object is not known; an attribute of other files changes nothing."""
    for pattern, marked in (("*.json", False), ("*.bin", True)):
        quiet.write(".gitattributes", f"{pattern} {attribute}\n")
        quiet.git("add", "-A")
        quiet.git("commit", "-qm", pattern, env=UNSEEN)
        quiet.index()
        before = contents(quiet)
        fire(quiet)
        assert (contents(quiet) != before) is marked, pattern
        (quiet.path / ".git/gitindex/spool/main").unlink()


@pytest.mark.parametrize(
    ("file", "text", "marked"),
    [
        (".gitconfig", "[core]\n\tbigFileThreshold = 100\n", False),
        (".gitconfig", "[core]\n\tbigFileThreshold = 1m\n", True),
        (".gitconfig", "[include]\n\tpath = more\n", False),
        (".gitconfig", "[core]\n\tattributesFile = ~/mine\n", False),
        (".config/git/attributes", "*.json filter=lfs\n", False),
        (".config/git/attributes", "*.bin filter=lfs\n", True),
    ],
)
def test_a4_what_the_user_has_configured_for_all_repositories(
    quiet: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: str, text: str, marked: bool
) -> None:
    """An object in a pack, or of converted bytes, is none that the hook could look for."""
    (tmp_path / "mine").write_text("*.json filter=lfs\n")
    (tmp_path / "more").write_text("[core]\n\tbigFileThreshold = 100\n")
    (tmp_path / ".config/git").mkdir(parents=True)
    (tmp_path / "target").write_text(text)
    (tmp_path / file).symlink_to(tmp_path / "target")
    monkeypatch.setenv("HOME", str(tmp_path))
    quiet.write("other.py", "x = 1\n")
    quiet.git("add", "-A")
    quiet.git("commit", "-qm", "x", env=UNSEEN)
    quiet.index()
    before = contents(quiet)
    fire(quiet)
    assert (contents(quiet) != before) is marked


def test_a_link_in_place_of_the_attributes_is_no_error(quiet: Repo) -> None:
    (quiet.path / ".gitattributes").symlink_to("/etc/passwd")
    quiet.git("add", "-A")
    quiet.git("commit", "-qm", "x", env=UNSEEN)
    quiet.index()
    assert quiet.state() == "fresh"


def test_a4_the_runner_puts_back_what_was_added_while_it_wrote(quiet: Repo) -> None:
    before = contents(quiet)

    def change() -> None:
        with changing(quiet.worktree):
            quiet.git("add", "-f", STATUS)
            write_atomic(str(quiet.path / STATUS), b"other\n")
            (quiet.path / STALE).unlink()

    with pytest.raises(TrackedFolder):
        change()
    assert contents(quiet) == before


@pytest.mark.parametrize("ours_is_last", [True, False])
def test_a4_a_checkout_while_the_runner_writes(quiet: Repo, ours_is_last: bool) -> None:
    """The runner wrote its earlier bytes over the file of the branch, and git refused to leave it."""
    quiet.git("switch", "-qc", "tracks", env=UNSEEN)
    quiet.write(STATUS, "{}\n")
    quiet.git("add", "-f", STATUS)
    quiet.git("commit", "-qm", "tracks", env=UNSEEN)
    quiet.git("switch", "-q", "main", env=UNSEEN)
    quiet.index()

    def change() -> None:
        with changing(quiet.worktree):
            if not ours_is_last:
                write_atomic(str(quiet.path / STATUS), b"other\n")
            quiet.git("switch", "-q", "tracks", env=UNSEEN)
            if ours_is_last:
                write_atomic(str(quiet.path / STATUS), b"other\n")

    with pytest.raises(TrackedFolder):
        change()
    assert quiet.git("status", "--porcelain") == ""
    assert (quiet.path / STATUS).read_text() == "{}\n"
    quiet.git("switch", "-q", "main", env=UNSEEN)


def test_a4_a_change_begins_when_git_has_let_go(quiet: Repo) -> None:
    """Git said "unable to create file: File exists" where the runner wrote one during a checkout."""
    lock = quiet.path / ".git/index.lock"
    lock.touch()
    timer = threading.Timer(0.2, lock.unlink)
    timer.start()
    with changing(quiet.worktree):
        assert not lock.exists()
        lock.touch()
        again = threading.Timer(0.2, lock.unlink)
        again.start()
        public_folder.write_public(quiet.worktree, quiet.worktree.stale_status, b"{}\n")
        assert not lock.exists()
    timer.join()
    again.join()


@pytest.mark.parametrize("name", [STATUS, STALE])
def test_a4_what_was_written_during_a_long_checkout_gives_way_later(quiet: Repo, name: str) -> None:
    """The lock outlasted the wait: the runner of the checkout's own event puts git's bytes back."""
    ours = (quiet.path / name).read_bytes()
    quiet.write(name, "{}\n")
    quiet.git("add", "-f", name)
    quiet.git("commit", "-qm", "tracks", env=UNSEEN)
    (quiet.path / name).write_bytes(ours)
    with pytest.raises(GitIndexError, match="tracked"):
        IndexCoordinator(str(quiet.path)).reindex_incremental()
    assert quiet.git("status", "--porcelain") == ""
    quiet.write(name, "of the user\n")
    with pytest.raises(GitIndexError, match="tracked"):
        IndexCoordinator(str(quiet.path)).reindex_incremental()
    assert (quiet.path / name).read_text() == "of the user\n"


def test_a4_the_runner_waits_for_an_add_that_is_under_way(quiet: Repo) -> None:
    """Git has read our file and holds the lock; its index comes after the change."""
    before, lock = contents(quiet), quiet.path / ".git/index.lock"
    other = {"GIT_INDEX_FILE": str(quiet.path.parent / "index")}
    quiet.git("read-tree", "HEAD", env=other)
    quiet.git("add", "-f", STATUS, env=other)
    changed = threading.Event()

    def finish() -> None:
        assert changed.wait(TIMEOUT)
        lock.write_bytes(Path(other["GIT_INDEX_FILE"]).read_bytes())
        lock.rename(quiet.path / ".git/index")

    def change() -> None:
        with changing(quiet.worktree):
            lock.touch()
            write_atomic(str(quiet.path / STATUS), b"other\n")
            changed.set()

    adding = threading.Thread(target=finish)
    adding.start()
    with pytest.raises(TrackedFolder):
        change()
    adding.join(TIMEOUT)
    assert contents(quiet) == before


def test_a4_a_lock_that_stays_is_waited_for_once(
    quiet: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    (quiet.path / ".git/index.lock").touch()
    slept: list[float] = []
    monkeypatch.setattr(public_folder, "LOCK_SECONDS", 0.0)
    monkeypatch.setattr("gitindex.refresh.public_folder.time.sleep", slept.append)
    for _ in range(3):
        public_files.write_state(quiet.worktree, IndexState.REBUILDING)
    assert len(slept) == 1


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


def test_a4_clear_and_sweeping_leave_tracked_files(quiet: Repo) -> None:
    quiet.write(".llmc/.old.1-0.tmp", "mine\n")
    os.utime(quiet.path / ".llmc/.old.1-0.tmp", (1, 1))
    quiet.git("add", "-f", ".llmc")
    before = contents(quiet)
    public_folder.sweep_litter(quiet.worktree)
    clear(quiet.worktree, quiet.worktree.root)
    assert contents(quiet) == before
    assert not Path(quiet.worktree.database).exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_a14_the_hook_leaves_a_folder_of_another_user_alone(quiet: Repo) -> None:
    before = contents(quiet)
    os.chown(quiet.path / ".llmc", 12345, 12345)
    fire(quiet)
    assert contents(quiet) == before
