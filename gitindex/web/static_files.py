"""Files that ship with the page, read once. Serves only files of its folder."""

from __future__ import annotations

import hashlib
import os
from functools import lru_cache
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


@lru_cache(maxsize=32)
def static_file(name: str) -> StaticFile | None:
    """Return the file of this name, or None."""
    media_type = _TYPES.get(os.path.splitext(name)[1])
    if media_type is None or ".." in name.split("/") or name.startswith("/"):
        return None
    try:
        with open(os.path.join(FOLDER, name), "rb") as file:
            data = file.read()
    except (OSError, ValueError):
        return None
    return StaticFile(data, media_type, f'"{hashlib.sha256(data).hexdigest()[:32]}"')
