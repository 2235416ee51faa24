"""`gitindex map`, `repo_map`: the files that matter most and their signatures."""

from __future__ import annotations

from gitindex.base.light_types import TYPE_CHECKING
from gitindex.questions.table import AT, Question, Wire, option

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from gitindex.questions.here import Here
    from gitindex.questions.ink import Ink
    from gitindex.questions.table import Params

MAX_TOKENS = 20_000
"""Of one call over MCP."""


def ask(here: Here, asked: Params) -> dict[str, Any]:
    """Return the map of a tree, or its picture."""
    from gitindex.query.map.answer import MapQuery, map_picture, read_sections, repo_map

    focus = tuple(map(here.inside, asked["focus"]))
    include = read_sections(asked["include"])
    with here.tree() as view, here.doing("ranking the files"):
        wanted = MapQuery(asked["tokens"], focus or here.below(view), include)
        if asked["svg"]:
            return {"status": "ok", "map": map_picture(view, wanted)}
        return dict(repo_map(view, wanted))


def text(answer: dict[str, Any], _ink: Ink) -> Iterator[str]:
    """Yield the map."""
    yield answer["map"].rstrip("\n") if not _ink.width else answer["map"]


def fit(answer: dict[str, Any], asked: Params) -> dict[str, Any]:
    """Leave out the fields that only repeat the text."""
    told = {name: value for name, value in answer.items() if not isinstance(value, list)}
    more = min(2 * asked["tokens"], MAX_TOKENS)
    goes_on = answer["truncated"] and more > asked["tokens"]
    return told | ({"continuation": {"tokens": more}} if goes_on else {})


SECTIONS = ("structure", "languages", "entrypoints", "hubs", "tests", "surface")
QUESTION = Question(
    "map",
    "The files that matter most and their signatures. Never longer than its budget.",
    (
        option(
            "--tokens",
            "tokens",
            "Length at most; 4 characters each.",
            "integer",
            default=2_000,
            least=1,
            most=100_000,
            wire=Wire(help="budget", default=1_000, least=100, most=MAX_TOKENS),
        ),
        option(
            "--focus",
            "focus",
            "A file or folder that matters most; repeatable.",
            "texts",
            complete="paths",
            wire=Wire(help="file or folder", kind="path"),
        ),
        option(
            "--include",
            "include",
            f"{', '.join(SECTIONS)}; joined by commas.",
            "texts",
            complete=" ".join(SECTIONS),
            wire=Wire(help=", ".join(SECTIONS), most=200, kind="text"),
        ),
        option("--svg", "svg", "A picture instead: SVG.", "flag"),
        AT,
    ),
    ask,
    text,
    found="map",
    tool="repo_map",
    tells="The files that matter most and their signatures.",
    fit=fit,
)
