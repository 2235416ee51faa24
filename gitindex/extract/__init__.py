"""Extraction in child processes that may be killed: the pool, the worker, their frames."""
