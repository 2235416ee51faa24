"""The call graph."""
