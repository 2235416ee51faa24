"""Operations that fire no hook of ours: no reader calls fresh what is not, and one run mends it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pygit2
import pytest

from tests.support import Repo, runner_pids

ANSWERS = {"fresh": 0, "stale": 1}


def _two_commits(repo: Repo) -> None:
    """A second indexed commit, so that there is somewhere to go back to."""
    repo.write("second.py", "def second():\n    return 2\n")
    repo.git("add", "-A")
    repo.git("commit", "-q", "-m", "second", env={"GITINDEX": "0"})
    done = repo.gitindex("run")
    assert _readers(repo) == {"fresh"}, (done.stderr, repo.gitindex("status").stdout, repo.log())


def _reset_hard(repo: Repo) -> None:
    repo.git("reset", "-q", "--hard", "HEAD~1")


def _reset_soft(repo: Repo) -> None:
    repo.git("reset", "-q", "--soft", "HEAD~1")


def _reset_mixed(repo: Repo) -> None:
    repo.git("reset", "-q", "--mixed", "HEAD~1")


def _reset_keep(repo: Repo) -> None:
    repo.git("reset", "-q", "--keep", "HEAD~1")


def _reset_to_the_same_tree(repo: Repo) -> None:
    """Truth is the tree: an edit undone by reset leaves what is indexed."""
    repo.write("app.py", "edited = 1\n")
    repo.git("reset", "-q", "--hard", "HEAD")


def _edit(repo: Repo) -> None:
    repo.write("app.py", "def edited():\n    pass\n")


def _edit_staged(repo: Repo) -> None:
    _edit(repo)
    repo.git("add", "app.py")


def _delete(repo: Repo) -> None:
    (repo.path / "app.py").unlink()


def _add_new(repo: Repo) -> None:
    repo.write("brand_new.py", "x = 1\n")
    repo.git("add", "brand_new.py")


def _rename_on_disk(repo: Repo) -> None:
    repo.git("mv", "app.py", "moved.py")


def _edit_same_size_same_mtime(repo: Repo) -> None:
    """R4: neither size nor mtime tells."""
    target = repo.path / "lib" / "util.py"
    before = target.stat()
    target.write_bytes(target.read_bytes().replace(b"42", b"43"))
    os.utime(target, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert (target.stat().st_size, target.stat().st_mtime_ns) == (
        before.st_size,
        before.st_mtime_ns,
    )


def _executable_bit(repo: Repo) -> None:
    (repo.path / "app.py").chmod(0o755)


def _stash(repo: Repo) -> None:
    """Ends in a clean tree equal to the published one."""
    _edit(repo)
    repo.git("stash", "-q")


def _stash_pop(repo: Repo) -> None:
    _stash(repo)
    repo.git("stash", "pop", "-q")


def _update_ref(repo: Repo) -> None:
    repo.git("update-ref", "refs/heads/main", "HEAD~1")


def _symbolic_ref(repo: Repo) -> None:
    repo.git("branch", "old", "HEAD~1")
    repo.git("symbolic-ref", "HEAD", "refs/heads/old")


def _commit_tree(repo: Repo) -> None:
    tree = repo.git("rev-parse", "HEAD~1^{tree}").strip()
    commit = repo.git("commit-tree", "-p", "HEAD", "-m", "made by hand", tree).strip()
    repo.git("update-ref", "HEAD", commit)


def _commit_tree_same_tree(repo: Repo) -> None:
    commit = repo.git("commit-tree", "-p", "HEAD", "-m", "same tree", repo.tree()).strip()
    repo.git("update-ref", "HEAD", commit)


def _fast_import(repo: Repo) -> None:
    stream = repo.path.parent / "stream"
    stream.write_text(
        "commit refs/heads/main\ncommitter A <a@b> 1700000000 +0000\ndata 6\nstream\n"
        "from refs/heads/main^0\nM 100644 inline imported.py\ndata 6\nx = 1\n\n"
    )
    alias = f"!git fast-import --quiet --force < '{stream}'"
    repo.git("-c", f"alias.imported={alias}", "imported")
    assert "imported.py" in repo.git("ls-tree", "--name-only", "HEAD")


def _libgit2_commit(repo: Repo) -> None:
    repository = pygit2.Repository(str(repo.path))
    repo.write("by_libgit2.py", "y = 2\n")
    repository.index.add("by_libgit2.py")
    repository.index.write()
    tree = repository.index.write_tree()
    author = pygit2.Signature("A", "a@b", 1700000000, 0)
    repository.create_commit("HEAD", author, author, "x", tree, [repository.head.target])
    repository.free()


def _merge_abort(repo: Repo) -> None:
    _conflicting_branch(repo)
    assert repo.try_git("merge", "-q", "side").returncode == 1
    repo.git("merge", "--abort")


def _merge_conflict(repo: Repo) -> None:
    _conflicting_branch(repo)
    assert repo.try_git("merge", "-q", "side").returncode == 1


def _merge_no_commit(repo: Repo) -> None:
    _other_branch(repo)
    repo.git("merge", "-q", "--no-ff", "--no-commit", "side")


def _rebase_abort(repo: Repo) -> None:
    _conflicting_branch(repo)
    done = repo.try_git("rebase", "-q", "side", env={"GITINDEX": "0"})
    assert done.returncode == 1
    repo.git("rebase", "--abort")


def _rebase_stopped(repo: Repo) -> None:
    _conflicting_branch(repo)
    assert repo.try_git("rebase", "-q", "side", env={"GITINDEX": "0"}).returncode == 1


def _cherry_pick_ff(repo: Repo) -> None:
    _other_branch(repo)
    repo.git("cherry-pick", "--ff", "side")


def _sparse_checkout(repo: Repo) -> None:
    """Files absent from disk by the user's will are no difference."""
    repo.git("sparse-checkout", "set", "--no-cone", "/lib/")


