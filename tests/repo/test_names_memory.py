"""What a long-lived process keeps of the files it has read does not grow with the history."""

from __future__ import annotations

from gitindex.query.names.memory import Memory
from gitindex.query.references import ReferenceQuery, find_references
from gitindex.view.tree import open_tree
from tests.support import Repo

FEW = 8


def test_versions_of_a_few_files_are_forgotten(repo: Repo) -> None:
    """Each version was kept until there were 4,000, however small the tree."""
    repo.write("a.py", "def asked(): pass\n")
    repo.write("b.py", "from a import asked\nasked()\n")
    repo.commit()
    repo.index()
    memory = Memory(few=FEW)
    for number in range(4 * FEW):
        repo.write("b.py", f"from a import asked\nasked()  # {number}\n")
        with open_tree(repo.worktree, str(repo.path)) as view:
            answer = find_references(view, ReferenceQuery("asked"), memory)
        assert [row["path"] for row in answer["references"]] == ["b.py", "b.py"]
        sizes = [
            len(memory._sources),
            len(memory._scopes),
            len(memory._flows),
            len(memory._texts),
        ]
        assert max(sizes) <= FEW + 2, sizes
    assert len(memory._sources) > 1
    assert memory._bytes == (32 << 20) - sum(len(text.data) for text in memory._texts.values())
