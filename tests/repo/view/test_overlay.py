"""The view: whatever differs from the published tree is in the next answer, and nothing that is gone."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gitindex.base.confined_read import ConfinedRoot
from gitindex.base.errors import GitIndexError
from gitindex.extract.frames import WorkRequest
from gitindex.extract.policy import Policy, skip_content
from gitindex.extract.pool import Extractor, Task
from gitindex.freshness import envelope
from gitindex.git.interface import Entry
from gitindex.git.merge_tree import merged_tree
from gitindex.languages.facts import FactsKey, decode_facts
from gitindex.languages.table import language_of
from gitindex.view import difference, overlay
from gitindex.view.overlay import FactsMemory
from gitindex.view.tree import NOW, TreeChoice, open_tree
from tests.e2e.refresh.test_silent import SILENT, _two_commits
from tests.support import Repo

Seen = set[tuple[str, str, int]]


def seen(repo: Repo, ask: TreeChoice = NOW) -> Seen:
    """Every definition of the tree asked for: path, name, line."""
    with open_tree(repo.worktree, str(repo.path), ask) as view:
        view.ensure_facts()
        rows = view.rows(
            "SELECT f.path, n.text, s.line FROM {symbols} s JOIN {names} n ON n.id=s.name_id"
            " JOIN {live} f ON f.blob_id=s.blob_id"
        )
    return {(os.fsdecode(path), name, line) for path, name, line in rows}


def expected(contents: dict[str, bytes]) -> Seen:
    """The same by extracting every file anew: no store, no mapping, no overlay."""
    policy = Policy([], [])
    tasks = [
        Task(FactsKey(path, ""), WorkRequest(language_of(path.encode(), data), data))
        for path, data in contents.items()
        if policy.skip_path(Entry(path.encode(), 0o100644, "")) is None
        and skip_content(data) is None
    ]
    extractor = Extractor(workers=1)
    found = set()
    try:
        for task, reply in extractor.extract(tasks):
            facts = decode_facts(reply.payload)
            assert facts is not None
            found |= {(task.key.oid, symbol.name, symbol.line) for symbol in facts.symbols}
    finally:
        extractor.close()
    return found


def on_disk(repo: Repo) -> dict[str, bytes]:
    """What git calls the work tree: tracked and new files; what sparse checkout left out, from HEAD."""
    names = repo.git("ls-files", "-z", "-co", "--exclude-standard").split("\0")
    skipped = {
        line[2:] for line in repo.git("ls-files", "-z", "-t").split("\0") if line.startswith("S ")
    }
    found = {}
    for name in filter(None, names):
        if (repo.path / name).is_file():
            found[name] = (repo.path / name).read_bytes()
        elif name in skipped:
            found[name] = at(repo, "HEAD")[name]
    return found


def at(repo: Repo, rev: str) -> dict[str, bytes]:
    """The files of a commit, by git's own word."""
    return {
        os.fsdecode(path): subprocess.run(
            ["git", "-C", str(repo.path), "cat-file", "blob", oid],
            capture_output=True,
            timeout=300,
            check=True,
        ).stdout
        for path, (_, oid) in repo.ls_tree(rev).items()
    }


@pytest.mark.parametrize("operation", [op for op, _ in SILENT.values()], ids=SILENT.keys())
def test_q24_the_next_answer_is_what_is_on_disk(
    quiet: Repo, operation: Callable[[Repo], None]
) -> None:
    _two_commits(quiet)
    operation(quiet)
    assert seen(quiet) == expected(on_disk(quiet))


def test_new_files_are_seen_and_ignored_ones_are_not(quiet: Repo) -> None:
    quiet.write(".gitignore", "*.log.py\n")
    quiet.write("deep/er/new.py", "def brand_new():\n    pass\n")
    quiet.write("noise.log.py", "def ignored():\n    pass\n")
    names = {name for _, name, _ in seen(quiet)}
    assert "brand_new" in names
    assert "ignored" not in names


def test_any_commit_is_answered_without_a_checkout(quiet: Repo) -> None:
    _two_commits(quiet)
    quiet.write("third.py", "def third():\n    pass\n")
    quiet.git("rm", "-q", "second.py")
    quiet.git("add", "-A")
    quiet.git("commit", "-qm", "third", env={"GITINDEX": "0"})  # not indexed
    quiet.git("tag", "v3")
    quiet.write("app.py", "edited = 1\n")
    for rev in ("HEAD", "HEAD~1", "HEAD~2", "v3", "main", quiet.git("rev-parse", "HEAD~1").strip()):
        assert seen(quiet, TreeChoice(at=rev)) == expected(at(quiet, rev)), rev
    with open_tree(quiet.worktree, ".", TreeChoice(at="HEAD~2")) as view:
        answer = view.envelope()
    assert answer["receipt"]["treeId"] == quiet.git("rev-parse", "HEAD~2^{tree}").strip()
    assert (answer["freshness"]["state"], answer["freshness"]["mode"]) == ("fresh", "at")


