"""`gitindex explore`: one question, the best places with their code, uses and tests, within a budget."""

from __future__ import annotations

from gitindex.base.errors import Exit, GitIndexError
from gitindex.base.escape import counted, safe_text
from gitindex.base.light_types import TYPE_CHECKING
from gitindex.questions.ink import Ink
from gitindex.questions.table import Answer, Here, Lines, Params, Row, question

if TYPE_CHECKING:
    from gitindex.query.explore import PackBudget


CHARS_PER_TOKEN = 4
FEWEST = 8
"""Lines in which a place fits: where it is, the code, what uses it."""
LAST_LINE = 60
"""Characters kept for the last line, about freshness."""


def ask(here: Here, params: Params) -> Answer:
    """Return the best parts of files for a question, with their code, uses and tests."""
    from gitindex.query.explore import explore

    if 0 < params["lines"] < FEWEST:
        raise GitIndexError(f"--lines is 0 or at least {FEWEST}", "", Exit.USAGE)
    ink = Ink(path=safe_text) if here.agent else Ink(80, path=here.shown)
    with here.tree() as view:
        memories = (here.memories.lexical, here.memories.binding)
        budget = budget_of(params["tokens"], params["lines"], ink)
        return explore(view, params["query"], budget, here.below(view), memories)


def budget_of(tokens: int, lines: int, ink: Ink) -> PackBudget:
    """Return a budget that counts what this reader is shown."""
    from gitindex.query.explore import PackBudget

    def fits(answer: Answer) -> bool:
        printed = [*_printed(answer, ink)]
        room = tokens * CHARS_PER_TOKEN - LAST_LINE
        return sum(map(len, printed)) + len(printed) <= room and (not lines or len(printed) < lines)

    return PackBudget(tokens, lines, fits)


def text(answer: Answer, ink: Ink) -> Lines:
    """Yield the places with their uses, then those that are only named."""
    yield from _printed(answer, ink)
    if not answer["places"] and not answer["also"]:
        yield "nothing found"
    if ink.width:
        freshness = answer["freshness"]
        edits = counted(freshness["overlayPaths"], "edited paths")
        overlaid = f", {edits} overlaid" if freshness["overlayPaths"] else ""
        many = counted(len(answer["places"]), "places")
        yield ink.paint("dim", f"-- {many}; {freshness['state']}{overlaid}")


def _printed(answer: Answer, ink: Ink) -> Lines:
    path = ""
    for place in answer["places"]:
        if path and ink.width and place["path"] != path:
            yield ""
        yield from _code(place, ink, place["path"] == path)
        yield from _uses(place, ink)
        path = place["path"]
    for row in answer["also"]:
        name = f"  {safe_text(row['name'])}" if "name" in row else ""
        yield ink.paint("dim", f"also {ink.place(row)}{name}")


def _code(place: Row, ink: Ink, same_file: bool) -> Lines:
    first = place["startLine"]
    lines = f"{first}-{first + place['code'].count(chr(10))}"
    named = ""
    if "name" in place:
        name = ink.paint("name", safe_text(place["name"]))
        named = f"  {ink.paint('kind', place['kind'])} {name}"
    why = f"  ({', '.join(map(safe_text, place['why']))})" if place["why"] else ""
    path = ink.path(place["path"])
    shown = "…" if same_file else ink.paint("path", path)
    mark = "" if ink.width else "## "
    yield f"{mark}{shown}:{ink.paint('line', lines)}{named}{ink.paint('dim', why)}"
    for at, line in enumerate(place["code"].split("\n"), place["startLine"]):
        if ink.width:
            shown = safe_text(line.replace("\t", "    "))
            yield f"{ink.paint('line', f'{at:>4}')}  {shown}".rstrip()
        else:
            yield safe_text(line, keep="\t")
    if place.get("codeTruncated") and ink.width:
        yield ink.paint("dim", f"      … gitindex read {path}:{first}-{place['endLine']}")


def _uses(place: Row, ink: Ink) -> Lines:
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
    yield from _also_uses(place, ink, lead)


def _also_uses(place: Row, ink: Ink, lead: str) -> Lines:
    if place.get("callees"):
        called = (f"{safe_text(row['name'])} {ink.place(row)}" for row in place["callees"])
        yield f"{lead}-> {', '.join(called)}"
    if place.get("tests"):
        yield f"{lead}tests: {', '.join(map(ink.path, place['tests']))}"
    if place.get("uncertain"):
        left = place.get("unexamined")
        more = f", {counted(left, 'files')} not examined" if left else ""
        yield f"{lead}{counted(place['uncertain'], 'possible uses')}{more}"
    if place.get("siblings"):
        listed = (f"{safe_text(row['name'])} {row['line']}" for row in place["siblings"])
        yield f"{lead}beside: {', '.join(listed)}"


TABLE = """
Explore: explore | found=places tool=explore listed kept
  One question: the best places with code, uses and tests.
  > Start here. One question about the code: the best places with their code, who uses them, which
    + tests reach them, what is uncertain.
    * | query words ..8000 | Any text: words, names, a path, a pasted line. | : words, names or a
      + pasted line
    --tokens | tokens integer =2000 200..20000 | Budget: 4 characters each, as printed. | : budget
    --lines | lines integer 0..5000 | Budget: printed lines, 8 or more; 0 for no limit. | : budget of
      + lines, 0: none
    at
"""
QUESTION = question(TABLE, ask, text, example={"query": "helper", "tokens": 500})
