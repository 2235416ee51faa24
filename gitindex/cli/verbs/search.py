"""`gitindex search`: queries and prints. Imports little, to keep the cold start short."""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING

from gitindex.base.escape import counted, safe_text
from gitindex.base.lean import NamedTuple
from gitindex.base.worktree import find_worktree
from gitindex.cli.printing import Asking, any_of, not_searched, print_answer, print_warnings
from gitindex.cli.shown_path import shown_path
from gitindex.cli.terminal import coloured, paint, say, say_nothing
from gitindex.git.worktree_probe import WorktreeProbe
from gitindex.query.search.query_text import Filters
from gitindex.query.search.search import search
from gitindex.view.fallback import served_or_scanned
from gitindex.view.tree import NOW, TreeChoice, open_tree

if TYPE_CHECKING:
    from gitindex.base.answers import SearchAnswer, SearchRow


class SearchRequest(NamedTuple):
    """The options of a search besides its text."""

    limit: int = 10
    filters: Filters = Filters()
    recent: bool = False
    explain: bool = False
    team: bool = False  # search other repositories too


def find(
    query: str,
    path: str = ".",
    wish: SearchRequest = SearchRequest(),  # noqa: B008 - a constant
    ask: TreeChoice = NOW,
    as_json: bool = False,
    begun: WorktreeProbe | None = None,
) -> int:
    """Search the index, or the files if there is none. `begun`: a running work tree probe."""
    worktree = begun.worktree if begun else find_worktree(path)

    def serve() -> SearchAnswer:
        with open_tree(worktree, path, ask, begun=begun) as view:
            found = search(view, query, wish.limit, wish.filters, wish.recent, explain=wish.explain)
            if sys.stdout.isatty() and not as_json:
                from gitindex.query.health import skipped_reasons

                found["notSearched"] = skipped_reasons(view)
            return found

    def scan(why: str) -> SearchAnswer:
        from gitindex.query.search.live import search_live

        return search_live(worktree, query, wish.limit, why, wish.filters)

    ask_or_scan = partial(served_or_scanned, ask, serve, scan, upgraded=True)
    told: Asking = (ask_or_scan, _say_results, any_of("results"))
    if wish.team:
        from gitindex.cli.verbs.team import asking_team

        told = asking_team(worktree, "search", lambda _: [query], wish.limit, told)
    return print_answer(told[0], as_json, told[1], told[2])


def _say_snippet(result: SearchRow) -> None:
    """Print the lines with their numbers, the words of the query in colour."""
    lines = result["snippet"].split("\n")
    width = max(4, len(str(result["line"] + len(lines))))
    for number, line in enumerate(lines, result["line"]):
        text = _highlighted(safe_text(line.replace("\t", "    ")), result["matched"])
        say(f"{paint('line', f'{number:>{width}}')}  {text}".rstrip())


def _highlighted(line: str, words: list[str]) -> str:
    if not words or not coloured():
        return line
    import re

    longest_first = sorted(map(re.escape, words), key=len, reverse=True)
    return re.sub("|".join(longest_first), lambda m: paint("match", m.group()), line, flags=re.I)


def _say_results(answer: SearchAnswer) -> None:
    for number, result in enumerate(answer["results"]):
        if number:
            say("")
        place = f"{paint('path', shown_path(result['path']))}:{paint('line', str(result['line']))}"
        if "name" in result:
            name = paint("name", safe_text(result["name"]))
            place += f"  {paint('kind', safe_text(result['kind']))} {name}"
        if result["matched"] == []:
            place += paint("dim", "  (by other forms of the words, its path or its history)")
        say(place)
        for name, found in result.get("features", {}).items():
            say(paint("dim", f"    {found['adds']:+8.3f}  {name} {found['value']:g}"))
        _say_snippet(result)
    if not answer["results"]:
        say_nothing(
            "nothing found; try fewer or other words, or `gitindex find` for a part of a name"
        )
    print_warnings(answer)
    if left := answer.get("notSearched"):
        say(paint("dim", f"-- {not_searched(left)}"))
    freshness, receipt = answer["freshness"], answer["receipt"]
    if receipt is None:
        return
    said = [freshness["state"]]
    if freshness["overlayPaths"]:
        said.append(f"{counted(freshness['overlayPaths'], 'edited paths')} laid over")
    if freshness.get("leftOut"):
        said.append(f"{freshness['leftOut']} left out")
    tree = f"tree {str(receipt['treeId'])[:12]}, generation {receipt['generation']}"
    say(paint("dim", f"-- {', '.join(said)}; {tree}"))
