"""Random states of a repository, every door asked: no disagreement, no false fresh, no wrong answer.

The oracle is git's own word for trees, and the bytes on disk for everything else.
"""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from gitindex.cli.door import run_cli
from gitindex.coordinator import IndexCoordinator
from gitindex.git.interface import blob_id
from gitindex.install.aliases import install_aliases
from tests.mcp_client import Inside
from tests.support import TIMEOUT, Repo

PROMPT = Path(__file__).parents[3] / "templates/prompt/gitindex.bash"
SIGNS = {" ✓idx": "fresh", " …idx": "stale"}
TOKEN = re.compile(rb"tok_\d+")
NAMES = [f"d{number % 3}/f{number}.py" for number in range(9)]
SEED = int(os.environ.get("SEED") or 20261116)


class World:
    """One worktree that random commands act on, and what was published of it."""

    def __init__(self, repo: Repo, seed: int) -> None:
        self.repo = repo
        self.rng = random.Random(seed)
        self.published = ""
        self._tokens = seed * 100_000

    def git(self, *args: str) -> None:
        """A command that may fail: what it leaves is a state, too."""
        self.repo.try_git(*args)

    def text(self) -> str:
        self._tokens += 1
        return f"tok_{self._tokens} = 1\n"

    def name(self) -> str:
        return self.rng.choice(NAMES)

    def branch(self) -> str:
        return self.rng.choice(
            self.repo.git("branch", "--format=%(refname:short)").split("\n")[:-1]
        )

    def index(self) -> None:
        self.repo.index()
        self.published = self.repo.tree()

    # What can happen to it

    def edit(self) -> None:
        self.repo.write(self.name(), self.text())

    def edit_with_old_times(self) -> None:
        """Neither size nor time of modification tells."""
        path = self.repo.path / self.name()
        if path.is_file():
            before = path.stat()
            path.write_bytes(path.read_bytes()[::-1])
            os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))

    def delete(self) -> None:
        (self.repo.path / self.name()).unlink(missing_ok=True)

    def chmod(self) -> None:
        path = self.repo.path / self.name()
        if path.is_file():
            path.chmod(0o755 if self.rng.random() < 0.5 else 0o644)

    def stage(self) -> None:
        self.git("add", "-A")

    def commit(self) -> None:
        self.edit()
        self.git("add", "-A")
        self.git("commit", "-qm", "x")

    def amend(self) -> None:
        self.git("commit", "-q", "--amend", "--allow-empty", "-m", f"amended {self.rng.random()}")

    def reset(self) -> None:
        self.git(
            "reset", "-q", self.rng.choice(["--hard", "--soft", "--mixed", "--keep"]), "HEAD~1"
        )

    def stash(self) -> None:
        self.git("stash", "-q", *self.rng.choice([("push", "-u"), ("push",), ("pop",)]))

    def switch(self) -> None:
        if self.rng.random() < 0.3:
            self.git("switch", "-qc", f"b{self.rng.randrange(10_000)}")
        else:
            self.git("switch", "-q", *self.rng.choice([(), ("--detach",), ("-f",)]), self.branch())

    def merge(self) -> None:
        self.git("merge", "-q", "--no-edit", self.branch())

    def rebase(self) -> None:
        self.git("rebase", "-q", self.branch())

    def abort(self) -> None:
        self.git(self.rng.choice(["merge", "rebase", "cherry-pick"]), "--abort")

    def cherry_pick(self) -> None:
        self.git("cherry-pick", self.branch())

    def update_ref(self) -> None:
        self.git("update-ref", "HEAD", self.branch())

    def hide(self) -> None:
        self.git(
            "update-index",
            self.rng.choice(["--assume-unchanged"] * 2 + ["--no-assume-unchanged"]),
            self.name(),
        )

    def step(self) -> str:
        deeds: list[Callable[[], None]] = [
            *(self.edit, self.edit, self.edit_with_old_times, self.delete, self.chmod, self.stage),
            *(self.commit, self.commit, self.amend, self.reset, self.stash, self.switch),
            *(self.switch, self.merge, self.rebase, self.abort, self.cherry_pick),
            *(self.update_ref, self.hide, self.index),
        ]
        deed = self.rng.choice(deeds)
        deed()
        return deed.__name__

    # What is true of it

    def differing(self) -> tuple[set[bytes], set[bytes]]:
        """Paths whose bytes or modes on disk are not HEAD's; and those that at least are staged so."""
        head = self.repo.ls_tree()
        disk: dict[bytes, tuple[int, str]] = {}
        root = os.fsencode(self.repo.path)
        for folder, folders, files in os.walk(root):
            folders[:] = [name for name in folders if name not in (b".git", b".llmc")]
            for name in files:
                path = os.path.relpath(os.path.join(folder, name), root)
                data, mode = Path(os.fsdecode(os.path.join(folder, name))), 0o100644
                if path != b".git":
                    executable = data.stat().st_mode & 0o100
                    digits = len(self.repo.tree())
                    disk[path] = (
                        mode | (0o111 if executable else 0),
                        blob_id(data.read_bytes(), digits),
                    )
        differs = {p for p in head.keys() | disk.keys() if head.get(p) != disk.get(p)}
        staged = self.repo.git("diff-index", "--cached", "--name-only", "-z", "HEAD").split("\0")
        return differs, differs | {os.fsencode(path) for path in staged if path}

    def tokens(self) -> dict[str, set[str]]:
        """Path → tokens on disk."""
        found = {}
        for path in self.repo.path.glob("d*/*"):
            words = {word.decode() for word in TOKEN.findall(path.read_bytes())}
            if words:
                found[str(path.relative_to(self.repo.path))] = words
        return found


