"""Messages of past commits: kept by path for the published commit, however it was reached."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from gitindex.git import subjects as past
from gitindex.query.search.memory import SearchMemory
from gitindex.query.search.search import search
from gitindex.store import mapping, subjects
from gitindex.store.connection import open_reader
from gitindex.store.subjects import add_to_places
from gitindex.view.tree import NOW, TreeChoice, open_tree
from tests.support import Repo

WORDS = ["walrus", "otter", "heron", "lemur", "bison", "okapi", "tapir", "ibex"]


def _find(repo: Repo, text: str, ask: TreeChoice = NOW, memory: SearchMemory | None = None) -> Any:
    with open_tree(repo.worktree, str(repo.path), ask) as view:
        return search(view, text, 10, memory=memory, explain=True)["results"]


def _stored(repo: Repo) -> tuple[bytes, dict[bytes, dict[str, int]]]:
    database = open_reader(repo.worktree.database)
    assert database is not None
    try:
        row = mapping.published(database, repo.worktree.id)
        assert row is not None
        window = subjects.stored_window(database, row.worktree_id)
        assert window is not None
        assert window.head == row.head_commit
        return window.packed, subjects.dump_counts(database, row.worktree_id)
    finally:
        database.close()


def _derived(repo: Repo) -> tuple[bytes, dict[bytes, dict[str, int]]]:
    commits = past.read_window(str(repo.path), "HEAD")
    assert commits is not None
    found: dict[bytes, dict[str, int]] = {}
    for word, counts in subjects.count_words(commits).items():
        for path, count in counts.items():
            found.setdefault(path, {})[word] = count
    return bytes.fromhex("".join(commit.oid for commit in commits)), found


def _commit(repo: Repo, dice: random.Random, *options: str) -> None:
    for name in dice.sample("abcd", dice.randint(1, 3)):
        repo.write(f"{name}.py", f"x = {dice.random()}\n")
    words = " ".join(dice.sample(WORDS, 3))
    repo.commit(f"{words}\n\n{dice.choice(WORDS)} and more\n\nSigned-off-by: Nobody", *options)


@pytest.mark.parametrize("seed", range(2))
def test_the_window_is_that_of_the_commit_however_it_was_reached(
    repo: Repo, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(past, "WINDOW", 6)  # so that commits leave it
    monkeypatch.setattr(subjects, "WINDOW", 6)
    dice = random.Random(seed)
    _commit(repo, dice)
    repo.index()
    assert _stored(repo) == _derived(repo)
    for step in range(9):
        act = dice.choice(("commit", "commit", "amend", "back", "merge"))
        if act == "amend":
            _commit(repo, dice, "--amend")
        elif act == "back":
            repo.git("reset", "-q", "--hard", "HEAD~1", check=False)
        elif act == "merge":
            repo.git("checkout", "-q", "-b", f"side{step}", "HEAD~1", check=False)
            repo.write(f"side{step}.py", "y = 1\n")
            repo.commit("giraffe")
            repo.git("merge", "-q", "-m", "merge: no words of it", "@{-1}", check=False)
        else:
            _commit(repo, dice)
        repo.index()
        assert _stored(repo) == _derived(repo), (act, step)


def test_worktrees_of_one_commit_share_a_window_until_one_moves(repo: Repo, tmp_path: Path) -> None:
    dice = random.Random(5)
    for _ in range(4):
        _commit(repo, dice)
    repo.index()
    trees = [repo]
    for name in ("one", "two"):
        repo.git("worktree", "add", "-q", "--detach", str(tmp_path / name))
        trees.append(Repo(tmp_path / name))
        trees[-1].index()
    assert _windows(repo) == 1
    for moved, windows in ((trees[1], 2), (trees[0], 3), (trees[0], 3)):
        _commit(moved, dice)
        moved.index()
        assert _windows(repo) == windows
        for tree in trees:
            assert _stored(tree) == _derived(tree)
    trees[2].git("reset", "-q", "--hard", trees[1].git("rev-parse", "HEAD").strip())
    trees[2].index()
    assert _windows(repo) == 2
    repo.git("worktree", "remove", "--force", str(trees[1].path))
    assert _stored(trees[2]) == _derived(trees[2])
    _commit(trees[2], dice)
    trees[2].index()
    assert _stored(trees[2]) == _derived(trees[2])


def _windows(repo: Repo) -> int:
    database = open_reader(repo.worktree.database)
    assert database is not None
    try:
        held = database.rows("SELECT id FROM subject_windows")
        assert {i for (i,) in held} == {
            i for (i,) in database.rows("SELECT DISTINCT window_id FROM subject_words")
        }
        return len(held)
    finally:
        database.close()


def test_a_message_finds_the_file_that_its_commit_changed(repo: Repo) -> None:
    for name in WORDS:
        repo.write(f"zoo/{name}.py", f"def feed_{name}():\n    return 1\n")
    repo.commit("animals")
    repo.write("zoo/tapir.py", "def feed_tapir():\n    return 2\n")
    repo.commit("the penguin is fed as well\n\nsledge")
    repo.index()
    first = _find(repo, "penguin")[0]
    assert first["path"] == "zoo/tapir.py"
    assert first["features"]["subjects"]["value"] == 1.0
    assert [r["path"] for r in _find(repo, "sledge")][:1] == ["zoo/tapir.py"]
    # an older commit knows nothing of it, a newer and unindexed tree has it by its path
    assert "zoo/tapir.py" not in [
        r["path"] for r in _find(repo, "penguin", TreeChoice(at="HEAD~1"))
    ]
    assert _find(repo, "penguin", TreeChoice(at="HEAD"))[0]["path"] == "zoo/tapir.py"
    repo.write("zoo/tapir.py", "def feed_tapir():\n    return 3\n")
    edited = [r for r in _find(repo, "feed penguin") if r["path"] == "zoo/tapir.py"]
    assert edited
    assert edited[0]["source"] == "worktree"
    assert edited[0]["features"]["subjects"]["value"] == 1.0
    repo.git("add", "-A")
    staged = _find(repo, "feed penguin", TreeChoice(staged=True))[0]
    assert (staged["path"], staged["features"]["subjects"]["value"]) == ("zoo/tapir.py", 1.0)


def test_a_commit_that_was_never_indexed_has_its_own_messages(repo: Repo) -> None:
    for name in WORDS:
        repo.write(f"zoo/{name}.py", f"def feed_{name}():\n    return 1\n")
    repo.commit("animals")
    repo.git("checkout", "-q", "-b", "side")
    repo.write("zoo/new_tapir.py", "def feed():\n    return 2\n")
    repo.commit("penguin")
    repo.git("checkout", "-q", "-")
    repo.index()
    found = _find(repo, "penguin", TreeChoice(at="side"))
    assert [r["path"] for r in found] == ["zoo/new_tapir.py"]
    assert _find(repo, "penguin") == []


def test_a_kept_memory_changes_no_answer(repo: Repo) -> None:
    for number, name in enumerate(WORDS):
        repo.write(f"zoo/{name}_{number}.py", f"def feed_{name}():\n    return {number}\n")
        repo.write(f"zoo/old{number}/{name}Keeper.py", f"class {name.title()}Keeper:\n    pass\n")
        repo.commit(f"{name} {WORDS[number - 1]}")
    repo.index()
    memory = SearchMemory()
    asked = (*WORDS, "old keeper", "feed the heron", "zoo", "OTTER 1", "lemurs and bisons", "é")
    for turn in range(3):
        for text in asked:
            assert _find(repo, text, memory=memory) == _find(repo, text), (turn, text)
        if turn == 0:
            repo.write("zoo/otter_1.py", "def feed_walrus():\n    return 'zoo'\n")
            repo.write("zoo/extra/heron.py", "class Heron:\n    pass\n")
        elif turn == 1:
            repo.commit("edited: tapir")
            repo.index()


def test_weights_changed_in_place_are_those_counted_anew() -> None:
    pick = random.Random(1)
    for _ in range(200):
        held = {pick.randrange(4000): pick.randrange(1, 9) for _ in range(pick.choice((0, 3, 900)))}
        known = sorted(held) or [0]
        added = {
            pick.choice((pick.choice(known), pick.randrange(4000))): pick.randrange(-9, 9)
            for _ in range(pick.choice((1, 3, 20, 200)))
        }
        whole = {number: held.get(number, 0) + added.get(number, 0) for number in held | added}
        places = add_to_places(add_to_places(b"", held), added)
        assert places == add_to_places(b"", whole)
