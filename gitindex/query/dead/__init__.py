"""Definitions that nobody uses, each with its proof; and the patch that removes them."""
