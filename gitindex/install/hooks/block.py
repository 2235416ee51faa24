"""Our lines in a hook file: rendered, found, inserted, removed. Does no file access."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import NamedTuple

EVENTS = ("post-commit", "post-checkout", "post-merge", "post-rewrite", "post-applypatch")
BLOCK_VERSION = 2
SHEBANG = b"#!/bin/sh\n"
ORIGINAL = ".gitindex-orig"
"""Suffix of a hook that was moved aside, because sh lines cannot be inserted into it."""

_NOTE = "made by `gitindex install`, removed by `gitindex uninstall`"
_END = b"# <<< gitindex <<<"
_BLOCK = re.compile(
    rb"^# >>> gitindex (\d+) >>>(?: (\w+):)?[^\n]*\n.*?^# <<< gitindex <<<[^\n]*(?:\n|\Z)",
    re.MULTILINE | re.DOTALL,
)
_SHELL = re.compile(
    rb"#![ \t]*(?:\S*/env(?:[ \t]+-S)?[ \t]+)?(?:\S*/)?(?:sh|bash|dash|ash|ksh)(?:[ \t][^\r\n]*)?(?:\n|\Z)"
)
_READS_ITSELF = re.compile(rb"(?:\bexec|\btail|\bsed|\bhead|\bawk|\bdd|\bcat)\b[^\n]*\$\{?0\b")


class Form(StrEnum):
    """How a block relates to its file."""

    FILE = "file"  # the whole file is ours
    BLOCK = "block"  # lines in another tool's or the user's hook
    DISPATCHER = "dispatcher"  # the whole file is ours, and runs the hook that was moved aside


class HookBlock(NamedTuple):
    """Our first block in a file."""

    version: int
    form: Form
    text: bytes
    rest: bytes  # the file without any of our blocks


def render_command(event: str, script: str) -> str:
    """Return the command of a config hook: git runs it in its own shell, so no subshell is needed.

    Git appends ` "$@"` to it, which is why it ends in a colon.
    """
    quoted = sh_quote(script)
    return (
        f"[ -r {quoted} ] || exit 0; exec </dev/null >/dev/null 2>&1; "
        f"gitindex_event={event}; . {quoted}; :"
    )


def render_lines(event: str, script: str) -> str:
    """Return lines for any sh hook: silent, without effect on its variables, input, or exit code.

    The subshell costs a quarter of a millisecond. Without it the script's `exit` would skip the
    lines that other tools add after ours.
    """
    return (
        f"[ -r {script} ] && (\n"
        f"    gitindex_event={event}\n"
        f"    . {script}\n"
        ") </dev/null >/dev/null 2>&1 || :\n"
    )


def render_portable(event: str) -> str:
    """Return one line for a hook that is shared with others: it has no path of this machine.

    It notes that HEAD moved, and does nothing if gitindex is not installed.
    """
    return (
        f'( gitindex_event={event}; at="${{GIT_DIR:-.git}}"; [ ! -f "$at/commondir" ] || at="$at/../.."; '
        '[ ! -r "$at/gitindex/event.sh" ] || . "$at/gitindex/event.sh" ) </dev/null >/dev/null 2>&1 || :\n'
    )


def render_file(event: str, script: str) -> bytes:
    """Return a hook file that is ours alone."""
    return SHEBANG + wrap(Form.FILE, render_lines(event, sh_quote(script)))


def render_dispatcher(event: str, script: str, folder: str) -> bytes:
    """Return a hook that notes the event and then runs the hook that was there before.

    It looks for that hook beside itself, under the name it was started by, so a moved repository
    keeps working; the absolute path is for a copy elsewhere.
    """
    there = sh_quote(f"{folder}/{event}{ORIGINAL}")
    return SHEBANG + wrap(
        Form.DISPATCHER,
        render_lines(event, sh_quote(script))
        + f"# The hook that was here before is beside this file: {event}{ORIGINAL}\n"
        + f'gitindex_orig="${{0%/*}}/{event}{ORIGINAL}"\n'
        + f'[ -e "$gitindex_orig" ] || gitindex_orig={there}\n'
        + '[ -x "$gitindex_orig" ] || exit 0\n'
        + 'exec "$gitindex_orig" "$@"\n',
    )


def insert(data: bytes, event: str, script: str) -> bytes:
    """Insert our block after the first line of a shell hook: before any `exec`."""
    block = wrap(Form.BLOCK, render_lines(event, sh_quote(script)))
    first, newline, rest = data.partition(b"\n")
    if not newline:
        return first + b"\n" + block.removesuffix(b"\n")
    return first + newline + block + rest


def find(data: bytes) -> HookBlock | None:
    """Return our block in a file, if there is one."""
    match = _BLOCK.search(data)
    if match is None:
        return None
    rest = _strip(data)
    return HookBlock(int(match[1]), _form(match[2], rest), match[0], rest)


def takes_lines(data: bytes) -> bool:
    """Can sh lines be inserted after the first line without harm?"""
    if b"\0" in data or not _SHELL.match(data):
        return False
    return not _READS_ITSELF.search(data)  # sh on its first line, another language below


def sh_quote(text: str) -> str:
    """Quote a text as one word of sh."""
    return "'" + text.replace("'", "'\\''") + "'"


def wrap(form: Form, lines: str) -> bytes:
    """Put lines between our markers."""
    begin = f"# >>> gitindex {BLOCK_VERSION} >>> {form}: {_NOTE}\n"
    return begin.encode() + lines.encode("utf-8", "surrogateescape") + _END + b"\n"


def _form(named: bytes | None, rest: bytes) -> Form:
    word = (named or b"").decode("ascii", "replace")
    if word in tuple(Form):
        return Form(word)
    return Form.FILE if rest == SHEBANG else Form.BLOCK  # version 1 did not name the form


def _strip(data: bytes) -> bytes:
    while (match := _BLOCK.search(data)) is not None:
        start = match.start()
        if not match[0].endswith(b"\n") and start:
            start -= 1  # the file had no final newline: the one before the block is ours
        data = data[:start] + data[match.end() :]
    return data
