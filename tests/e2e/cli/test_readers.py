"""Readers: light, quiet, honest exit codes; every command has help and can be reached through git."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from gitindex.cli.commands import FRONT, all_commands
from gitindex.questions.table import Command, Question, shell_params
from tests.support import TIMEOUT, Repo

HEAVY = {
    "pygit2",
    "typer",
    "click",
    "tantivy",
    "tree_sitter",
    "sqlite3",
    "subprocess",
    "dataclasses",
    "pathlib",
    "asyncio",
    "importlib.metadata",
}
SLOW = {"typing", "enum", "re", "json", "contextlib", "functools"}
"""What only a form that prints JSON may take."""
FOR_PROGRAMS = {"gate", "hook", "run"}
COMMANDS = [*all_commands()]


@pytest.mark.parametrize("command", [["status"], ["status", "--json"], ["check"]], ids=" ".join)
def test_status_imports_nothing_slow(quiet: Repo, command: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-I", "-X", "importtime", "-m", "gitindex", *command],
        cwd=quiet.path,
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )
    assert done.returncode == 0
    ours = done.stderr.partition("gitindex\n")[2]
    loaded = {line.rpartition("|")[2].strip() for line in ours.splitlines()}
    assert "gitindex.freshness.report" in loaded
    assert loaded & HEAVY == set()
    assert "--json" in command or loaded & SLOW == set()


def test_exit_codes_of_status_and_check(quiet: Repo) -> None:
    for command in ("status", "check"):
        assert quiet.gitindex(command).returncode == 0
    quiet.write("app.py", "edited = 1\n")
    for command in ("status", "check"):
        assert quiet.gitindex(command).returncode == 0
        assert quiet.gitindex(command, "--clean").returncode == 1
    quiet.git("commit", "-qam", "not indexed yet", env={"GITINDEX": "0"})
    for command in ("status", "check"):
        assert quiet.gitindex(command).returncode == 1
    Path(quiet.worktree.marker).unlink()
    for command in ("status", "check"):
        assert quiet.gitindex(command).returncode == 3
    assert quiet.gitindex("status", "--nonsense").returncode == 2
    Path(quiet.worktree.marker).mkdir()  # unknown: the proof cannot be read
    assert quiet.gitindex("status").returncode == 1
    assert quiet.gitindex("check").returncode == 4


def test_exit_codes_of_search(quiet: Repo) -> None:
    assert quiet.gitindex("search", "helper").returncode == 0
    assert quiet.gitindex("search", "nosuchwordanywhere").returncode == 1
    assert quiet.gitindex("search").returncode == 2
    Path(quiet.worktree.marker).unlink()
    gated = quiet.gitindex("search", "helper", "--json", "--strict")
    assert gated.returncode == 3
    envelope = json.loads(gated.stdout)
    assert (envelope["status"], envelope["reason"]) == ("not_indexed", "not_indexed")
    assert envelope["hints"]["staleLocal"]["completionProof"] == "missing_marker_doc"


def test_the_short_form_is_one_word(quiet: Repo) -> None:
    assert quiet.gitindex("status", "--short").stdout == "fresh\n"
    assert quiet.gitindex("check").stdout == "fresh\n"


@pytest.mark.parametrize(
    "argv",
    [
        ["symbols", "helper"],
        ["outline", "lib/util.py"],
        ["read", "app.py:1-3"],
        ["refs", "helper"],
        ["callers", "helper"],
        ["callees", "main"],
        ["search", "helper", "42"],
        ["grep", "help.r"],
        ["symbols", "none"],
        ["refs", "none"],
        ["read", "none.py"],
    ],
    ids=" ".join,
)
def test_the_short_way_says_what_the_long_one_says(quiet: Repo, argv: list[str]) -> None:
    for form in ([], ["--json"]):
        short = quiet.gitindex(*argv, *form)
        long = quiet.gitindex(*argv, *form, "--repo", ".")
        assert (short.returncode, short.stderr) == (long.returncode, long.stderr)
        assert short.stdout == long.stdout


def test_git_index_is_the_same_command(quiet: Repo, tmp_path: Path) -> None:
    programs = tmp_path / "programs"
    programs.mkdir()
    program = programs / "git-index"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m gitindex "$@"\n')
    program.chmod(0o755)
    path = {"PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}
    below = quiet.path / "lib"
    assert quiet.git("-C", str(below), "index", "status", "--short", env=path) == "fresh\n"
    assert "lib/util.py" in quiet.git("index", "search", "helper", env=path)


def test_help_explains_a_command(repo: Repo) -> None:
    assert repo.gitindex("help", "search").stdout == repo.gitindex("search", "--help").stdout
    nested = repo.gitindex("help", "aliases", "install").stdout
    assert nested == repo.gitindex("aliases", "install", "--help").stdout
    assert repo.gitindex("help").stdout == repo.gitindex("--help").stdout
    missing = repo.gitindex("help", "nonsense")
    assert (missing.returncode, missing.stderr.splitlines()[0]) == (
        2,
        "gitindex: no such command: nonsense",
    )


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_every_command_has_help(command: Question | Command) -> None:
    assert command.about.strip()
    for param in shell_params(command):
        assert param.help, f"{command.name} {param.name}"


def test_help_is_printed_and_lists_every_command(repo: Repo) -> None:
    front = repo.gitindex("--help").stdout.partition("Commands:\n")[2].splitlines()
    assert [
        line.split()[0] for line in front if line.startswith("  ") and line[2] != " "
    ] == FRONT.split()
    done = repo.gitindex("help", "--all")
    assert done.returncode == 0
    listed = [line.split()[0] for line in done.stdout.splitlines() if line.startswith("  ")]
    assert {one.name.split()[0] for one in COMMANDS} <= set(listed)
    assert not set(listed) & FOR_PROGRAMS
    assert "..." not in done.stdout.partition("Everyday:")[2], "a summary is cut"
    titles = [line for line in done.stdout.splitlines() if line.endswith(":") and line[0] != " "]
    assert titles[:2] == ["Options:", "Everyday:"]
    assert done.stdout.index("  search ") < done.stdout.index("  install ")
    assert repo.gitindex("search", "-h").returncode == 0


def test_skipped_paths_are_listed_with_their_reason(quiet: Repo) -> None:
    quiet.write(".env", "A=1\n")
    quiet.write("logo.bin", b"\0\1\2")
    quiet.write("gen/out.py", "# @generated\nx = 1\n")
    quiet.write("ignored.txt", "words\n")
    quiet.write(".gitindexignore", "ignored.txt\n")
    (quiet.path / "link").symlink_to("app.py")
    quiet.git("add", "-A")
    quiet.git("commit", "-qm", "skips", env={"GITINDEX": "0"})
    quiet.gitindex("run")
    text = quiet.gitindex("status", "--skipped").stdout
    listed = dict(line.split()[::-1] for line in text.splitlines())
    assert listed == {
        ".env": "secret",
        "logo.bin": "binary",
        "ignored.txt": "ignored",
        "link": "symlink",
    }
    rows = quiet.answer("status", "--skipped")["skipped"]
    assert {row["path"]: row["reason"] for row in rows} == listed


def test_doctor_finds_nothing_wrong_and_says_what_is(quiet: Repo) -> None:
    well = quiet.gitindex("doctor")
    assert well.returncode == 0, well.stdout
    (quiet.path / ".git" / "hooks" / "post-commit").unlink()
    ill = quiet.gitindex("doctor")
    assert ill.returncode == 4
    assert "BAD post-commit" in ill.stdout
    assert "hint: run `gitindex install`" in ill.stdout


def test_jobs_and_log_tell_what_happened(quiet: Repo) -> None:
    assert "completed" in quiet.gitindex("jobs").stdout
    assert quiet.answer("jobs")["jobs"][0]["status"] == "completed"
    assert '"event"' in quiet.gitindex("log", "--limit", "1").stdout