@pytest.mark.parametrize("rev", ["nowhere", "--all", "HEAD^{blob}", "HEAD:app.py", "", "\x01"])
def test_a_revision_that_is_none_is_one_clear_line(quiet: Repo, rev: str) -> None:
    done = quiet.gitindex("symbols", "helper", f"--at={rev}")
    if rev == "":
        assert done.returncode == 0  # not asked for
    else:
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith("gitindex: no such revision: ")


def test_the_staged_tree_is_answered(quiet: Repo) -> None:
    quiet.write("app.py", "def staged_name():\n    pass\n")
    quiet.write("new.py", "def staged_new():\n    pass\n")
    quiet.git("add", "-A")
    quiet.git("rm", "-q", "--cached", "README.md")
    quiet.write("app.py", "def only_on_disk():\n    pass\n")
    index = {name: quiet.git("show", f":{name}").encode() for name in quiet.git("ls-files").split()}
    assert seen(quiet, TreeChoice(staged=True)) == expected(index)


def test_edits_are_disclosed_and_named_by_a_digest(quiet: Repo) -> None:
    def receipt() -> tuple[dict[str, Any], dict[str, Any]]:
        answer = quiet.answer("symbols", "helper")
        return answer["freshness"], answer["receipt"]

    freshness, clean = receipt()
    assert (freshness["mode"], freshness["overlayPaths"]) == ("served", 0)
    assert clean["overlayDigest"] is None
    quiet.write("app.py", "edited = 1\n")
    freshness, one = receipt()
    assert (freshness["state"], freshness["mode"]) == ("fresh", "overlay")
    assert (freshness["edits"], freshness["exact"]) == (1, True)
    assert (freshness["overlayPaths"], freshness["pendingPaths"]) == (1, 1)
    quiet.write("app.py", "edited = 2\n")
    _, two = receipt()
    assert len({clean["overlayDigest"], one["overlayDigest"], two["overlayDigest"]}) == 3
    quiet.write("app.py", "edited = 1\n")
    assert receipt()[1] == one
    quiet.git("checkout", "-q", "app.py", env={"GITINDEX": "0"})
    assert receipt()[1] == clean


def test_each_definition_says_where_it_comes_from(quiet: Repo) -> None:
    quiet.write("app.py", "def helper():\n    pass\n")
    found = {s["path"]: s["source"] for s in quiet.answer("symbols", "helper")["symbols"]}
    assert found == {"app.py": "worktree", "lib/util.py": f"index@{quiet.tree()}"}
    staged = quiet.answer("symbols", "helper", "--at", "HEAD")["symbols"]
    assert [s["source"] for s in staged] == [f"index@{quiet.tree()}"]


def test_a_secret_on_disk_is_never_read(quiet: Repo) -> None:
    quiet.write(".env", "TOKEN = 'canary-4711'\n")
    quiet.write("deploy/id_rsa", "canary-4711\n")
    with open_tree(quiet.worktree, ".") as view:
        view.ensure_facts()
        assert view.read([b".env", b"deploy/id_rsa"]) == {}
        skips = dict(view.rows("SELECT path, skip FROM {live} WHERE skip IS NOT NULL"))
    assert skips == {b".env": "secret", b"deploy/id_rsa": "secret"}
    done = quiet.gitindex("read", ".env")
    assert done.returncode == 1
    assert "canary" not in done.stdout + done.stderr


