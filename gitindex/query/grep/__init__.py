"""Lines that match a pattern."""

LIMIT = 1_000
"""Lines, or files, of an answer where nobody asks for more."""
