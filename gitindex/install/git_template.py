"""`gitindex template DIR`: a git template directory that makes new clones index themselves."""

from __future__ import annotations

import os
import shutil
import sys

from gitindex.base.atomic_file import write_atomic
from gitindex.base.errors import Exit, GitIndexError
from gitindex.base.escape import safe_text
from gitindex.base.locations import event_script, shipped_folder
from gitindex.base.worktree import FROM_TEMPLATE, STORE_FOLDERS
from gitindex.install.hooks import files
from gitindex.install.hooks.block import EVENTS, sh_quote
from gitindex.install.hooks.installation import STUB, render_stub
from gitindex.install.hooks.place import ask_git


def write_template(folder: str, temporary: bool = False) -> list[str]:
    """Write or refresh the template; return notes for the user, one per line.

    Git copies it into every repository it makes: the store's folders are the opt-in, the hooks fire
    at the end of the clone. Existing files stay. Repositories below the temporary folder are left
    alone unless `temporary` is given: programs create and remove many of them.
    """
    folder = os.path.abspath(os.path.expanduser(folder))
    if os.path.isfile(os.path.join(folder, "HEAD")):
        raise GitIndexError(
            f"{safe_text(folder)} is a git directory, not a template", code=Exit.USAGE
        )
    hooks, store = os.path.join(folder, "hooks"), os.path.join(folder, "gitindex")
    for made in (hooks, *(os.path.join(store, name) for name in STORE_FOLDERS)):
        os.makedirs(made, exist_ok=True)
    notes = [note for event in EVENTS if (note := _put(os.path.join(hooks, event), event))]
    write_atomic(os.path.join(store, "python"), os.fsencode(sys.executable) + b"\n")
    write_atomic(os.path.join(store, STUB), render_stub())
    for name in ("runner.lock", "runner.alive"):  # so a starting runner does not have to
        write_atomic(os.path.join(store, name), b"")
    scope = b"repositories below the temporary folder too\n" if temporary else b""
    write_atomic(os.path.join(store, FROM_TEMPLATE), scope)
    _copy_missing(os.path.join(shipped_folder("templates"), "git-template"), folder)
    return [*notes, *_activation(folder)]


def _put(path: str, event: str) -> str:
    try:
        files.put(path, event, event_script())
    except files.WriteRefused as why:
        return f"left alone: {safe_text(path)}: {why}"
    return ""


def _copy_missing(source: str, target: str) -> None:
    for folder, _, names in os.walk(source):
        there = os.path.join(target, os.path.relpath(folder, source))
        os.makedirs(there, exist_ok=True)
        for name in names:
            if not os.path.lexists(os.path.join(there, name)):
                shutil.copyfile(os.path.join(folder, name), os.path.join(there, name))


def _activation(folder: str) -> list[str]:
    answer = ask_git("/", "config", "--type=path", "--get", "init.templateDir")
    current = os.fsdecode(answer.output.removesuffix(b"\n"))
    if current and os.path.realpath(current) == os.path.realpath(folder):
        return ["new clones and repositories are indexed from now on"]
    lines = [f"to use it: git config --global init.templateDir {sh_quote(folder)}"]
    if current:
        lines.append(
            f"this replaces your template {safe_text(current)}: "
            f"run `gitindex template {sh_quote(current)}` to add gitindex to that one instead"
        )
    return [safe_text(line) for line in lines]
