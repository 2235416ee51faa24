"""`gitindex web`: plain functions that return an exit code."""

from __future__ import annotations

from importlib.util import find_spec

from gitindex.base.errors import Exit
from gitindex.base.escape import safe_text
from gitindex.base.extras import missing_extra
from gitindex.base.worktree import find_worktree
from gitindex.cli.printing import print_closed
from gitindex.cli.terminal import say
from gitindex.view.snapshot import GateClosed

_NEEDED = ("starlette", "uvicorn", "pygments", "markdown_it")


def show_page(path: str, port: int, no_open: bool, folder: str) -> int:
    """Serve the page on loopback until it is stopped or idle for an hour; or export it."""
    if folder:
        return export_page(path, folder)
    worktree = find_worktree(path)
    _check_extra()
    from gitindex.web.server import serve_page

    return serve_page(worktree, port, not no_open)


def export_page(path: str, folder: str) -> int:
    """Write a static snapshot of map, symbols and health into a folder."""
    worktree = find_worktree(path)
    _check_extra()
    from gitindex.web.export import export_snapshot

    try:
        for name in export_snapshot(worktree, folder):
            say(safe_text(name))
    except GateClosed as closed:
        return print_closed(closed)
    return int(Exit.OK)


def _check_extra() -> None:
    """Raise a one-line error if the packages of the page are not installed."""
    if any(find_spec(name) is None for name in _NEEDED):
        raise missing_extra("the page", "web")
