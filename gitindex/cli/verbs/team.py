"""Verbs of the team's index: plain functions that return an exit code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gitindex.base.errors import Exit, GitIndexError
from gitindex.base.escape import safe_text
from gitindex.base.output import print_json
from gitindex.base.worktree import Worktree, find_worktree
from gitindex.cli.printing import print_answer
from gitindex.cli.progress import progress_bar
from gitindex.cli.terminal import say
from gitindex.refresh import public_files
from gitindex.sharing import administration, membership, publish
from gitindex.sharing.server import Server, Unavailable, address, connected, log_in, log_out

PATIENT_MS = 30_000


def init(path: str, url: str, as_json: bool) -> int:
    """Set up a database."""

    def made() -> dict[str, Any]:
        named = url or address(find_worktree(path))
        return {"status": "ok", "outcome": administration.init(named)}

    def text(answer: dict[str, Any]) -> None:
        created = answer["outcome"] == "created"
        say("the team index is ready" if created else "the team index was set up before")
        say("  give people `GRANT gi_reader TO name`, CI `GRANT gi_writer TO name`")

    return print_answer(made, as_json, text)


def join(path: str, url: str, ref: str, fleet: bool, as_json: bool) -> int:
    """Add this clone to the team's index."""
    worktree = find_worktree(path)

    def joined() -> dict[str, Any]:
        import uuid

        public_files.create_store(worktree)
        named = address(worktree, url)
        number = str(uuid.uuid4()) if fleet else ""
        with connected(named, PATIENT_MS, patient=True) as server:
            found = membership.join(worktree, server, named, ref, number)
        return {"status": "ok", **membership.fields_of(found)}

    def text(answer: dict[str, Any]) -> None:
        say(f"joined as {safe_text(answer['repo'])}, branch {safe_text(answer['ref'])}")

    return _print(joined, as_json, text)


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


def revoke(path: str, member: str, account: str, as_json: bool) -> int:
    """End all tokens of a member."""

    def asked(server: Server) -> dict[str, Any]:
        server.rows("SELECT gi_revoke(%s)", member)
        return {"status": "ok", "member": safe_text(member)}

    return _print(
        lambda: _ask(path, asked, account),
        as_json,
        lambda answer: say(f"{answer['member']} must log in again"),
    )


def leave(path: str) -> int:
    """Stop publishing from this clone."""
    membership.forget_membership(find_worktree(path))
    say("left the team index; what was published stays there")
    return int(Exit.OK)


def status(path: str, as_json: bool) -> int:
    """Report whether the server is reachable."""
    worktree = find_worktree(path)

    def asked() -> dict[str, Any]:
        own = membership.read_membership(worktree)
        fields = membership.fields_of(own) if own else {"repo": None}
        with connected(own.url if own else address(worktree)) as server:
            store, version = server.rows("SELECT store_id, schema_version FROM gi_probe()")[0]
            fleet = server.rows("SELECT name, state, installations, lag_ms FROM gi_fleet_view()")
        names = ("repo", "state", "installations", "lagMs")
        rows = [dict(zip(names, row, strict=True)) for row in fleet]
        return {
            "status": "ok",
            "storeId": str(store),
            "schemaVersion": version,
            **fields,
            "fleet": rows,
        }

    def text(answer: dict[str, Any]) -> None:
        where = f"; this clone publishes {safe_text(answer['repo'])}" if answer["repo"] else ""
        say(f"the team index answers (schema {answer['schemaVersion']}){where}")
        for row in answer["fleet"]:
            lag = "" if row["lagMs"] is None else f", {row['lagMs']} ms from queue to fresh"
            say(
                f"  {safe_text(row['repo'])}: {row['installations']} {safe_text(row['state'])}{lag}"
            )

    return _print(asked, as_json, text)


def repos(path: str, as_json: bool) -> int:
    """List the repositories that this user may see."""

    def asked(server: Server) -> dict[str, Any]:
        rows = server.rows("SELECT name, ref, commit, completed_at, may_write FROM gi_repos()")
        listed = [
            {
                "repo": safe_text(name),
                "ref": safe_text(ref) if ref else None,
                "commit": commit,
                "indexedAt": at.isoformat() if at else None,
                "mayWrite": write,
            }
            for name, ref, commit, at, write in rows
        ]
        return {"status": "ok", "repos": listed}

    def text(answer: dict[str, Any]) -> None:
        for row in answer["repos"]:
            say(f"{row['repo']}  {row['ref'] or '-'}  {(row['commit'] or 'not published')[:12]}")

    return _print(lambda: _ask(path, asked), as_json, text)


def members(
    path: str, repo: str, add: list[str], remove: list[str], write: bool, as_json: bool
) -> int:
    """List who may see a repository; add or remove roles."""

    def asked(server: Server) -> dict[str, Any]:
        for role, see in [*((role, True) for role in add), *((role, False) for role in remove)]:
            sql = "SELECT gi_set_member(%s, %s, %s, %s)"
            if not server.rows(sql, repo, role, see, write)[0][0]:
                raise GitIndexError("no such repository", "`gitindex team repos`", Exit.NO)
        rows = server.rows("SELECT role, may_write FROM gi_members(%s)", repo)
        return {"status": "ok", "members": [{"role": r, "mayWrite": w} for r, w in rows]}

    def text(answer: dict[str, Any]) -> None:
        for row in answer["members"]:
            say(f"{safe_text(row['role'])}{'  publishes' if row['mayWrite'] else ''}")

    return _print(lambda: _ask(path, asked), as_json, text)


def push(path: str, outbox: bool, as_json: bool) -> int:
    """Publish the indexed tree."""
    worktree = find_worktree(path)

    def pushed() -> dict[str, Any]:
        with progress_bar("publishing") as report:
            found = publish.push(worktree, report, only_pushed=outbox)
        return {"status": "ok", **found._asdict()}

    def text(answer: dict[str, Any]) -> None:
        say(f"{answer['outcome']}: {answer['paths']} paths, {answer['documents']} new documents")

    def code(answer: dict[str, Any]) -> int:
        return int(Exit.NO if answer["outcome"] == "fenced_off" else Exit.OK)

    return _print(pushed, as_json, text, code)


def gc(path: str, days: int, as_json: bool) -> int:
    """Remove documents that no published tree needs."""

    def asked(server: Server) -> dict[str, Any]:
        gone = server.rows("SELECT gi_prune(make_interval(days => %s))", days)[0][0]
        return {"status": "ok", "removedDocuments": gone or 0}

    return _print(
        lambda: _ask(path, asked),
        as_json,
        lambda answer: say(f"removed {answer['removedDocuments']} documents"),
    )


def _ask(
    path: str, question: Callable[[Server], dict[str, Any]], account: str = ""
) -> dict[str, Any]:
    named = account or _own_address(find_worktree(path))
    with connected(named, PATIENT_MS, patient=True) as server:
        return question(server)


def _own_address(worktree: Worktree) -> str:
    own = membership.read_membership(worktree)
    return own.url if own else address(worktree)


def _print(
    ask: Callable[[], dict[str, Any]],
    as_json: bool,
    text: Callable[[dict[str, Any]], object],
    code: Callable[[dict[str, Any]], int] = lambda _: int(Exit.OK),
) -> int:
    """Print an answer; an unavailable server is an answer too."""
    try:
        return print_answer(ask, as_json, text, code)
    except Unavailable as away:
        if not as_json:
            raise
        print_json({"status": away.status, "reason": away.why, "message": away.message})
        return int(away.code)
