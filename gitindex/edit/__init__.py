"""Edits with a proof: planned as a patch, then applied completely or not at all."""
