"""`gitindex explore`: one question, the best places with their code, uses and tests, within a budget."""

from __future__ import annotations

from typing import Any

from gitindex.base.escape import counted, safe_text
from gitindex.cli.printing import any_of, in_tree, print_answer
from gitindex.cli.shown_path import shown_path
from gitindex.cli.terminal import paint, say
from gitindex.query.explore import explore
from gitindex.view.tree import NOW, TreeChoice


def show_places(
    question: str, tokens: int, path: str = ".", ask: TreeChoice = NOW, as_json: bool = False
) -> int:
    """Print the places that answer a question; exit code 1 if there are none."""
    asking = in_tree(path, ask, lambda view: explore(view, question, tokens))
    return print_answer(asking, as_json, _say_places, any_of("places"))


def _say_places(answer: dict[str, Any]) -> None:
    for number, place in enumerate(answer["places"]):
        if number:
            say("")
        _say_code(place)
        _say_uses(place)
    for row in answer["also"]:
        name = f"  {safe_text(row['name'])}" if "name" in row else ""
        say(paint("dim", f"also {shown_path(row['path'])}:{row['line']}{name}"))
    if not answer["places"]:
        say("nothing found")
    freshness = answer["freshness"]
    edits = counted(freshness["overlayPaths"], "edited paths")
    laid = f", {edits} laid over" if freshness["overlayPaths"] else ""
    say(paint("dim", f"-- {counted(len(answer['places']), 'places')}; {freshness['state']}{laid}"))


def _say_code(place: dict[str, Any]) -> None:
    lines = f"{place['startLine']}-{place['endLine']}"
    named = ""
    if "name" in place:
        named = f"  {paint('kind', place['kind'])} {paint('name', safe_text(place['name']))}"
    say(f"{paint('path', shown_path(place['path']))}:{paint('line', lines)}{named}")
    for number, line in enumerate(place["code"].split("\n"), place["startLine"]):
        text = safe_text(line.replace("\t", "    "))
        say(f"{paint('line', f'{number:>4}')}  {text}".rstrip())
    if place.get("codeTruncated"):
        say(paint("dim", f"      … gitindex read {shown_path(place['path'])}:{lines}"))


def _say_uses(place: dict[str, Any]) -> None:
    for row in place.get("callers", ()):
        around = f" in {safe_text(row['enclosing'])}" if "enclosing" in row else ""
        site = f"{shown_path(row['path'])}:{row['line']}{around}"
        say(f"  <- {paint('path', site)}  [{row['tier']}]  {safe_text(row['text'])}")
    if place.get("moreCallers"):
        name = f"{shown_path(place['path'])}#{safe_text(place['name'])}"
        say(f"  <- {place['moreCallers']} more: gitindex refs {name}")
    if place.get("tests"):
        say(f"  tests: {', '.join(map(shown_path, place['tests']))}")
    if place.get("uncertain"):
        say(f"  {counted(place['uncertain'], 'possible uses')} not explained")
