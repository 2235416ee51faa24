"""`gitindex callees`: what a symbol calls."""

from __future__ import annotations

from gitindex.questions.graph import QUESTION as GRAPH
from gitindex.questions.table import question

TABLE = """
Explore: callees
  What a symbol calls.
    symbol
    - | direction =callees both/callers/callees
    depth
    nodes
    note_limit
    notes
    at
"""
QUESTION = question(TABLE, GRAPH.ask, GRAPH.text, code=GRAPH.code, team=GRAPH.team)
