"""Lines that match a pattern."""
