"""Scopes of one file, from its tree: which declaration a name refers to at a place."""
