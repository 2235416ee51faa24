"""What the team's other repositories add to an answer, as text."""

from __future__ import annotations

from gitindex.base.escape import safe_text
from gitindex.base.light_types import TYPE_CHECKING
from gitindex.questions.ink import Note

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any


def team_lines(answer: Mapping[str, Any], asked: Mapping[str, Any]) -> Iterator[str]:
    """Yield the hits of other repositories, or why the server did not answer."""
    if asked.get("team") and "team" not in answer:
        yield Note(safe_text(answer["message"]))
    for hit in answer.get("team", {}).get("hits", ()):
        place = f"{hit['repo']}@{hit['ref']}:{hit['path']}:{hit['line']}"
        if "text" in hit:
            yield safe_text(f"{place}:{hit['text']}")
            continue
        what = f"{hit['kind']} {hit['qualifiedName'] or hit['name']}".strip()
        yield safe_text(f"{place}  {what}  [{hit['tier']}]")
