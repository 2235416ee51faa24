"""The health of an index: its jobs, the time until commits were fresh, its size, skipped paths."""

from __future__ import annotations

from gitindex.base.escape import safe_text
from gitindex.questions.table import Answer, Here, Params, question


def ask(here: Here, _params: Params) -> Answer:
    """Return jobs, timings, sizes, what is left out, and where facts come from and go to."""
    from gitindex.git.settings import user_setting
    from gitindex.query.health import health
    from gitindex.sharing.membership import fields_of, read_membership

    with here.tree() as view:
        joined = read_membership(here.worktree)
        dest = user_setting(here.worktree, "gitindex.pack.dest") or ""
        team = fields_of(joined) if joined else None
        return health(view) | {"team": team, "packs": safe_text(dest)}


TABLE = """
health
  Jobs, timings, sizes, and what is left out.
"""
QUESTION = question(TABLE, ask)
