"""Messages of past commits and the paths that each changed: the words people use for a file.

The window of a commit is its newest non-merge ancestors, in git's own order: a function of the
commit alone. Nothing here raises: history that git cannot list counts as none.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from gitindex.base.errors import GitIndexError
from gitindex.base.light_types import NamedTuple
from gitindex.base.pattern import compile_later
from gitindex.git.command import try_git

WINDOW = 2_000
"""Number of commits in a window: git lists that many of Django in a tenth of a second of CPU."""
MAX_PATHS = 25
"""A commit that changes more paths than this says little about each of them."""
MAX_SUBJECT, MAX_BODY = 300, 600
"""Maximum number of characters of a message that count."""
AT_ONCE = 400
"""Number of commits read by id in one call: their ids fit into a pipe's buffer."""
SECONDS = 30.0  # then history counts as none: search does without it
MAX_BYTES = 128 << 20  # of messages in memory: 64 kB for each commit of a window

_LOG = (
    "log",
    "-z",
    "--name-only",
    "--root",
    "--no-renames",
    "--no-relative",
    "--no-ext-diff",
    "--no-show-signature",
    "--no-notes",
    "--no-color",
    "--no-decorate",
    "--encoding=UTF-8",
    "--ignore-submodules=none",
    "--format=tformat:%x01%H %P%x00%s%x00%b",
)


_TRAILER = compile_later(r"^[A-Z][A-Za-z]+(?:-[A-Za-z]+)+: .*$", re.MULTILINE)
"""`Signed-off-by: …`: names of people, not of code."""


class CommitMessage(NamedTuple):
    """A commit as search uses it."""

    oid: str
    parents: tuple[str, ...]
    subject: str
    body: str  # without its trailers
    paths: tuple[bytes, ...]  # none if it changed too many


def list_window(root: str, commit: str) -> list[str] | None:
    """Return the commits of a window, newest first; None if git fails."""
    args = ("rev-list", "--no-merges", f"--max-count={WINDOW}", "--end-of-options", commit, "--")
    listed = _run(root, *args)
    return None if listed is None else listed.decode().split()


def read_window(root: str, commit: str) -> list[CommitMessage] | None:
    """Return the commits of a window with their subjects, newest first; None if git fails."""
    args = ("--no-merges", f"--max-count={WINDOW}", "--end-of-options", commit, "--")
    output = _run(root, *_LOG, *args)
    return None if output is None else _parsed(output)


def read_commits(root: str, oids: Sequence[str]) -> list[CommitMessage] | None:
    """Return some commits by their ids; None if git fails or lacks one of them."""
    commits: list[CommitMessage] = []
    for at in range(0, len(oids), AT_ONCE):
        names = "".join(f"{oid}\n" for oid in oids[at : at + AT_ONCE]).encode()
        output = _run(root, *_LOG, "--no-walk=unsorted", "--stdin", stdin=names)
        if output is None:
            return None
        commits += _parsed(output)
    return commits if {commit.oid for commit in commits} >= set(oids) else None


def _run(root: str, *args: str, stdin: bytes = b"") -> bytes | None:
    try:
        done = try_git(root, *args, stdin=stdin, timeout=SECONDS, most=MAX_BYTES)
    except GitIndexError:
        return None
    return None if done.returncode else done.output


def _parsed(output: bytes) -> list[CommitMessage]:
    """Parse git's output: header, subject, body, then the paths, each ended by a zero byte."""
    commits: list[CommitMessage] = []
    head: list[str] = []  # of the commit that the paths belong to: its id and its parents
    subject = body = b""
    paths: list[bytes] = []
    fields = iter(output.split(b"\0"))
    for field in fields:
        bare = field.removeprefix(b"\n")
        if bare.startswith(b"\x01"):
            if head:
                commits.append(message_of(head[0], tuple(head[1:]), subject, body, paths))
            head = bare[1:].decode("ascii", "replace").split()
            subject, body, paths = next(fields, b""), next(fields, b""), []
        elif bare:
            paths.append(bare)
    if head:
        commits.append(message_of(head[0], tuple(head[1:]), subject, body, paths))
    return commits


def message_of(
    oid: str, parents: tuple[str, ...], subject: bytes, body: bytes, paths: Sequence[bytes] = ()
) -> CommitMessage:
    """Return a commit; of a long message only the beginning counts, of many paths none."""
    rest = _text(body)[: 4 * MAX_BODY]
    if "-" in rest:
        rest = _TRAILER.sub("", rest)
    counted = tuple(paths) if len(paths) <= MAX_PATHS else ()
    return CommitMessage(oid, parents, _text(subject)[:MAX_SUBJECT], rest[:MAX_BODY], counted)


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")
