"""Files that ship with the page, read once. Serves only files of its folder."""

from __future__ import annotations

import hashlib
import os
from typing import NamedTuple

FOLDER = os.path.join(os.path.dirname(__file__), "static")
_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}


class StaticFile(NamedTuple):
    """One file, and its ETag."""

    data: bytes
    media_type: str
    tag: str


class StaticFolder:
    """The files of the page by name."""

    def __init__(self, folder: str = FOLDER) -> None:
        self._paths = {
            os.path.relpath(os.path.join(top, name), folder).replace(os.sep, "/"): os.path.join(
                top, name
            )
            for top, _, names in os.walk(folder)
            for name in names
            if os.path.splitext(name)[1] in _TYPES
        }
        self._read: dict[str, StaticFile] = {}

    def get(self, name: str) -> StaticFile | None:
        """Return the file of this name, or None."""
        path = self._paths.get(name)
        if path is None:
            return None
        if name not in self._read:
            with open(path, "rb") as file:
                data = file.read()
            tag = f'"{hashlib.sha256(data).hexdigest()[:32]}"'
            self._read[name] = StaticFile(data, _TYPES[os.path.splitext(name)[1]], tag)
        return self._read[name]
