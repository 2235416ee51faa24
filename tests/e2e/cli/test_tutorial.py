"""Every console example of the book, and the README's commands, executed one by one."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.support import TIMEOUT, Repo, runner_pids, stop_runners, wait_for

ROOT = Path(__file__).parents[3]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Shown(NamedTuple):
    """A command of a page and what the page says it prints."""

    command: str
    output: str


def console(page: str) -> Iterator[Shown]:
    """Commands of the `console` blocks: `$ ` starts one, `> ` continues it, the rest is its output."""
    for kind, text in BLOCK.findall(page):
        if kind == "console":
            for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
                lines = part.splitlines()
                more = [line for line in lines[1:] if line.startswith(">")]
                said = [line for line in lines[1:] if not line.startswith(">")]
                yield Shown("\n".join([lines[0], *(m[2:] for m in more)]), "\n".join(said))


def matches(shown: str, said: str) -> bool:
    """`…` is any text, of any number of lines where it stands alone."""
    pattern = re.escape(shown.strip()).replace(re.escape("…"), ".*")
    return re.fullmatch(pattern, said.strip(), re.DOTALL) is not None


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path
    stop_runners(tmp_path)


def say(command: str, folder: Path) -> tuple[int, str]:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["sh", "-c", command],
        cwd=folder,
        env={**os.environ, "PATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )
    return done.returncode, done.stdout


QUIETLY = ("git reset", "gitindex clear")


def test_the_tutorial_is_true(home: Path) -> None:
    folder = home
    for command, shown in console((ROOT / "docs/tutorial.md").read_text()):
        if command.startswith(QUIETLY):  # a runner lingers for a second after its last job
            wait_for(lambda: not runner_pids(home))
        code, said = say(command, folder)
        assert matches(shown, said), f"$ {command}\n{said}\n--- the page says\n{shown}"
        assert code == (1 if "no symbol" in said or said.startswith("stale") else 0), command
        if " && cd " in command:
            folder = folder / "shop"
    assert folder != home


OTHERS = [
    page
    for page in sorted((ROOT / "docs").glob("*.md"))
    if page.name != "tutorial.md" and "```console" in page.read_text()
]


@pytest.mark.parametrize("page", OTHERS, ids=[page.name for page in OTHERS])
def test_console_examples_of_other_pages_are_true(page: Path, home: Path) -> None:
    """They stand in the project of the tutorial, after its installation."""
    set_up = [*console((ROOT / "docs/tutorial.md").read_text())]
    wait = next(at for at, one in enumerate(set_up) if one.command == "gitindex wait")
    folder = home
    for command, _ in set_up[: wait + 1]:
        assert say(command, folder)[0] == 0, command
        folder = folder / "shop" if " && cd " in command else folder
    for command, shown in console(page.read_text()):
        _, said = say(command, folder)
        assert matches(shown, said), f"$ {command}\n{said}\n--- the page says\n{shown}"


SKIPPED = ("pipx ", "cd ", "make ")
SERVES = frozenset({"lsp", "web", "mcp", "team", "pack"})
"""These wait for a client or need a server: their help is asked for instead."""
PLACEHOLDER = re.compile(r"\b(?!DIR\b|HEAD\b)[A-Z]{3,}\b|\bA B\b|--team")
PROJECT = {
    "src/app.py": "from src.header import parse_header\n\n\ndef main(text):\n"
    + "    value = 1\n" * 36
    + "    found = parse_header(text)\n    return found\n",
    "src/header.py": "class Parser:\n    def parse_head(self, text):\n        return text\n\n\n"
    "def parse_header(text):\n    return Parser().parse_head(text)\n",
    "how.md": "---\ntags: [howto]\n---\n# How\n",
}


def _runnable(command: str) -> str:
    """The command, or its help where it would wait for somebody."""
    verb = command.split()[1]
    return f"gitindex {verb} --help" if verb in SERVES or PLACEHOLDER.search(command) else command


def test_the_commands_of_the_readme_run(home: Path) -> None:
    repo = Repo(home / "repo")
    repo.init()
    repo.commit("empty", "--allow-empty")
    for name, text in PROJECT.items():
        repo.write(name, text)
    repo.commit("first")
    repo.git("tag", "v1.0")
    repo.git("switch", "-q", "-c", "topic")
    repo.write("src/header.py", PROJECT["src/header.py"] + "\n\ndef more():\n    pass\n")
    repo.commit("second")
    commands = [
        line.partition("   #")[0].partition("  #")[0].strip()
        for kind, text in BLOCK.findall((ROOT / "README.md").read_text())
        if kind == "sh"
        for line in text.splitlines()
        if line.strip() and not line.startswith(("#", *SKIPPED))
    ]
    assert len(commands) > 25
    for command in dict.fromkeys(map(_runnable, commands)):
        code, said = say(f"{command} </dev/null", repo.path)
        assert code == 0, f"$ {command}\n{said}"
        assert "Traceback" not in said
