"""The language server: the same answers for editors, with unsaved text overlaid."""
