"""`gitindex recheck`: which earlier answers are no longer true?"""

from __future__ import annotations

from gitindex.base.escape import safe_text
from gitindex.questions.table import Answer, Here, Ink, Lines, Params, question

STYLES = {"still true": "line", "changed": "match", "unknown": "dim"}
MAX_BYTES = 64 << 20


def ask(here: Here, params: Params) -> Answer:
    """Compare each receipt's footprint with what changed since."""
    from gitindex.query.recheck import parse_receipts, recheck
    from gitindex.questions.here import given_text

    texts = (
        params["receipts"]
        if here.agent
        else [given_text(name, MAX_BYTES) for name in params["receipts"]]
    )
    receipts = [receipt for text in texts or [""] for receipt in parse_receipts(text)]
    with here.tree() as view, here.doing("comparing receipts"):
        return recheck(view, receipts)


def code(answer: Answer, _params: Params) -> int:
    """Return 1 if an answer changed, 3 if one is unknown, 0 if all are still true."""
    counts = answer["counts"]
    if counts["changed"]:
        return 1
    return 3 if counts["unknown"] else 0


def text(answer: Answer, ink: Ink) -> Lines:
    """Yield the answers that are not certainly true any more, then the counts."""
    for row in answer["answers"]:
        if row["verdict"] == "still true" and not ink.params.get("everything"):
            continue
        verdict = ink.paint(STYLES[row["verdict"]], row["verdict"])
        paths = ", ".join(map(ink.path, row["paths"][:5]))
        more = f" and {row['total'] - 5} more" if row["total"] > 5 else ""
        about = f" {row['about']}" if "about" in row else ""
        said = ": ".join(filter(None, (safe_text(row["why"]), paths + more)))
        yield f"{row['number']}{about}  {verdict}" + (f"  {said}" if said else "")
    counts = ", ".join(f"{many} {name}" for name, many in answer["counts"].items() if many)
    yield ink.paint("dim", f"-- {counts}")


TABLE = """
Prove: recheck | tool=recheck
  Which earlier answers are no longer true? Exit 0 if all still are, 1 if one changed, 3 if one is
  unknown.
  .
  Nothing is asked again: what an answer was made from is in its receipt.
  > Which earlier answers are no longer true? By their receipts, without asking again.
    * | receipts texts ..67108864 <FILE...> | Files with the JSON of answers or receipts; - to read it.
      + | ..1048576: JSON of answers or of their receipts
    --all | everything flag | List the answers that are still true, too.
"""
QUESTION = question(TABLE, ask, text, code=code)