def _ask_every_door(world: World, mcp: Inside, capsys: pytest.CaptureFixture[str]) -> None:
    repo, root = world.repo, str(world.repo.path)

    def cli(*args: str) -> tuple[int, str]:
        capsys.readouterr()
        code = run_cli([*args, "-C", root])
        return code, capsys.readouterr().out.strip()

    fresh = world.published == repo.tree()
    word, code = ("fresh", 0) if fresh else ("stale", 1)
    status = json.loads(cli("status", "--json")[1])
    assert status["state"] == status["freshness"]["state"] == word
    assert cli("status", "--short") == cli("check") == (code, word)
    done = repo.try_git("fresh")
    assert (done.returncode, done.stdout.partition(":")[0].strip()) == (code, word)
    assert SIGNS[_prompt(repo)] == word
    assert mcp.ask("manage_index", action="status", path=root)["state"] == word
    at_least, at_most = world.differing()
    edits = status["freshness"]["edits"]
    assert len(at_least) <= edits <= len(at_most)
    tracked = at_least & repo.ls_tree().keys()
    assert cli("check", "--clean")[0] == (1 if tracked else code) or at_least != at_most
    answer = IndexCoordinator(root).search(r"tok_\d+", "regex")
    freshness = answer["freshness"]
    assert (freshness["state"], freshness["exact"], freshness["edits"]) == (word, True, edits)
    found: dict[str, set[str]] = {}
    for hit in answer["results"]:
        found.setdefault(hit["path"], set()).update(re.findall(r"tok_\d+", hit["text"]))
    assert found == world.tokens()


def _prompt(repo: Repo) -> str:
    done = subprocess.run(
        ["bash", "-c", f". '{PROMPT}'; gitindex_prompt"],
        cwd=repo.path,
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )
    assert done.stderr == ""
    return done.stdout


def _run(tmp_path: Path, capsys: pytest.CaptureFixture[str], seed: int, steps: int) -> None:
    install_aliases()
    main = Repo(tmp_path / f"repo{seed}")
    main.init(*(("--object-format=sha256",) if seed % 3 == 1 else ()))
    for number, name in enumerate(NAMES):
        main.write(name, f"tok_{seed}{number} = 0\n")
    main.commit("first")
    repo = main
    if seed % 3 == 2:
        repo = Repo(tmp_path / f"linked{seed}")
        main.git("worktree", "add", "-q", "-b", "linked", str(repo.path))
    world, mcp = World(repo, seed), Inside(str(repo.path), tmp_path / "state")
    world.index()
    done: list[str] = []
    for _ in range(steps):
        done.append(world.step())
        try:
            _ask_every_door(world, mcp, capsys)
        except Exception as error:
            raise AssertionError(f"seed {seed} after {done}") from error


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash")
@pytest.mark.parametrize("kind", range(3))
def test_q24_random_states(tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: int) -> None:
    """sha1, sha256 and a linked worktree."""
    _run(tmp_path, capsys, SEED - SEED % 3 + kind, 8)


@pytest.mark.torture
@pytest.mark.parametrize("number", range(60))
def test_q24_many_random_states(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], number: int
) -> None:
    _run(tmp_path, capsys, SEED + 1_000 * number, 50)
