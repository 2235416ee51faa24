"""One meaning of fresh: every door says the same of every state, and no page tells the old one."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from gitindex.base.locations import shipped_folder
from gitindex.base.runner_lock import RunnerLock
from gitindex.base.vocabulary import BuildKind, IndexState
from gitindex.cli.door import run_cli
from gitindex.freshness.status_file import load_status
from gitindex.install.aliases import install_aliases, uninstall_aliases
from gitindex.refresh import public_files
from gitindex.refresh.lifecycle import describe
from gitindex.refresh.spool import append_event
from gitindex.view.snapshot import GateClosed
from gitindex.view.tree import open_tree
from tests.support import TIMEOUT, Repo

ROOT = Path(__file__).parents[3]
PROMPTS = Path(shipped_folder("templates"), "prompt")
SIGNS = {" ✓idx": "fresh", " …idx": "stale", " ↻idx": "rebuilding", " ✗idx": "error"}
CODES = {"fresh": 0, "stale": 1, "rebuilding": 1, "error": 4, "unknown": 1, "gated": 3}
UNSEEN = {"GITINDEX": "0"}


def _nothing(repo: Repo) -> None:
    pass


def _edit(repo: Repo) -> None:
    repo.write("app.py", "edited = 1\n")


def _stage(repo: Repo) -> None:
    _edit(repo)
    repo.write("new.py", "new = 1\n")
    repo.git("add", "-A")


def _commit_unseen(repo: Repo) -> None:
    _stage(repo)
    repo.git("commit", "-qm", "silent", env=UNSEEN)


def _commit_unseen_and_edit(repo: Repo) -> None:
    _commit_unseen(repo)
    repo.write("app.py", "edited = 2\n")


def _same_tree(repo: Repo) -> None:
    repo.git("commit", "-q", "--allow-empty", "-m", "same tree", env=UNSEEN)


def _event(repo: Repo) -> None:
    """What a hook does besides starting a runner."""
    append_event(repo.worktree, "post-commit")
    public_files.mark_stale(repo.worktree)


def _commit_with_event(repo: Repo) -> None:
    _commit_unseen(repo)
    _event(repo)


def _taken(repo: Repo) -> None:
    _event(repo)
    os.rename(repo.worktree.spool, repo.worktree.taken)


def _failed(repo: Repo) -> None:
    _commit_unseen(repo)
    _fail(repo, repo.git("rev-parse", "HEAD").strip())


def _failed_reindex(repo: Repo) -> None:
    _fail(repo, repo.git("rev-parse", "HEAD").strip())


def _failed_then_event(repo: Repo) -> None:
    _failed(repo)
    _event(repo)


def _fail(repo: Repo, commit: str) -> None:
    public_files.note_failure(repo.worktree, "boom", commit)
    public_files.write_state(repo.worktree, IndexState.ERROR, "boom")


def _unreadable(repo: Repo) -> None:
    os.unlink(repo.worktree.stamp)
    os.mkdir(repo.worktree.stamp)


def _no_marker(repo: Repo) -> None:
    shutil.rmtree(repo.path / ".llmc")


@contextmanager
def _job(repo: Repo) -> Iterator[None]:
    """A job of this worktree runs, and has run for more than a second."""
    lock = RunnerLock(repo.worktree.lock)
    assert lock.acquire()
    public_files.note_progress(repo.worktree, BuildKind.REFRESH, "extract", 50.0)
    public_files.write_state(repo.worktree, IndexState.REBUILDING)
    try:
        yield
    finally:
        lock.release()


STATES: dict[str, tuple[Callable[[Repo], Any], str]] = {
    "fresh": (_nothing, "fresh"),
    "edited": (_edit, "fresh"),
    "staged": (_stage, "fresh"),
    "another-commit-of-the-same-tree": (_same_tree, "fresh"),
    "committed-without-a-hook": (_commit_unseen, "stale"),
    "committed-without-a-hook-and-edited": (_commit_unseen_and_edit, "stale"),
    "event": (_event, "stale"),
    "committed-with-a-hook": (_commit_with_event, "stale"),
    "taken": (_taken, "stale"),
    "job": (_job, "rebuilding"),
    "failed": (_failed, "error"),
    "failed-reindex": (_failed_reindex, "error"),
    "failed-and-then-an-event": (_failed_then_event, "stale"),
    "unreadable-proof": (_unreadable, "unknown"),
    "no-marker": (_no_marker, "gated"),
}


@pytest.mark.parametrize(("make", "expected"), STATES.values(), ids=STATES)
def test_every_door_says_the_same(
    quiet: Repo, make: Callable[[Repo], Any], expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with ExitStack() as stack:
        install_aliases()
        stack.callback(uninstall_aliases)
        made = make(quiet)
        if made is not None:
            stack.enter_context(made)
        told = _doors(quiet, capsys)
        word = "stale" if expected == "gated" else expected
        assert told == dict.fromkeys(told, word)
        assert _code(quiet, "status", capsys) == CODES[expected]


def _doors(repo: Repo, capsys: pytest.CaptureFixture[str]) -> dict[str, str]:
    """What each door says, in the words of `status`."""
    told = {
        "status": _printed(repo, capsys, "status").partition(":")[0],
        "status --short": _printed(repo, capsys, "status", "--short"),
        "check": _printed(repo, capsys, "check"),
        "git fresh": repo.try_git("fresh").stdout.partition(":")[0].strip(),
        "MCP status": describe(repo.worktree, ".")["state"],
    }
    told["json"] = json.loads(_printed(repo, capsys, "status", "--json"))["state"]
    if told["status"] == "unknown":
        return told  # neither the file nor a prompt can know
    stored = load_status(str(repo.path))
    if stored is not None:
        head = repo.git("rev-parse", "HEAD").strip()
        told["status file"] = str(stored.index_state)
        if stored.last_indexed_commit != head and told["status"] != "fresh":
            # As the contract has it for programs that read the file alone.
            told["status file"] = told["status file"].replace("fresh", "stale")
        for shell in ("bash", "zsh", "fish"):
            if shutil.which(shell):
                told[f"{shell} prompt"] = SIGNS[_prompt(repo, shell)]
    try:
        with open_tree(repo.worktree, ".") as view:
            footer = view.envelope()["freshness"]["state"]
        told["footer"] = footer if told["status"] in ("fresh", "stale") else told["status"]
        assert (footer == "fresh") is (told["status"] == "fresh")
    except GateClosed as closed:
        told["gate"] = {"not_indexed": "stale"}[closed.envelope["status"]]
    return told


def _printed(repo: Repo, capsys: pytest.CaptureFixture[str], *args: str) -> str:
    run_cli([*args, "-C", str(repo.path)])
    return capsys.readouterr().out.strip()


def _code(repo: Repo, command: str, capsys: pytest.CaptureFixture[str]) -> int:
    code = run_cli([command, "-C", str(repo.path)])
    capsys.readouterr()
    return code


def _prompt(repo: Repo, shell: str) -> str:
    done = subprocess.run(
        [shell, "-c", f". '{PROMPTS / f'gitindex.{shell}'}'; gitindex_prompt"],
        cwd=repo.path,
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )
    assert done.stderr == ""
    return done.stdout


def test_wait_does_not_wait_for_edits(quiet: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    _edit(quiet)
    assert _code(quiet, "wait", capsys) == 0


def test_a_proof_that_cannot_be_read(quiet: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    """It turns neither fresh nor into an error by itself; a script must not take it for fresh."""
    _unreadable(quiet)
    assert (_code(quiet, "status", capsys), _code(quiet, "check", capsys)) == (1, 4)
    answer = json.loads(_printed(quiet, capsys, "status", "--json"))
    assert (answer["status"], answer["state"]) == ("ok", "unknown")
    assert answer["indexStatus"]["index_state"] == "stale"
    assert answer["hints"]["debugProofCheck"] == {"ok": False, "reason": "probe_failed"}


def test_clean(quiet: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    """The line of the README, and the exit codes of `--clean`."""
    tree = quiet.tree()[:12]
    assert _printed(quiet, capsys, "status") == f"fresh: 3 files, tree {tree}"
    quiet.write("new.py", "new = 1\n")
    assert _printed(quiet, capsys, "status").endswith("; 1 edited path overlaid")
    assert run_cli(["status", "--clean", "-C", str(quiet.path)]) == 0, "a new path is not tracked"
    quiet.write("app.py", "edited = 1\n")
    capsys.readouterr()
    assert _printed(quiet, capsys, "status").endswith(f"tree {tree}; 2 edited paths overlaid")
    for command in ("status", "check"):
        assert run_cli([command, "-C", str(quiet.path)]) == 0
        assert run_cli([command, "--clean", "-C", str(quiet.path)]) == 1
        assert "not clean: 1 tracked path differs from HEAD" in capsys.readouterr().out
    answer = json.loads(_printed(quiet, capsys, "check", "--clean", "--json"))
    assert (answer["state"], answer["clean"]) == ("fresh", False)
    freshness = json.loads(_printed(quiet, capsys, "status", "--json"))["freshness"]
    assert (freshness["edits"], freshness["exact"], freshness["branch"]) == (2, True, "main")
    quiet.git("switch", "-q", "--detach", env=UNSEEN)
    assert json.loads(_printed(quiet, capsys, "status", "--json"))["freshness"]["branch"] is None


OLD_MEANING = re.compile(
    r"no tracked file on disk differs|are no edits pending|tracked paths differ from HEAD\""
    r"|edits? (makes?|make) (it|the index) stale|is laid over and is not fresh"
    r"|or an edit, which no hook"
)


def test_no_page_tells_the_old_meaning() -> None:
    pages = [ROOT / "README.md", ROOT / ".pre-commit-hooks.yaml", *ROOT.glob("docs/*.md")]
    pages += [*ROOT.glob("hooks/*"), *ROOT.glob("templates/**/*.*"), *ROOT.glob("gitindex/**/*.py")]
    assert len(pages) > 200
    for page in filter(Path.is_file, pages):
        text = re.sub(r"\s+", " ", page.read_text())
        found = OLD_MEANING.search(text)
        assert found is None, (page, found and found[0])
