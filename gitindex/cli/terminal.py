"""Terminal output: colour and a pager on a terminal, neither of them in a pipe."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache

_PLAIN_PAGERS = frozenset({"", "cat"})


def say(text: str) -> None:
    """Print one line. A closed pipe changes neither the answer nor its exit code."""
    try:
        sys.stdout.write(f"{text}\n")
    except BrokenPipeError:
        drop_output()


def width() -> int:
    """Return the columns of the terminal; 80 in a pipe."""
    try:
        return os.get_terminal_size(1).columns or 80
    except OSError:
        return 80


def drop_output() -> None:
    """Discard everything that is printed from now on."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


@lru_cache(maxsize=1)
def coloured() -> bool:
    """Is the output a terminal with colours? Evaluated before a pager replaces stdout."""
    terminal = sys.stdout.isatty()
    return wants_colour(os.environ, terminal, _git_colour if terminal else lambda: "")


def wants_colour(
    env: Mapping[str, str], terminal: bool, git_colour: Callable[[], str] = lambda: ""
) -> bool:
    """NO_COLOR disables, CLICOLOR_FORCE enables; else a terminal does, unless `color.ui` is off."""
    if env.get("NO_COLOR"):
        return False
    if env.get("CLICOLOR_FORCE", "0") != "0":
        return True
    if not terminal or env.get("TERM", "dumb") == "dumb":
        return False
    return git_colour() not in ("false", "never", "no", "off", "0")


def _git_colour() -> str:
    """Return git's `color.ui` setting."""
    from gitindex.git.command import try_git

    output = try_git(os.getcwd(), "config", "--get", "color.ui").output
    return output.decode("utf-8", "replace").strip().lower()


@contextmanager
def paged(enabled: bool) -> Iterator[None]:
    """Pipe the output through a pager, as git does; only on a terminal."""
    pager = _pager() if enabled and sys.stdout.isatty() and sys.stdin.isatty() else ""
    if pager in _PLAIN_PAGERS:
        yield
        return
    coloured()
    import subprocess

    shown = os.dup(1)
    env = {**os.environ, "LESS": os.environ.get("LESS", "FRX"), "LV": os.environ.get("LV", "-c")}
    child = subprocess.Popen(["/bin/sh", "-c", pager], stdin=subprocess.PIPE, env=env)
    assert child.stdin is not None
    os.dup2(child.stdin.fileno(), 1)
    child.stdin.close()
    try:
        yield
    finally:
        try:
            sys.stdout.flush()
        except BrokenPipeError:
            pass  # the reader closed the pager
        finally:
            os.dup2(shown, 1)
            os.close(shown)
            child.wait()


def _pager() -> str:
    """Return the user's pager. A repository's core.pager is ignored: it could be any command."""
    for name in ("GIT_PAGER", "PAGER"):
        if name in os.environ:
            return os.environ[name]
    from gitindex.git.command import try_git

    output = try_git("/", "config", "--global", "--get", "core.pager").output
    return output.decode("utf-8", "replace").strip() or "less"
