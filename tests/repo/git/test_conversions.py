"""A11: files that git converts, under attributes in force or removed since. The disk is the oracle."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gitindex.base.vocabulary import EditScope
from gitindex.coordinator import IndexCoordinator
from gitindex.freshness.envelope import edits_left_out
from gitindex.git import hidden_edits
from gitindex.git.hidden_edits import (
    ComparedFiles,
    note_compared,
    read_compared,
    record_file,
    render_compared,
    sizes_file,
)
from gitindex.git.worktree_probe import read_head_state
from tests.support import Repo

TEXT = "def café():\n    return 1\n\n\ndef other():\n    return café()\n"
ATTRIBUTES = {
    "eol": ("*.py text eol=crlf\n", ()),
    "ident": ("*.py ident\n", ()),
    "encoding": ("*.py working-tree-encoding=UTF-16LE\n", ()),
    "autocrlf": ("*.py text=auto\n", ("core.autocrlf", "true")),
}
FORMATS = {
    "plain": (),
    "split": ("update-index", "--split-index"),
    "v4": ("update-index", "--index-version", "4"),
}


@pytest.fixture
def converted(repo: Repo, request: pytest.FixtureRequest) -> Repo:
    """Both files are on disk as the attribute asks for; the index is made and fresh."""
    attribute, setting = ATTRIBUTES[getattr(request, "param", "ident")]
    for path in ("one.py", "two.py"):
        repo.write(path, "# $Id$\n" + TEXT)
    repo.write("plain.txt", "plain\n")
    repo.git("add", ".")
    repo.write(".gitattributes", attribute)
    repo.git("add", ".gitattributes")
    if setting:
        repo.git("config", *setting)
    repo.git("commit", "-qm", "attributes")
    for path in ("one.py", "two.py"):
        (repo.path / path).unlink()
    repo.git("checkout", "--", ".")
    for path in ("one.py", "two.py"):
        os.utime(repo.path / path, (1_600_000_000, 1_600_000_000))
    repo.git("update-index", "--refresh")  # else git reads files of its own last second again
    assert (repo.path / "one.py").read_bytes() != ("# $Id$\n" + TEXT).encode()
    IndexCoordinator(str(repo.path)).reindex_incremental()
    return repo


def _converted(repo: Repo) -> set[str]:
    """The files that are overlaid; git's status and ours call them unchanged."""
    state = read_head_state(repo.worktree, EditScope.TRACKED)
    assert state.unchecked == 0
    assert not {*state.dirty} & {*state.converted}
    return {path.decode() for path in state.converted}


def _forget_attributes(repo: Repo) -> None:
    repo.git("rm", "-q", ".gitattributes")
    repo.git("commit", "-qm", "no attributes")
    repo.git("config", "--unset", "core.autocrlf", check=False)
    assert repo.git("status", "--porcelain") == "", "git itself does not notice"


@pytest.mark.parametrize("name", ATTRIBUTES)
@pytest.mark.parametrize("converted", ATTRIBUTES, indirect=True)
def test_a11_what_an_attribute_converts_is_shown_as_on_disk(
    converted: Repo, request: pytest.FixtureRequest, name: str
) -> None:
    """In force, gone, and then another one: what counts are the bytes."""
    made = request.node.callspec.params["converted"]
    expected = set() if made in ("eol", "autocrlf") else {"one.py", "two.py"}
    assert _converted(converted) == expected
    _forget_attributes(converted)
    assert _converted(converted) == expected
    IndexCoordinator(str(converted.path)).reindex_incremental()
    assert _converted(converted) == expected, "also by the runner's record"
    converted.write(".git/info/attributes", ATTRIBUTES[name][0])
    assert _converted(converted) == expected
    answer = converted.answer("grep", "-F", "café")
    on_disk = {("one.py", 2), ("one.py", 7), ("two.py", 2), ("two.py", 7)}
    if made == "encoding":  # binary for `git grep`, too
        on_disk = set()
        assert answer["notSearched"] == {"binary": 2}
    assert {(row["path"], row["line"]) for row in answer["results"]} == on_disk
    assert answer["freshness"]["exact"] is True


