"""Limits of a process: lowered where we want less than we inherited, never raised."""

from __future__ import annotations

import resource


def lower_limit(kind: int, wanted: int) -> int:
    """Set a limit of this process to the least of `wanted` and what it inherited, and return it."""
    inherited = [n for n in resource.getrlimit(kind) if n != resource.RLIM_INFINITY]
    limit = min([wanted, *inherited])
    resource.setrlimit(kind, (limit, limit))
    return limit
