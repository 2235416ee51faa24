"""A clone's membership in the team's index, and what it published last."""

from __future__ import annotations

import json
import os
import re
from typing import Any, NamedTuple

from gitindex.base.atomic_file import read_small, remove, write_atomic
from gitindex.base.errors import Exit, GitIndexError
from gitindex.base.worktree import Worktree
from gitindex.git.command import run_git, try_git
from gitindex.refresh.outbox import TEAM_FILE
from gitindex.sharing.server import Server


class Membership(NamedTuple):
    """The saved membership of a joined clone."""

    url: str
    repo: int
    name: str
    ref: str
    pushed: str = ""  # the tree that was published last
    fleet: str = ""  # an installation id, if the user opted in


def read_membership(worktree: Worktree) -> Membership | None:
    """Return the membership of this clone; None if it has not joined."""
    try:
        fields = json.loads(read_small(os.path.join(worktree.store, TEAM_FILE)) or b"null")
        return Membership(**fields) if fields else None
    except (OSError, ValueError, TypeError):
        return None


def require_membership(worktree: Worktree) -> Membership:
    """Return the membership, or raise an error with a hint."""
    found = read_membership(worktree)
    if found is None:
        raise GitIndexError("this clone is in no team index", "`gitindex team join`", Exit.USAGE)
    return found


def save_membership(worktree: Worktree, membership: Membership) -> None:
    """Save the membership."""
    data = json.dumps(membership._asdict()).encode()
    write_atomic(os.path.join(worktree.store, TEAM_FILE), data)


def forget_membership(worktree: Worktree) -> None:
    """Leave: stop publishing from this clone."""
    remove(os.path.join(worktree.store, TEAM_FILE))


def join(worktree: Worktree, server: Server, url: str, ref: str, fleet: str) -> Membership:
    """Find this repository in the team's index, or register it."""
    roots, address = _roots(worktree), canonical_url(_origin(worktree))
    if not roots and not address:
        raise GitIndexError("a shallow clone without a remote has no identity", "fetch its history")
    name = address.rpartition("/")[2] or os.path.basename(worktree.root)
    ref = ref or _default_ref(worktree)
    found = server.rows("SELECT gi_join(%s, %s, %s, %s)", roots, address, name, ref)[0][0]
    membership = Membership(url, int(found), name, ref, "", fleet)
    save_membership(worktree, membership)
    return membership


def canonical_url(url: str) -> str:
    """Return `host/path` of a remote's URL, without user, scheme and `.git`."""
    bare = re.sub(r"^[a-z+]+://", "", url.strip())
    bare = re.sub(r"^[^/@]+@", "", bare)
    bare = re.sub(r"^([^/:]+):(?!\d+/)", r"\1/", bare)
    return bare.rstrip("/").removesuffix(".git").lower() if bare else ""


def find_repository(worktree: Worktree, server: Server) -> int:
    """Return the id of this clone's repository on the server, joined or not; registers nothing."""
    own = read_membership(worktree)
    if own is not None:
        return own.repo
    address = canonical_url(_origin(worktree))
    found = server.rows("SELECT gi_find(%s, %s)", _roots(worktree), address)[0][0]
    if found is None:
        raise GitIndexError("the team index has no such repository", "`gitindex team join`")
    return int(found)


def _roots(worktree: Worktree) -> str:
    shallow = run_git(worktree.root, "rev-parse", "--is-shallow-repository").strip() == b"true"
    if shallow:
        return ""
    listed = try_git(worktree.root, "rev-list", "--max-parents=0", "HEAD", "--").output.decode()
    return ",".join(sorted(listed.split()))


def _origin(worktree: Worktree) -> str:
    return os.fsdecode(
        try_git(worktree.root, "config", "--get", "remote.origin.url").output.strip()
    )


def _default_ref(worktree: Worktree) -> str:
    said = try_git(worktree.root, "symbolic-ref", "-q", "--short", "refs/remotes/origin/HEAD")
    named = said.output.decode().strip().removeprefix("origin/")
    if named:
        return named
    head = try_git(worktree.root, "symbolic-ref", "-q", "--short", "HEAD").output.decode().strip()
    return head or "main"


def fields_of(membership: Membership) -> dict[str, Any]:
    """Return the JSON fields, without the URL, which may hold a user's name."""
    return {"repo": membership.name, "ref": membership.ref, "pushedTree": membership.pushed or None}
