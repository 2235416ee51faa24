"""Semantic contexts: which project of which language family owns a path. A pure function of a tree."""
