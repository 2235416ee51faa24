"""Colour and pager: on a terminal only, and only as the user has it."""

from __future__ import annotations

import io
import json
import os
import re
import shlex
import sys
from pathlib import Path

import pytest

from gitindex.base.vocabulary import BuildKind
from gitindex.cli import progress
from gitindex.cli.terminal import wants_colour
from gitindex.refresh.public_files import create_store
from tests.mcp_client import job_running
from tests.support import Repo, wait_for
from tests.terminal import on_a_terminal


@pytest.mark.parametrize(
    ("env", "terminal", "expected"),
    [
        ({"TERM": "xterm"}, True, True),
        ({"TERM": "xterm"}, False, False),
        ({"TERM": "dumb"}, True, False),
        ({}, True, False),
        ({"TERM": "xterm", "NO_COLOR": "1"}, True, False),
        ({"TERM": "xterm", "NO_COLOR": ""}, True, True),
        ({"CLICOLOR_FORCE": "1"}, False, True),
        ({"CLICOLOR_FORCE": "0"}, False, False),
        ({"CLICOLOR_FORCE": "1", "NO_COLOR": "1"}, False, False),
    ],
)
def test_who_gets_colour(env: dict[str, str], terminal: bool, expected: bool) -> None:
    assert wants_colour(env, terminal) is expected


