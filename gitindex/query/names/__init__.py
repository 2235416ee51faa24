"""Resolve what a name means at one place of one tree: scopes, imports, members. Pure."""
