"""`gitindex find`: the same ranked list in a pipe and on a terminal, where it opens the editor."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import TIMEOUT, Repo, wait_for


@pytest.fixture
def project(repo: Repo) -> Repo:
    repo.write("src/parser.py", "class Parser:\n    def parse_header(self):\n        pass\n")
    repo.write("src/other.py", "def run():\n    pass\n")
    repo.write("tests/test_parser.py", "def test_parser():\n    pass\n")
    repo.commit()
    repo.index()
    return repo


def test_in_a_pipe_it_prints_symbols_and_files_best_first(project: Repo) -> None:
    done = project.gitindex("find", "parser")
    assert done.returncode == 0
    assert done.stdout.splitlines()[:2] == ["src/parser.py:1  class Parser", "src/parser.py"]
    assert "tests/test_parser.py" in done.stdout
    none = project.gitindex("find", "zzzzzz")
    assert (none.returncode, none.stdout) == (1, "")
    assert project.gitindex("find").returncode == 2


def test_a_slash_looks_at_the_whole_path(project: Repo) -> None:
    found = project.answer("find", "src/pa")["results"]
    assert [row["path"] for row in found] == ["src/parser.py"]


def test_on_a_terminal_it_follows_what_is_typed_and_opens_the_editor(
    project: Repo, tmp_path: Path
) -> None:
    note = tmp_path / "opened"
    editor = tmp_path / "editor"
    editor.write_text(f'#!/bin/sh\nprintf "%s " "$@" > {note}\n')
    editor.chmod(0o755)
    main, other = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "gitindex", "find"],
        cwd=project.path,
        env={**os.environ, "TERM": "xterm", "EDITOR": str(editor)},
        stdin=other,
        stdout=other,
        stderr=other,
        start_new_session=True,
    )
    os.close(other)
    os.set_blocking(main, False)
    shown = bytearray()

    def sees(text: bytes) -> bool:
        try:
            while part := os.read(main, 65536):
                shown.extend(part)
        except OSError:  # nothing to read yet, or the other end is closed
            pass
        return text in shown

    def waits(text: bytes) -> None:
        wait_for(lambda: sees(text) or process.poll() is not None, TIMEOUT)
        assert text in shown, bytes(shown)

    waits(b"find>")
    os.write(main, b"parse_he")
    waits(b"Parser.parse_header")
    os.write(main, b"\r")
    wait_for(lambda: sees(b"\0never") or process.poll() is not None, TIMEOUT)
    assert process.returncode == 0, bytes(shown)
    os.close(main)
    assert note.read_text() == f"+2 {project.worktree.root}/src/parser.py "


@pytest.mark.parametrize("words", [["parser"], []], ids=["words", "nothing"])
def test_without_the_picker_it_prints_its_list(project: Repo, words: list[str]) -> None:
    """On a terminal, too; without words there is no list, and the message says what is missing."""
    code = (
        f"import sys; sys.modules['prompt_toolkit'] = None; sys.argv = ['gitindex', 'find', *{words}]\n"
        "from gitindex.__main__ import main; sys.exit(main())"
    )
    main, other = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=project.path,
        env={**os.environ, "TERM": "dumb", "PAGER": "cat"},
        stdin=other,
        stdout=other,
        stderr=other,
        start_new_session=True,
    )
    os.close(other)
    shown = b""
    try:
        while part := os.read(main, 4096):
            shown += part
    except OSError:
        pass  # the terminal closes with its last user
    os.close(main)
    assert process.wait(TIMEOUT) == (0 if words else 2)
    assert (b"src/parser.py:1" in shown) == bool(words)
    assert (b"the picker needs the extra `tui`" in shown) != bool(words)
