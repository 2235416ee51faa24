"""Edits that prove themselves: planned as a patch, applied whole or not at all."""
