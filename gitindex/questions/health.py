"""The health of an index: its jobs, the time until commits were fresh, its size, skipped paths."""

from __future__ import annotations

from gitindex.questions.table import Answer, Here, Params, question


def ask(here: Here, _params: Params) -> Answer:
    """Return jobs, timings, sizes and what is left out."""
    from gitindex.query.health import health

    with here.tree() as view:
        return health(view)


TABLE = """
health
  Jobs, timings, sizes, and what is left out.
"""
QUESTION = question(TABLE, ask)
