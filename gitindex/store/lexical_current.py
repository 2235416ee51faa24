"""A reader of the lexical index for its writer, who needs one often: opening it is dear."""

from __future__ import annotations

import os

from gitindex.base.atomic_file import read_small
from gitindex.store.lexical import LexicalReader
from gitindex.store.seal import META

MAX_LIST = 1 << 24
"""Bytes of a list of segments."""


class CurrentReader:
    """A reader of an index that this process alone changes: opened anew only if its list of segments, or
    the files there, are others."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._seen: tuple[bytes, list[str]] | None = None
        self._reader: LexicalReader | None = None

    def open(self) -> LexicalReader:
        """Return a reader of the last commit."""
        listed = read_small(os.path.join(self._path, META), MAX_LIST)
        seen = (listed, sorted(os.listdir(self._path))) if listed is not None else None
        if self._reader is None or seen is None or seen != self._seen:
            self._reader, self._seen = LexicalReader(self._path), seen
        return self._reader