def test_over_the_budget_is_hidden_and_said(quiet: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(envelope, "MAX_PATHS", 3)
    for number in range(5):
        quiet.write(f"new{number}.py", f"def made{number}():\n    pass\n")
    quiet.write("lib/util.py", "def changed():\n    pass\n")
    with open_tree(quiet.worktree, ".") as view:
        view.ensure_facts()
        answer = view.envelope()
        paths = {path for (path,) in view.rows("SELECT path FROM {live}")}
    assert answer["freshness"]["leftOut"] == 3
    assert (answer["freshness"]["state"], answer["freshness"]["exact"]) == ("fresh", False)
    assert (answer["freshness"]["pendingPaths"], answer["freshness"]["edits"]) == (6, 6)
    assert b"lib/util.py" in paths
    assert len(paths) == 5  # app.py, README.md and the three that fit


def test_over_the_budget_no_older_bytes_are_shown(
    quiet: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    quiet.write("lib/util.py", "def committed():\n    pass\n")
    quiet.git("commit", "-qam", "not indexed", env={"GITINDEX": "0"})
    quiet.write("lib/util.py", "def edited():\n    pass\n")
    monkeypatch.setattr(envelope, "MAX_PATHS", 0)
    assert {name for _, name, _ in seen(quiet)} & {"helper", "committed", "edited"} == set()


def test_over_the_budget_of_extraction_is_said(
    quiet: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(overlay, "MAX_EXTRACTED", 2)
    for number in range(5):
        quiet.write(f"new{number}.py", f"def made{number}():\n    pass\n")
    with open_tree(quiet.worktree, ".") as view:
        view.ensure_facts()
        assert view.envelope()["freshness"]["leftOut"] == 3


def test_a_commit_without_all_its_blobs_is_never_called_fresh(quiet: Repo) -> None:
    """A partial clone: the tree is known, some bytes are not."""
    quiet.write("gone.py", "def gone():\n    pass\n")
    quiet.git("add", "-A")
    quiet.git("commit", "-qm", "whole", env={"GITINDEX": "0"})
    oid = quiet.git("rev-parse", "HEAD:gone.py").strip()
    quiet.git("reset", "-q", "--hard", "HEAD~1", env={"GITINDEX": "0"})
    (quiet.path / ".git" / "objects" / oid[:2] / oid[2:]).unlink()
    with open_tree(quiet.worktree, ".", TreeChoice(at="HEAD@{1}")) as view:
        view.ensure_facts(words=["anything"])
        freshness = view.envelope()["freshness"]
    assert (freshness["state"], freshness["leftOut"]) == ("stale", 1)


def test_only_files_that_mention_the_word_are_extracted(quiet: Repo) -> None:
    quiet.write("one.py", "def wanted():\n    pass\n")
    quiet.write("two.py", "def other():\n    pass\n")
    with open_tree(quiet.worktree, ".") as view:
        view.ensure_facts(words=["wanted"])
        rows = view.rows("SELECT path FROM {live} WHERE blob_id IS NOT NULL")
    assert {path for (path,) in rows if path.endswith(b".py")} == {
        b"app.py",
        b"lib/util.py",
        b"one.py",
    }


def test_facts_in_memory_are_used_again(quiet: Repo) -> None:
    memory = FactsMemory(limit=2)
    quiet.write("app.py", "def fresh_name():\n    pass\n")
    for _ in range(2):
        with open_tree(quiet.worktree, ".", memory=memory) as view:
            view.ensure_facts()
            rows = view.rows("SELECT n.text FROM {symbols} s JOIN {names} n ON n.id=s.name_id")
            assert ("fresh_name",) in rows
            assert memory.get(overlay._key(view.changed()[b"app.py"])) is not None  # type: ignore[arg-type]


def test_ids_of_laid_blobs_and_stored_ones_never_meet(quiet: Repo) -> None:
    quiet.write("new.py", "def helper():\n    pass\n")
    with open_tree(quiet.worktree, ".") as view:
        view.ensure_facts()
        ids = [row[0] for row in view.rows("SELECT blob_id FROM {live} WHERE blob_id NOT NULL")]
        names = [row[0] for row in view.rows("SELECT id FROM {names} WHERE text='helper'")]
    assert len(ids) == len(set(ids)) == 4
    assert len(set(names)) == 2


def test_links_pipes_and_swaps_never_lead_outside(tmp_path: Path) -> None:
    root = tmp_path / "root"
    (root / "sub").mkdir(parents=True)
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret").write_text("outside")
    (root / "sub" / "real").write_text("inside")
    (root / "link").symlink_to(tmp_path / "outside" / "secret")
    (root / "folder").symlink_to(tmp_path / "outside")
    os.mkfifo(root / "pipe")
    with ConfinedRoot(str(root)) as disk:
        found = disk.read(b"sub/real", 100)
        assert found is not None
        assert found.data == b"inside"
        for path in (
            b"link",
            b"folder/secret",
            b"pipe",
            b"sub",
            b"../outside/secret",
            b"sub/../sub/real",
            b"/etc/passwd",
            b"",
            b".",
            b"none",
            b"sub/real/x",
            b"x" * 5000,
        ):
            assert disk.read(path, 100) is None, path
        (root / "sub").rename(root / "old")
        (root / "sub").symlink_to(tmp_path / "outside")
        assert disk.read(b"sub/secret", 100) is None


def test_read_shows_lines_of_now_and_of_then(quiet: Repo) -> None:
    quiet.write("lib/util.py", "def helper():\n    return 43\n")
    now = quiet.answer("read", "lib/util.py:2")
    assert (now["content"], now["startLine"], now["endLine"]) == ("    return 43", 2, 2)
    assert now["source"] == "worktree"
    then = quiet.answer("read", "lib/util.py", "--at", "HEAD")
    assert then["content"] == "def helper():\n    return 42"
    assert then["totalLines"] == 2
    outlined = quiet.answer("read", "lib/util.py:1-", "--outline")
    assert [s["name"] for s in outlined["symbols"]] == ["helper"]
    (quiet.path / "link").symlink_to("/etc/passwd")
    for place, code in (
        ("../x", 2),
        ("/etc/passwd", 2),
        ("link", 1),
        ("none.py", 1),
        ("lib/util.py:9", 2),
        ("lib/util.py:2-1", 2),
        ("lib", 1),
        (".git/config", 1),
    ):
        done = quiet.gitindex("read", place)
        assert (done.returncode, done.stdout) == (code, ""), place
        assert done.stderr.startswith("gitindex: ")


def test_unmerged_paths_are_told_where_the_staged_tree_is_asked_for(quiet: Repo) -> None:
    _two_commits(quiet)
    SILENT["merge-conflict"][0](quiet)
    with (
        pytest.raises(GitIndexError, match="unmerged"),
        open_tree(quiet.worktree, ".", TreeChoice(staged=True)),
    ):
        pass


def test_a_pruned_tree_is_compared_with_what_is_stored_of_it(quiet: Repo) -> None:
    published = quiet.tree()
    quiet.write("app.py", "def rewritten():\n    pass\n")
    quiet.git("add", "-A")
    quiet.git("commit", "-q", "--amend", "-m", "again", env={"GITINDEX": "0"})
    quiet.git("reflog", "expire", "--expire=now", "--all")
    quiet.git("gc", "-q", "--prune=now")
    assert quiet.try_git("cat-file", "-e", published).returncode != 0
    assert seen(quiet) == expected(on_disk(quiet))


def test_a_large_binary_is_read_no_further_than_its_beginning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(difference, "MAX_HEAD", 10)
    monkeypatch.setattr(difference, "LARGE", 100)

    def read(data: bytes) -> int:
        (tmp_path / "file.py").write_bytes(data)
        with ConfinedRoot(str(tmp_path)) as disk:
            file = difference._from_disk(disk, b"file.py", Policy([], []), 40)
        assert file is not None
        return len(file.data or b"")

    assert read(b"x\0" * 5) == 10
    assert read(b"\0" * 99) == 99, "its id is that of git"
    assert read(b"\0" * 100) == read(b"\0" * 101) == 10
    assert read(b"x" * 100) == 100
    assert read(b"x" * 101) == 101


@pytest.mark.parametrize("bits", [0o755, 0o644])
def test_an_edited_file_has_the_mode_that_git_would_give_it(quiet: Repo, bits: int) -> None:
    quiet.write("tool.py", "def tool():\n    pass\n")
    (quiet.path / "tool.py").chmod(bits)
    with open_tree(quiet.worktree, str(quiet.path)) as view:
        file = view.overlay.files[b"tool.py"]
    assert file is not None
    quiet.git("add", "tool.py")
    assert f"{file.mode:o}" == quiet.git("ls-files", "-s", "tool.py").split()[0]


def test_a_commit_is_compared_by_git_and_not_path_by_path(
    quiet: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    _two_commits(quiet)

    def never(*_: object) -> dict[bytes, Entry | None]:
        raise AssertionError("every path was compared")

    monkeypatch.setattr(difference, "_all_changes", never)
    assert seen(quiet, TreeChoice(at="HEAD~1")) == expected(at(quiet, "HEAD~1"))


def test_a_merged_file_is_left_out_from_one_byte_beyond_the_limit(
    quiet: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "def merged():\n    pass\n"
    monkeypatch.setattr(difference, "MAX_TEXT_BYTES", len(text))
    quiet.git("switch", "-q", "-c", "other")
    quiet.write("fits.py", text)
    quiet.write("longer.py", text + "\n")
    quiet.git("rm", "-q", "app.py")
    quiet.commit("other")
    quiet.git("switch", "-q", "-f", "main")
    ours, theirs = quiet.git("rev-parse", "HEAD", "other").split()
    with (
        merged_tree(quiet.worktree, ours, theirs) as merged,
        open_tree(quiet.worktree, str(quiet.path), TreeChoice(merged=merged)) as view,
    ):
        files, left_out = view.overlay.files, view.overlay.left_out
    assert left_out == (b"longer.py",)
    assert files[b"app.py"] is None
    assert files[b"fits.py"] is not None
