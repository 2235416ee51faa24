"""The git hooks: installs, checks and removes them. Refuses to write files that are not ours."""
