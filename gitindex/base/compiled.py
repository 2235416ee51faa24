"""The compiled functions, where they were built: the same answers as those in Python, faster."""

from __future__ import annotations

import os

from gitindex.base.light_types import TYPE_CHECKING

if TYPE_CHECKING:
    from types import ModuleType

FORMAT = 15
"""What the functions take and return; a library built from other sources is not used."""
VARIABLE = "GITINDEX_PURE"
"""Set in the environment: everything runs in Python."""


def _load() -> ModuleType | None:
    if os.environ.get(VARIABLE):
        return None
    try:
        from gitindex.base import _compiled
    except ImportError:
        return None  # installed without a compiler
    return _compiled if _compiled.FORMAT == FORMAT else None


LIBRARY = _load()