@pytest.mark.parametrize("form", FORMATS)
def test_a11_every_format_of_the_index(converted: Repo, form: str) -> None:
    if FORMATS[form]:
        converted.git(*FORMATS[form])
    assert _converted(converted) == {"one.py", "two.py"}
    _forget_attributes(converted)
    assert _converted(converted) == {"one.py", "two.py"}


def test_a11_without_the_runners_records(converted: Repo) -> None:
    for file in (record_file(converted.worktree), sizes_file(converted.worktree)):
        Path(file).unlink()
    assert _converted(converted) == {"one.py", "two.py"}
    _forget_attributes(converted)
    assert _converted(converted) == {"one.py", "two.py"}


@pytest.mark.parametrize("converted", ["eol", "autocrlf"], indirect=True)
def test_a11_other_line_ends_count_as_the_blob_and_grep_reads_the_disk(converted: Repo) -> None:
    answer = IndexCoordinator(str(converted.path)).get_references("café")
    assert answer["freshness"]["exact"] is True
    assert {row["source"][:6] for row in answer["references"]} == {"index@"}
    assert len(converted.answer("grep", r"return 1\r$")["results"]) == 2
    for pattern in ("café", "other", "return 1$", ":$", "caf.()"):  # lines and columns are git's
        found = converted.answer("grep", pattern)
        listed = converted.git("grep", "-n", "--column", "-E", "-e", pattern, check=False)
        places = {tuple(line.split(":")[:3]) for line in listed.splitlines()}
        ours = {(row["path"], str(row["line"]), str(row["column"])) for row in found["results"]}
        assert ours == places, pattern
        assert found["freshness"]["exact"] is True


def test_a11_answers_overlay_such_files(converted: Repo) -> None:
    answer = IndexCoordinator(str(converted.path)).get_references("café")
    assert (answer["freshness"]["edits"], answer["freshness"]["converted"]) == (0, 2)
    assert (answer["freshness"]["overlayPaths"], answer["freshness"]["exact"]) == (2, True)
    assert {row["source"] for row in answer["references"]} == {"worktree"}
    assert converted.gitindex("status").stdout.endswith("; 2 converted files overlaid\n")
    assert converted.gitindex("status", "--clean").returncode == 0
    oid = converted.git("rev-parse", "HEAD:one.py").strip()
    assert len(converted.answer("grep", f"Id: {oid}")["results"]) == 2


