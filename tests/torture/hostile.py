"""Hostile repositories: indexing ends, nothing in them is executed, nothing outside them is read."""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path

from tests.support import Repo
from tests.torture import Clock

CANARY = "canary-that-must-not-be-read"


def _links(repo: Repo, rng: random.Random) -> None:
    for target in ("/etc/passwd", "/dev/zero", "..", ".", "loop", f"{repo.path.parent}/outside"):
        name = f"link{rng.random()}.py"
        (repo.path / name).symlink_to(target if target != "loop" else name)


def _executes(repo: Repo, rng: random.Random) -> None:
    """Keys that name programs; `_arm` sets them, for git would run some of them to make the commit."""
    repo.write(".gitattributes", "*.py filter=x diff=x merge=x\n*.md filter=y text eol=crlf\n")


def _arm(repo: Repo, rng: random.Random) -> None:
    """Now the configuration names programs, and a look at the work tree has files to compare."""
    ran = f"touch {repo.path.parent}/executed"
    for key in (
        "core.fsmonitor",
        "core.editor",
        "core.pager",
        "core.sshCommand",
        "core.askPass",
        "diff.external",
        "credential.helper",
        "gpg.program",
        "uploadpack.packObjectsHook",
        "filter.x.clean",
        "filter.x.smudge",
        "filter.x.process",
        "filter.y.clean",
        "filter.y.process",
        "diff.x.command",
        "diff.x.textconv",
        "merge.x.driver",
    ):
        if rng.random() < 0.5:
            repo.git("config", key, ran)
    repo.git("config", "filter.x.required", rng.choice(["true", "false"]))
    for name in ("good.py", "new.py"):
        repo.write(name, f"def good_function():\n    return {rng.random()}\n")


def _bare_inside(repo: Repo, rng: random.Random) -> None:
    for name in ("HEAD", "config", "refs/heads/x", "objects/x"):
        repo.write(f"inner/{name}", f"[core]\n\tfsmonitor = touch {repo.path.parent}/executed\n")
    repo.write("inner/HEAD", "ref: refs/heads/main\n")


def _names(repo: Repo, rng: random.Random) -> None:
    for number in range(20):
        name = bytes(
            rng.choice(b"a\xff\n\t'\"\\ -*?[\x1b\x07:%") for _ in range(rng.randint(1, 40))
        )
        (repo.path / f"n{number}").mkdir()
        path = os.fsencode(repo.path / f"n{number}") + b"/" + name
        with open(path, "wb") as file:
            file.write(b"def odd(): pass\n")


def _garbage(repo: Repo, rng: random.Random) -> None:
    for number in range(12):
        suffix = rng.choice(
            ["py", "js", "ts", "go", "rs", "c", "cpp", "md", "json", "yaml", "toml"]
        )
        repo.write(f"g{number}.{suffix}", rng.randbytes(rng.randint(0, 20_000)))


def _nested(repo: Repo, rng: random.Random) -> None:
    depth = rng.choice([1_000] * 6 + [20_000] * 3 + [100_000])  # a deep one costs seconds
    for suffix in rng.sample(["py", "js", "json", "md", "c"], 2):
        repo.write(f"deep.{suffix}", rng.choice("([{<>") * depth)
    repo.write("quotes.js", '"' * rng.choice([1_000, 10_000]))
    repo.write("line.py", "x = [" + "1, " * rng.choice([1_000, 100_000]) + "]\n")


def _ours(repo: Repo, rng: random.Random) -> None:
    kind = rng.randrange(3)
    if kind == 0:
        (repo.path / ".llmc").symlink_to(repo.path.parent)
    elif kind == 1:
        repo.write(".llmc/rag_index_status.json", '{"index_state": "fresh"}')
        repo.write(".llmc/completion_marker.json", "{}")
    else:
        repo.write(".gitindexignore", "*\n" * rng.randint(1, 9_999))


def _front_matter(repo: Repo, rng: random.Random) -> None:
    for number in range(10):
        body = rng.choice(
            ["tags: &a [*a]", "a: " + "[" * 5_000, "date: 9999-99-99", "\x00", "? : -"]
        )
        repo.write(f"d{number}.md", f"---\n{body}\n---\n# x\n")


CLASSES: tuple[Callable[[Repo, random.Random], None], ...] = (
    _links,
    _executes,
    _bare_inside,
    _names,
    _garbage,
    _nested,
    _ours,
    _front_matter,
)


def hostile_repositories(clock: Clock, rng: random.Random, folder: Path) -> None:
    """One to three kinds of hostility at once; then index, and ask from inside."""
    outside = folder / "outside"
    outside.mkdir()
    (outside / "secret.py").write_text(f"{CANARY} = 1\n")
    number = 0
    while clock.goes_on():
        number += 1
        repo = Repo(folder / f"r{number}")
        repo.init()
        repo.write("good.py", "def good_function():\n    return 1\n")
        kinds = rng.sample(CLASSES, rng.randint(1, 3))
        for make in kinds:
            make(repo, rng)
        executed = folder / "executed"
        repo.git("-c", "core.fsmonitor=false", "add", "-A", check=False)
        repo.git("-c", "core.fsmonitor=false", "commit", "-qm", "x", check=False)
        if _executes in kinds:
            _arm(repo, rng)
        assert not executed.exists()
        done = repo.gitindex("index")
        tell = (repo.path, done.returncode, done.stdout[-500:], done.stderr[-500:])
        assert done.returncode in (0, 1, 3, 4), tell
        assert "Traceback" not in done.stderr, tell
        assert not executed.exists(), tell
        for question in (rng.choice((["grep", CANARY], ["search", CANARY])), ["status"]):
            asked = repo.gitindex(*question)
            assert "Traceback" not in asked.stderr, (*tell, question, asked.stderr)
            assert "secret.py" not in asked.stdout, (*tell, question, asked.stdout)
            assert not executed.exists(), (*tell, question)
        shutil.rmtree(repo.path, ignore_errors=True)
        clock.count()
