"""Contexts, SCIP indexers and what they know."""
