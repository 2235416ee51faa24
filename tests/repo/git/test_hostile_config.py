"""What a repository brings along is never run, never overwritten, and never taken for another one."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from gitindex.base.errors import Exit, GitIndexError
from gitindex.base.locations import shipped_folder
from gitindex.base.vocabulary import EditScope, IndexState
from gitindex.base.worktree import find_worktree
from gitindex.coordinator import IndexCoordinator
from gitindex.freshness.observation import observe
from gitindex.freshness.status_file import load_status
from gitindex.git.command import overrides_of
from gitindex.refresh import public_files
from gitindex.refresh.lifecycle import describe
from tests.support import TIMEOUT, Repo

UNSEEN = {"GITINDEX": "0"}


def _filtered(repo: Repo, where: str, key: str) -> Path:
    """A repository whose *.py files name a driver, defined in `where`; it leaves a canary."""
    canary = repo.path.parent / "canary"
    repo.write(".gitattributes", "*.py filter=evil\n")
    repo.git("add", "-A")
    repo.git("commit", "-qm", "attributes", env=UNSEEN)
    repo.index()
    command = f"touch '{canary}'; cat"
    repo.git("config", where, f"filter.evil.{key}", command)
    os.utime(repo.path / "app.py", (1_000_000_000, 1_000_000_000))
    return canary


@pytest.mark.parametrize("key", ["clean", "process"])
def test_a5_no_filter_of_the_repository_runs(quiet: Repo, key: str) -> None:
    canary = _filtered(quiet, "--local", key)
    if key == "process":
        quiet.git("config", "filter.evil.required", "true")
    assert observe(quiet.worktree, EditScope.ALL).head.edits == 0
    # The user's own git looks into files of the index's own second, and would run the driver.
    own = ("-c", "filter.evil.clean=", "-c", "filter.evil.process=", "-c", "filter.evil.required=")
    quiet.git(*own, "update-index", "--assume-unchanged", "lib/util.py")
    quiet.write("lib/util.py", "def changed(): pass\n")
    assert observe(quiet.worktree, EditScope.ALL).head.dirty == (b"lib/util.py",)
    coordinator = IndexCoordinator(str(quiet.path))
    coordinator.search("changed")
    describe(quiet.worktree, ".")
    coordinator.reindex_incremental()
    assert not canary.exists()


def test_a5_a_filter_in_an_included_file(quiet: Repo, tmp_path: Path) -> None:
    canary = _filtered(quiet, "--local", "smudge")
    included = tmp_path / "more.gitconfig"
    included.write_text(f'[filter "evil"]\n\tclean = touch {canary}; cat\n')
    quiet.git("config", "--unset", "filter.evil.smudge")
    quiet.git("config", "include.path", str(included))
    assert observe(quiet.worktree, EditScope.ALL).head.edits == 0
    assert not canary.exists()


def test_a5_the_user_s_own_filter_keeps_working(
    quiet: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As git-lfs does: the bytes on disk are not those in git, and that is no edit."""
    config = Path(os.environ["HOME"], ".gitconfig")
    home = tmp_path / "home"
    home.mkdir()
    (home / ".gitconfig").write_text(
        config.read_text() + '[filter "upper"]\n\tclean = tr A-Z a-z\n\tsmudge = tr a-z A-Z\n'
    )
    monkeypatch.setenv("HOME", str(home))
    quiet.write(".gitattributes", "*.dat filter=upper\n")
    quiet.write("x.dat", "SHOUT\n")
    quiet.git("add", "-A")
    quiet.git("commit", "-qm", "data", env=UNSEEN)
    assert quiet.git("show", "HEAD:x.dat") == "shout\n"
    os.utime(quiet.path / "x.dat", (1_000_000_000, 1_000_000_000))
    assert observe(quiet.worktree, EditScope.ALL).head.edits == 0
    quiet.git("config", "filter.upper.clean", "false")  # the repository cannot replace it
    os.utime(quiet.path / "x.dat", (1_000_000_001, 1_000_000_001))
    assert observe(quiet.worktree, EditScope.ALL).head.edits == 0


def test_a5_only_own_drivers_are_taken_back() -> None:
    answer = (
        b"global\0filter.lfs.clean\ngit-lfs clean -- %f\0global\0filter.lfs.required\ntrue\0"
        b"local\0filter.lfs.clean\nevil\0local\0filter.a.b.process\nevil\0"
    )
    found = dict(overrides_of(answer))
    assert found["filter.lfs.clean"] == "git-lfs clean -- %f"
    assert "filter.lfs.required" not in found, "it is the user's"
    assert (found["filter.a.b.process"], found["filter.a.b.required"]) == ("", "false")


