"""Every question that the index answers, one file each; all doors are made from them.

A file holds `QUESTION` (table.py): its parameters once, `ask` and `text`. Adding a file adds the command,
the tool, the completion, the manual page and the rows of the documentation.
"""
