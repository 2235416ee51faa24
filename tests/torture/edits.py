"""I-44: an edit of random files is struck at a random call, and so is what undoes it: old or new, whole.

An edit has one to eight files, in folders, some executable, some that move, some empty or large. A kill or
a failing call strikes it; in a third of the cases another one strikes the next command, too. The command
after that, without faults, leaves all files old or all of them new, and nothing of ours beside them.
"""

from __future__ import annotations

import os
import random
import shutil
from pathlib import Path

from gitindex.base.tree_edit import FileChange, change_files, undo_unfinished
from tests.e2e.edit.test_faults import EditedTree, _points
from tests.support import Repo
from tests.torture import Clock

FAULTS = ("signal=KILL",) * 3 + tuple(f"error={e}" for e in ("ENOSPC", "EIO", "EACCES", "EDQUOT"))
FOLDERS = ("", "pkg/", "pkg/deep/er/", "a b/ü/")


class RandomEdit(EditedTree):
    """A repository, and one edit of it: the same until the next is drawn."""

    def __init__(self, repo: Repo) -> None:
        super().__init__(repo)
        self.changes: list[FileChange] = []

    def draw(self, rng: random.Random) -> None:
        """Other files in place of those that are there, and an edit of some of them."""
        for name in self.state():
            (self.repo.path / name).unlink()
        texts = [b"", b"x = 1\n", b"\xff\xfe\r\n", b"y = 2\n" * rng.randrange(1, 20_000)]
        self.changes = []
        for number in range(rng.randint(1, 8)):
            path = f"{rng.choice(FOLDERS)}f{number}.py"
            old, new = rng.choice(texts), rng.choice(texts) + b"# new\n"
            self.repo.write(path, old)
            (self.repo.path / path).chmod(rng.choice([0o644, 0o755]))
            moved = f"{os.path.dirname(path)}/m{number}.py".lstrip("/")
            self.changes.append(FileChange(path, old, new, moved if rng.random() < 0.3 else ""))
        self.repo.commit("drawn")

    def state(self) -> dict[str, tuple[bytes, bool]]:
        """Every file that is not git's or ours, and whether it is executable."""
        root, found = self.repo.path, {}
        for folder, folders, names in os.walk(root):
            folders[:] = [name for name in folders if name not in (".git", ".llmc")]
            for path in (Path(folder, name) for name in names):
                executable = os.access(path, os.X_OK) and bool(path.stat().st_mode & 0o100)
                found[str(path.relative_to(root))] = (path.read_bytes(), executable)
        return found

    def edit(self, *options: str) -> tuple[int, str]:
        return self._traced(lambda: change_files(self.repo.worktree, self.changes), *options)


def _inject(rng: random.Random, trace: str) -> tuple[str, str]:
    name, number = rng.choice(_points(trace))
    return "-e", f"inject={name}:{rng.choice(FAULTS)}:when={number}"


def edits(clock: Clock, rng: random.Random, folder: Path) -> None:
    """Draw an edit, strike it ten times, and draw another."""
    repo = Repo(folder / "repo")
    repo.init()
    tree = RandomEdit(repo)
    while clock.goes_on():
        tree.draw(rng)
        old = tree.state()
        code, trace = tree.edit()
        new = tree.state()
        assert code == 0, tree.changes
        for _ in range(10):
            tree.reset()
            assert tree.state() == old
            fault = _inject(rng, trace)
            code, traced = tree.edit(*fault)
            if "INJECTED" not in traced and code >= 0:
                continue
            assert code != 0 or tree.state() == new, (fault, "said to be made")
            clock.count("kills" if "KILL" in fault[1] else "errors")
            clock.count("torn before the next command", tree.state() not in (old, new))
            if os.path.exists(repo.worktree.edit) and rng.random() < 0.35:
                clock.count("undo struck, too", _strike_undo(tree, rng, folder / "kept"))
            undo_unfinished(repo.worktree)
            assert tree.state() in (old, new), (fault, tree.changes)
            assert not os.path.exists(repo.worktree.edit), fault
            clock.count()


def _strike_undo(tree: RandomEdit, rng: random.Random, kept: Path) -> bool:
    """Strike the next command at a call of its own; its calls are those of a run that is put back."""
    shutil.rmtree(kept, ignore_errors=True)
    shutil.copytree(tree.repo.path, kept, symlinks=True)
    _, trace = tree.undo()
    for path in tree.repo.path.iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    shutil.copytree(kept, tree.repo.path, symlinks=True, dirs_exist_ok=True)
    code, traced = tree.undo(*_inject(rng, trace))
    return "INJECTED" in traced or code < 0
