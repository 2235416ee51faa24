"""What to add by hand where we must not write. Every text can be pasted as it is."""

from __future__ import annotations

import os
from typing import NamedTuple

from gitindex.base.shipped import event_script
from gitindex.install.hooks.block import render_lines, render_portable, sh_quote
from gitindex.install.hooks.place import HooksFolder

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
