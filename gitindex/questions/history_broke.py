"""`gitindex history broke NAME`: after which commit did a name dangle, or its calls stop fitting?"""

from __future__ import annotations

from gitindex.base.escape import safe_text
from gitindex.base.light_types import TYPE_CHECKING
from gitindex.questions.history import QUESTION as HISTORY
from gitindex.questions.history import behind, index_first
from gitindex.questions.table import argument

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from gitindex.questions.here import Here
    from gitindex.questions.ink import Ink
    from gitindex.questions.table import Params


def ask(here: Here, asked: Params) -> dict[str, Any]:
    """Return the commits that broke uses of a name; refuses a name that no commit defined."""
    from gitindex.base.errors import Exit, GitIndexError
    from gitindex.query.history import broken_uses

    index_first(here)
    with here.doing("comparing commits"):
        answer = broken_uses(here.worktree, here.path, asked["symbol"])
    if not answer["known"]:
        name = safe_text(asked["symbol"])
        hint = "see `gitindex symbols`, or the files with `gitindex history index`"
        raise GitIndexError(f"no commit defined {name}", hint, Exit.USAGE)
    return answer


def text(answer: dict[str, Any], ink: Ink) -> Iterator[str]:
    """Yield each commit and the places that it broke, newest first."""
    for row in answer["commits"]:
        again = ", defined again later" if row["definedAgain"] else ""
        yield f"{row['commit'][:10]} {row['date']} {safe_text(row['subject'])}{again}"
        for place in row["breaks"]:
            yield f"  {ink.paint('path', ink.place(place))}: {safe_text(place['why'])}"
    if not answer["commits"]:
        yield f"no commit broke a use of {safe_text(answer['symbol'])}"
    if answer["truncated"]:
        yield f"  only the newest {answer['examined']} commits that changed it were compared"
    yield from behind(answer)


QUESTION = HISTORY._replace(
    name="history broke",
    about="After which commit did a name dangle, or its calls stop fitting? Exit 1 if after none.",
    params=(
        argument("symbol", "A name, or the end of a qualified one.", complete="names", most=512),
    ),
    ask=ask,
    text=text,
    found="commits",
)
