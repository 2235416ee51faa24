"""All knowledge of programming languages. Pure."""
