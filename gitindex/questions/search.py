"""`gitindex search`, `search_codebase`: the best places for words. Imports little, for the cold start."""

from __future__ import annotations

from gitindex.base.escape import counted, safe_text
from gitindex.base.light_types import TYPE_CHECKING
from gitindex.questions.ink import Aside, not_searched, warnings
from gitindex.questions.table import Here, Ink, Lines, Params, question

if TYPE_CHECKING:
    from typing import Any

    from gitindex.base.answers import SearchAnswer, SearchRow

FILTERS = {
    "lang": "lang",
    "path": "below",
    "-path": "not_below",
    "kind": "kind",
    "must": "must",
    "exclude": "exclude",
    "in": "place",
}
"""Filters of the query's text, and the parameters that say the same."""


def ask(here: Here, params: Params) -> SearchAnswer:
    """Search the index; for people the files on disk, if there is none."""
    from gitindex.query.search.query_text import Filters, read_filters
    from gitindex.query.search.search import search
    from gitindex.view.live_scan import served_or_scanned

    query = params["query"]
    flags = {word: params[name] for word, name in FILTERS.items()}
    filters = read_filters(flags) if any(flags.values()) else Filters()

    def serve() -> SearchAnswer:
        with here.tree() as view:
            below = here.below(view)
            narrowed = filters._replace(below=below) if below else filters
            answer = search(
                view,
                query,
                params["limit"],
                narrowed,
                params["recent"],
                explain=params["explain"],
                memory=here.memories.lexical,
            )
            if below:
                answer["within"] = safe_text(below[0])
            if here.terminal:
                from gitindex.query.health import skipped_reasons

                answer["notSearched"] = skipped_reasons(view)
            return answer

    def scan(why: str) -> SearchAnswer:
        from gitindex.query.search.live import search_live

        return search_live(here.worktree, query, params["limit"], why, filters)

    return serve() if here.agent else served_or_scanned(here.choice, serve, scan, upgraded=True)


def text(answer: SearchAnswer, ink: Ink) -> Lines:
    """Yield the places, each with its lines; then what the answer rests on."""
    for number, row in enumerate(answer["results"]):
        if number and ink.width:
            yield ""
        yield _headline(row, ink)
        for name, value in row.get("features", {}).items():
            yield ink.paint("dim", f"    {value['adds']:+8.3f}  {name} {value['value']:g}")
        yield from _snippet(row, ink)
    if not answer["results"]:
        message = "nothing found; try fewer or other words, or `gitindex find` for a part of a name"
        yield Aside(message) if ink.width else "nothing found"
    yield from warnings(answer)
    if left := answer.get("notSearched"):
        yield ink.paint("dim", f"-- {not_searched(left)}")
    if ink.width and answer["receipt"] is not None:
        yield _proof(answer, ink)


def _headline(row: SearchRow, ink: Ink) -> str:
    place = f"{ink.paint('path', ink.path(row['path']))}:{ink.paint('line', str(row['line']))}"
    if "name" in row:
        name = ink.paint("name", safe_text(row["name"]))
        place += f"  {ink.paint('kind', safe_text(row['kind']))} {name}"
    if row["matched"] == []:
        place += ink.paint("dim", "  (by other forms of the words, its path or its history)")
    return place


def _snippet(row: SearchRow, ink: Ink) -> Lines:
    """Yield the lines, the words of the query in colour."""
    lines = row["snippet"].split("\n")
    wide = max(4, len(str(row["line"] + len(lines))))
    for number, line in enumerate(lines, row["line"]):
        shown = _highlighted(safe_text(line.replace("\t", "    ")), row["matched"], ink)
        gutter = ink.paint("line", f"{number:>{wide}}") if ink.width else "  "
        yield f"{gutter}  {shown}".rstrip()


def _highlighted(line: str, words: list[str], ink: Ink) -> str:
    if not words or not ink.color:
        return line
    import re

    longest = sorted(map(re.escape, words), key=len, reverse=True)
    return re.sub("|".join(longest), lambda m: ink.paint("match", m.group()), line, flags=re.I)


def _proof(answer: SearchAnswer, ink: Ink) -> str:
    freshness, receipt = answer["freshness"], answer["receipt"]
    assert receipt is not None
    said = [freshness["state"]]
    if freshness["overlayPaths"]:
        said.append(f"{counted(freshness['overlayPaths'], 'edited paths')} overlaid")
    if freshness.get("leftOut"):
        said.append(f"{freshness['leftOut']} left out")
    tree = f"tree {str(receipt['treeId'])[:12]}, generation {receipt['generation']}"
    return ink.paint("dim", f"-- {', '.join(said)}; {tree}")


def _team(_answer: Any, params: Params) -> tuple[str, list[str]]:
    return "search", [params["query"]]


TABLE = """
Everyday: search | found=results trees=at,staged,strict probes tool=search_codebase listed
  + pages=results reach=200
  Search the index: best places first, with proof.
  > Find code by words, identifiers, a path or a pasted line. Best places first.
    * | query words ..8000 | Any text: words, names, a path, a pasted line. | : text; "phrases";
      + filters path: -path: lang: kind: must: exclude: in:
    --limit -m -n | limit integer =10 1..200 | Results at most. | =10 1..200:
    --lang | lang texts @languages | Only this language (lang:).
    --path | below texts @paths | Only paths with this (path:).
    --not-path | not_below texts @paths | No paths with this (-path:).
    --kind | kind texts @kinds | Only definitions of a kind (kind:).
    --must | must texts | With this word (must:).
    --exclude | exclude texts | Without this word (exclude:).
    --in | place texts @code,tests,docs | code, tests or docs (in:).
    --recent | recent flag | Recently changed first.
    --explain | explain flag | Print the features of every result.
    at
"""
QUESTION = question(TABLE, ask, text, team=_team, example={"query": "helper", "limit": 1})
