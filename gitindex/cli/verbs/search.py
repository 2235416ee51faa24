"""`gitindex search`: asks and prints. Imports nothing it does not need: a cold start is what people feel."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from gitindex.base.escape import safe_text
from gitindex.base.worktree import find_worktree
from gitindex.cli.printing import any_of, print_answer, print_warnings
from gitindex.cli.shown_path import shown_path
from gitindex.cli.terminal import paint, say
from gitindex.git.worktree_probe import WorktreeProbe
from gitindex.query.search.query_text import Filters
from gitindex.query.search.search import search
from gitindex.view.fallback import served_or_scanned
from gitindex.view.tree import NOW, TreeChoice, open_tree

if TYPE_CHECKING:
    from gitindex.base.answers import SearchAnswer


class SearchRequest(NamedTuple):
    """What is asked for besides the text."""

    limit: int = 10
    filters: Filters = Filters()
    recent: bool = False
    explain: bool = False


def find(
    query: str,
    path: str = ".",
    wish: SearchRequest = SearchRequest(),  # noqa: B008 - a constant
    ask: TreeChoice = NOW,
    as_json: bool = False,
    begun: WorktreeProbe | None = None,
) -> int:
    """Search the index; where there is none, the files. `begun`: a look at the work tree under way."""
    worktree = begun.worktree if begun else find_worktree(path)

    def serve() -> SearchAnswer:
        with open_tree(worktree, path, ask, begun=begun) as view:
            return search(view, query, wish.limit, wish.filters, wish.recent, explain=wish.explain)

    def scan(why: str) -> SearchAnswer:
        from gitindex.query.search.live import search_live

        return search_live(worktree, query, wish.limit, why, wish.filters)

    ask_or_scan = partial(served_or_scanned, ask, serve, scan)
    return print_answer(ask_or_scan, as_json, _say_results, any_of("results"))


def _say_results(answer: SearchAnswer) -> None:
    for result in answer["results"]:
        place = f"{paint('path', shown_path(result['path']))}:{paint('line', str(result['line']))}"
        if "name" in result:
            name = paint("name", safe_text(result["name"]))
            place += f"  {paint('kind', safe_text(result['kind']))} {name}"
        say(place)
        for name, found in result.get("features", {}).items():
            say(paint("dim", f"    {found['adds']:+8.3f}  {name} {found['value']:g}"))
        for line in result["snippet"].splitlines():
            say("    " + safe_text(line.replace("\t", "    ")))
    print_warnings(answer)
    freshness, receipt = answer["freshness"], answer["receipt"]
    if receipt is None:
        return
    said = [freshness["state"]]
    if freshness["overlayPaths"]:
        said.append(f"{freshness['overlayPaths']} edited paths laid over")
    if freshness.get("leftOut"):
        said.append(f"{freshness['leftOut']} left out")
    tree = f"tree {str(receipt['treeId'])[:12]}, generation {receipt['generation']}"
    say(paint("dim", f"-- {', '.join(said)}; {tree}"))
