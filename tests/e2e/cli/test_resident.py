"""The resident process: the same bytes as without it, and never in anybody's way."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from gitindex.cli.commands import all_commands
from gitindex.questions.table import Question
from tests.support import TIMEOUT, Repo, wait_for

ALONE = "import sys; from gitindex.__main__ import main; sys.exit(main())"
HANDED = (
    "import os, sys; from gitindex.cli.resident import hand_over; done = hand_over(sys.argv);"
    "os._exit(99 if done is None else done)"
)
WORDS = {
    "api": "HEAD",
    "audit": "",
    "callees": "greet",
    "callers": "helper",
    "claim": "helper",
    "config": "",
    "contexts": "",
    "dead": "",
    "decide list": "",
    "decide show": "1",
    "docs": "helper",
    "explore": "how does the helper work",
    "find": "helper",
    "graph": "helper",
    "grep": "helper",
    "history": "helper",
    "history log": "helper",
    "history when": "a b",
    "history broke": "helper",
    "history status": "",
    "impact": "HEAD",
    "jobs": "",
    "log": "",
    "map": "",
    "merge-check": "HEAD",
    "outline": "app.py",
    "radar": "HEAD",
    "read": "app.py",
    "recheck": "-",
    "refs": "helper",
    "report": "HEAD",
    "search": "helper",
    "semantic list": "",
    "semantic status": "",
    "slice": "app.py:1",
    "state": "app.py",
    "symbols": "helper",
    "verify": "-",
}


@pytest.fixture
def resident(quiet: Repo) -> Iterator[Repo]:
    """A repository with a resident process, which ends with the test."""
    assert quiet.gitindex("resident").returncode == 0
    yield quiet
    for pid in residents(quiet):
        os.kill(pid, signal.SIGKILL)


def residents(repo: Repo) -> list[int]:
    """The resident processes of a repository."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if words[-3:-1] == [b"gitindex.resident", os.fsencode(os.path.realpath(repo.path))]:
            found.append(int(folder.name))
    return found


def ask(
    repo: Repo, code: str, *words: str, env: dict[str, str] | None = None
) -> tuple[int, bytes, bytes]:
    """Exit code and both outputs of a command in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", code, *words],
        cwd=repo.path,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=TIMEOUT,
        check=False,
        env={**os.environ, **(env or {})},
    )
    return done.returncode, done.stdout, done.stderr


def test_every_question_has_words() -> None:
    questions = {one.name for one in all_commands() if isinstance(one, Question)}
    assert set(WORDS) == questions - {"rename"}, "rename writes: it never goes there"


def test_every_question_both_ways(resident: Repo) -> None:
    resident.write("app.py", "def helper():\n    return 1\n\n\ndef greet():\n    helper()\n")
    for name, words in [*WORDS.items(), ("status", ""), ("check", "")]:
        form = "--json" if name == "find" or len(name) % 2 else "--full-name"  # text: half of them
        command = *name.split(), *words.split(), form
        if name in ("status", "check"):
            command = name, "--json"
        assert ask(resident, HANDED, *command) == ask(resident, ALONE, *command), name


def test_what_changes_is_seen_at_once(resident: Repo) -> None:
    assert ask(resident, HANDED, "symbols", "brandnew")[0] == 1
    resident.write("new.py", "def brandnew():\n    pass\n")
    code, shown, _ = ask(resident, HANDED, "symbols", "brandnew")
    assert (code, b"new.py" in shown) == (0, True)


def test_writers_and_other_interpreters_run_themselves(resident: Repo) -> None:
    for command in (["rename", "helper", "other"], ["index"], ["gc", "--dry-run"], ["--version"]):
        assert ask(resident, HANDED, *command)[0] == 99, command
    assert ask(resident, HANDED, "search", "helper", env={"GITINDEX_PURE": "1"})[0] == 99
    resident.git("config", "gitindex.resident", "off")
    assert ask(resident, HANDED, "search", "helper")[0] == 99
    assert resident.gitindex("resident").returncode == 4


def test_the_socket_is_private_and_one_process_is_enough(resident: Repo) -> None:
    path = Path(resident.worktree.store, "resident")
    assert path.is_socket()
    assert path.stat().st_mode & 0o077 == 0
    assert resident.gitindex("resident").returncode == 0
    assert len(residents(resident)) == 1


def test_without_it_everything_works(quiet: Repo) -> None:
    assert not Path(quiet.worktree.store, "resident").exists()
    assert ask(quiet, HANDED, "search", "helper")[0] == 99
    assert not residents(quiet), "no reader starts one"


def test_one_that_was_killed_is_replaced(resident: Repo) -> None:
    (pid,) = residents(resident)
    os.kill(pid, signal.SIGKILL)
    wait_for(lambda: not residents(resident))
    assert ask(resident, HANDED, "search", "helper")[0] == 99
    assert resident.gitindex("search", "helper").returncode == 0
    assert resident.gitindex("resident").returncode == 0
    assert ask(resident, HANDED, "search", "helper")[0] == 0


def test_nonsense_on_the_socket_harms_nobody(
    resident: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(resident.worktree.store)  # an address is short
    for nonsense in (b"", b"00000009no", b"x" * 5000):
        with socket.socket(socket.AF_UNIX) as other:
            other.connect("resident")
            other.sendall(nonsense)
    assert ask(resident, HANDED, "search", "helper")[0] == 0


def test_it_ends_with_its_repository(resident: Repo) -> None:
    subprocess.run(["rm", "-rf", str(resident.path)], check=True)
    wait_for(lambda: not residents(resident))
