"""Def-use slices inside one function: trees become a small IR, the IR becomes sets of lines."""
