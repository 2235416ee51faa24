"""Ends a background runner as soon as somebody removes its repository: a file that it made then would
make `rm -rf` fail, or come back.

A runner may die at any moment, so it does: at once, without closing anything.
"""

from __future__ import annotations

import os
import select
import threading
import time

from gitindex.base.worktree import Worktree
from gitindex.git.folder_watch import event_queue, events_of

PAUSE_SECONDS = 0.002
"""Between two looks: the database's log changes often, and each change is an event."""
_REMOVED, _REMOVED_ITSELF = 0x200, 0x400
_LASTING = frozenset(
    (b"HEAD", b"config", b"refs", b"objects", b"gitindex", b"python", b"runner.lock", b"spool")
)
"""Neither git nor gitindex removes these from a repository that stays; a rebuild removes others."""


def end_with(anchor: Worktree) -> None:
    """End this process when its repository is removed; without a compiled part it is not noticed."""
    queue = event_queue(anchor.common_dir, b".\0refs\0gitindex\0gitindex/spool\0")
    if queue is not None:
        threading.Thread(target=_watch, args=(queue,), daemon=True).start()


def _watch(queue: int) -> None:
    poller = select.poll()
    poller.register(queue, select.POLLIN)
    while True:
        poller.poll()
        for mask, name in events_of(queue):
            if mask & _REMOVED_ITSELF or (mask & _REMOVED and name in _LASTING):
                os._exit(0)
        time.sleep(PAUSE_SECONDS)
