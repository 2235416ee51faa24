"""Does the work of several worktrees and branches fit together? Uncommitted edits included."""
