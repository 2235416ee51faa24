"""`gitindex claim`, `verify_claims`: statements about the code in, verdicts with evidence out."""

from __future__ import annotations

from gitindex.base.errors import Exit, GitIndexError
from gitindex.base.escape import safe_text
from gitindex.base.light_types import TYPE_CHECKING
from gitindex.questions.table import Answer, Here, Ink, Lines, Params, question

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from gitindex.view.tree import TreeView

STYLES = {"confirmed": "line", "refuted": "match", "unverifiable": "dim"}

FORMS = (
    'calls(A, B), no_callers(F), defines(FILE, NAME), signature(F, "TEXT"), line(FILE, N, "TEXT"),'
    " imports(FILE, MODULE), only_called_from(F, PATH), unused(NAME), tests(F, TEST); @REV may follow"
)


def ask(here: Here, params: Params) -> Answer:
    """Return a verdict for each claim."""
    from gitindex.query.claims.answer import ClaimPlaces, ClaimsQuery, verify_claims
    from gitindex.query.claims.grammar import MAX_REPORT, parse_claims
    from gitindex.questions.here import given_text

    report = params["text"]
    if params["from_text"]:
        report = "\n\n".join(given_text(one, MAX_REPORT) for one in params["claims"])
        claims = []
    else:
        claims = parse_claims(params["claims"]) if params["claims"] or not report else []
    if params["from_text"] and not report.strip():
        raise GitIndexError("no text given", "give a file, or - for standard input", Exit.USAGE)
    query = ClaimsQuery(claims, report, params["sure"])
    with here.doing("checking claims"):
        return verify_claims(
            lambda at: _open(here, at), query, ClaimPlaces(here.inside, here.placed)
        )


def _open(here: Here, at: str) -> AbstractContextManager[TreeView]:
    """Open the tree that the question is about, or that of a claim's own revision."""
    if not at:
        return here.tree()
    from gitindex.view.tree import TreeChoice, open_tree

    return open_tree(here.worktree, here.path, TreeChoice(at=at), here.memories.facts)


def code(answer: Answer, _params: Params) -> int:
    """Return 1 if a claim is refuted, 3 if one is unverifiable, 0 if all are confirmed."""
    counts = answer["counts"]
    if counts["refuted"]:
        return 1
    return 3 if counts["unverifiable"] else 0


def text(answer: Answer, ink: Ink) -> Lines:
    """Yield each verdict with its evidence, then the counts."""
    for row in answer["verdicts"]:
        verdict = ink.paint(STYLES[row["verdict"]], row["verdict"])
        yield f"{verdict} {row['claim']}: {safe_text(row['why'])}"
        for place in row["evidence"]:
            shown = ink.code(place.get("text", ""))
            yield f"  {ink.paint('path', ink.place(place))}  {shown}".rstrip()
        broken = ", ".join(one["assumption"].replace("_", " ") for one in row["assumes"])
        if broken and row["verdict"] != "unverifiable":
            yield ink.paint("dim", f"  assumes no {broken}")
    counts = ", ".join(f"{many} {name}" for name, many in answer["counts"].items() if many)
    yield ink.paint("dim", f"-- {counts or 'no claim found'}")


TABLE = f"""
Prove: claim | tool=verify_claims listed
  Check statements about the code: confirmed, refuted or unverifiable. Exit 0 if all are
  confirmed, 1 if one is refuted, 3 if one is unverifiable.
  .
  {FORMS}.
    + A claim per line or a JSON list is read from - (standard input).
  > Check statements about the code: each confirmed, refuted or unverifiable, with evidence.
    * | claims texts = ..1048576 <CLAIM...> | Claims, or a JSON list of them; - to read it. | ..4000:
      + {FORMS}
    --from-text | from_text flag | CLAIM is a report: check the FILE:LINE quotes and code spans in it.
    mcp | text ..200000 | a report whose FILE:LINE quotes are checked
    --assume-nothing | sure flag | A broken assumption makes a verdict unverifiable. | assumeNothing:
    at
"""
QUESTION = question(TABLE, ask, text, code=code, example={"claims": ["no_callers(helper)"]})
