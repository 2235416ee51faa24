"""`gitindex explore`: one question, the best places with their code, uses and tests, within a budget."""

from __future__ import annotations

from gitindex.base.escape import counted, safe_text
from gitindex.base.lean import TYPE_CHECKING
from gitindex.questions.table import AT, Question, Wire, argument, option

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from gitindex.questions.here import Here
    from gitindex.questions.ink import Ink
    from gitindex.questions.table import Params


def ask(here: Here, asked: Params) -> dict[str, Any]:
    """Return the best places for a question, with their code, uses and tests."""
    from gitindex.query.explore import explore

    with here.tree() as view:
        memories = (here.memories.lexical, here.memories.binding)
        return explore(view, asked["query"], asked["tokens"], here.below(view), memories)


def text(answer: dict[str, Any], ink: Ink) -> Iterator[str]:
    """Yield the places with their uses, then those that are only named."""
    for number, place in enumerate(answer["places"]):
        if number and ink.width:
            yield ""
        yield from _code(place, ink)
        yield from _uses(place, ink)
    for row in answer["also"]:
        name = f"  {safe_text(row['name'])}" if "name" in row else ""
        yield ink.paint("dim", f"also {ink.place(row)}{name}")
    if not answer["places"]:
        yield "nothing found"
    if ink.width:
        freshness = answer["freshness"]
        edits = counted(freshness["overlayPaths"], "edited paths")
        laid = f", {edits} overlaid" if freshness["overlayPaths"] else ""
        many = counted(len(answer["places"]), "places")
        yield ink.paint("dim", f"-- {many}; {freshness['state']}{laid}")


def _code(place: dict[str, Any], ink: Ink) -> Iterator[str]:
    lines = f"{place['startLine']}-{place['endLine']}"
    named = ""
    if "name" in place:
        name = ink.paint("name", safe_text(place["name"]))
        named = f"  {ink.paint('kind', place['kind'])} {name}"
    mark = "" if ink.width else "## "
    path = ink.path(place["path"])
    yield f"{mark}{ink.paint('path', path)}:{ink.paint('line', lines)}{named}"
    for number, line in enumerate(place["code"].split("\n"), place["startLine"]):
        if ink.width:
            shown = safe_text(line.replace("\t", "    "))
            yield f"{ink.paint('line', f'{number:>4}')}  {shown}".rstrip()
        else:
            yield safe_text(line, keep="\t")
    if place.get("codeTruncated") and ink.width:
        yield ink.paint("dim", f"      … gitindex read {path}:{lines}")


def _uses(place: dict[str, Any], ink: Ink) -> Iterator[str]:
    lead = "  " if ink.width else ""
    for row in place.get("callers", ()):
        around = f" in {safe_text(row['enclosing'])}" if "enclosing" in row else ""
        tier = f"[{row['tier']}]" if ink.width else row["tier"]
        site = ink.paint("path", f"{ink.place(row)}{around}")
        yield f"{lead}<- {site}  {tier}  {safe_text(row['text'].strip())}"
    if place.get("moreCallers"):
        name = f"{ink.path(place['path'])}#{safe_text(place['name'])}"
        how = "gitindex refs" if ink.width else "find_references"
        yield f"{lead}<- {place['moreCallers']} more: {how} {name}"
    if place.get("tests"):
        yield f"{lead}tests: {', '.join(map(ink.path, place['tests']))}"
    if place.get("uncertain"):
        left = place.get("unexamined")
        more = f", {counted(left, 'files')} not examined" if left else ""
        yield f"{lead}{counted(place['uncertain'], 'possible uses')}{more}"


QUESTION = Question(
    "explore",
    "One question: the best places with code, uses and tests.",
    (
        argument(
            "query",
            "Any text: words, names, a path, a pasted line.",
            kind="words",
            most=8_000,
            wire=Wire(help="words, names or a pasted line"),
        ),
        option(
            "--tokens -t",
            "tokens",
            "Budget: 4 characters each.",
            "integer",
            default=2_000,
            least=200,
            most=20_000,
            wire=Wire(help="budget"),
        ),
        AT,
    ),
    ask,
    text,
    found="places",
    tool="explore",
    tells="Start here. One question about the code: the best places with their code, who uses them, "
    "which tests reach them, what is uncertain.",
    listed=True,
    kept=True,
    example={"query": "helper", "tokens": 500},
)
