"""How an answer is written: colours, width and paths of one reader. The texts are the questions'."""

from __future__ import annotations

from gitindex.base.escape import safe_text
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
        asked: Mapping[str, Any] | None = None,
        path: Callable[[str], str] = safe_text,
    ) -> None:
        self.width, self.color, self.path = width, color, path
        self.asked = asked or {}

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
