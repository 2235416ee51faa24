"""Views of a tree: the published tree with an overlay of the differences. Writes nothing."""