def test_a4_a_branch_that_tracks_our_files_can_be_left_again(quiet: Repo) -> None:
    """Neither hook nor runner touches what git tracks."""
    quiet.git("switch", "-qc", "evil", env=UNSEEN)
    for name in ("rag_index_status.json", "stale_status.json"):
        quiet.write(f".llmc/{name}", "{}\n")
    quiet.git("add", "-f", ".llmc")
    quiet.git("commit", "-qm", "evil", env=UNSEEN)
    quiet.git("switch", "-q", "main", env=UNSEEN)
    quiet.gitindex("run")
    quiet.index()
    assert load_status(str(quiet.path)) is not None
    quiet.git("switch", "-q", "evil")
    quiet.wait_idle()
    assert quiet.git("status", "--porcelain") == ""
    with pytest.raises(GitIndexError, match="tracked"):
        IndexCoordinator(str(quiet.path)).reindex_incremental()
    assert quiet.git("status", "--porcelain") == ""
    quiet.git("switch", "-q", "main")
    quiet.wait_idle()
    quiet.index()
    assert quiet.state() == "fresh"


def test_a4_the_hook_marks_only_what_the_runner_wrote(quiet: Repo) -> None:
    script = Path(shipped_folder("hooks"), "event.sh")

    def fire() -> None:
        subprocess.run(
            ["sh", "-c", f"gitindex_event=post-commit; . '{script}'"],
            cwd=quiet.path,
            timeout=TIMEOUT,
            check=True,
        )

    Path(quiet.worktree.store, "python").write_text("/bin/false\n")
    status, stale = quiet.path / ".llmc/rag_index_status.json", Path(quiet.worktree.stale_status)
    told = status.read_text()
    for other in ("{}\n", told.replace("fresh", "stale").replace("Z", "X"), ""):
        status.write_text(other)
        fire()
        assert (status.read_text(), stale.exists()) == (other, True)
    for ours in ("fresh", "error"):
        status.write_text(told.replace('"fresh"', f'"{ours}"'))
        fire()
        assert status.read_text() == stale.read_text()
    public_files.write_state(quiet.worktree, IndexState.ERROR, 'bad "quotes" {}\n')
    erred = status.read_text()
    status.write_text(erred.replace("bad", "very bad"))
    fire()
    assert "very bad" in status.read_text(), "it is not the one that the runner wrote"
    status.write_text(erred)
    fire()
    record = load_status(str(quiet.path))
    assert record is not None
    assert (record.index_state, record.last_error) == ("stale", None)
    public_files.write_state(quiet.worktree, IndexState.REBUILDING)
    before = status.read_text()
    fire()  # a job runs, and sees the event when it ends
    assert (status.read_text(), stale.read_text()) == (before, "")


def test_a10_a_missing_folder_is_an_error(quiet: Repo) -> None:
    for command in ("status", "check", "search", "index"):
        words = ("helper",) if command == "search" else ()
        done = quiet.gitindex(command, *words, "-C", "no/such/folder")
        assert (done.returncode, done.stdout) == (2, ""), command
        assert "no such folder: no/such/folder" in done.stderr


def test_a10_a_repository_inside_another_is_not_answered_for(quiet: Repo) -> None:
    bare = quiet.path / "vendor/bare.git"
    subprocess.run(["git", "init", "-q", "--bare", str(bare)], check=True, timeout=TIMEOUT)
    for inside in (bare, bare / "refs"):
        with pytest.raises(GitIndexError, match="bare repository"):
            find_worktree(str(inside))
    with pytest.raises(GitIndexError) as missing:
        find_worktree(str(quiet.path / "gone"))
    assert missing.value.code is Exit.USAGE
    assert find_worktree(str(quiet.path / "lib")).root == os.path.realpath(quiet.path)


def test_a14_no_escape_in_tags(repo: Repo) -> None:
    repo.write("a\x1b[31m.py", "def hidden(): pass\n")
    repo.write("b.py", "def shown(): pass\n")
    repo.commit()
    repo.index()
    tags = repo.gitindex("export", "--format", "ctags").stdout
    assert "\x1b" not in tags
    assert "shown\tb.py" in tags
