"""Ranked search."""
