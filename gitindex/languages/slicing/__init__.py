"""Def-use slices inside one function: trees become a small IR, and the IR becomes sets of lines."""
