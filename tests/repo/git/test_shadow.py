"""The copy of git's index: a look with it sees what a look without it sees, whatever happens to the files."""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from gitindex.base.vocabulary import EditScope
from gitindex.git import shadow_index as shadow
from gitindex.git import worktree_probe
from gitindex.git.command import Running
from gitindex.git.index_file import Unreadable, stamps_of
from gitindex.git.shadow_index import copy_of, find_shadow, refresh_shadow_index
from gitindex.git.worktree_probe import HeadState, read_head_state
from gitindex.refresh.detached import help_readers
from tests.support import Repo, wait_for

AGE = 100  # seconds: git trusts no folder that was changed in the second of the look, or later


@pytest.fixture
def tree(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> Repo:
    """A tree of folders, some files tracked, some not, some ignored; nothing changed lately."""
    monkeypatch.setattr(shadow, "LEAST_BYTES", 0)
    for number in range(12):
        repo.write(f"d{number}/sub/tracked.py", f"x = {number}\n")
    repo.write(".gitignore", "*.log\n")
    repo.write("d1/.gitignore", "*.tmp\n")
    repo.write("top.py", "y = 1\n")
    repo.commit()
    repo.write("d2/new.py", "new\n")
    repo.write("d3/sub/deep/er/new.py", "new\n")
    repo.write("d4/ignored.log", "log\n")
    os.mkdir(repo.path / "empty")
    for name in ("shadow", "spool"):
        os.makedirs(Path(repo.worktree.store, name), exist_ok=True)
    age(repo)
    return repo


def age(repo: Repo) -> None:
    """Let everything be old: it is only then that git trusts the copy. Change times cannot be set."""
    for folder, _, names in os.walk(repo.path):
        for name in ("", *names):
            path = os.path.join(folder, name)
            if "/.git/" not in path and not os.path.islink(path):
                then = os.stat(path).st_mtime - AGE
                os.utime(path, (then, then))
    repo.git("status")
    next_second(repo)


def next_second(repo: Repo) -> None:
    """Wait for it, by the clock that files have: it lags a little behind."""
    now = second(repo)
    wait_for(lambda: second(repo) > now)


def second(repo: Repo) -> int:
    tick = Path(repo.worktree.store, "tick")
    tick.unlink(missing_ok=True)
    tick.touch()
    return int(tick.stat().st_mtime)


def plainly(repo: Repo) -> HeadState:
    """What git sees without the copy."""
    note = Path(repo.worktree.shadow)
    held = note.read_bytes()
    note.unlink()
    try:
        return read_head_state(repo.worktree)
    finally:
        note.write_bytes(held)


def check(repo: Repo) -> HeadState:
    """A look with the copy, which is in force, is a look without it."""
    assert find_shadow(repo.worktree) is not None
    seen = read_head_state(repo.worktree)
    assert seen == plainly(repo)
    return seen


def swap_folder(root: Path) -> None:
    shutil.copytree(root / "d5", root / "other")
    (root / "other/sub/unseen.py").touch()
    os.rename(root / "d5", root / "d5.away")
    os.rename(root / "other", root / "d5")


def link_folder(root: Path) -> None:
    os.rename(root / "d5", root / "d5.away")
    (root / "d5").symlink_to("d6")


def hide_in_the_past(root: Path) -> None:
    """Put a file into a folder and set the folder's time back: its change time tells."""
    found = os.stat(root / "d7")
    (root / "d7/hidden.py").touch()
    os.utime(root / "d7", ns=(found.st_atime_ns, found.st_mtime_ns))


def edit_in_the_past(root: Path) -> None:
    found = os.stat(root / "d7/sub/tracked.py")
    (root / "d7/sub/tracked.py").write_text("x = 9\n")
    os.utime(root / "d7/sub/tracked.py", ns=(found.st_atime_ns, found.st_mtime_ns))


def nest_repository(root: Path) -> None:
    os.makedirs(root / "d2/inner/.git")
    (root / "d2/inner/file.py").touch()


def write(root: Path, name: str, text: str) -> None:
    (root / name).parent.mkdir(parents=True, exist_ok=True)
    (root / name).write_text(text)


CHANGES: dict[str, Callable[[Path], object]] = {
    "nothing": lambda root: None,
    "a new file": lambda root: write(root, "d1/sub/new.py", ""),
    "a new file at the top": lambda root: write(root, "new.py", ""),
    "a new nested folder": lambda root: write(root, "d1/a/b/c/new.py", ""),
    "a file in an empty folder": lambda root: write(root, "empty/new.py", ""),
    "a file below an untracked folder": lambda root: write(root, "d3/sub/deep/er/two.py", ""),
    "an ignored file": lambda root: write(root, "d1/new.log", ""),
    "a file renamed in its folder": lambda root: os.rename(root / "d2/new.py", root / "d2/old.py"),
    "an untracked file is gone": lambda root: os.unlink(root / "d2/new.py"),
    "a tracked file is gone": lambda root: os.unlink(root / "d2/sub/tracked.py"),
    "a tracked file moved": lambda root: os.rename(root / "top.py", root / "d1/top.py"),
    "a folder is gone": lambda root: shutil.rmtree(root / "d3"),
    "a folder replaced": swap_folder,
    "a folder became a link": link_folder,
    "a folder's time set back": hide_in_the_past,
    "a file's time set back": edit_in_the_past,
    "a nested repository": nest_repository,
    "ignored no more": lambda root: write(root, ".gitignore", "*.lag\n"),
    "ignored now": lambda root: write(root, ".gitignore", "*.log\n*.new.py\nnew.py\n"),
    "a nested rule edited": lambda root: write(root, "d1/.gitignore", "*.py\n"),
    "a new rule file": lambda root: write(root, "d2/.gitignore", "new.py\n"),
    "a rule file in an untracked folder": lambda root: write(root, "d3/sub/deep/.gitignore", "*\n"),
    "info/exclude": lambda root: write(root, ".git/info/exclude", "new.py\n"),
    "an edit in place": lambda root: write(root, "d8/sub/tracked.py", "x = 0\n"),
    "the executable bit": lambda root: os.chmod(root / "top.py", 0o755),
}


@pytest.mark.parametrize("name", CHANGES)
def test_the_copy_hides_nothing(tree: Repo, name: str) -> None:
    """Neither the first copy nor one of an index with entries that came and went."""
    refresh_shadow_index(tree.worktree)
    before = check(tree)
    assert set(before.untracked) == {b"d2/new.py", b"d3/sub/deep/er/new.py"}
    tree.write("d9/sub/tracked.py", "x = 99\n")
    tree.write("d9/added.py", "")
    os.unlink(tree.path / "d10/sub/tracked.py")
    tree.git("add", "d9", "d10")
    tree.git("rm", "-q", "--cached", "d11/sub/tracked.py")
    refresh_shadow_index(tree.worktree)
    assert set(check(tree).untracked) == {*before.untracked, b"d11/sub/tracked.py"}
    CHANGES[name](tree.path)
    check(tree)


def test_it_is_kept_up_though_nobody_asks(tree: Repo) -> None:
    help_readers([tree.worktree])
    for number in range(6):
        tree.write("top.py", f"y = {number}\n")
        tree.commit()
        assert find_shadow(tree.worktree) is None
        help_readers([tree.worktree])
        current = shadow.read_note(tree.worktree)
        assert current is not None
        assert shadow.has_checksum(tree.worktree, current)
        assert find_shadow(tree.worktree) is not None
        assert check(tree).dirty == ()


def test_the_users_own_rules(tree: Repo, tmp_path: Path) -> None:
    rules = tmp_path / "rules"
    rules.write_text("nothing\n")
    tree.git("config", "core.excludesFile", str(rules))
    refresh_shadow_index(tree.worktree)
    check(tree)
    rules.write_text("new.py\n")
    assert check(tree).untracked == ()
    tree.git("config", "--unset", "core.excludesFile")
    assert len(check(tree).untracked) == 2


def test_in_the_very_moment_of_the_look(tree: Repo) -> None:
    """Files that come right before and after the copy is made, in folders that are old and new."""
    for number in range(25):
        Path(tree.worktree.shadow).unlink(missing_ok=True)
        write(tree.path, f"d{number % 12}/before{number}.py", "")
        refresh_shadow_index(tree.worktree)
        write(tree.path, f"d{number % 12}/after{number}.py", "")
        write(tree.path, f"d{(number + 1) % 12}/sub/after{number}.py", "")
        assert f"d{number % 12}/after{number}.py".encode() in check(tree).untracked


def test_a_time_set_back_in_the_second_of_the_look(tree: Repo) -> None:
    """Git compares seconds: what happens to such a folder within this second, it would not notice."""
    hide_in_the_past(tree.path)
    refresh_shadow_index(tree.worktree)
    assert find_shadow(tree.worktree) is None
    next_second(tree)
    refresh_shadow_index(tree.worktree)
    assert b"d7/hidden.py" in check(tree).untracked


@pytest.mark.parametrize("version", ["2", "3", "4"])
@pytest.mark.parametrize("form", ["sha1", "sha256"])
def test_the_times_in_an_index(tmp_path: Path, version: str, form: str) -> None:
    repo = Repo(tmp_path / "r")
    repo.init(f"--object-format={form}")
    names = ["a.py", "b/c.py", f"{'long/' * 40}d.py", "é.py", "b/.gitignore"]
    for name in names:
        repo.write(name, "*.log\n")
    repo.git("add", "-A")
    repo.git("update-index", "--index-version", version)
    if version == "3":
        repo.git("update-index", "--skip-worktree", "a.py")
    for number in range(200):
        repo.write(f"new{number}/x/file.py", "")
    repo.git("-c", "core.untrackedCache=true", "-c", "status.showUntrackedFiles=all", "status")
    data = Path(repo.worktree.git_dir, "index").read_bytes()
    held = sorted(stamps_of(data, 20 if form == "sha1" else 32))
    folders = {f for f, _, _ in os.walk(repo.path) if "/.git" not in f}
    seen = [os.stat(repo.path / name) for name in (*names, *folders)]
    assert held == sorted((int(s.st_ctime), int(s.st_mtime)) for s in seen)
    for wrong in (b"", data[:-1], data[:200], b"x" + data):
        with pytest.raises(Unreadable):
            list(stamps_of(wrong, 20 if form == "sha1" else 32))


def test_random_changes(tree: Repo) -> None:
    chance = random.Random(11)
    for _ in range(6):
        Path(tree.worktree.shadow).unlink(missing_ok=True)
        age(tree)
        refresh_shadow_index(tree.worktree)
        for step in range(12):
            if step % 4 == 3:
                tree.git("add", "-A")
                next_second(tree)  # none is made where a time was set back within the second
                refresh_shadow_index(tree.worktree)
            files = [p for p in tree.path.rglob("*") if p.is_file() and ".git" not in p.parts]
            picked = chance.choice(files)
            target = picked.with_name(
                f"r{chance.randrange(9)}.{chance.choice(['py', 'log', 'tmp'])}"
            )
            match chance.randrange(5):
                case 0:
                    target.write_text("made\n")
                case 1:
                    os.rename(picked, target)
                case 2:
                    picked.unlink()
                case 3:
                    picked.write_text(f"{chance.random()}\n")
                case _:
                    write(picked.parent, f"n{chance.randrange(3)}/file.py", "")
            check(tree)


def test_it_counts_while_the_index_says_the_same_of_all_files(tree: Repo) -> None:
    """The user's own `git status` writes down what files look like, and nothing else."""
    refresh_shadow_index(tree.worktree)
    index = Path(tree.worktree.git_dir, "index")
    before = index.read_bytes()
    os.utime(tree.path / "top.py")
    tree.git("status")
    assert index.read_bytes() != before
    write(tree.path, "d1/sub/new.py", "")
    assert b"d1/sub/new.py" in check(tree).untracked
    tree.git("add", "d2/new.py")
    assert find_shadow(tree.worktree) is None
    tree.git("reset", "-q")
    assert find_shadow(tree.worktree) is not None
    for on, off in (
        ("--skip-worktree", "--no-skip-worktree"),
        ("--assume-unchanged", "--no-assume-unchanged"),
        ("--chmod=+x", "--chmod=-x"),
    ):
        tree.git("update-index", on, "top.py")
        assert find_shadow(tree.worktree) is None, on
        tree.git("update-index", off, "top.py")
        assert find_shadow(tree.worktree) is not None, off
    tree.git("add", "--intent-to-add", "d2/new.py")
    assert find_shadow(tree.worktree) is None
    tree.git("rm", "-q", "--cached", "d2/new.py")
    tree.git("update-index", "--index-version", "4")
    assert find_shadow(tree.worktree) is None, "the same, but not worth to be understood"
    tree.git("update-index", "--index-version", "2")
    tree.git("update-index", "--split-index")
    assert find_shadow(tree.worktree) is None


def test_it_counts_for_the_index_it_was_made_of(tree: Repo) -> None:
    refresh_shadow_index(tree.worktree)
    tree.git("add", "d2/new.py")
    assert find_shadow(tree.worktree) is None
    assert read_head_state(tree.worktree).dirty == (b"d2/new.py",)
    refresh_shadow_index(tree.worktree)
    assert check(tree).dirty == (b"d2/new.py",)
    tree.git("update-index", "--skip-worktree", "top.py")
    refresh_shadow_index(tree.worktree)
    tree.write("top.py", "hidden from git\n")
    assert b"top.py" in check(tree).dirty, "the copy hides it from git, not from us"


def test_it_is_used_where_new_files_are_not_counted(tree: Repo) -> None:
    refresh_shadow_index(tree.worktree)
    assert find_shadow(tree.worktree) is not None
    assert read_head_state(tree.worktree, EditScope.TRACKED).dirty == ()
    edit_in_the_past(tree.path)
    assert read_head_state(tree.worktree, EditScope.TRACKED).dirty == (b"d7/sub/tracked.py",)


def test_gits_own_index_is_left_alone(tree: Repo) -> None:
    index = Path(tree.worktree.git_dir, "index")
    os.utime(index, (1, 1))  # all of it may have changed: git would like to write it again
    before = index.read_bytes(), index.stat()
    Path(f"{index}.lock").touch()  # and the user is at it right now
    refresh_shadow_index(tree.worktree)
    check(tree)
    assert (index.read_bytes(), index.stat()) == before
    names = set(os.listdir(Path(tree.worktree.store, "shadow")))
    assert names == {"main", "main.index"}


@pytest.mark.parametrize("loss", ["removed", "replaced", "damaged", "emptied"])
def test_a_lost_copy_is_not_missed(tree: Repo, loss: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """To git an index that is missing is an empty one: everything would be new."""
    refresh_shadow_index(tree.worktree)
    copy = Path(copy_of(tree.worktree))

    def lose_it(argv: list[str], env: dict[str, str]) -> Running:
        if "status" not in argv:
            return Running(argv, env)
        if loss == "removed":
            copy.unlink()
        elif loss == "replaced":
            os.rename(shutil.copy(copy, copy.with_name("another")), copy)
        else:
            copy.write_bytes(b"" if loss == "emptied" else copy.read_bytes()[:-30])
        monkeypatch.setattr(worktree_probe, "Running", Running)
        return Running(argv, env)

    monkeypatch.setattr(worktree_probe, "Running", lose_it)
    seen = read_head_state(tree.worktree)
    assert seen.dirty == ()
    assert len(seen.untracked) == 2


def test_doubt_means_no_copy(tree: Repo, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    mounts = tmp_path / "mounts"
    monkeypatch.setattr("gitindex.base.system.MOUNTS", str(mounts))
    root = str(tree.path).replace(" ", "\\040")
    local = "1 0 8:1 / / rw - ext4 /dev/sda1 rw\n"
    for line, made in (
        ("", True),
        (f"2 1 0:9 / {root} rw - nfs4 host:/x rw\n", False),
        (f"2 1 0:9 / {root}/d1 rw - ext4 /dev/sdb1 rw\n", False),
        (f"2 1 0:9 / {root}-not rw - nfs4 host:/x rw\n", True),
        (f"2 1 0:9 / {os.path.dirname(root)} rw shared:1 - fuse.sshfs host:/x rw\n", False),
    ):
        mounts.write_text(local + line)
        Path(tree.worktree.shadow).unlink(missing_ok=True)
        refresh_shadow_index(tree.worktree)
        assert (find_shadow(tree.worktree) is not None) is made, line
    mounts.unlink()
    Path(tree.worktree.shadow).unlink(missing_ok=True)
    refresh_shadow_index(tree.worktree)
    assert find_shadow(tree.worktree) is None
    assert not os.path.exists(copy_of(tree.worktree))


def test_a_small_index_has_none(repo: Repo) -> None:
    repo.write("app.py", "x = 1\n")
    repo.commit()
    repo.index()
    assert find_shadow(repo.worktree) is None


def test_the_runner_makes_it_and_answers_see_through_it(repo: Repo) -> None:
    for number in range(700):
        repo.write(f"d{number % 7}/file{number}.py", f"number_{number} = {number}\n")
    repo.commit()
    repo.index()
    wait_for(lambda: find_shadow(repo.worktree) is not None)
    repo.write("d1/fresh.py", "brand_new_name = 1\n")
    answer = repo.answer("search", "brand_new_name")
    assert [row["path"] for row in answer["results"]] == ["d1/fresh.py"]
    repo.git("add", ".")
    repo.git("commit", "-qm", "more")
    assert find_shadow(repo.worktree) is None
    repo.index()
    wait_for(lambda: find_shadow(repo.worktree) is not None)


def test_of_two_writers_at_once_no_note_is_of_the_other_ones_copy(
    tree: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second process makes a copy of a newer index while the first is about to write its note."""
    render = shadow.ShadowRecord.render
    calls: list[int] = []

    def late(record: shadow.ShadowRecord) -> bytes:
        calls.append(1)
        if len(calls) == 1:
            tree.git("add", "d2/new.py")
            refresh_shadow_index(tree.worktree)
            assert find_shadow(tree.worktree) is not None
        return render(record)

    monkeypatch.setattr(shadow.ShadowRecord, "render", late)
    refresh_shadow_index(tree.worktree)
    assert len(calls) == 2
    assert find_shadow(tree.worktree) is None, "the note that came last is of a copy that is gone"
    monkeypatch.undo()
    monkeypatch.setattr(shadow, "LEAST_BYTES", 0)
    assert shadow.is_due(tree.worktree)
    refresh_shadow_index(tree.worktree)
    assert not shadow.is_due(tree.worktree)
    check(tree)
