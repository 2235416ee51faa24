"""Where a command line asks: files are named from the current folder, and a person may wait."""

from __future__ import annotations

from gitindex.base.light_types import TYPE_CHECKING
from gitindex.cli.progress import patience, progress_bar
from gitindex.cli.shown_path import named_path, named_place, shown_path
from gitindex.questions.here import Here

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from gitindex.questions.here import Report


class ShellHere(Here):
    """The place of a question on the command line."""

    def doing(self, what: str) -> AbstractContextManager[None]:
        """Print what takes long, on a terminal."""
        return patience(what)

    def progress(self, title: str) -> AbstractContextManager[Report]:
        """Show a progress bar."""
        return progress_bar(title)

    def inside(self, file: str) -> str:
        """Return a file named from the current folder, or from the root."""
        return named_path(self.worktree.root, self.path, file)

    def placed(self, symbol: str) -> str:
        """Return FILE:LINE or FILE#NAME relative to the root; a plain name as it is."""
        return named_place(self.path, symbol)

    def shown(self, path: str) -> str:
        """Return a path relative to the current folder."""
        return shown_path(path)
