"""What to add by hand where we must not write. Every text is meant to be pasted as it is."""

from __future__ import annotations

import os
from typing import NamedTuple

from gitindex.base.shipped import event_script
from gitindex.install.hooks.block import render_lines, render_portable, sh_quote
from gitindex.install.hooks.place import HooksFolder


class Advice(NamedTuple):
    """Lines to add, and the file they belong to."""

    file: str
    lines: str


def advise(event: str, place: HooksFolder, writer: str) -> Advice:
    """What makes this event reach us, given who owns the hook."""
    path = os.path.join(place.folder, event)
    if place.manager == "husky":
        return Advice(os.path.join(_husky_folder(place.folder), event), render_portable(event))
    if writer == "lefthook":
        return Advice("lefthook-local.yml or lefthook.yml", _lefthook_job(event))
    if place.shared:
        return Advice(path, render_portable(event))
    return Advice(path, render_lines(event, sh_quote(event_script())))


def _husky_folder(folder: str) -> str:
    return folder.removesuffix("/_")


def _lefthook_job(event: str) -> str:
    return (
        f"{event}:\n"
        "  jobs:\n"
        "    - name: gitindex\n"
        f"      run: if command -v gitindex >/dev/null; then gitindex hook {event} {{0}}; fi\n"
    )
