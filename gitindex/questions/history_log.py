"""`gitindex history log NAME`: the same as `gitindex history NAME`."""

from __future__ import annotations

from gitindex.questions.history import QUESTION as HISTORY

QUESTION = HISTORY._replace(
    name="history log",
    about="The commits that added, changed or removed definitions of SYMBOL.",
)
