"""Manual pages from the table: `git index --help` shows git-index(1)."""

from __future__ import annotations

import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

from gitindex import __version__
from gitindex.base.errors import Exit, GitIndexError
from gitindex.cli.commands import GROUP_HELP, GROUPS, all_commands, find_command
from gitindex.cli.help import ABOUT, OPTIONS, commands_of, option_name, usage
from gitindex.cli.terminal import say
from gitindex.questions.table import shell_params, summary_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gitindex.questions.table import Command, Question

ALIAS = ".so man1/git-index.1\n"
"""The page of `man gitindex`."""


def show_page(command: list[str]) -> int:
    """Show the manual page in `man`; print its source if there is no terminal or no `man`."""
    text = manual_page(command)
    if not sys.stdout.isatty() or shutil.which("man") is None:
        say(text.rstrip("\n"))
        return 0
    return subprocess.run(["man", "-l", "-"], input=text.encode(), check=False).returncode


def manual_page(command: list[str] | None = None) -> str:
    """The page of one command, or of all of them."""
    return "\n".join(_page(command) if command else _whole()) + "\n"


def _whole() -> Iterator[str]:
    yield from _top("git-index", ABOUT, "gitindex [OPTIONS] COMMAND [ARGS]...")
    for name, told in OPTIONS[:-1]:
        yield from (".TP", f".B {_safe(name)}", _safe(told))
    shown = [*all_commands()]
    for group in GROUPS:
        yield f".SH {_safe(group.upper())}"
        for one in sorted((one for one in shown if one.group == group), key=_by_first):
            yield from _section(one)
    yield from (".SH SEE ALSO", "git(1), rg(1)")


def _by_first(one: Question | Command) -> str:
    return one.name


def _page(command: list[str]) -> Iterator[str]:
    one, name = find_command(command), " ".join(command)
    if one is None and name not in GROUP_HELP:
        raise GitIndexError(f"no such command: {command[-1]}", "see `gitindex --help`", Exit.USAGE)
    about = one.about if one else GROUP_HELP[name]
    line = usage(one) if one else f"gitindex {name} [OPTIONS] COMMAND [ARGS]..."
    yield from _top(f"gitindex-{name.replace(' ', '-')}", about, line)
    if one is not None:
        yield from _options(one)
    inner = commands_of(name)
    if inner:
        yield ".SH COMMANDS"
        for each in inner:
            yield from _section(each)
    yield from (".SH SEE ALSO", "git(1), rg(1)")


def _top(title: str, about: str, line: str) -> Iterator[str]:
    yield f'.TH "{title.upper()}" 1 "" "gitindex {__version__}" "gitindex manual"'
    yield from (".SH NAME", f"{_safe(title)} \\- {_safe(summary_of(about))}")
    yield from (".SH SYNOPSIS", f".B {_safe(line)}")
    yield from (".SH DESCRIPTION", *_text(about))


def _section(one: Question | Command) -> Iterator[str]:
    """A command as a part of a longer page."""
    yield f".SS {_safe(usage(one))}"
    yield from _text(one.about)
    yield from _options(one)


def _options(one: Question | Command) -> Iterator[str]:
    for param in shell_params(one):
        yield from (".TP", f".B {_safe(option_name(param))}", _safe(param.help))


def _text(text: str) -> Iterator[str]:
    """Render paragraphs; one of several lines keeps them."""
    for number, paragraph in enumerate(text.split("\n\n")):
        if number:
            yield ".PP"
        lines = paragraph.splitlines()
        if len(lines) > 1:
            yield from (".nf", *(_safe(line.strip()) for line in lines), ".fi")
        else:
            yield from map(_safe, lines)


def _safe(text: str) -> str:
    """Escape text for troff."""
    told = text.replace("\\", "\\e").replace("-", "\\-").replace("…", "...").replace("`", "\\(ga")
    return f"\\&{told}" if told.startswith((".", "'")) else told
