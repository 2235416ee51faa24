"""Commands of the team's index, and of links to repositories on this machine."""

from __future__ import annotations

import os
from typing import Any

from gitindex.base.errors import Exit, GitIndexError
from gitindex.base.escape import counted, safe_text
from gitindex.base.worktree import Worktree, check_owner, find_worktree
from gitindex.cli.printing import CommandReply
from gitindex.cli.progress import progress_bar
from gitindex.cli.terminal import say
from gitindex.refresh import public_files
from gitindex.sharing import diagnosis, links, membership, publish
from gitindex.sharing.server import address, connected, log_in, log_out
from gitindex.view.tree import NOW, open_tree

PATIENT_MS = 30_000


def init(path: str, url: str) -> CommandReply:
    """Set up a database."""
    outcome = membership.init(url or address(find_worktree(path)))
    done = "is ready" if outcome == "created" else "was set up before"
    grants = "  give people `GRANT gi_reader TO name`, CI `GRANT gi_writer TO name`"
    return CommandReply({"status": "ok", "outcome": outcome}, [f"the team index {done}", grants])


def join(path: str, url: str, ref: str, fleet: bool) -> CommandReply:
    """Add this clone to the team's index."""
    import uuid

    worktree = find_worktree(path)
    public_files.create_store(worktree)
    named = address(worktree, url)
    number = str(uuid.uuid4()) if fleet else ""
    with connected(named, PATIENT_MS, patient=True) as server:
        fields = membership.fields_of(membership.join(worktree, server, named, ref, number))
    line = f"joined as {safe_text(fields['repo'])}, branch {safe_text(fields['ref'])}"
    return CommandReply({"status": "ok", **fields}, [line])


def login(path: str, account: str, hours: int) -> int:
    """Keep a token of one's own account."""
    named = _own_address(find_worktree(path))
    log_in(named, account or named, 3_600 * hours)
    say(f"logged in for {hours} h")
    return int(Exit.OK)


def logout(path: str) -> int:
    """Forget the token."""
    log_out(_own_address(find_worktree(path)))
    say("logged out")
    return int(Exit.OK)


def revoke(path: str, member: str, account: str) -> CommandReply:
    """End all tokens of a member."""
    _rows(path, "SELECT gi_revoke(%s)", member, account=account)
    shown = safe_text(member)
    return CommandReply({"status": "ok", "member": shown}, [f"{shown} must log in again"])


def leave(path: str) -> int:
    """Stop publishing from this clone."""
    membership.forget_membership(find_worktree(path))
    say("left the team index; what was published stays there")
    return int(Exit.OK)


def status(path: str) -> CommandReply:
    """Report whether the server is reachable."""
    worktree = find_worktree(path)
    own = membership.read_membership(worktree)
    fields = membership.fields_of(own) if own else {"repo": None}
    with connected(own.url if own else address(worktree)) as server:
        store, version = server.rows("SELECT store_id, schema_version FROM gi_probe()")[0]
        fleet = server.rows("SELECT name, state, installations, lag_ms FROM gi_fleet_view()")
    names = ("repo", "state", "installations", "lagMs")
    rows = [dict(zip(names, row, strict=True)) for row in fleet]
    known = {"storeId": str(store), "schemaVersion": version, **fields, "fleet": rows}
    where = f"; this clone publishes {safe_text(fields['repo'])}" if fields["repo"] else ""
    line = f"the team index answers (schema {version}){where}"
    return CommandReply({"status": "ok", **known}, [line, *map(_fleet_line, rows)])


def _fleet_line(row: dict[str, Any]) -> str:
    lag = "" if row["lagMs"] is None else f", {row['lagMs']} ms from queue to fresh"
    return f"  {safe_text(row['repo'])}: {row['installations']} {safe_text(row['state'])}{lag}"


def repos(path: str) -> CommandReply:
    """List the repositories that this user may see."""
    found = _rows(path, "SELECT name, ref, commit, completed_at, may_write FROM gi_repos()")
    rows = [
        {
            "repo": safe_text(name),
            "ref": safe_text(ref) if ref else None,
            "commit": commit,
            "indexedAt": at.isoformat() if at else None,
            "mayWrite": write,
        }
        for name, ref, commit, at, write in found
    ]
    lines = [
        f"{row['repo']}  {row['ref'] or '-'}  {(row['commit'] or 'not published')[:12]}"
        for row in rows
    ]
    return CommandReply({"status": "ok", "repos": rows}, lines)


