"""Patterns of `re` as trees. The only user of `re._parser`, which is private to CPython.

The standard library has no other parser of its own syntax; tests/unit/extract/test_regex_tree.py
checks on every Python version what is relied on here.
"""

from __future__ import annotations

import re._constants as op  # type: ignore[import-not-found]  # no stubs
from re._parser import SubPattern, parse  # type: ignore[import-not-found]  # no stubs

__all__ = ["SubPattern", "op", "parse"]
