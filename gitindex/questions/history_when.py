"""`gitindex history when A B`: the commits with which a call began or ended."""

from __future__ import annotations

from gitindex.base.light_types import TYPE_CHECKING
from gitindex.questions.history import QUESTION as HISTORY
from gitindex.questions.history import index_first
from gitindex.questions.table import argument

if TYPE_CHECKING:
    from typing import Any

    from gitindex.questions.here import Here
    from gitindex.questions.table import Params


def ask(here: Here, asked: Params) -> dict[str, Any]:
    """Return the events of a call."""
    from gitindex.query.history import edge_log

    index_first(here)
    return edge_log(here.worktree, asked["caller"], asked["callee"])


QUESTION = HISTORY._replace(
    name="history when",
    about="The commits with which CALLER began or ceased to call CALLEE.",
    params=(
        argument("caller", "The function that calls.", complete="names"),
        argument("callee", "The name that it calls.", complete="names"),
    ),
    ask=ask,
)
