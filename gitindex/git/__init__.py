"""Everything that knows git: the command, the object database, the interface both sides share."""
