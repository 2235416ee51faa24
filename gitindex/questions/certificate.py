"""The last lines about the uses of a name: possible places, and how all occurrences are accounted for."""

from __future__ import annotations

from gitindex.base.escape import counted, safe_text
from gitindex.base.light_types import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from gitindex.questions.ink import Ink


def certificate(answer: Mapping[str, Any], ink: Ink, shown: int, what: str) -> Iterator[str]:
    """Yield the possible places, each line once, then how all occurrences are accounted for."""
    from gitindex.query.absence import summary

    yield from _possible(answer, ink)
    for row in (*answer.get("unlikely", ()), *answer.get("mentioned", ())):
        why = row["why"] or "on another type"
        yield ink.paint("dim", f"  {ink.place(row)}  {why}: {safe_text(row['text'])}")
    total = answer.get("totalReferences", shown)
    seen = " shown" if ink.width else ""
    count = f"{shown} of {total} {what}{seen}" if total > shown or answer.get("truncated") else ""
    sure = summary(answer, count or (counted(shown, what) if what != "references" else ""))
    outdated = len(answer.get("semanticLayer", {}).get("stalePaths", ()))
    stale = f"; semantic layer stale in {outdated} of these files" if outdated else ""
    fresh = f"; {answer['freshness']['state']}" if ink.width else ""
    yield ink.paint("dim", f"-- {sure}{fresh}{stale}")


def _possible(answer: Mapping[str, Any], ink: Ink) -> Iterator[str]:
    lines: dict[str, int] = {}
    for row in answer["possible"]:
        code = safe_text(row["text"][: None if ink.width else 120])
        line = f"? {ink.paint('path', ink.place(row))}  {row['why']}: {code}"
        lines[line] = lines.get(line, 0) + 1
    for line, times in lines.items():
        yield line + (f"  ({times} ×)" if times > 1 else "")


def last_name(asked: str) -> str:
    """Return the plain name of FILE#NAME or CLASS.NAME: what other repositories are asked for."""
    return asked.rpartition("#")[2].rpartition(".")[2]
