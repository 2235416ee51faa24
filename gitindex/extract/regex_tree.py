"""Patterns of `re` as trees. The only user of `re._parser`, which is private to CPython.

The standard library has no public parser of this syntax; tests/unit/extract/test_regex_tree.py
checks the behaviour that this module relies on, on every Python version.
"""

from __future__ import annotations

import re._constants as op  # type: ignore[import-not-found]  # no stubs
from re._parser import SubPattern, parse  # type: ignore[import-not-found]  # no stubs

__all__ = ["SubPattern", "op", "parse"]
