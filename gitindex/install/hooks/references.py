"""The opt-in hook reference-transaction: it notes branch moves for which git runs no other hook.

Those are `git am`, `git reset` and `git stash`. Git runs this hook for every change of any
reference, so it reads a few lines at most and only appends to the spool: the next event or question
starts the runner.
"""

from __future__ import annotations

import os

from gitindex.base.errors import GitIndexError
from gitindex.base.shipped import event_script
from gitindex.base.worktree import Worktree
from gitindex.install.hooks import files
from gitindex.install.hooks.block import SHEBANG, Form, sh_quote, wrap
from gitindex.install.hooks.place import find_place

EVENT = "reference-transaction"
LINES = 8
"""Changed references that are checked: a fetch has many, none of them a local branch."""


def render_references(script: str) -> bytes:
    """Return the hook. It reads its input, so it is never inserted into another hook."""
    quoted = sh_quote(script)
    return SHEBANG + wrap(
        Form.FILE,
        f'[ "$1" = committed ] && [ -r {quoted} ] || exit 0\n'
        "left=" + "x" * LINES + "\n"
        'while [ -n "$left" ] && read -r old new ref; do\n'
        "    left=${left#x}\n"
        "    case $ref in HEAD | refs/heads/* | refs/stash) ;; *) continue ;; esac\n"
        f"    gitindex_event={EVENT}\n"
        "    exec </dev/null >/dev/null 2>&1\n"
        f"    . {quoted}\n"
        "done\n"
        "exit 0\n",
    )


def install_references(worktree: Worktree) -> str:
    """Write the hook and return its path. Refuses if another hook exists or we must not write."""
    place = find_place(worktree)
    path = os.path.join(place.folder, EVENT)
    hook = files.look(path)
    if place.refusal or (hook is not None and (hook.found is None or hook.link)):
        why = place.refusal or "another one is there"
        raise GitIndexError(f"the hook {EVENT} was not written: {why}", "leave --references out")
    os.makedirs(place.folder, exist_ok=True)
    files.write_hook(path, render_references(event_script()))
    return path


def uninstall_references(worktree: Worktree) -> list[str]:
    """Remove the hook; return its path if it was there."""
    path = os.path.join(find_place(worktree).folder, EVENT)
    return [path] if files.take_out(path) else []
