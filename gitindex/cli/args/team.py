"""Commands of the team's index."""

from __future__ import annotations

from typing import Annotated

from gitindex.cli.app import Json, Path, app, leave
from gitindex.cli.declare import VerbGroup, argument, option

team = VerbGroup("team", help="The team's index on PostgreSQL.")
app.add_command(team)

Url = Annotated[str, argument(help="postgresql://…; else gitindex.team.url of your own config.")]


@team.command("init")
def init(url: Url = "", path: Path = ".", as_json: Json = False) -> None:
    """Create roles, tables and functions in an empty database, as its owner."""
    from gitindex.cli.verbs import team as commands

    leave(commands.init(path, url, as_json))


@team.command("join")
def join(
    url: Url = "",
    path: Path = ".",
    ref: Annotated[str, option("--ref", help="The branch that is published.")] = "",
    fleet: Annotated[
        bool, option("--fleet", help="Report the state of this index: no paths, no names.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Register this repository, or find it, and publish from here."""
    from gitindex.cli.verbs import team as commands

    leave(commands.join(path, url, ref, fleet, as_json))


@team.command("leave")
def leave_team(path: Path = ".") -> None:
    """Publish nothing from here any more; the team's index keeps what it has."""
    from gitindex.cli.verbs import team as commands

    leave(commands.leave(path))


@team.command("status")
def status(path: Path = ".", as_json: Json = False) -> None:
    """Is the server there, and what was published from here? Exit 3: it is not."""
    from gitindex.cli.verbs import team as commands

    leave(commands.status(path, as_json))


@team.command("repos")
def repos(path: Path = ".", as_json: Json = False) -> None:
    """The repositories that you may see."""
    from gitindex.cli.verbs import team as commands

    leave(commands.repos(path, as_json))


@team.command("members")
def members(
    repo: Annotated[str, argument(help="A repository's name.")],
    add: Annotated[list[str] | None, option("--add", help="Roles that may see it.")] = None,
    remove: Annotated[list[str] | None, option("--remove", help="Roles that may not.")] = None,
    write: Annotated[bool, option("--write", help="Those added may publish too.")] = False,
    path: Path = ".",
    as_json: Json = False,
) -> None:
    """Who may see a repository; administrators add and remove roles."""
    from gitindex.cli.verbs import team as commands

    leave(commands.members(path, repo, add or [], remove or [], write, as_json))


@team.command("push")
def push(
    path: Path = ".",
    outbox: Annotated[
        bool, option("--outbox", help="Only what is on the remote branch, if it is new.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Publish the indexed tree: exactly once, in one transaction."""
    from gitindex.cli.verbs import team as commands

    leave(commands.push(path, outbox, as_json))


@team.command("gc")
def gc(
    path: Path = ".",
    days: Annotated[int, option("--days", min=0, help="Grace.")] = 14,
    as_json: Json = False,
) -> None:
    """Remove documents that no published tree needs, as an administrator."""
    from gitindex.cli.verbs import team as commands

    leave(commands.gc(path, days, as_json))
