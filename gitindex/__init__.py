"""gitindex: a code index of a git repository that is always fresh, and can prove it."""

__version__ = "0.1.0"
