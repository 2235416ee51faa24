"""Events for open pages: sends the freshness bar whenever it changes. Only reads."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import time
from collections.abc import AsyncIterator
from typing import NamedTuple

from gitindex.base.errors import GitIndexError
from gitindex.base.vocabulary import EditScope
from gitindex.freshness.envelope import status_envelope
from gitindex.freshness.observation import Observation, observe
from gitindex.freshness.verdict import judge
from gitindex.web.frame import freshness_bar
from gitindex.web.session import WebSession

LEAST_SECONDS = 0.5
SHARE = 20
"""Pause between two probes, as a multiple of the time that a probe takes: at most 5 % of a core."""
TYPING_SECONDS = 0.5
"""So soon after a question nothing is probed: answers carry the bar, and keys need the processor."""
LATEST_SECONDS = 3.0
"""A probe is never later than this."""
MAX_STAMPED = 200
"""Maximum number of edited files whose modification time is checked."""
KEEP_ALIVE_SECONDS = 15.0
MAX_STREAMS = 64
RETRY_MS = 500
"""Delay before a page reconnects after the stream was cut."""


class LiveState(NamedTuple):
    """The bar that a page shows, and a version of everything that answers depend on."""

    bar: str
    version: str


class LiveFeed:
    """One probe of the worktree, shared by all open pages."""

    def __init__(self, session: WebSession) -> None:
        self._session = session
        self._seen = LiveState("", "")
        self._next = 0.0
        self._lock = asyncio.Lock()
        self._streams = 0

    def is_full(self) -> bool:
        """Are as many pages open as are told of changes?"""
        return self._streams >= MAX_STREAMS

    async def events(self) -> AsyncIterator[str]:
        """Yield server-sent events for one page until it disconnects."""
        self._streams += 1
        try:
            async for event in self._events():
                yield event
        finally:
            self._streams -= 1

    async def _events(self) -> AsyncIterator[str]:
        last: LiveState | None = None
        sent = time.monotonic()
        yield f"retry: {RETRY_MS}\n\n"
        while True:
            now = await self._now()
            if now != last:
                last, sent = now, time.monotonic()
                yield f"event: bar\ndata: {json.dumps(now._asdict())}\n\n"
            elif time.monotonic() - sent > KEEP_ALIVE_SECONDS:
                sent = time.monotonic()
                yield ": here\n\n"
            await asyncio.sleep(LEAST_SECONDS)

    async def _now(self) -> LiveState:
        async with self._lock:
            if self._is_due():
                began = time.monotonic()
                self._seen = await asyncio.to_thread(probe, self._session)
                took = time.monotonic() - began
                self._next = time.monotonic() + max(LEAST_SECONDS / 2, SHARE * took)
            return self._seen

    def _is_due(self) -> bool:
        late = time.monotonic() - self._next
        typing = time.monotonic() - self._session.asked_at < TYPING_SECONDS
        return late >= (LATEST_SECONDS if typing else 0)


def probe(session: WebSession) -> LiveState:
    """Return the current bar."""
    worktree = session.worktree
    try:
        seen = observe(worktree, EditScope.ALL)
        answer = status_envelope(worktree, seen, judge(seen), worktree.root)
    except (GitIndexError, OSError) as error:
        message = error.message if isinstance(error, GitIndexError) else str(error.strerror)
        return LiveState(freshness_bar({"state": "error", "status": "error"}), message)
    receipt = {"generation": answer["generation"], "treeId": answer["treeId"]}
    fields = {"state": answer["state"], "freshness": answer["freshness"], "receipt": receipt}
    return LiveState(freshness_bar(fields), _version(worktree.root, seen, answer["generation"]))


def _version(root: str, seen: Observation, generation: int) -> str:
    """Return a version that changes with HEAD, the generation and the stat of edited files."""
    digest = hashlib.sha256(f"{generation} {seen.head_tree} {seen.head.edits}".encode())
    edited = [*seen.head.dirty, *seen.head.untracked] if seen.head.edits else []
    for path in edited[:MAX_STAMPED]:
        try:
            at = os.stat(os.path.join(os.fsencode(root), path), follow_symlinks=False)
            digest.update(b"%s %d %d\0" % (path, at.st_mtime_ns, at.st_size))
        except OSError:
            digest.update(b"%s gone\0" % path)
    return digest.hexdigest()[:16]
