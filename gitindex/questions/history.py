"""`gitindex history`: the commits that added, changed, removed or broke a name, and a call."""

from __future__ import annotations

from gitindex.base.errors import Exit, GitIndexError
from gitindex.base.escape import counted, safe_text
from gitindex.questions.table import Answer, Here, Ink, Lines, Params, questions


def index_first(here: Here) -> None:
    """Index what the history lacks: a question is asking enough; not for a door that only reads."""
    from gitindex.query.history import history_state

    state = history_state(here.worktree)
    if not here.may_write or state.get("exact"):
        return
    from gitindex.refresh.history_index import HistoryBusy, index_history

    try:
        with here.progress("history") as report:
            index_history(here.worktree, report)
    except HistoryBusy:
        if state["status"] != "ok":
            raise


def _in_file(here: Here, symbol: str, answer: Answer) -> Answer:
    """Keep the events in the file of FILE#NAME."""
    file, mark, _ = symbol.rpartition("#")
    events = [row for row in answer["events"] if not mark or row["path"] == here.inside(file)]
    return answer | {"events": events}


def ask(here: Here, params: Params) -> Answer:
    """Return the events of a name; the history is indexed first where it is not."""
    from gitindex.query.history import symbol_log

    index_first(here)
    symbol = params["symbol"]
    return _in_file(here, symbol, symbol_log(here.worktree, symbol.rpartition("#")[2]))


def ask_when(here: Here, params: Params) -> Answer:
    """Return the events of a call."""
    from gitindex.query.history import edge_log

    index_first(here)
    caller, callee = (params[name].rpartition("#")[2] for name in ("caller", "callee"))
    return _in_file(here, params["caller"], edge_log(here.worktree, caller, callee))


def ask_broke(here: Here, params: Params) -> Answer:
    """Return the commits that broke uses of a name; refuses a name that no commit defined."""
    from gitindex.query.history import broken_uses

    index_first(here)
    symbol = params["symbol"].rpartition("#")[2]
    with here.doing("comparing commits"):
        answer = broken_uses(here.worktree, here.path, symbol)
    if not answer["known"]:
        hint = "see `gitindex symbols`, or the files with `gitindex history index`"
        raise GitIndexError(f"no commit defined {safe_text(symbol)}", hint, Exit.USAGE)
    return answer


def ask_status(here: Here, _params: Params) -> Answer:
    """Return the extent of the layer."""
    from gitindex.query.history import history_state

    return history_state(here.worktree)


def status_code(answer: Answer, _params: Params) -> int:
    """Return 3 without a layer, 1 for one that HEAD has left behind."""
    if answer["status"] != "ok":
        return 3
    return 0 if answer["exact"] else 1


def text(answer: Answer, ink: Ink) -> Lines:
    """Yield each commit and what it did, newest first."""
    for row in answer["events"]:
        where = f"{ink.path(row['path'])}: {safe_text(row['name'])}"
        yield f"{row['commit'][:10]} {row['date']} {row['what']:<8} {where}"
        yield f"    {safe_text(row['subject'])}"
    if not answer["events"]:
        yield "no such definition or call in the history"
    yield from _behind(answer)


def broke_text(answer: Answer, ink: Ink) -> Lines:
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
    yield from _behind(answer)


def status_text(answer: Answer, _ink: Ink) -> Lines:
    """Yield the size of the layer in one line."""
    if answer["status"] != "ok":
        yield "history: not indexed"
        yield f"  hint: {answer['hint']}"
        return
    yield (
        f"history: {counted(answer['commits'], 'commits')}, {counted(answer['blobs'], 'blobs')},"
        f" {answer['symbols']} definitions, {answer['bytes'] / 1e6:.1f} MB"
    )
    yield from _behind(answer)


def _behind(answer: Answer) -> Lines:
    """Say that HEAD has moved on since the history was indexed."""
    if not answer["exact"]:
        at = (answer["historyCommit"] or "no commit")[:10]
        yield f"  the history is indexed up to {at}, HEAD is elsewhere: `gitindex history index`"


TABLE = """
Explore: history | found=events
  What became of a definition or a call, by commit. The first question indexes the history.
    * | symbol @names | A name, the end of a qualified one, or FILE#NAME.
Explore: history log | found=events
  The commits that added, changed or removed definitions of SYMBOL.
    * | symbol @names | A name, the end of a qualified one, or FILE#NAME.
Explore: history when | found=events
  The commits with which CALLER began or ceased to call CALLEE.
    * | caller @names | The function that calls.
    * | callee @names | The name that it calls.
Explore: history broke | found=commits
  After which commit did a name dangle, or its calls stop fitting? Exit 1 if after none.
    * | symbol ..512 @names | A name, the end of a qualified one, or FILE#NAME.
Explore: history status
  How far the history layer reaches, and its size.
"""
QUESTIONS = questions(
    TABLE,
    (ask, text),
    (ask, text),
    (ask_when, text),
    (ask_broke, broke_text),
    (ask_status, status_text, status_code),
)
