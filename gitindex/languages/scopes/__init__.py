"""Scopes of one file, from its tree: which declaration a name means at a place."""
