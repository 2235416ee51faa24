"""A cache that is bounded by the bytes of what it keeps."""

from __future__ import annotations

from collections import OrderedDict

from gitindex.base.light_types import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any


class Recent:
    """Values by key within so many bytes: the least recently used are dropped."""

    def __init__(self, room: int) -> None:
        self._room = room
        self._entries: OrderedDict[Any, tuple[Any, int]] = OrderedDict()

    def get(self, key: Any) -> Any:
        """Return a value, or None."""
        entry = self._entries.get(key)
        if entry is None:
            return None
        self._entries.move_to_end(key)
        return entry[0]

    def keep(self, key: Any, value: Any, size: int) -> None:
        """Keep a value that takes so many bytes; the oldest are dropped."""
        self._room += self._entries.pop(key, (None, 0))[1]
        self._entries[key] = value, size
        self._room -= size
        while self._room < 0:
            _, (_, gone) = self._entries.popitem(last=False)
            self._room += gone
