"""One question at a time per browser tab, and the latest wins: older waiting ones never start.

A browser that aborts a request does not stop the thread that works on it. Without this, every
keystroke costs a whole search, and the last one waits for all of them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")


class LatestWins:
    """Runs questions in threads: one per tab, a few at once."""

    def __init__(self, threads: int = 3) -> None:
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="gitindex-web")
        self._busy: set[str] = set()
        self._waiting: dict[str, asyncio.Future[bool]] = {}

    async def run(self, tab: str, work: Callable[[], T]) -> T | None:
        """Return what `work` returns; None if a newer question of the same tab replaced it."""
        loop = asyncio.get_running_loop()
        if tab and tab in self._busy:
            self._replace(tab)
            turn = self._waiting[tab] = loop.create_future()
            if not await turn:
                return None
        self._busy.add(tab)
        try:
            return await loop.run_in_executor(self._pool, work)
        finally:
            self._hand_over(tab)

    def close(self) -> None:
        """Start nothing more."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _replace(self, tab: str) -> None:
        waiting = self._waiting.pop(tab, None)
        if waiting is not None and not waiting.done():
            waiting.set_result(False)

    def _hand_over(self, tab: str) -> None:
        waiting = self._waiting.pop(tab, None)
        if waiting is not None and not waiting.done():
            waiting.set_result(True)  # the tab stays busy: the next question runs
        else:
            self._busy.discard(tab)
