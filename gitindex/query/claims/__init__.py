"""Statements about a tree, checked: each is confirmed, refuted or unverifiable."""
