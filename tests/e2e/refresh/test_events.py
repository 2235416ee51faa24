"""Every event of git, fired by real commands, ends fresh: published equals git's own tree."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from gitindex.base.errors import StoreError
from gitindex.base.vocabulary import ManageOutcome
from gitindex.cli.verbs import indexing as prove
from gitindex.maintenance import gc
from gitindex.refresh import lifecycle as manage
from gitindex.store.scrub import check_store
from tests.support import Repo, runner_pids, wait_for


def _commit_file(
    repo: Repo, name: str = "new.py", text: str = "def brand_new():\n    pass\n"
) -> None:
    repo.write(name, text)
    repo.commit(f"change {name}")


def _side_branch(repo: Repo, *names: str) -> None:
    """A branch `side` with one commit per name, and main checked out again."""
    repo.git("switch", "-qc", "side")
    for name in names or ("side.py",):
        _commit_file(repo, name, f"def {Path(name).stem}():\n    return {name!r}\n")
    repo.git("switch", "-q", "main")


def _amend(repo: Repo) -> None:
    _commit_file(repo)
    repo.write("new.py", "def amended():\n    pass\n")
    repo.commit("second, amended", "--amend")


def _commit_nothing_in_subfolder(repo: Repo) -> None:
    repo.git("-C", "lib", "commit", "-q", "--allow-empty", "-m", "empty", "--no-verify")


def _checkout(repo: Repo) -> None:
    _side_branch(repo)
    repo.git("checkout", "-q", "side")


def _checkout_file(repo: Repo) -> None:
    repo.write("app.py", "edited\n")
    repo.git("checkout", "-q", "--", "app.py")


def _detach(repo: Repo) -> None:
    _commit_file(repo)
    repo.git("switch", "-q", "--detach", "HEAD~1")


def _orphan(repo: Repo) -> None:
    repo.git("switch", "-q", "--orphan", "other")
    _commit_file(repo, "only.py", "only = 1\n")


def _merge(repo: Repo) -> None:
    _side_branch(repo)
    _commit_file(repo)
    repo.git("merge", "-q", "--no-edit", "side")
    assert len(repo.git("rev-list", "--parents", "-1", "HEAD").split()) == 3


def _merge_ff(repo: Repo) -> None:
    _side_branch(repo)
    repo.git("merge", "-q", "--ff-only", "side")


def _merge_squash(repo: Repo) -> None:
    _side_branch(repo, "a.py", "b.py")
    repo.git("merge", "-q", "--squash", "side")
    repo.git("commit", "-q", "-m", "squashed")


def _merge_conflict(repo: Repo) -> None:
    repo.git("switch", "-qc", "side")
    _commit_file(repo, "app.py", "theirs = 1\n")
    repo.git("switch", "-q", "main")
    _commit_file(repo, "app.py", "ours = 1\n")
    assert repo.try_git("merge", "-q", "side").returncode == 1
    repo.write("app.py", "resolved = 1\n")
    repo.git("add", "app.py")
    repo.git("merge", "--continue")


def _rebase(repo: Repo) -> None:
    _side_branch(repo, "a.py", "b.py", "c.py")
    _commit_file(repo)
    repo.git("rebase", "-q", "main", "side")


def _rebase_apply(repo: Repo) -> None:
    _side_branch(repo, "a.py", "b.py")
    _commit_file(repo)
    repo.git("rebase", "-q", "--apply", "main", "side")


def _rebase_fixup(repo: Repo) -> None:
    for name in ("a.py", "b.py", "c.py"):
        _commit_file(repo, name, f"value = {name!r}\n")
    editor = {"GIT_SEQUENCE_EDITOR": "sed -i '2s/^pick/fixup/'"}
    repo.git("rebase", "-q", "-i", "HEAD~3", env=editor)
    assert repo.git("rev-list", "--count", "HEAD").strip() == "3"


def _cherry_pick(repo: Repo) -> None:
    _side_branch(repo, "a.py", "b.py")
    _commit_file(repo)
    repo.git("cherry-pick", "main..side")


def _revert(repo: Repo) -> None:
    _commit_file(repo)
    repo.git("revert", "--no-edit", "HEAD")


def _am(repo: Repo) -> None:
    _side_branch(repo, "a.py", "b.py")
    patches = repo.git("format-patch", "-q", "-o", str(repo.path.parent / "patches"), "main..side")
    _commit_file(repo)
    assert not patches
    repo.git("am", "-q", *sorted(map(str, (repo.path.parent / "patches").iterdir())))


def _bisect(repo: Repo) -> None:
    for name in ("a.py", "b.py", "c.py", "d.py"):
        _commit_file(repo, name, f"value = {name!r}\n")
    repo.git("bisect", "start", "HEAD", "HEAD~4")
    repo.git("bisect", "good")


def _bisect_reset(repo: Repo) -> None:
    _bisect(repo)
    repo.git("bisect", "reset")


def _branch_renamed(repo: Repo) -> None:
    _side_branch(repo)
    repo.git("switch", "-q", "side")
    repo.git("branch", "-m", "renamed")


def _submodule_add(repo: Repo) -> None:
    library = Repo(repo.path.parent / "library")
    library.init()
    _commit_file(library, "inside.py", "inside = 1\n")
    repo.git("submodule", "--quiet", "add", str(library.path), "vendored")
    repo.commit("submodule")


EVENTS: dict[str, Callable[[Repo], None]] = {
    "commit": _commit_file,
    "commit-empty-in-subfolder": _commit_nothing_in_subfolder,
    "amend": _amend,
    "checkout-branch": _checkout,
    "checkout-file": _checkout_file,
    "switch-detach": _detach,
    "switch-orphan": _orphan,
    "merge": _merge,
    "merge-ff": _merge_ff,
    "merge-squash": _merge_squash,
    "merge-conflict": _merge_conflict,
    "rebase": _rebase,
    "rebase-apply": _rebase_apply,
    "rebase-fixup": _rebase_fixup,
    "cherry-pick": _cherry_pick,
    "revert": _revert,
    "am": _am,
    "bisect": _bisect,
    "bisect-reset": _bisect_reset,
    "branch-renamed": _branch_renamed,
    "submodule-add": _submodule_add,
}


@pytest.mark.parametrize("operation", EVENTS.values(), ids=EVENTS.keys())
def test_event_ends_fresh(indexed: Repo, operation: Callable[[Repo], None]) -> None:
    operation(indexed)
    _assert_fresh(indexed)


def _pull_ff(ours: Repo, theirs: Repo) -> None:
    _commit_file(theirs)
    ours.git("pull", "-q", "--ff-only")


def _pull_merge(ours: Repo, theirs: Repo) -> None:
    _commit_file(theirs)
    _commit_file(ours, "ours.py", "ours = 1\n")
    ours.git("pull", "-q", "--no-rebase", "--no-edit")


def _pull_rebase(ours: Repo, theirs: Repo) -> None:
    _commit_file(theirs)
    _commit_file(ours, "ours.py", "ours = 1\n")
    _commit_file(ours, "more.py", "more = 1\n")
    ours.git("pull", "-q", "--rebase")


@pytest.mark.parametrize("pull", [_pull_ff, _pull_merge, _pull_rebase])
def test_pull_ends_fresh(indexed: Repo, pull: Callable[[Repo, Repo], None]) -> None:
    theirs = Repo(indexed.path.parent / "theirs")
    indexed.git("clone", "-q", str(indexed.path), str(theirs.path))
    indexed.git("remote", "add", "origin", str(theirs.path))
    indexed.git("fetch", "-q", "origin")
    indexed.git("branch", "-q", "--set-upstream-to", "origin/main")
    pull(indexed, theirs)
    _assert_fresh(indexed)


def test_t7_message_only_amend_is_fresh_for_the_new_head_and_extracts_nothing(
    indexed: Repo,
) -> None:
    before = indexed.extracted()
    indexed.git("commit", "-q", "--amend", "-m", "other words")
    _assert_fresh(indexed)
    head = indexed.git("rev-parse", "HEAD").strip()
    assert indexed.marker()["headCommit"] == head
    wait_for(lambda: _told(indexed) == ("fresh", head))
    assert indexed.extracted() == before


def test_t7_a_commit_that_changes_no_indexed_file_extracts_nothing(indexed: Repo) -> None:
    before = indexed.extracted()
    indexed.write(".env", "TOKEN=1\n")
    (indexed.path / "link").symlink_to("app.py")
    indexed.commit("nothing to read")
    _assert_fresh(indexed)
    assert indexed.extracted() == before


def test_t12_worktree_add_becomes_fresh_by_itself_and_stays_apart(indexed: Repo) -> None:
    other = Repo(indexed.path.parent / "other tree")
    indexed.git("worktree", "add", "-q", "-b", "side", str(other.path))
    _assert_fresh(other)
    indexed.wait_fresh()
    wait_for(lambda: _told(indexed)[0] == "fresh")
    before = (_told(indexed), indexed.marker())
    _commit_file(other, "side.py", "side = 1\n")
    _assert_fresh(other)
    other.wait_idle()
    assert (_told(indexed), indexed.marker()) == before
    assert indexed.state() == "fresh"
    indexed.assert_published()


def test_a_removed_worktree_is_forgotten_and_disturbs_nobody(indexed: Repo) -> None:
    other = Repo(indexed.path.parent / "other")
    indexed.git("worktree", "add", "-q", "-b", "side", str(other.path))
    _commit_file(other, "side.py", "side = 1\n")
    indexed.git("worktree", "remove", "--force", str(other.path))
    _commit_file(indexed)
    _assert_fresh(indexed)


def test_clone_with_submodules_is_indexed_without_them(indexed: Repo) -> None:
    _submodule_add(indexed)
    clone = Repo(indexed.path.parent / "clone")
    indexed.git("clone", "-q", "--recurse-submodules", str(indexed.path), str(clone.path))
    clone.gitindex("install")
    _assert_fresh(clone)
    skipped = clone.answer("status", "--skipped")["skipped"]
    assert {"path": "vendored", "reason": "submodule"} in skipped


def test_install_inside_a_submodule_indexes_it_by_itself(indexed: Repo) -> None:
    _submodule_add(indexed)
    inside = Repo(indexed.path / "vendored")
    assert inside.gitindex("install").returncode == 0
    _assert_fresh(inside)
    _commit_file(inside)
    _assert_fresh(inside)


def test_install_in_a_repository_with_a_separate_git_folder(repo: Repo) -> None:
    apart = Repo(repo.path.parent / "apart")
    repo.git(
        "init", "-q", "--separate-git-dir", str(repo.path.parent / "elsewhere"), str(apart.path)
    )
    _commit_file(apart)
    assert apart.gitindex("install").returncode == 0
    _assert_fresh(apart)
    _commit_file(apart, "second.py", "second = 2\n")
    _assert_fresh(apart)


def _assert_fresh(repo: Repo) -> None:
    repo.wait_fresh()
    repo.assert_published()
    assert repo.marker()["treeId"] == repo.tree()


def _told(repo: Repo) -> tuple[str, str | None]:
    """State and commit of the public status file."""
    fields = json.loads(Path(repo.worktree.llmc, "rag_index_status.json").read_text())
    return fields["index_state"], fields["last_indexed_commit"]


def test_i15_an_event_during_a_repair_is_served_after_it(
    quiet: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The runner that the hook starts finds the lock taken and leaves."""
    Path(quiet.worktree.marker).unlink()

    def commit_meanwhile(store: str) -> None:
        quiet.write("meanwhile.py", "x = 1\n")
        quiet.commit("meanwhile")
        wait_for(lambda: not runner_pids(quiet.path))
        check_store(store)

    monkeypatch.setattr(manage, "check_store", commit_meanwhile)
    assert manage.repair(quiet.worktree).outcome is ManageOutcome.ADOPTED
    quiet.wait_fresh()
    quiet.assert_published()


def test_i15_an_event_during_a_gc_that_fails_is_served_after_it(
    quiet: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The hook sees a runner alive and starts none."""

    def commit_and_fail(*_: object) -> None:
        quiet.write("meanwhile.py", "x = 1\n")
        quiet.commit("meanwhile")
        assert runner_pids(quiet.path) == []
        raise StoreError("full")

    monkeypatch.setattr(gc, "_remove_leftovers", commit_and_fail)
    with pytest.raises(StoreError):
        prove.gc(str(quiet.path))
    quiet.wait_fresh()
    quiet.assert_published()
