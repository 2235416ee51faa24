"""All knowledge of git: the command, the object database, and their common interface."""
