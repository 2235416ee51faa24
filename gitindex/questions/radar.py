"""`gitindex radar`: does the work that is going on in worktrees and branches fit together?"""

from __future__ import annotations

from gitindex.base.escape import counted, safe_text
from gitindex.questions.ink import Note
from gitindex.questions.table import Answer, Here, Ink, Lines, Params, Row, question

STYLES = {"fits": "line", "conflict": "match", "breaks": "match", "unrelated": "dim"}


def ask(here: Here, params: Params) -> Answer:
    """Compare all pairs of live worktrees and named branches."""
    from gitindex.query.radar.answer import RadarMemory, RadarQuery, radar

    memory = here.kept.setdefault("radar", RadarMemory())
    query = RadarQuery(here.worktree, here.path, params["branches"], params["only_branches"])
    with here.doing("comparing worktrees"):
        return radar(query, memory)


def code(answer: Answer, _params: Params) -> int:
    """Return 1 if two lines of work do not fit: a conflict of texts, or a break."""
    return 1 if answer["counts"]["breaks"] or answer["counts"]["conflict"] else 0


def text(answer: Answer, ink: Ink) -> Lines:
    """Yield a line for each pair that needs attention, with what is wrong; then the counts."""
    for note in answer["notes"]:
        yield Note(safe_text(note))
    width = max((len(row["verdict"]) for row in answer["pairs"]), default=0) if ink.width else 0
    for row in answer["pairs"]:
        if row["verdict"] == "fits" and not row["possible"] and not ink.params.get("everything"):
            continue
        verdict = ink.paint(STYLES[row["verdict"]], row["verdict"].ljust(width))
        ends = f"{safe_text(row['ours'])} + {safe_text(row['theirs'])}"
        yield f"{verdict}  {ends}  {ink.paint('dim', 'tree ' + row['mergedTree'][:12])}"
        yield from (f"  {line}" for line in _details(row, ink))
    counts = [f"{many} {name}" for name, many in answer["counts"].items() if many]
    edits = sum(side["edits"] for side in answer["sides"])
    pairs = counted(len(answer["pairs"]), "pairs")
    sides = f"{len(answer['sides'])} lines of work, {counted(edits, 'edited files')}"
    yield ink.paint("dim", f"-- {pairs}: {', '.join(counts)}; {sides}")


def _details(row: Row, ink: Ink) -> Lines:
    for name in row["conflicts"]:
        yield f"{ink.path(name)}: both edited the same lines"
    for mark, places in (("", row["breaks"]), ("? ", row["possible"])):
        for one in places:
            gone = f"`{safe_text(one['name'])}` is gone from {ink.path(one['missingFrom'])}"
            yield f"{mark}{ink.place(one)}: {gone} in {_other(row, one)}"
    for one in row["duplicates"]:
        first = f"{ink.path(one['firstPath'])}:{one['firstLine']}"
        yield f"{ink.place(one)}: `{safe_text(one['name'])}` is defined by both, also at {first}"
    for one in row["misfits"]:
        changed = f"`{safe_text(one['signature'])}` in {_other(row, one)}"
        yield f"{ink.place(one)}: {safe_text(one['why'])}: {changed}"


def _other(row: Row, one: Row) -> str:
    return safe_text(row["theirs"] if one["side"] == "ours" else row["ours"])


TABLE = """
Change: radar | tool=radar
  Does the work in all worktrees fit together, uncommitted edits included? Exit 1 if not.
  .
  Every pair of live worktrees, and of the branches given, is merged in memory. The repository
  stays as it is, and nothing is checked out.
  > Does the work in all worktrees fit together? Each pair merged in memory, edits included.
    * | branches texts = ..256 <[BRANCH]...> | Branches to compare, too. | : branches to compare with
      + the worktrees
    --branches-only | only_branches flag | Compare only the branches given.
    --all | everything flag | List pairs that fit, too.
    --watch | watch flag | Look again whenever something changes; ends with Ctrl-C.
"""
QUESTION = question(TABLE, ask, text, code=code)
