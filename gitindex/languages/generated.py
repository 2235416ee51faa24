"""The one detector of generated files. They are searched like others, and ranked below them."""

from __future__ import annotations

import re

from gitindex.base.pattern import compile_later

_HEAD = 1_000
"""The marker must be in this many bytes at the start of a file."""
_SAYS_SO = compile_later(rb"^\W{0,8}(@generated\b|(\w.{0,200})?\bDO NOT EDIT\b)", re.MULTILINE)
"""The marker is on its own line, with only comment characters before it."""


def is_generated(data: bytes) -> bool:
    """Does the file's head mark it as generated (`@generated`, `DO NOT EDIT`)?"""
    return _SAYS_SO.search(data, 0, _HEAD) is not None
