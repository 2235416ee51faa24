"""A remembered look: always what git says now, and git is not asked while nothing changes."""

from __future__ import annotations

import errno
import mmap
import os
import random
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from gitindex.base.vocabulary import EditScope
from gitindex.git import status_cache
from gitindex.git.shadow_index import TRUSTED, is_trusted
from gitindex.git.status_cache import StatusCache
from gitindex.git.worktree_probe import HeadState, WorktreeProbe, read_head_state
from gitindex.view.overlay import FactsMemory
from gitindex.view.tree import open_tree
from tests import tree_changes
from tests.support import Repo, wait_for

NAMES = ("one.py", "two.txt")


class Counted:
    """Remembered looks, and how often git looked for them."""

    def __init__(self, repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
        self.repo, self.memory, self.looks = repo, StatusCache(), 0
        start = WorktreeProbe.start

        def counted(*args: object, **named: object) -> WorktreeProbe:
            self.looks += 1
            return start(*args, **named)  # type: ignore[arg-type]

        monkeypatch.setattr(WorktreeProbe, "start", counted)
        monkeypatch.setattr(status_cache, "FILE_SYSTEMS", TRUSTED)  # tests may run in memory

    def ask(self) -> HeadState:
        with self.memory.start(self.repo.worktree) as probe:
            return probe.result()

    def settle(self) -> None:
        """Ask until git is not needed: files are old enough, the tree is listed and watched."""

        def quiet() -> bool:
            before = self.looks
            for _ in range(4):
                self.ask()
            return self.looks == before

        wait_for(quiet)


@pytest.fixture
def asked(repo: Repo, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Counted:
    home = tmp_path / "home"  # its settings change, too
    home.mkdir()
    settings = Path(os.environ["HOME"], ".gitconfig")
    (home / ".gitconfig").write_text(settings.read_text() if settings.exists() else "")
    monkeypatch.setenv("HOME", str(home))
    tree_changes.fill(repo)
    return Counted(repo, monkeypatch)


def compared(state: HeadState) -> tuple[object, ...]:
    steady = state._replace(dirty=(), untracked=(), age_ms=0)
    return steady, {*state.dirty}, {*state.untracked}


def plainly(repo: Repo) -> HeadState:
    return WorktreeProbe(repo.worktree, EditScope.ALL).result()


def test_an_unchanged_tree_is_not_looked_at_again(asked: Counted) -> None:
    asked.repo.write("a/new.py", "new\n")
    asked.repo.write("a/two.txt", "edited\n")
    asked.settle()
    looks = asked.looks
    for _ in range(20):
        assert compared(asked.ask()) == compared(plainly(asked.repo))
    assert asked.looks == looks


@pytest.mark.parametrize("change", dict.fromkeys(tree_changes.CHANGES), ids=lambda c: c.__name__)
def test_each_change_is_seen_from_a_settled_tree(
    asked: Counted, change: tree_changes.Change
) -> None:
    """The last answer was remembered; the change must be seen at once, also a second one."""
    pick = random.Random(change.__name__)
    asked.repo.write("new/deep/untracked.py", "x\n")
    asked.repo.write("e/.gitignore", "*.dat\n")
    asked.settle()
    for _ in range(4):
        change(asked.repo, pick)
        assert compared(asked.ask()) == compared(plainly(asked.repo))


@pytest.mark.parametrize("name", [".gitignore", ".gitattributes"])
def test_a_folder_called_like_a_file_of_rules_is_looked_into(asked: Counted, name: str) -> None:
    asked.repo.write(f"e/{name}/inner/untracked.py", "x\n")
    asked.settle()
    asked.repo.write(f"e/{name}/inner/second.py", "x\n")
    assert compared(asked.ask()) == compared(plainly(asked.repo))


def test_a_write_through_a_mapping_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """It raises no event of the kernel, and changes no time in memory: there git always looks."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        if not is_trusted(folder, status_cache.FILE_SYSTEMS):
            pytest.skip("/var/tmp is on a file system where git always looks")
        repo = Repo(Path(folder, "disk"))
        repo.init()
        tree_changes.fill(repo)
        asked = Counted(repo, monkeypatch)
        asked.settle()
        for number in range(5):
            tree_changes.write_mapped(repo, random.Random(number))
            assert compared(asked.ask()) == compared(plainly(repo))
    monkeypatch.undo()
    assert not is_trusted("/dev/shm", status_cache.FILE_SYSTEMS)


def _mapped(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that a process changes through a mapping that it keeps."""
    with (repo.path / "a/two.txt").open("r+b") as file, mmap.mmap(file.fileno(), 0) as memory:
        asked = Counted(repo, monkeypatch)
        asked.settle()
        monkeypatch.setattr(status_cache, "RECENT", 0.0)
        memory[0] ^= 1
        assert b"a/two.txt" in asked.ask().dirty


def _linked(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that is changed by another of its names, in a folder that nobody watches."""
    other = repo.path.parent / "another name"
    os.link(repo.path / "a/two.txt", other)
    asked = Counted(repo, monkeypatch)
    asked.settle()
    monkeypatch.setattr(status_cache, "RECENT", 0.0)
    other.write_text("changed by another name\n")
    assert b"a/two.txt" in asked.ask().dirty


@pytest.mark.parametrize("change", [_mapped, _linked])
def test_a_change_without_an_event_is_seen_when_all_is_compared(
    monkeypatch: pytest.MonkeyPatch, change: Callable[[Repo, pytest.MonkeyPatch], None]
) -> None:
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        if not is_trusted(folder, status_cache.FILE_SYSTEMS):
            pytest.skip("/var/tmp is on a file system where git always looks")
        repo = Repo(Path(folder, "disk"))
        repo.init()
        tree_changes.fill(repo)
        change(repo, monkeypatch)


def test_without_events_nothing_is_compared_for_a_while(
    asked: Counted, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(status_cache, "RECENT", 3600.0)
    asked.settle()
    looks = asked.looks
    ages = [asked.ask().age_ms for _ in range(5)]
    assert asked.looks == looks
    assert min(ages) > 0, "an answer says how old its comparison is"


def test_too_many_events(asked: Counted, monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel's queue overflows: the folders are watched anew, and no edit is missed."""
    monkeypatch.setattr(status_cache, "RECENT", 3600.0)
    asked.settle()
    first, second = (os.open(asked.repo.path / f"a/{n}", os.O_WRONLY) for n in NAMES)
    most = int(Path("/proc/sys/fs/inotify/max_queued_events").read_text())
    for _ in range(most // 2 + 10):  # one after the other, so that the kernel merges none
        os.write(first, b"x")
        os.write(second, b"x")
    os.close(first)
    os.close(second)
    assert {b"a/one.py", b"a/two.txt"} <= {*asked.ask().dirty}
    asked.settle()
    asked.repo.write("e/two.txt", "after it\n")
    assert compared(asked.ask()) == compared(plainly(asked.repo))


@pytest.mark.parametrize("limit", ["reached", "small"])
def test_no_watch_is_left(asked: Counted, monkeypatch: pytest.MonkeyPatch, limit: str) -> None:
    """The user has no watches left, or we would take most of them: git looks each time."""

    def refused(*_: object) -> int:
        raise OSError(errno.ENOSPC, "no watches left")

    if limit == "reached":
        monkeypatch.setattr(status_cache.FolderWatch, "add", refused)
    else:
        monkeypatch.setattr(status_cache, "watches_allowed", lambda: 8)
    for number in range(6):
        before = asked.looks
        asked.repo.write("e/two.txt", f"edited {number}\n")
        assert compared(asked.ask()) == compared(plainly(asked.repo))
        assert asked.looks > before


def test_a_folder_that_is_filled_while_the_tree_is_listed(
    asked: Counted, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder that comes between its parent's listing and the look is not missed."""
    listed = status_cache._list_folder

    def slowly(root: bytes, folder: bytes) -> object:
        found = listed(root, folder)
        if folder == b"a" and not (asked.repo.path / "a/late").exists():
            asked.repo.write("a/late/deep/file.py", "late\n")
        return found

    monkeypatch.setattr(status_cache, "_list_folder", slowly)
    asked.ask()
    asked.ask()
    assert b"a/late/deep/file.py" in asked.ask().untracked
    asked.repo.write("a/late/deep/second.py", "later\n")
    assert b"a/late/deep/second.py" in asked.ask().untracked


def test_changes_while_git_looks_are_seen_by_the_next_question(
    asked: Counted, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The answer given may be of before; it is not remembered as the answer of after."""
    asked.settle()
    result = WorktreeProbe.result

    def late(probe: WorktreeProbe) -> HeadState:
        state = result(probe)
        asked.repo.write("a/two.txt", f"written at {time.monotonic()}\n")
        return state

    asked.repo.write("c/d/two.txt", "first\n")
    with monkeypatch.context() as patched:
        patched.setattr(WorktreeProbe, "result", late)
        asked.ask()
    assert {b"a/two.txt", b"c/d/two.txt"} <= {*asked.ask().dirty}


def test_an_edit_in_the_tick_of_the_look_is_seen(asked: Counted) -> None:
    """Same size, same times as far as the file system can tell: such a file is too young."""
    path = asked.repo.path / "a/two.txt"
    for number in range(12):
        path.write_bytes(b"%04d\n" % number)
        asked.ask()
        assert b"a/two.txt" in asked.ask().dirty
        asked.repo.git("add", "a/two.txt")
        path.write_bytes(b"%04d\n" % (number + 5_000))
        assert compared(asked.ask()) == compared(plainly(asked.repo))


def test_young_files_and_whole_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    second = 1_000_000_000
    began = 1_700_000_000 * second
    monkeypatch.setattr(time, "time_ns", lambda: began)

    def is_young(changed: int) -> bool:
        return status_cache.is_young(status_cache.Moment(0, [(1, 2, 3, 4, 5, changed)]))

    assert is_young(began - second // 20)
    assert not is_young(began - second // 2 - 1)
    assert is_young(began - second)  # the time is a whole second
    assert not is_young(began - 3 * second)
    assert is_young(began + second)  # a clock that was set back


@pytest.mark.parametrize("doubt", ["split", "mount", "size", "reftable-like"])
def test_a_doubt_means_that_git_looks(
    asked: Counted, monkeypatch: pytest.MonkeyPatch, doubt: str
) -> None:
    """An index in two files, a mount inside, too many folders, a HEAD of another kind."""
    if doubt == "split":
        asked.repo.git("update-index", "--split-index")
    elif doubt == "mount":
        monkeypatch.setattr(status_cache, "is_trusted", lambda *_: False)
    elif doubt == "size":
        monkeypatch.setattr(status_cache, "MAX_NEW_FOLDERS", -9)
    else:
        monkeypatch.setattr(status_cache, "_REF", b"ref: refs/of-another-kind/")
    for number in range(4):
        before = asked.looks
        asked.repo.write("a/one.py", f"edit {number}\n")
        assert compared(asked.ask()) == compared(plainly(asked.repo))
        time.sleep(0.12)
        asked.ask()
        assert asked.looks >= before + 2


def test_another_worktree_and_threads(asked: Counted, tmp_path: Path) -> None:
    """Two worktrees, asked by four threads while one of them is edited: no answer is of the other."""
    other = Repo(tmp_path / "linked")
    asked.repo.git("worktree", "add", "-q", "-b", "linked", str(other.path))
    wrong: list[object] = []

    def questions(repo: Repo, branch: str) -> None:
        for number in range(15):
            with asked.memory.start(repo.worktree) as probe:
                state = probe.result()
            if state.branch != branch or (repo is other and number and not state.dirty):
                wrong.append(state)
            if repo is other:
                repo.write("a/one.py", f"edit {number}\n")

    threads = [threading.Thread(target=questions, args=(asked.repo, "main")) for _ in range(3)]
    threads.append(threading.Thread(target=questions, args=(other, "linked")))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_answers_of_a_server_see_every_edit(asked: Counted) -> None:
    """Through the view that MCP, the page and the editor use."""
    repo, memory = asked.repo, FactsMemory()
    repo.index()
    for number in range(6):
        repo.write("a/one.py", f"def made_{number}(): pass\n")
        with open_tree(repo.worktree, ".", memory=memory) as view:
            assert view.changed().keys() == {b"a/one.py"}
            assert view.read([b"a/one.py"])[b"a/one.py"] == b"def made_%d(): pass\n" % number
    repo.git("checkout", "-q", "--", ".")
    with open_tree(repo.worktree, ".", memory=memory) as view:
        assert not view.changed()
    assert read_head_state(repo.worktree).edits == 0
