"""Roots, git directories, keys of paths, and text that is safe for a terminal."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitindex.base.errors import Exit, GitIndexError
from gitindex.base.escape import safe_text
from gitindex.base.worktree import (
    STORE_FOLDERS,
    canonical_root,
    find_worktree,
    inside_root,
    normalize_rel_path,
    worktree_at,
)
from tests.support import Repo


@pytest.mark.parametrize("tail", ["", "/", "//", "/.", "/sub/..", "/./sub/../"])
def test_canonical_root_has_one_spelling(tmp_path: Path, tail: str) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "link").symlink_to(tmp_path)
    root = os.path.realpath(tmp_path)
    assert canonical_root(f"{tmp_path}{tail}") == root
    assert canonical_root(f"{tmp_path}/link{tail}") == root


def test_canonical_root_of_what_is_not_there_is_normalised(tmp_path: Path) -> None:
    assert canonical_root(f"{tmp_path}/gone//x/../") == f"{os.path.realpath(tmp_path)}/gone"


@pytest.mark.parametrize(
    ("path", "key"),
    [
        ("a.py", "a.py"),
        ("a//b/./c", "a/b/c"),
        ("./a/", "a"),
        ("a\\b", "a/b"),
        ("", ""),
        (".", ""),
        ("..a/b..", "..a/b.."),
        ("...", "..."),
        ("ab:c", "ab:c"),
        ("1:x", "1:x"),
    ],
)
def test_relative_paths_are_normalised(path: str, key: str) -> None:
    assert normalize_rel_path(path) == key


@pytest.mark.parametrize(
    "path",
    [
        "/a",
        "//a",
        "\\a",
        "..",
        "../a",
        "a/../b",
        "a\\..\\b",
        "a/..",
        "C:/x",
        "c:x",
        "C:",
        "\\\\host\\x",
        "a\0b",
        "./..",
        ".\\c:x",
        "./C:",
    ],
    ids=ascii,
)
def test_paths_that_leave_the_repository_are_refused(path: str) -> None:
    with pytest.raises(GitIndexError) as caught:
        normalize_rel_path(path)
    assert caught.value.code is Exit.USAGE


@given(st.text(alphabet=st.sampled_from("ab./\\:\0 é"), max_size=12))
def test_a_key_is_a_fixed_point_below_the_root(path: str) -> None:
    try:
        key = normalize_rel_path(path)
    except GitIndexError:
        return
    assert normalize_rel_path(key) == key
    assert not key.startswith("/")
    assert os.path.normpath(os.path.join("/root", key)) in ("/root", f"/root/{key}")
    assert ".." not in key.split("/")


def test_a_file_is_named_from_the_folder_it_is_asked_in(tmp_path: Path) -> None:
    root = tmp_path / "root"
    (root / "sub").mkdir(parents=True)
    (tmp_path / "link").symlink_to(root)
    named = {"x.py": "sub/x.py", "../y.py": "y.py", f"{tmp_path}/link/sub/z.py": "sub/z.py"}
    for file, inside in named.items():
        assert inside_root(str(root), str(root / "sub"), file) == inside
    for file in ("../..", "../../root2/x.py", "/etc/passwd", "/"):
        with pytest.raises(GitIndexError, match="outside the repository"):
            inside_root(str(root), str(root / "sub"), file)


def test_a_path_is_as_long_as_linux_opens_one(tmp_path: Path) -> None:
    longest = "a/" * 2_047 + "bc"
    assert inside_root(str(tmp_path), str(tmp_path), longest) == longest
    with pytest.raises(GitIndexError, match="too long"):
        inside_root(str(tmp_path), str(tmp_path), longest + "d")


def test_worktree_is_found_from_below(repo: Repo) -> None:
    (repo.path / "a" / "b").mkdir(parents=True)
    found = find_worktree(str(repo.path / "a" / "b"))
    assert found == repo.worktree
    assert found.id == "main"
    assert found.root == os.path.realpath(repo.path)
    assert found.common_dir == found.git_dir == f"{found.root}/.git"
    assert found.store == f"{found.root}/.git/gitindex"


def test_linked_worktree_shares_the_store_and_nothing_else(repo: Repo, tmp_path: Path) -> None:
    repo.write("a", "1")
    repo.commit()
    repo.git("worktree", "add", "-q", str(tmp_path / "side"))
    main, side = repo.worktree, find_worktree(str(tmp_path / "side"))
    assert side.id == "wt-side"
    assert side.root == os.path.realpath(tmp_path / "side")
    assert (side.common_dir, side.store) == (main.common_dir, main.store)
    assert (side.database, side.lexical, side.lock) == (main.database, main.lexical, main.lock)
    for own in ("root", "git_dir", "id", "llmc", "marker", *STORE_FOLDERS[:4], "stamp"):
        assert getattr(side, own) != getattr(main, own), own


def test_submodule_has_a_store_of_its_own(repo: Repo, tmp_path: Path) -> None:
    other = Repo(tmp_path / "other")
    other.init()
    other.write("a", "1")
    other.commit()
    repo.git("submodule", "add", "-q", str(other.path), "sub")
    found = find_worktree(str(repo.path / "sub"))
    assert found.root == f"{os.path.realpath(repo.path)}/sub"
    assert found.store == f"{os.path.realpath(repo.path)}/.git/modules/sub/gitindex"


def test_outside_of_a_repository_is_said_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(GitIndexError, match="not inside a git repository") as caught:
        find_worktree(str(tmp_path))
    assert caught.value.hint


def test_bare_repository_is_said_in_one_line(tmp_path: Path) -> None:
    Repo(tmp_path / "bare.git").init("--bare")
    with pytest.raises(GitIndexError, match="bare repository"):
        find_worktree(str(tmp_path / "bare.git"))


def test_embedded_bare_repository_is_not_discovered(repo: Repo) -> None:
    Repo(repo.path / "evil").init("--bare")
    with pytest.raises(GitIndexError, match="bare repository"):  # nor is the outer one meant
        find_worktree(str(repo.path / "evil"))
    assert find_worktree(str(repo.path)) == repo.worktree


@pytest.mark.parametrize(
    "data",
    [b"", b"gitdir", b"gitdir: /nowhere", b"\0\xff", b"gitdir: \0", b"gitdir: x\0y\n"],
    ids=ascii,
)
def test_garbage_git_file_is_a_clear_error(tmp_path: Path, data: bytes) -> None:
    (tmp_path / ".git").write_bytes(data)
    with pytest.raises(GitIndexError, match="git"):
        find_worktree(str(tmp_path))


def test_git_that_is_a_link_to_nothing_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / ".git").symlink_to(tmp_path / "gone")
    with pytest.raises(GitIndexError):
        worktree_at(str(tmp_path))


@pytest.mark.parametrize("code", [*range(0x20), *range(0x7F, 0xA0)], ids=hex)
def test_i38_control_characters_are_escaped(code: int) -> None:
    assert safe_text(f"a{chr(code)}b") == f"a\\x{code:02x}b"
    assert safe_text(f"a{chr(code)}b", keep=chr(code)) == f"a{chr(code)}b"


@pytest.mark.parametrize(
    "code", [0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x61C, 0x2028], ids=hex
)
def test_i38_bidi_marks_and_separators_are_escaped(code: int) -> None:
    assert safe_text(chr(code)) == f"\\u{code:04x}"


def test_bytes_that_are_not_utf8_are_escaped() -> None:
    assert safe_text(b"a\xff\xfeb") == "a\\xff\\xfeb"
    assert safe_text(os.fsdecode(b"\x80")) == "\\x80"
    assert safe_text("\ud800") == "\\ud800"
    assert safe_text("\U000e0001") == "\\U000e0001"
    assert safe_text("naïve 名前 😀") == "naïve 名前 😀"


@given(st.text() | st.binary())
def test_safe_text_is_always_printable_utf8(text: str | bytes) -> None:
    safe = safe_text(text)
    assert safe.isprintable()
    assert safe.encode().decode() == safe
    assert safe_text(safe) == safe


def test_a_dot_names_the_current_folder_also_at_the_root(repo: Repo) -> None:
    repo.index_files({"src/a.py": "def alpha():\n    pass\n\n\nalpha()\n", "b.py": "beta = 1\n"})
    assert "src/a.py:1:" in repo.gitindex("grep", "alpha", ".").stdout
    assert "src/a.py:5:1" in repo.gitindex("refs", "alpha", "--path", ".").stdout
    assert "src/a.py:1" in repo.gitindex("symbols", "alpha", "--path", ".").stdout
    below = str(repo.path / "src")
    assert "b.py:1:" in repo.gitindex("-C", below, "grep", "beta", "..").stdout
    assert "a.py:5:1" in repo.gitindex("-C", below, "refs", "alpha", "--path", ".").stdout
    assert "a.py:1" in repo.gitindex("-C", below, "symbols", "alpha", "--path", "a.py").stdout
