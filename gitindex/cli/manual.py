"""Manual pages, written from the help of the commands: `git index --help` shows git-index(1)."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from inspect import cleandoc
from typing import Any

import typer

from gitindex import __version__
from gitindex.cli.app import GROUPS, app
from gitindex.cli.declare import UsageError, VerbGroup, wrap_text
from gitindex.cli.terminal import say

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
    context = typer.Context(app, info_name="gitindex")
    found: Any = app
    for name in command or []:
        inner = found.get_command(context, name) if isinstance(found, VerbGroup) else None
        if inner is None:
            raise UsageError(f"no such command: {name}", context)
        context, found = typer.Context(inner, info_name=name, parent=context), inner
    title = "-".join(["git-index" if found is app else "gitindex", *(command or [])])
    return "\n".join(_page(title, context, found)) + "\n"


def _page(title: str, context: typer.Context, found: Any) -> Iterator[str]:
    yield f'.TH "{title.upper()}" 1 "" "gitindex {__version__}" "gitindex manual"'
    yield from (".SH NAME", f"{_safe(title)} \\- {_safe(found.get_short_help_str(200))}")
    yield from (".SH SYNOPSIS", f".B {_safe(_usage(context, found))}")
    yield from (".SH DESCRIPTION", *_text(found.help or ""))
    yield from _options(context, found)
    if found is app:
        for heading, names in GROUPS.items():
            yield f".SH {_safe(heading.upper())}"
            for name in names.split():
                yield from _section(context, name)
    elif isinstance(found, VerbGroup):
        yield ".SH COMMANDS"
        for name in found.list_commands(context):
            yield from _section(context, name, found)
    yield from (".SH SEE ALSO", "git(1), rg(1)")


def _section(parent: typer.Context, name: str, group: VerbGroup = app) -> Iterator[str]:
    """A command as a part of a longer page; its own commands follow it."""
    found = group.get_command(parent, name)
    assert found is not None
    context = typer.Context(found, info_name=name, parent=parent)
    yield f".SS {_safe(_usage(context, found))}"
    yield from _text(found.help or "")
    yield from _options(context, found)
    if isinstance(found, VerbGroup):
        for inner in found.list_commands(context):
            yield from _section(context, inner, found)


def _usage(context: typer.Context, found: Any) -> str:
    return " ".join([context.command_path, *found.collect_usage_pieces(context)])


def _options(context: typer.Context, found: Any) -> Iterator[str]:
    for parameter in found.get_params(context):
        record = parameter.get_help_record(context)
        if record is not None and "--help" not in parameter.opts:
            yield from (".TP", f".B {_safe(record[0])}", _safe(record[1]))


def _text(text: str) -> Iterator[str]:
    """Render paragraphs; lines after a \\b are kept as they are, as in click."""
    whole = wrap_text(cleandoc(text), 10_000, preserve_paragraphs=True)
    for number, paragraph in enumerate(whole.split("\n\n")):
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
