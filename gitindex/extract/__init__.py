"""Extraction in killable child processes: the pool, the worker and their frames."""
