"""`gitindex export`: the whole index in another tool's format."""

from __future__ import annotations

import os
import sys

from gitindex.base.atomic_file import write_atomic
from gitindex.base.errors import Exit, GitIndexError
from gitindex.base.escape import print_json, safe_text
from gitindex.base.worktree import find_worktree
from gitindex.cli.printing import print_closed
from gitindex.cli.terminal import say
from gitindex.view.snapshot import GateClosed
from gitindex.view.tree import TreeChoice, open_tree


def write_export(form: str, path: str, at: str, staged: bool, output: str, as_json: bool) -> int:
    """Export the index in another tool's format; `as_json` reports what a file received."""
    from gitindex.query.export import export

    if as_json and output == "-":
        raise GitIndexError("--json tells what was written: give a file with -o", code=Exit.USAGE)
    if at and staged:
        raise GitIndexError("--at and --staged exclude each other", code=Exit.USAGE)
    try:
        with open_tree(find_worktree(path), path, TreeChoice(at=at, staged=staged)) as view:
            if output == "-":
                seen = sys.stdout.isatty()  # programs get the raw bytes, a terminal does not
                for piece in export(view, form):
                    shown = safe_text(piece, keep="\n\t").encode() if seen else piece
                    sys.stdout.buffer.write(shown)
            else:
                folder = os.path.dirname(os.path.abspath(output))
                data = b"".join(export(view, form, folder))
                _write(output, data)
                _say_written(form, output, len(data), as_json)
    except GateClosed as closed:
        return print_closed(closed, as_json)
    return int(Exit.OK)


def _say_written(form: str, output: str, size: int, as_json: bool) -> None:
    if as_json:
        print_json({"status": "ok", "format": form, "file": safe_text(output), "bytes": size})
    elif sys.stdout.isatty():
        say(f"wrote {safe_text(output)}: {form}, {size:,} bytes")


def _write(output: str, data: bytes) -> None:
    try:
        write_atomic(os.path.abspath(output), data)
    except OSError as error:
        raise GitIndexError(f"cannot write {output}: {error.strerror}") from error