def members(path: str, repo: str, add: list[str], remove: list[str], write: bool) -> CommandReply:
    """List who may see a repository; add or remove roles."""
    with connected(_own_address(find_worktree(path)), PATIENT_MS, patient=True) as server:
        for role, see in [*((role, True) for role in add), *((role, False) for role in remove)]:
            sql = "SELECT gi_set_member(%s, %s, %s, %s)"
            if not server.rows(sql, repo, role, see, write)[0][0]:
                raise GitIndexError("no such repository", "`gitindex team repos`", Exit.NO)
        found = server.rows("SELECT role, may_write FROM gi_members(%s)", repo)
    rows = [{"role": role, "mayWrite": may} for role, may in found]
    lines = [f"{safe_text(role)}{'  publishes' if may else ''}" for role, may in found]
    if (add or remove) and not found:  # only members are told who else is one
        lines = ["done; only members of a repository see the list"]
    return CommandReply({"status": "ok", "members": rows}, lines)


def push(path: str, outbox: bool) -> CommandReply:
    """Publish the indexed tree."""
    with progress_bar("publishing") as report:
        done = publish.push(find_worktree(path), report, only_pushed=outbox)
    line = f"{done.outcome}: {counted(done.paths, 'paths')}, {done.documents} new documents"
    code = Exit.NO if done.outcome == "fenced_off" else Exit.OK
    return CommandReply({"status": "ok", **done._asdict()}, [line], code)


def doctor(path: str) -> CommandReply:
    """Check the way to the server, and what this user may do there."""
    rows = diagnosis.diagnose(_own_address(find_worktree(path)))
    lines = [f"{'ok ' if row['ok'] else 'BAD'}  {row['check']}: {row['detail']}" for row in rows]
    code = Exit.OK if all(row["ok"] for row in rows) else Exit.NO
    return CommandReply({"status": "ok", "checks": rows}, lines, code)


def metrics(path: str, port: int) -> int:
    """Print the server's figures, or serve them to Prometheus on loopback."""
    named = _own_address(find_worktree(path))
    if port:
        return diagnosis.serve_metrics(named, port, say)
    say(diagnosis.metrics_text(named).rstrip("\n"))
    return int(Exit.OK)


def gc(path: str, days: int) -> CommandReply:
    """Remove documents that no published tree needs."""
    gone = _rows(path, "SELECT gi_prune(make_interval(days => %s))", days)[0][0] or 0
    return CommandReply(
        {"status": "ok", "removedDocuments": gone}, [f"removed {counted(gone, 'documents')}"]
    )


def _rows(path: str, sql: str, *values: Any, account: str = "") -> list[tuple[Any, ...]]:
    named = account or _own_address(find_worktree(path))
    with connected(named, PATIENT_MS, patient=True) as server:
        return server.rows(sql, *values)


def _own_address(worktree: Worktree) -> str:
    own = membership.read_membership(worktree)
    return own.url if own else address(worktree)


def add(path: str, folder: str) -> CommandReply:
    """Link a repository."""
    root = links.add_link(find_worktree(path), folder)
    return CommandReply({"status": "ok", "root": safe_text(root)}, [f"linked {safe_text(root)}"])


def remove(path: str, folder: str, everything: bool) -> CommandReply:
    """Remove one link, or all."""
    if everything == bool(folder):
        hint = "see `gitindex link list`"
        raise GitIndexError("give a folder, or --all", hint, Exit.USAGE)
    root = links.remove_link(find_worktree(path), folder)
    line = f"no longer linked: {safe_text(root)}" if root else "no repository is linked any more"
    return CommandReply({"status": "ok", "root": safe_text(root)}, [line])


def show(path: str) -> CommandReply:
    """List the links."""
    rows = [_row(root) for root in links.read_links(find_worktree(path))]
    lines = [
        f"{row['root']}  {row['state']}  {', '.join(row['packages'])}".rstrip() for row in rows
    ]
    return CommandReply({"status": "ok", "links": rows}, lines or ["no repository is linked"])


def _row(root: str) -> dict[str, Any]:
    row: dict[str, Any] = {"root": safe_text(root), "packages": []}
    try:
        worktree = find_worktree(root)
        check_owner(worktree)
        with open_tree(worktree, root, NOW) as view:
            names = {package.name for package in links.LinkedTree(view).packages}
            state = view.envelope()["freshness"]["state"]
            return row | {"state": state, "packages": sorted(map(safe_text, names))}
    except links.UNANSWERED as error:
        gone = not os.path.isdir(root)
        return row | {"state": "gone" if gone else links.why_unanswered(error)}
