"""Vocabulary, errors and files. Imports nothing else of gitindex."""