def test_a_terminal_gets_colour_through_the_users_pager(quiet: Repo, tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    said = on_a_terminal(quiet, "symbols", "helper", GIT_PAGER=f"tee {seen}")
    assert "\x1b[35mlib/util.py:1" in said
    assert "lib/util.py:1" in seen.read_text()
    assert on_a_terminal(quiet, "symbols", "helper", GIT_PAGER="cat", NO_COLOR="1").startswith(
        "lib/util.py:1"
    )


def test_a_pipe_gets_neither(quiet: Repo, tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    done = quiet.gitindex("symbols", "helper", env={"GIT_PAGER": f"tee {seen}", "TERM": "xterm"})
    assert "\x1b" not in done.stdout
    assert not seen.exists()


def test_a_repository_names_no_pager(quiet: Repo, tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    quiet.git("config", "core.pager", f"tee {seen}")
    assert "lib/util.py:1" in on_a_terminal(quiet, "symbols", "helper")
    assert not seen.exists()


def test_a_pager_that_leaves_early_is_no_error(quiet: Repo) -> None:
    quiet.write("long.py", "".join(f"def made{n}():\n    pass\n" for n in range(4000)))
    said = on_a_terminal(quiet, "outline", "long.py", GIT_PAGER="head -2")
    assert "made0" in said
    assert "Traceback" not in said


def test_settings_are_listed_and_unknown_ones_told(quiet: Repo) -> None:
    quiet.git("config", "gitindex.strict", "true")
    quiet.git("config", "gitindex.speed", "11")
    done = quiet.gitindex("config")
    assert done.returncode == 0
    assert f"gitindex.{'strict':<17} true (local) " in done.stdout
    assert all(row[26] == row[47] == " " != row[48] for row in done.stdout.splitlines())
    assert done.stderr == "gitindex: unknown setting gitindex.speed\n"
    answer = quiet.answer("config")
    assert answer["unknown"] == ["speed"]
    told = {
        setting["name"]: (setting["value"], setting["origin"]) for setting in answer["settings"]
    }
    assert (told["strict"], told["enabled"]) == (("true", "local"), ("true", None))


class Screen(io.StringIO):
    """A terminal, as far as a progress bar can tell."""

    def isatty(self) -> bool:
        return True


def test_who_waits_long_is_told_and_who_does_not_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Screen()
    monkeypatch.setattr(sys, "stderr", screen)
    with progress.patience("looking"):
        pass
    assert screen.getvalue() == ""
    monkeypatch.setattr(progress, "PATIENCE_SECONDS", 0.0)
    with progress.patience("looking"):
        wait_for(lambda: "looking" in screen.getvalue())
    assert screen.getvalue() == "\rlooking …\x1b[K\r\x1b[K"
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with progress.patience("looking"):
        pass


def test_wait_shows_how_far_a_job_is(repo: Repo) -> None:
    repo.write("a.py", "x = 1\n")
    repo.commit()
    create_store(repo.worktree)
    with job_running(repo, BuildKind.CREATE):
        said = on_a_terminal(repo, "wait", "--timeout", "0.5")
    assert "40 % extract" in said


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        (["se"], {"search", "semantic"}),
        (["graph", "--form"], {"--format"}),
        (["graph", "--format", ""], {"text", "json", "dot", "mermaid", "svg"}),
        (["mcp", "install", "--client", "c"], {"claude", "codex", "copilot", "cursor"}),
        (["search", "--in", "t"], {"tests"}),
        (["search", "--kind", "met"], {"method"}),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_shell_completes_commands_options_and_values(
    quiet: Repo, typed: list[str], offered: set[str]
) -> None:
    env = {
        "_GITINDEX_COMPLETE": "complete_bash",
        "COMP_WORDS": shlex.join(["gitindex", *typed]),
        "COMP_CWORD": str(len(typed)),
    }
    told = quiet.gitindex(env=env).stdout.splitlines()
    assert set(told) == offered


def test_index_and_wait_end_with_the_status_as_json(repo: Repo) -> None:
    repo.write("a.py", "x = 1\n")
    repo.commit()
    assert repo.answer("index")["state"] == "fresh"
    assert repo.answer("wait")["state"] == "fresh"
    repo.write("a.py", "x = 2\n")
    repo.git("-c", "core.hooksPath=/dev/null", "commit", "-qam", "second")
    with job_running(repo, BuildKind.REFRESH):
        done = repo.gitindex("wait", "--timeout", "0", "--json")
    answer = json.loads(done.stdout)
    assert (done.returncode, answer["status"], answer["state"]) == (1, "ok", "rebuilding")


EVIL = "\x1b]0;x\x07\x1b[31m\u202e\u2066\u009b31m\x7f\r[link=x]"
HOSTILE = f"evil{EVIL}.py"
COMMANDS: list[list[str]] = [
    ["status"],
    ["status", "--skipped"],
    ["search", "needle"],
    ["search", EVIL],
    ["search", "helper", "--at", EVIL],
    ["grep", "needle"],
    ["grep", "-l", "helper"],
    ["grep", "-c", "helper"],
    ["symbols", "target"],
    ["symbols", EVIL],
    ["outline", HOSTILE],
    ["outline", EVIL],
    ["refs", "helper"],
    ["refs", EVIL],
    ["callers", "helper"],
    ["callees", "target"],
    ["graph"],
    ["impact"],
    ["impact", "--staged"],
    ["map"],
    ["read", HOSTILE],
    ["read", f"../{EVIL}"],
    ["slice", f"{HOSTILE}:6"],
    ["docs", "needle"],
    ["docs", "--tags", "b"],
    ["jobs"],
    ["log"],
    ["contexts"],
    ["semantic", "status"],
    ["state", HOSTILE],
    ["state", "--gate", HOSTILE],
    ["verify"],
    ["gc", "--dry-run"],
    ["export", "--format", "ctags"],
    ["export", "--format", "json"],
    ["export", "--format", "scip"],
    ["config"],
    ["decide", "list"],
    [f"no{EVIL}"],
]


@pytest.mark.promise("I-38")
@pytest.mark.timeout(900)
def test_f28_nothing_raw_reaches_a_terminal(repo: Repo) -> None:
    """Names, text, front matter and arguments that try to drive the terminal; our colours apart."""
    code = (
        f'"""Doc {EVIL}"""\nfrom evil import thing  # {EVIL}\n\n\ndef target(a="{EVIL}"):\n'
        f"    x = a  # {EVIL} needle\n    return helper(x)\n\n\ndef helper(y):\n    return y\n"
    ).replace("\r", " ")
    repo = Repo(repo.path.parent / f"repo{EVIL}")
    repo.init()
    for name in (HOSTILE, "c1\u009bx.py", "tab\tnew\nline.py", os.fsdecode(b"latin\xe9.py")):
        repo.write(name, code)
    front = f'---\ntags: ["a{EVIL}", b]\nsummary: "s {EVIL}"\n---\n'.replace("\r", " ")
    repo.write("doc.md", front + f"# T {EVIL} needle\n")
    repo.write("package.json", '{"name": "\\u001b[31mevil"}')
    repo.commit(f"message {EVIL}")
    repo.git("switch", "-qc", "b\u202e\u009b31m")
    repo.index()
    repo.write(HOSTILE, code + f"\n\ndef added():\n    return helper(1)  # {EVIL}\n")
    repo.write(f"new{EVIL}.py", code)
    for command in COMMANDS:
        said = on_a_terminal(repo, *command, codes=(0, 1, 2, 3, 4), PAGER="cat")
        plain = re.sub(r"\x1b\[[0-9;]*[mK]", "", said).replace("\r", "")
        raw = {c for c in plain if not c.isprintable() and c not in "\n\t"}
        assert not raw, (command, raw, said)
        assert "Traceback" not in said, command
