"""Contexts, SCIP indexers and their facts."""
