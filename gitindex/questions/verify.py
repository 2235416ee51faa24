"""`gitindex verify`: derive the index, or a receipt, again from git alone."""

from __future__ import annotations

from gitindex.base.escape import safe_text
from gitindex.questions.table import Answer, Here, Ink, Lines, Params, question


def ask(here: Here, params: Params) -> Answer:
    """Derive everything again and compare."""
    from gitindex.maintenance.verify import verify

    with here.progress("verifying") as report:
        return verify(here.worktree, here.path, params["receipt"], params["full"], report=report)


def text(answer: Answer, _ink: Ink) -> Lines:
    """Yield the checks, then the verdict."""
    for check in answer["checks"]:
        mark = "ok " if check["ok"] else "BAD"
        yield safe_text(f"{mark} {check['name']}: {check['detail']}")
    verdict = "verified" if answer["verified"] else "NOT verified"
    yield f"-- {verdict}: tree {answer['receipt']['treeId']}"


TABLE = """
Prove: verify | found=verified
  Derive the index again from git alone. Exit 0 if all of it holds, 1 if anything differs.
    * | receipt = ..16777216 | An answer's JSON, or its `receipt`; - to read it.
    --full | full flag | Extract every blob again, not a sample.
"""
QUESTION = question(TABLE, ask, text)
