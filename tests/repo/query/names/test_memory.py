"""What a long-lived process keeps of the files it has read does not grow with the history."""

from __future__ import annotations

from gitindex.base.recent import Recent
from gitindex.freshness.envelope import MAX_EXTRACTED
from gitindex.query.names.memory import Memory, TreeMemory
from gitindex.query.names.project import Project
from gitindex.query.names.texts import look
from gitindex.query.references import ReferenceQuery, find_references
from gitindex.view.overlay import FactsMemory
from gitindex.view.tree import open_tree
from tests.support import Repo

ROOM = 40_000


def test_versions_of_a_few_files_are_forgotten(repo: Repo) -> None:
    """Each version was kept until there were 4,000, however small the tree."""
    repo.write("a.py", "def asked(): pass\n")
    repo.write("b.py", "from a import asked\nasked()\n")
    repo.commit()
    repo.index()
    memory = Memory(room=ROOM)
    for number in range(32):
        repo.write("b.py", f"from a import asked\nasked()  # {number} {200 * 'x'}\n")
        with open_tree(repo.worktree, str(repo.path)) as view:
            answer = find_references(view, ReferenceQuery("asked"), memory)
        assert [row["path"] for row in answer["references"]] == ["b.py", "b.py"]
        sizes = [size for _, size in memory._files._entries.values()]
        assert sum(sizes) == ROOM - memory._files._room <= ROOM
        assert len(sizes) < 40, "of 32 versions, with text, facts and scopes of each"
    assert len(sizes) > 4


def test_kept_searches_are_those_of_the_tree_as_it_is(repo: Repo) -> None:
    """The same question is answered from what was found; any edit of the tree ends that."""
    repo.write("a.py", "def asked(): pass\n")
    repo.write("b.py", "from a import asked\nasked()\n")
    repo.commit()
    repo.index()
    memory = Memory()

    def lines() -> list[tuple[str, int]]:
        with open_tree(repo.worktree, str(repo.path)) as view:
            answer = find_references(view, ReferenceQuery("asked"), memory)
        assert answer["complete"]
        return [(row["path"], row["line"]) for row in answer["references"]]

    assert lines() == lines() == [("b.py", 1), ("b.py", 2)]
    repo.write("c.py", "import a\na.asked()\n")
    assert lines() == lines() == [("b.py", 1), ("b.py", 2), ("c.py", 2)]
    repo.write("c.py", "import a\n\na.asked()\n")
    assert lines() == [("b.py", 1), ("b.py", 2), ("c.py", 3)]
    (repo.path / "c.py").unlink()
    assert lines() == [("b.py", 1), ("b.py", 2)]


def test_what_is_kept_has_a_limit() -> None:
    held = Recent(room=10)
    held.keep("one", "first", 4)
    held.keep("two", "second", 4)
    assert held.get("one") == "first"
    held.keep("three", "third", 4)
    assert (held.get("one"), held.get("two"), held.get("three")) == ("first", None, "third")
    held.keep("large", "fourth", 40)
    assert [held.get(key) for key in ("one", "three", "large")] == [None] * 3
    for _ in range(9):  # two questions at once may both have missed it
        held.keep("same", "fifth", 4)
    assert held.get("same") == "fifth"


def test_a_text_with_longer_words_is_not_read_and_a_neighbour_is(repo: Repo) -> None:
    """Words are those of git: of letters of ASCII, digits and underscores."""
    names = {"longer.txt": "x0s tax0 _x0\n", "dollar.js": "const $x0 = 1;\n"}
    names |= {"accent.txt": "\u00e9x0\n", "case.txt": "X0\n"}
    names |= {"plain.txt": "x0\n", "quoted.txt": '"x0"-x0s\n', "end.txt": "a.x0"}
    repo.index_files(names)
    with open_tree(repo.worktree, ".") as view:
        found = look(Project(view), "x0").places
    assert {file.path for file in found} == {
        *("plain.txt", "quoted.txt", "end.txt", "dollar.js", "accent.txt")
    }


def test_what_a_part_of_the_tree_told_is_not_kept(repo: Repo) -> None:
    """Of many edited files a question reads 400 at most; without them the next begins anew."""
    repo.write("a.py", "def asked(): pass\n")
    repo.commit()
    repo.index()
    for number in range(MAX_EXTRACTED + 50):
        repo.write(f"m{number:03}.py", f"x = {number}\n")
    memory, facts = Memory(), FactsMemory()
    lacking, kept = list[bool](), list[TreeMemory]()
    for _ in range(4):
        with open_tree(repo.worktree, str(repo.path), memory=facts) as view:
            kept.append(memory.tree(view))
            view.ensure_facts()
            lacking.append(view.lacks_facts())
            assert memory.tree(view) is kept[-1]
        if len(kept) == 2:
            for number in range(100):
                (repo.path / f"m{number:03}.py").unlink()
    assert lacking == [True, True, False, False]
    assert kept[0] is not kept[1]
    assert kept[2] is kept[3]
