"""What a name means at one place of one tree: scopes, imports, members. A pure function of its facts."""
