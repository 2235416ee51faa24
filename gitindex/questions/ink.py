"""How an answer is written: colours, width and paths of one reader. The texts are the questions'."""

from __future__ import annotations

from gitindex.base.escape import counted, safe_text
from gitindex.base.light_types import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any

STYLES = {"path": "35", "line": "32", "kind": "36", "name": "1", "match": "1;31", "dim": "2"}


class Note(str):
    """A line about the answer, not of it: on the command line it goes to stderr."""

    __slots__ = ()


class Aside(Note):
    """A note for people only: a program reads the exit code."""

    __slots__ = ()


class Ink:
    """One reader: colour and width (0: every word costs, no columns), and how paths are shown to it."""

    def __init__(
        self,
        width: int = 0,
        color: bool = False,
        params: Mapping[str, Any] | None = None,
        path: Callable[[str], str] = safe_text,
    ) -> None:
        self.width, self.color, self.path = width, color, path
        self.params = params or {}

    def paint(self, style: str, text: str) -> str:
        """Return text in one of the styles. The text is escaped already."""
        return f"\x1b[{STYLES[style]}m{text}\x1b[m" if self.color else text

    def node(self, node: str) -> str:
        """Return a node's id, `FILE#NAME` or `FILE`, as the next question accepts it."""
        path, mark, name = node.partition("#")
        return self.path(path) + mark + safe_text(name)

    def place(self, row: Mapping[str, Any], line: str = "line") -> str:
        """Return FILE:LINE of a row."""
        return f"{self.path(row['path'])}:{row[line]}"

    def code(self, text: str, name: str = "") -> str:
        """Return a line of code without indentation, with the name highlighted."""
        shown = safe_text(text.strip().replace("\t", " "))
        return shown.replace(name, self.paint("match", name)) if name else shown


def signature(text: str, kind: str = "") -> str:
    """Return a signature of several lines as one line is written: no space inside its brackets.

    `kind` is what is printed in front of it; the same keyword is not repeated.
    """
    text = text.removeprefix(f"{kind} ")
    for wide, narrow in (("( ", "("), ("[ ", "["), (", )", ")"), (" )", ")"), (" ]", "]")):
        text = text.replace(wide, narrow)
    return safe_text(text)


def missing(what: str, near: list[str]) -> Note:
    """Say that there is no such symbol, with suggestions."""
    hint = f"; near: {', '.join(map(safe_text, near))}" if near else ""
    return Note(f"no symbol {safe_text(what)}{hint}")


def warnings(answer: Mapping[str, Any]) -> Iterator[Note]:
    """Yield an answer's warnings."""
    for warning in answer.get("warnings", ()):
        yield Note(safe_text(warning))


def not_searched(left: Mapping[str, int]) -> str:
    """Summarize in one line the files that the policy keeps out of an answer."""
    reasons = ", ".join(f"{many} {why}" for why, many in sorted(left.items()))
    return f"not searched: {reasons} (`gitindex status --skipped` lists them)"


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


def last_name(symbol: str) -> str:
    """Return the plain name of FILE#NAME or CLASS.NAME: the query to other repositories."""
    return symbol.rpartition("#")[2].rpartition(".")[2]


def team_lines(answer: Mapping[str, Any], params: Mapping[str, Any]) -> Iterator[str]:
    """Yield the hits of other repositories, or why the server did not answer."""
    if params.get("team") and "team" not in answer:
        yield Note(safe_text(answer["message"]))
    for hit in answer.get("team", {}).get("hits", ()):
        place = f"{hit['repo']}@{hit['ref']}:{hit['path']}:{hit['line']}"
        if "text" in hit:
            yield safe_text(f"{place}:{hit['text']}")
            continue
        what = f"{hit['kind']} {hit['qualifiedName'] or hit['name']}".strip()
        yield safe_text(f"{place}  {what}  [{hit['tier']}]")
