"""`install --write`: adds what `install` prints to files that the team shares; removes it again.

Only where a hook manager reads files of the repository: husky, a tracked hooks folder, lefthook.
"""

from __future__ import annotations

import os
from typing import NamedTuple

from gitindex.base.atomic_file import FileAccess, read_small, remove, write_atomic
from gitindex.base.locations import event_script
from gitindex.base.worktree import Worktree
from gitindex.install.hooks import block, files
from gitindex.install.hooks.block import (
    EVENTS,
    SHEBANG,
    Form,
    render_lines,
    render_portable,
    sh_quote,
)
from gitindex.install.hooks.place import HooksFolder, find_place

LEFTHOOK_LOCAL = "lefthook-local.yml"


class Advice(NamedTuple):
    """Lines to add, and the file to add them to."""

    file: str
    lines: str


def advise(event: str, place: HooksFolder, writer: str) -> Advice:
    """Return the lines that make this event reach us, given who owns the hook."""
    path = os.path.join(place.folder, event)
    if writer == "lefthook":
        return Advice(f"{LEFTHOOK_LOCAL} or lefthook.yml", lefthook_job(event))
    if place.shared:
        return Advice(shared_file(place, event), render_portable(event))
    return Advice(path, render_lines(event, sh_quote(event_script())))


def shared_file(place: HooksFolder, event: str) -> str:
    """Return the file of a shared folder that people edit: husky keeps its own below `_`."""
    folder = place.folder.removesuffix("/_") if place.manager == "husky" else place.folder
    return os.path.join(folder, event)


def lefthook_job(event: str) -> str:
    """Return a lefthook job for one event."""
    return (
        f"{event}:\n"
        "  jobs:\n"
        "    - name: gitindex\n"
        f"      run: if command -v gitindex >/dev/null; then gitindex hook {event} {{0}}; fi\n"
    )


LEFTHOOK_FILES = (
    "lefthook.yml",
    "lefthook.yaml",
    "lefthook.toml",
    "lefthook.json",
    ".lefthook.yml",
    ".lefthook.yaml",
    ".config/lefthook.yml",
    LEFTHOOK_LOCAL,
    "lefthook-local.yaml",
    ".lefthook-local.yml",
)
_HEAD = "# made by `gitindex install --write`, removed by `gitindex uninstall`\n"


def write_shared(worktree: Worktree, events: list[str]) -> list[str]:
    """Write the advised lines for some events into shared files; return the files written."""
    place = find_place(worktree)
    if place.shared:
        return [path for event in events if (path := _write_line(place, event))]
    hooks = [files.read_hook(os.path.join(place.folder, event)) for event in events]
    if any(hook is not None and hook.writer == "lefthook" for hook in hooks):
        return _write_lefthook(worktree, events)
    return []


def take_out_shared(worktree: Worktree, place: HooksFolder) -> list[str]:
    """Remove those lines; return the files that were changed or removed."""
    removed = []
    if place.shared:
        paths = [shared_file(place, event) for event in EVENTS]
        removed = [path for path in paths if files.take_out(path)]
    local = os.path.join(worktree.root, LEFTHOOK_LOCAL)
    data = read_small(local) or b""
    if data.startswith(_HEAD.encode()) and data == _lefthook(_events_of(data)):
        remove(local)
        removed.append(local)
    return removed


def line_added(place: HooksFolder, event: str) -> str:
    """Return the shared file that notes this event for us; empty if there is none."""
    path = shared_file(place, event)
    hook = files.read_hook(path)
    ours = hook is not None and hook.data is not None and b"gitindex_event=" in hook.data
    return path if ours else ""


def lefthook_knows(root: str, event: str) -> bool:
    """Does a lefthook configuration run us for this event?"""
    line = f"gitindex hook {event}".encode()
    for name in LEFTHOOK_FILES:
        try:
            text = read_small(os.path.join(root, name), 1 << 20) or b""
        except OSError:
            continue
        if line in text:
            return True
    return False


def _write_line(place: HooksFolder, event: str) -> str:
    """Write one marked line at the start of the file."""
    path = shared_file(place, event)
    hook = files.read_hook(path)
    line = block.render_portable(event)
    if hook is None:
        files.write_hook(path, SHEBANG + block.wrap(Form.FILE, line))
        return path
    data = hook.data
    if hook.link or data is None or hook.found is not None or b"gitindex_event=" in data:
        return ""
    ours = block.wrap(Form.BLOCK, line)
    if not data.startswith(b"#!"):
        files.rewrite(hook, ours + data)
        return path
    if not block.takes_lines(data):
        return ""
    first, newline, rest = data.partition(b"\n")
    files.rewrite(hook, first + newline + ours + rest)
    return path


def _write_lefthook(worktree: Worktree, events: list[str]) -> list[str]:
    path = os.path.join(worktree.root, LEFTHOOK_LOCAL)
    if os.path.lexists(path):
        return []  # the user's own file: the caller prints what to add
    write_atomic(path, _lefthook(events), access=FileAccess(0o644))
    return [path]


def _lefthook(events: list[str]) -> bytes:
    return (_HEAD + "".join(lefthook_job(event) for event in events)).encode()


def _events_of(data: bytes) -> list[str]:
    lines = data.decode("utf-8", "replace").splitlines()
    return [line[:-1] for line in lines if line[:-1] in EVENTS and line.endswith(":")]
