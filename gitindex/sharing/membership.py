"""A clone's membership in the team's index, and what it published last."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from gitindex.base.atomic_file import read_small, remove, write_atomic
from gitindex.base.errors import Exit, GitIndexError
from gitindex.base.worktree import Worktree
from gitindex.git.command import is_shallow, try_git
from gitindex.refresh.detached import TEAM_FILE
from gitindex.sharing.server import SCHEMA_VERSION, Server, raw_connection


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
    roots, address = ",".join(root_commits(worktree)), canonical_url(_origin(worktree))
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


def root_commits(worktree: Worktree, rev: str = "HEAD") -> tuple[str, ...]:
    """Return the sorted root commits, which clones of one repository share; none if shallow."""
    if is_shallow(worktree.root):
        return ()
    listed = try_git(worktree.root, "rev-list", "--max-parents=0", rev, "--").output.decode()
    return tuple(sorted(listed.split()))


def _origin(worktree: Worktree) -> str:
    return os.fsdecode(
        try_git(worktree.root, "config", "--get", "remote.origin.url").output.strip()
    )


def _default_ref(worktree: Worktree) -> str:
    remote = try_git(worktree.root, "symbolic-ref", "-q", "--short", "refs/remotes/origin/HEAD")
    named = remote.output.decode().strip().removeprefix("origin/")
    if named:
        return named
    head = try_git(worktree.root, "symbolic-ref", "-q", "--short", "HEAD").output.decode().strip()
    return head or "main"


def fields_of(membership: Membership) -> dict[str, Any]:
    """Return the JSON fields, without the URL, which may hold a user's name."""
    return {"repo": membership.name, "ref": membership.ref, "pushedTree": membership.pushed or None}


ROLES = ("gi_owner", "gi_reader", "gi_writer", "gi_admin")
FOLDER = os.path.join(os.path.dirname(__file__), "sql")
FIRST_VERSION = 3  # the first schema that was released
DROP_FUNCTIONS = """DO $$
DECLARE f record;
BEGIN
    FOR f IN SELECT p.oid::regprocedure AS signature FROM pg_proc p
             WHERE p.pronamespace = 'gitindex'::regnamespace AND p.proname LIKE 'gi\\_%' LOOP
        EXECUTE format('DROP FUNCTION %s CASCADE', f.signature);
    END LOOP;
    DROP TYPE IF EXISTS gi_hit, gi_place CASCADE;
END $$"""


def init(url: str) -> str:
    """Create or upgrade everything in one transaction; a current set-up is left alone."""
    with raw_connection(url) as server:
        version = _version(server)
        if version is not None:
            _join_roles(server)
        if version == SCHEMA_VERSION:
            return "already"
        if version is not None and version > SCHEMA_VERSION:
            raise GitIndexError(f"the database has schema {version}", "upgrade gitindex")
        with server.transaction():
            if version is None:
                _create_schema(server)
            where = server.rows(
                "SELECT n.nspname FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace"
                " WHERE e.extname = 'pg_trgm'"
            )[0][0]
            server.run("SET LOCAL ROLE gi_owner")
            server.rows("SELECT set_config('search_path', %s, true)", f"gitindex,{where}")
            for script in scripts(version):
                server.run(script)
    return "created" if version is None else f"upgraded from schema {version}"


def scripts(version: int | None, last: int = SCHEMA_VERSION) -> Iterator[str]:
    """Return the statements from a version (None: an empty database) to another, in order."""
    first = FIRST_VERSION if version is None else version + 1
    if version is not None:
        yield DROP_FUNCTIONS  # their results may have other columns now
    names = [f"tables_{number}.sql" for number in range(first, last + 1)]
    for name in (*names, "functions.sql", "rights.sql"):
        with open(os.path.join(FOLDER, name), encoding="utf-8") as file:
            yield file.read()


def _create_schema(server: Server) -> None:
    for role in ROLES:
        _create_role(server, role)
    server.run("GRANT gi_owner TO CURRENT_USER")
    _join_roles(server)
    server.run("CREATE SCHEMA gitindex AUTHORIZATION gi_owner")
    server.run("CREATE EXTENSION IF NOT EXISTS pg_trgm")


def _join_roles(server: Server) -> None:
    """Let writers and administrators read: a backup of a database does not say what roles are in."""
    for role in ("gi_writer", "gi_admin"):
        if not server.rows("SELECT pg_has_role(%s, 'gi_reader', 'MEMBER')", role)[0][0]:
            with server.transaction():
                server.run(f"GRANT gi_reader TO {role}")


def _version(server: Server) -> int | None:
    found = server.rows("SELECT to_regclass('gitindex.gi_meta') IS NOT NULL")[0][0]
    if not found:
        return None
    return int(server.rows("SELECT schema_version FROM gitindex.gi_probe()")[0][0])


def _create_role(server: Server, role: str) -> None:
    if not server.rows("SELECT 1 FROM pg_roles WHERE rolname = %s", role):
        server.run(f"CREATE ROLE {role} NOLOGIN")
