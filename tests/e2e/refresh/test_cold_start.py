"""What a runner that a hook starts loads: pygit2's core without the rest, and nothing it does not use."""

from __future__ import annotations

import subprocess
import sys

from tests.support import TIMEOUT, Repo

LOOK = """
import sys
import gitindex.refresh.background, gitindex.refresh.runner
{before}
from gitindex.git import libgit2 as objects
from gitindex.base.worktree import worktree_at
print(sorted({{"pygit2", "dataclasses", "ssl", "tomllib", "shutil"}} & sys.modules.keys()))
found = objects.Pygit2Repository(worktree_at(sys.argv[1]))
head = found.head()
print(head.commit, head.tree, found.size(head.tree), sorted(e.path for e in found.entries(head.tree)))
import pygit2
whole = pygit2.Repository(sys.argv[1])
print(whole.head.target, whole.odb.read_header(whole.head.target)[0] is pygit2.enums.ObjectType.COMMIT)
"""

HIDDEN = "import importlib.util as u; u.find_spec = lambda name: None"


def look(repo: Repo, before: str = "") -> list[str]:
    argv = [sys.executable, "-I", "-c", LOOK.format(before=before), str(repo.path)]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=TIMEOUT, check=True)
    return done.stdout.splitlines()


def test_a_runner_loads_pygit2s_core_alone(repo: Repo) -> None:
    repo.write("a.py", "x = 1\n")
    repo.commit()
    head = repo.git("rev-parse", "HEAD").strip()
    loaded, seen, whole = look(repo)
    assert loaded == "[]"
    assert seen.startswith(f"{head} {repo.tree()} ")
    assert "b'a.py'" in seen
    assert whole == f"{head} True", "the whole package still loads"


def test_where_the_core_is_not_as_known_the_package_serves(repo: Repo) -> None:
    repo.write("a.py", "x = 1\n")
    repo.commit()
    alone, present, hidden = look(repo), look(repo, "import pygit2"), look(repo, HIDDEN)
    assert alone[1:] == present[1:] == hidden[1:]
    assert "pygit2" in hidden[0]


STATUS = """
import sys
before = set(sys.modules)
sys.argv[1:] = ["status"]
from gitindex.__main__ import main
main()
new = sys.modules.keys() - before
print(sorted(new & {"functools", "collections", "typing", "enum", "re", "json", "subprocess"}))
"""


def test_status_imports_nothing_a_prompt_would_wait_for(repo: Repo) -> None:
    repo.index_files({"a.py": "x = 1\n"})
    done = subprocess.run(
        [sys.executable, "-I", "-c", STATUS],
        cwd=repo.path,
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=True,
    )
    assert done.stdout.splitlines()[-1] == "[]"
    assert done.stdout.startswith("fresh: 1 file")
