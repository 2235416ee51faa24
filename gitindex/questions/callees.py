"""`gitindex callees`: what a symbol calls."""

from __future__ import annotations

from gitindex.questions.graph import BOUNDS, DIRECTION
from gitindex.questions.graph import QUESTION as GRAPH
from gitindex.questions.table import AT, SYMBOL

QUESTION = GRAPH._replace(
    name="callees",
    about="What a symbol calls.",
    params=(SYMBOL, DIRECTION._replace(default="callees", shell=False), *BOUNDS, AT),
    tool="",
)
