"""A11: files that git wrote under attributes that have changed since. The bytes on disk are the oracle."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gitindex.base.vocabulary import EditScope
from gitindex.coordinator import IndexCoordinator
from gitindex.git.conversions import (
    ConversionNote,
    known_file,
    note_file,
    read_conversions,
    render_conversions,
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
    attribute, setting = ATTRIBUTES[getattr(request, "param", "eol")]
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


def _dirty(repo: Repo) -> set[str]:
    return {p.decode() for p in read_head_state(repo.worktree, EditScope.TRACKED).dirty}


def _forget_attributes(repo: Repo) -> None:
    repo.git("rm", "-q", ".gitattributes")
    repo.git("commit", "-qm", "no attributes")
    repo.git("config", "--unset", "core.autocrlf", check=False)
    assert repo.git("status", "--porcelain") == "", "git itself does not notice"


@pytest.mark.parametrize("converted", ATTRIBUTES, indirect=True)
def test_a11_an_attribute_that_is_gone_is_noticed(converted: Repo) -> None:
    assert _dirty(converted) == set()
    _forget_attributes(converted)
    assert _dirty(converted) == {"one.py", "two.py"}
    IndexCoordinator(str(converted.path)).reindex_incremental()
    assert _dirty(converted) == {"one.py", "two.py"}, "also by the runner's note"


@pytest.mark.parametrize("form", FORMATS)
def test_a11_every_format_of_the_index(converted: Repo, form: str) -> None:
    if FORMATS[form]:
        converted.git(*FORMATS[form])
    assert _dirty(converted) == set()
    _forget_attributes(converted)
    assert _dirty(converted) == {"one.py", "two.py"}


def test_a11_without_the_runners_notes(converted: Repo) -> None:
    _forget_attributes(converted)
    held = read_conversions(converted.worktree)
    for file in (known_file(converted.worktree, held), note_file(converted.worktree)):
        Path(file).unlink()
    assert _dirty(converted) == {"one.py", "two.py"}


def test_a11_an_attribute_on_disk_only(converted: Repo) -> None:
    """Attributes count as they are on disk, committed or not; also those of `.git/info`."""
    converted.write(".gitattributes", "one.py -text\n")
    assert _dirty(converted) == {".gitattributes", "one.py", "two.py"}
    converted.write(".gitattributes", "*.py text eol=crlf\n")
    assert _dirty(converted) == set()
    converted.write(".git/info/attributes", "two.py -text\n")
    assert _dirty(converted) == {"two.py"}


def test_a11_answers_lay_such_files_over(converted: Repo) -> None:
    _forget_attributes(converted)
    answer = IndexCoordinator(str(converted.path)).get_references("café")
    assert answer["freshness"]["edits"] == 2
    assert {row["source"] for row in answer["references"]} == {"worktree"}


def test_a11_where_nothing_is_converted_nothing_is_asked(
    quiet: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The cost: with the runner's note no file is read and no program runs."""
    assert read_conversions(quiet.worktree).checksum

    def never(*_: object, **__: object) -> None:
        raise AssertionError

    monkeypatch.setattr("gitindex.git.conversions.try_git", never)
    monkeypatch.setattr("gitindex.git.conversions.differing", never)
    assert _dirty(quiet) == set()
    quiet.git("update-index", "--index-version", "2", "--force-write-index")
    quiet.write("app.py", "edited = 1\n")
    assert _dirty(quiet) == {"app.py"}


def test_a11_the_user_s_filters_are_not_run_again(
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
    assert _dirty(converted) == set()
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
    assert _dirty(reversed_file) == {"same.py"}
    assert read_conversions(reversed_file.worktree).differ == (b"same.py",)
    answer = IndexCoordinator(str(reversed_file.path)).get_references("ON_BLOB")
    assert (answer["freshness"]["edits"], answer["freshness"]["exact"]) == (1, True)
    home = Path(os.environ["HOME"], ".gitconfig")
    home.write_text(home.read_text().partition("[filter")[0])
    reversed_file.write("other.py", "other = 2\n")
    reversed_file.commit()
    assert _dirty(reversed_file) == {"same.py"}, "a driver that is gone is not forgotten"
    (reversed_file.path / "same.py").unlink()
    reversed_file.git("checkout", "--", "same.py")
    assert _dirty(reversed_file) == set()


def test_a9_too_many_files_to_compare_are_said(
    reversed_file: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gitindex.git.conversions.MAX_COMPARED", 1)
    reversed_file.index()
    Path(note_file(reversed_file.worktree)).unlink()
    Path(f"{reversed_file.worktree.shadow}.compared").unlink()
    answer = IndexCoordinator(str(reversed_file.path)).get_references("ON_BLOB")
    assert answer["freshness"]["exact"] is False
    assert answer["freshness"]["leftOut"] == 1


@pytest.mark.parametrize("at", range(0, 130, 3))
def test_i41_a_note_that_is_damaged_is_no_note(converted: Repo, at: int) -> None:
    _forget_attributes(converted)
    converted.index()
    note = Path(note_file(converted.worktree))
    data = bytearray(note.read_bytes())
    data[at % len(data)] ^= 1
    note.write_bytes(data)
    assert _dirty(converted) == {"one.py", "two.py"}


def test_a_note_is_read_as_it_was_written(quiet: Repo) -> None:
    told = ConversionNote(b"\1" * 20, "a" * 64, {b"a b\n": b"\0" * 60}, (b"- c",), True)
    Path(note_file(quiet.worktree)).write_bytes(render_conversions(told))
    assert read_conversions(quiet.worktree) == told


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
