"""Compilers and indexers as judges of `bench oracle`: which definition stands behind each name."""