def _other_branch(repo: Repo) -> None:
    _commit_on_side(repo, "other.py", "other = 1\n")


def _conflicting_branch(repo: Repo) -> None:
    _commit_on_side(repo, "app.py", "theirs = 1\n")
    _commit_unseen(repo, "app.py", "ours = 1\n")
    repo.gitindex("run")


def _commit_on_side(repo: Repo, name: str, text: str) -> None:
    unseen = {"GITINDEX": "0"}
    repo.git("switch", "-qc", "side", env=unseen)
    _commit_unseen(repo, name, text)
    repo.git("switch", "-q", "main", env=unseen)


def _commit_unseen(repo: Repo, name: str, text: str) -> None:
    repo.write(name, text)
    repo.git("add", "-A")
    repo.git("commit", "-qm", name, env={"GITINDEX": "0"})


SILENT: dict[str, tuple[Callable[[Repo], None], str]] = {
    "reset-hard": (_reset_hard, "stale"),
    "reset-soft": (_reset_soft, "stale"),
    "reset-mixed": (_reset_mixed, "stale"),
    "reset-keep": (_reset_keep, "stale"),
    "reset-to-the-same-tree": (_reset_to_the_same_tree, "fresh"),
    "edit": (_edit, "fresh"),
    "edit-staged": (_edit_staged, "fresh"),
    "delete": (_delete, "fresh"),
    "add-new": (_add_new, "fresh"),
    "rename-on-disk": (_rename_on_disk, "fresh"),
    "r4-same-size-same-mtime": (_edit_same_size_same_mtime, "fresh"),
    "executable-bit": (_executable_bit, "fresh"),
    "stash": (_stash, "fresh"),
    "stash-pop": (_stash_pop, "fresh"),
    "update-ref": (_update_ref, "stale"),
    "symbolic-ref": (_symbolic_ref, "stale"),
    "commit-tree": (_commit_tree, "stale"),
    "commit-tree-same-tree": (_commit_tree_same_tree, "fresh"),
    "fast-import": (_fast_import, "stale"),
    "libgit2-commit": (_libgit2_commit, "stale"),
    "merge-abort": (_merge_abort, "fresh"),
    "merge-conflict": (_merge_conflict, "fresh"),
    "merge-no-commit": (_merge_no_commit, "fresh"),
    "rebase-abort": (_rebase_abort, "fresh"),
    "rebase-stopped": (_rebase_stopped, "stale"),
    "cherry-pick-ff": (_cherry_pick_ff, "stale"),
    "sparse-checkout": (_sparse_checkout, "fresh"),
}


@pytest.mark.promise("I-01", "P-1")
@pytest.mark.parametrize(("operation", "expected"), SILENT.values(), ids=SILENT.keys())
def test_q24_readers_tell_the_truth_without_a_hook(
    quiet: Repo, operation: Callable[[Repo], None], expected: str
) -> None:
    _two_commits(quiet)
    operation(quiet)
    assert runner_pids(quiet.path) == []
    assert not os.path.exists(quiet.worktree.spool), "a hook fired after all"
    assert expected == ("fresh" if _truly_fresh(quiet) else "stale")
    assert _readers(quiet) == {expected}
    _check_edits(quiet)
    quiet.git("reset", "-q", "--hard", "HEAD")
    assert quiet.gitindex("run").returncode == 0
    assert _readers(quiet) == {"fresh"}
    quiet.assert_published()
    assert quiet.marker()["treeId"] == quiet.tree()


def test_a_forged_status_file_changes_no_answer(quiet: Repo) -> None:
    status = Path(quiet.worktree.llmc, "rag_index_status.json")
    told = status.read_text()
    assert '"fresh"' in told
    quiet.git("commit", "-q", "--allow-empty", "-m", "same tree", env={"GITINDEX": "0"})
    _commit_unseen(quiet, "app.py", "edited = 1\n")
    status.write_text(told)
    assert _readers(quiet) == {"stale"}


def test_a_deleted_store_or_marker_is_not_fresh(quiet: Repo) -> None:
    Path(quiet.worktree.stamp).unlink()
    status = quiet.gitindex("status", "--json")
    assert status.returncode == 3
    assert json.loads(status.stdout)["freshness"]["state"] == "stale"
    assert quiet.gitindex("run").returncode == 0
    assert _readers(quiet) == {"fresh"}


def _check_edits(repo: Repo) -> None:
    """Every edit that git knows of is counted, and `--clean` tells tracked ones."""
    told = repo.git("status", "--porcelain", "--no-renames", "--untracked-files=all").splitlines()
    tracked = [line for line in told if not line.startswith("?")]
    assert repo.answer("status")["freshness"]["edits"] == len(told)
    clean = repo.gitindex("check", "--clean")
    assert clean.returncode == (1 if tracked else repo.gitindex("check").returncode)
    assert ("not clean" in clean.stdout) is bool(tracked)


def _truly_fresh(repo: Repo) -> bool:
    """By git's own word: HEAD's tree is the published one. Edits are laid over every answer."""
    return bool(repo.tree() == repo.marker()["treeId"])


def _readers(repo: Repo) -> set[str]:
    """What every reader says, exit codes checked."""
    said = set()
    for command in ("status", "check"):
        done = repo.gitindex(command)
        word = done.stdout.partition(":")[0].strip()
        assert done.returncode == ANSWERS[word]
        said.add(word)
    said.add(repo.answer("search", "helper")["freshness"]["state"])
    said.add(repo.answer("status")["freshness"]["state"])
    return said
