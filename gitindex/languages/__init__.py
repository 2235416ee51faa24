"""Everything that knows a programming language. Pure."""
