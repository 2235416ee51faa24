"""`gitindex claim`, `verify_claims`: statements about the code in, verdicts with evidence out."""

from __future__ import annotations

import os

from gitindex.base.escape import safe_text
from gitindex.base.light_types import TYPE_CHECKING
from gitindex.questions.table import AT, Question, Wire, argument, option, wired

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager
    from typing import Any

    from gitindex.questions.here import Here
    from gitindex.questions.ink import Ink
    from gitindex.questions.table import Params
    from gitindex.view.tree import TreeView

STYLES = {"confirmed": "line", "refuted": "match", "unverifiable": "dim"}
FORMS = (
    'calls(A, B), no_callers(F), defines(FILE, NAME), signature(F, "TEXT"), line(FILE, N, "TEXT"),'
    " imports(FILE, MODULE), only_called_from(F, PATH), unused(NAME), tests(F, TEST); @REV may follow"
)


def ask(here: Here, asked: Params) -> dict[str, Any]:
    """Return a verdict for each claim."""
    from gitindex.base.errors import Exit, GitIndexError
    from gitindex.query.claims.answer import ClaimPlaces, ClaimsQuery, verify_claims
    from gitindex.query.claims.grammar import parse_claims

    report = asked["text"]
    if asked["from_text"]:
        report = "\n\n".join(map(_read_report, asked["claims"]))
        claims = []
    else:
        claims = parse_claims(asked["claims"]) if asked["claims"] or not report else []
    if asked["from_text"] and not report.strip():
        raise GitIndexError("no text given", "give a file, or - for standard input", Exit.USAGE)
    query = ClaimsQuery(claims, report, asked["sure"])
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


def _read_report(name: str) -> str:
    """Return the text of a file; what came from standard input is a text already."""
    from gitindex.base.atomic_file import read_start
    from gitindex.query.claims.grammar import MAX_REPORT

    if "\n" in name or len(name) > 1_000 or not os.path.isfile(name):
        return name
    return (read_start(name, MAX_REPORT) or b"").decode("utf-8", "replace")


def code(answer: dict[str, Any], _asked: Params) -> int:
    """Return 1 if a claim is refuted, 3 if one is unverifiable, 0 if all are confirmed."""
    counts = answer["counts"]
    if counts["refuted"]:
        return 1
    return 3 if counts["unverifiable"] else 0


def text(answer: dict[str, Any], ink: Ink) -> Iterator[str]:
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


QUESTION = Question(
    "claim",
    "Check statements about the code: confirmed, refuted or unverifiable. Exit 0 if all are\n"
    "confirmed, 1 if one is refuted, 3 if one is unverifiable.\n\n"
    f"{FORMS}. A claim per line or a JSON list is read from - (standard input).",
    (
        argument(
            "claims",
            "Claims, or a JSON list of them; - to read it.",
            (),
            kind="texts",
            metavar="CLAIM...",
            most=1 << 20,
            wire=Wire(help=FORMS, most=4_000),
        ),
        option(
            "--from-text",
            "from_text",
            "CLAIM is a report: check the FILE:LINE quotes and code spans in it.",
            "flag",
        ),
        wired("text", "a report whose FILE:LINE quotes are checked", most=200_000),
        option(
            "--strict",
            "sure",
            "A broken assumption makes a verdict unverifiable.",
            "flag",
            wire=Wire("assumeNothing", ""),
        ),
        AT,
    ),
    ask,
    text,
    group="Prove",
    code=code,
    tool="verify_claims",
    tells="Check statements about the code: each confirmed, refuted or unverifiable, with evidence.",
    listed=True,
    example={"claims": ["no_callers(helper)"]},
)
