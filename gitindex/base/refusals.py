"""Answers that are neither ok nor a closed gate: a status, a message, and what to do about it."""

from __future__ import annotations

from typing import Any

from gitindex.base.errors import GitIndexError, NotIndexed
from gitindex.base.escape import safe_text


def refusal(status: str, message: str, hint: str = "") -> dict[str, Any]:
    """An answer that is neither ok nor a closed gate."""
    envelope: dict[str, Any] = {"status": status, "message": safe_text(message)}
    return envelope | ({"hints": {"remedy": safe_text(hint)}} if hint else {})


def refused(error: GitIndexError) -> dict[str, Any]:
    """A failure as a structured answer."""
    envelope = refusal(error.status, error.message, error.hint)
    return envelope | ({"reason": error.status} if isinstance(error, NotIndexed) else {})
