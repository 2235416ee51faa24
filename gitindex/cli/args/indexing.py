"""Commands that set up, run and show the index."""

from __future__ import annotations

from math import isfinite
from typing import Annotated

from typer import BadParameter

from gitindex.cli.app import Json, Path, app, leave
from gitindex.cli.declare import VerbGroup, argument, option

Global = Annotated[
    bool, option("--global", help="For all repositories of this user that are opted in.")
]
Clean = Annotated[
    bool, option("--clean", help="Exit 1 also where a tracked path differs from HEAD.")
]


@app.command()
def install(
    path: Path = ".",
    mode: Annotated[
        str, option("--mode", help="auto, config (git 2.54 and later) or hooks (hook files).")
    ] = "auto",
    everywhere: Global = False,
    write: Annotated[
        bool,
        option("--write", help="Also edit the files of husky and lefthook, marked as ours."),
    ] = False,
    references: Annotated[
        bool,
        option("--references", help="Also note git am, reset and stash (reference-transaction)."),
    ] = False,
    as_json: Json = False,
) -> None:
    """Install the git hooks and start the first index. Exit 1: something is to be added by hand."""
    from gitindex.cli.verbs import indexing as commands

    leave(commands.install(path, mode, everywhere, write, as_json, references))


@app.command()
def uninstall(
    path: Path = ".",
    everywhere: Global = False,
    purge: Annotated[bool, option("--purge", help="Remove the index, too.")] = False,
    as_json: Json = False,
) -> None:
    """Remove the git hooks, byte for byte; the index stays."""
    from gitindex.cli.verbs import indexing as commands

    leave(commands.uninstall(path, everywhere, purge, as_json))


@app.command()
def clear(path: Path = ".", as_json: Json = False) -> None:
    """Remove the index of this work tree; the hooks stay."""
    from gitindex.cli.verbs import indexing as commands

    leave(commands.clear(path, as_json))


@app.command(hidden=True, context_settings={"ignore_unknown_options": True})
def hook(
    event: Annotated[str, argument(help="The hook's name; `auto` under pre-commit.")],
    args: Annotated[list[str] | None, argument(help="The hook's arguments.")] = None,
) -> None:
    """Note that HEAD may have moved, as an installed hook does. Silent; always succeeds."""
    from gitindex.install.event import note_event

    leave(note_event(event, args or []))


@app.command()
def template(
    folder: Annotated[str, argument(help="Where to write the template directory.")],
    temporary: Annotated[
        bool,
        option(
            "--temporary/--no-temporary", help="Index repositories below the temporary folder too."
        ),
    ] = False,
    as_json: Json = False,
) -> None:
    """Write a git template directory: new clones index themselves. For `init.templateDir`."""
    from gitindex.cli.verbs import indexing as commands

    leave(commands.template(folder, temporary, as_json))


aliases = VerbGroup("aliases", help="`git fresh` and `git idx` for this user.")
app.add_command(aliases)


@aliases.command("install")
def install_aliases(as_json: Json = False) -> None:
    """Define the aliases whose names are free. Exit 1: a name was taken."""
    from gitindex.cli.verbs import indexing as commands

    leave(commands.install_aliases(as_json))


@aliases.command("uninstall")
def uninstall_aliases(as_json: Json = False) -> None:
    """Remove the aliases."""
    from gitindex.cli.verbs import indexing as commands

    leave(commands.uninstall_aliases(as_json))


@app.command()
def doctor(
    path: Path = ".",
    as_json: Json = False,
    trial: Annotated[
        bool,
        option(
            "--trial/--no-trial",
            help="Commit in a scratch worktree, which runs the hooks it finds.",
        ),
    ] = True,
) -> None:
    """Say what is installed, what is wrong, and how to mend it. Exit 0 or 4."""
    from gitindex.maintenance.doctor import examine

    leave(examine(path, as_json, trial))


@app.command()
def index(
    path: Path = ".",
    force: Annotated[
        bool, option("--force", help="Extract everything again; rebuild a damaged store.")
    ] = False,
    as_json: Json = False,
    seed: Annotated[
        str | None,
        option("--seed", metavar="DEST", help="Adopt the nearest pack of DEST first."),
    ] = None,
) -> None:
    """Build or refresh the index now, then print its status."""
    from gitindex.cli.verbs import refreshing as commands

    leave(commands.index(path, force, as_json, seed))


@app.command(hidden=True)
def run(
    path: Path = ".",
    once: Annotated[bool, option("--once", help="Work until nothing waits (the default).")] = False,
    wait: Annotated[bool, option("--wait", help="Linger for more events before leaving.")] = False,
) -> None:
    """Be the runner: process queued refreshes."""
    from gitindex.cli.verbs import refreshing as commands

    if once and wait:
        raise BadParameter("--once and --wait exclude each other")
    leave(commands.run(path, wait))


@app.command()
def wait(
    path: Path = ".",
    timeout: Annotated[float, option("--timeout", min=0.0, help="Seconds to wait at most.")] = 60.0,
    as_json: Json = False,
) -> None:
    """Wait until HEAD is indexed; works itself if nobody does."""
    from gitindex.cli.verbs import refreshing as commands

    if not isfinite(timeout):
        raise BadParameter("a number of seconds", param_hint="--timeout")
    leave(commands.wait(path, timeout, as_json))


@app.command()
def status(
    path: Path = ".",
    as_json: Json = False,
    short: Annotated[bool, option("--short", help="Print one word, for a prompt.")] = False,
    no_edits: Annotated[
        bool, option("--no-edits", help="Do not count edits: no look at the work tree.")
    ] = False,
    clean: Clean = False,
    skipped: Annotated[
        bool,
        option("--skipped", help="List tracked paths that are not indexed or parsed, and why."),
    ] = False,
) -> None:
    """Is the index current?

    Edits do not make it stale: every answer lays them over, and `status` counts them.
    Exit 0 fresh, 1 stale or rebuilding, 3 not indexed, 4 error.
    """
    from gitindex.cli.verbs import indexing as commands
    from gitindex.freshness.report import show_status

    if skipped:
        leave(commands.skipped(path, as_json))
    form = "json" if as_json else "short" if short else "brief" if no_edits else "text"
    leave(show_status(form, path, clean=clean))


@app.command()
def check(path: Path = ".", as_json: Json = False, clean: Clean = False) -> None:
    """The same as `status --short`, for scripts and CI.

    Exit 4 also where the proof cannot be read.
    """
    from gitindex.freshness.report import show_status

    leave(show_status("json" if as_json else "short", path, check=True, clean=clean))


@app.command()
def jobs(
    path: Path = ".",
    limit: Annotated[int, option("--limit", "-n", min=1, help="Jobs at most.")] = 20,
    as_json: Json = False,
) -> None:
    """The refresh queue and its history."""
    from gitindex.cli.verbs import indexing as commands

    leave(commands.jobs(path, limit, as_json))


@app.command()
def log(
    path: Path = ".",
    limit: Annotated[int, option("--limit", "-n", min=1, help="Lines at most.")] = 40,
    as_json: Json = False,
) -> None:
    """The last lines of the store's log."""
    from gitindex.cli.verbs import indexing as commands

    leave(commands.log(path, limit, as_json))


@app.command()
def config(path: Path = ".", as_json: Json = False) -> None:
    """The settings in force. Set them with `git config gitindex.NAME VALUE`."""
    from gitindex.cli.verbs import indexing as commands

    leave(commands.config(path, as_json))
