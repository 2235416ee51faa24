"""Lines that match a pattern."""

LIMIT = 1_000
"""Default limit of lines or files of an answer."""