def test_a11_too_many_converted_files_are_shown_as_blobs_and_counted(
    converted: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gitindex.freshness.envelope.MAX_PATHS", 1)
    answer = IndexCoordinator(str(converted.path)).get_references("café")
    assert (answer["freshness"]["exact"], answer["freshness"]["leftOut"]) == (False, 1)
    assert {row["path"] for row in answer["references"]} == {"one.py", "two.py"}


def test_a11_where_nothing_is_converted_nothing_is_asked(
    quiet: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The cost: with the runner's record no file is read and no program runs."""
    assert read_compared(quiet.worktree, 20).checksum

    def never(*_: object, **__: object) -> None:
        raise AssertionError

    for name in ("try_git", "blob_sizes", "_compare_bytes"):
        monkeypatch.setattr(hidden_edits, name, never)
    assert _converted(quiet) == set()
    quiet.git("update-index", "--index-version", "2", "--force-write-index")
    quiet.write("app.py", "edited = 1\n")
    assert _converted(quiet) == set()


def test_a11_the_user_s_filters_are_not_run_and_the_disk_is_shown(
    converted: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = tmp_path / "ran"
    home = tmp_path / "home"
    home.mkdir()
    script = f"sh -c 'echo x >> {ran}; tr -d X'"
    (home / ".gitconfig").write_text(
        Path(os.environ["HOME"], ".gitconfig").read_text()
        + f'[filter "shout"]\n\tclean = "{script}"\n\tsmudge = "sed s/$/X/"\n'
    )
    monkeypatch.setenv("HOME", str(home))
    converted.write(".gitattributes", "*.txt filter=shout\n*.py text eol=crlf\n")
    converted.commit("filter")
    (converted.path / "plain.txt").unlink()
    converted.git("checkout", "--", "plain.txt")
    assert (converted.path / "plain.txt").read_text() == "plainX\n"
    os.utime(converted.path / "plain.txt", (1_600_000_000, 1_600_000_000))
    converted.git("update-index", "--refresh")  # else git reads the file again, by its filter
    ran.unlink()
    IndexCoordinator(str(converted.path)).reindex_incremental()
    assert _converted(converted) == {"one.py", "two.py", "plain.txt"}
    answer = converted.answer("grep", "plainX")
    assert [row["path"] for row in answer["results"]] == ["plain.txt"]
    assert answer["freshness"]["exact"] is True
    assert not ran.exists()


@pytest.fixture
def reversed_file(repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repo:
    """`same.py` went through a filter that keeps its size, whose attribute is gone; git sees no change."""
    home = tmp_path / "home"
    home.mkdir()
    before = Path(os.environ["HOME"], ".gitconfig").read_text()
    driver = '[filter "up"]\n\tclean = tr A-Z a-z\n\tsmudge = tr a-z A-Z\n'
    (home / ".gitconfig").write_text(before + driver)
    monkeypatch.setenv("HOME", str(home))
    repo.write("same.py", "def on_blob(): pass\n")
    repo.write("other.py", "other = 1\n")
    repo.commit()
    repo.write(".gitattributes", "same.py filter=up\n")
    repo.commit()
    (repo.path / "same.py").unlink()
    repo.git("checkout", "--", "same.py")
    assert (repo.path / "same.py").read_text() == "DEF ON_BLOB(): PASS\n"
    os.utime(repo.path / "same.py", (1_600_000_000, 1_600_000_000))
    repo.git("update-index", "--refresh")
    repo.git("rm", "-q", ".gitattributes")
    repo.git("commit", "-qm", "no attributes")
    assert repo.git("status", "--porcelain") == "", "git itself does not notice"
    return repo


def test_a9_a_filter_that_keeps_the_size_is_noticed(reversed_file: Repo) -> None:
    IndexCoordinator(str(reversed_file.path)).reindex_incremental()
    assert _converted(reversed_file) == {"same.py"}
    assert read_compared(reversed_file.worktree, 20).has_others
    answer = IndexCoordinator(str(reversed_file.path)).get_references("ON_BLOB")
    assert (answer["freshness"]["overlayPaths"], answer["freshness"]["exact"]) == (1, True)
    home = Path(os.environ["HOME"], ".gitconfig")
    home.write_text(home.read_text().partition("[filter")[0])
    reversed_file.write("other.py", "other = 2\n")
    reversed_file.commit()
    assert _converted(reversed_file) == {"same.py"}, "a driver that is gone is not forgotten"
    (reversed_file.path / "same.py").unlink()
    reversed_file.git("checkout", "--", "same.py")
    assert _converted(reversed_file) == set()


def test_a9_a_driver_removed_before_the_first_index(reversed_file: Repo) -> None:
    home = Path(os.environ["HOME"], ".gitconfig")
    home.write_text(home.read_text().partition("[filter")[0])
    reversed_file.index()
    assert _converted(reversed_file) == {"same.py"}


def test_a9_bytes_that_a_filter_in_force_takes_for_the_blob(reversed_file: Repo) -> None:
    """Git reads the file, filters it and calls it clean; its index keeps the old stat data."""
    reversed_file.write(".gitattributes", "*.py filter=up\n")
    reversed_file.commit()
    reversed_file.index()
    assert _converted(reversed_file) == {"same.py"}
    reversed_file.write("same.py", "Def On_Blob(): pass\n")
    reversed_file.write("other.py", "OTHER = 1\n")
    assert reversed_file.git("--no-optional-locks", "status", "--porcelain") == ""
    assert _converted(reversed_file) == {"same.py", "other.py"}
    for word in ("On_Blob", "OTHER"):
        assert len(reversed_file.answer("grep", word)["results"]) == 1


def test_a9_too_many_files_to_compare_are_said(
    reversed_file: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hidden_edits, "MAX_COMPARED", 1)
    reversed_file.index()
    Path(record_file(reversed_file.worktree)).unlink()
    answer = IndexCoordinator(str(reversed_file.path)).get_references("ON_BLOB")
    assert answer["freshness"]["exact"] is False
    assert answer["freshness"]["leftOut"] == 1
    state = read_head_state(reversed_file.worktree)
    assert edits_left_out(str(reversed_file.path), state) == 1, "as `status` says"


def test_i43_what_git_reports_is_not_counted_again(
    reversed_file: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(4):
        reversed_file.write(f"edited{number}.py", "edited = 1\n")
    reversed_file.commit()
    reversed_file.index()
    monkeypatch.setattr(hidden_edits, "MAX_COMPARED", 1)
    for number in range(4):
        reversed_file.write(f"edited{number}.py", f"edited = 'now {number}'\n")
    state = read_head_state(reversed_file.worktree)
    assert (len(state.dirty), state.unchecked) == (4, 0)
    assert len(reversed_file.answer("grep", "edited = 'now")["results"]) == 4


def test_i43_an_edit_during_the_comparison_is_no_conversion(quiet: Repo) -> None:
    """The runner may compare a moment after a file was written: git's index has its old stat data."""
    quiet.write("app.py", "written = 'while the runner compared'\n")
    Path(record_file(quiet.worktree)).unlink()
    Path(sizes_file(quiet.worktree)).unlink()
    note_compared(quiet.worktree, 40)
    assert read_compared(quiet.worktree, 20).checksum
    assert not read_compared(quiet.worktree, 20).has_others
    assert [*read_head_state(quiet.worktree).dirty] == [b"app.py"]


@pytest.mark.parametrize("at", range(0, 130, 3))
def test_i41_a_record_that_is_damaged_is_no_record(converted: Repo, at: int) -> None:
    _forget_attributes(converted)
    converted.index()
    for file in (record_file(converted.worktree), sizes_file(converted.worktree)):
        data = bytearray(Path(file).read_bytes())
        data[at % len(data)] ^= 1
        Path(file).write_bytes(data)
    assert _converted(converted) == {"one.py", "two.py"}


def test_a_record_is_read_as_it_was_written(quiet: Repo) -> None:
    record = ComparedFiles(b"\1" * 20, {b"\n" * 60: ord("!"), b"\0" * 60: ord("=")})
    Path(record_file(quiet.worktree)).write_bytes(render_compared(record))
    assert read_compared(quiet.worktree, 20) == record


def test_a9_core_worktree_is_another_folder(quiet: Repo, tmp_path: Path) -> None:
    """Answers are of the folder that holds `.git`; `core.worktree` is not followed."""
    other = tmp_path / "other"
    other.mkdir()
    (other / "app.py").write_text("elsewhere = 1\n")
    (other / "new.py").write_text("new = 1\n")
    quiet.git("config", "core.worktree", str(other))
    state = read_head_state(quiet.worktree)
    assert (state.dirty, state.untracked) == ((), ())
    quiet.write("app.py", "def here(): pass\n")
    quiet.write("fresh.py", "def added(): pass\n")
    state = read_head_state(quiet.worktree)
    assert (state.dirty, state.untracked) == ((b"app.py",), (b"fresh.py",))
    assert [s["path"] for s in quiet.answer("symbols", "here")["symbols"]] == ["app.py"]
    assert quiet.answer("grep", "elsewhere")["results"] == []
    assert quiet.answer("grep", "added")["freshness"]["exact"] is True
