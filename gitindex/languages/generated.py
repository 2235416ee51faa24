"""The one detector of files that a tool wrote. They are searched like others, and ranked below them."""

from __future__ import annotations

import re

_HEAD = 1_000
"""Bytes in which a file says so."""
_SAYS_SO = re.compile(rb"^\W{0,8}(@generated\b|(\w.{0,200})?\bDO NOT EDIT\b)", re.MULTILINE)
"""On a line of its own, behind nothing but the marks of a comment."""


def is_generated(data: bytes) -> bool:
    """Does the file say at its top that a tool wrote it (`@generated`, `DO NOT EDIT`)?"""
    return _SAYS_SO.search(data, 0, _HEAD) is not None
