"""The command line: parses and calls. One function per verb; no decisions."""

from __future__ import annotations

from typing import Annotated

import typer
from typer._click.exceptions import NoArgsIsHelpError, UsageError

from gitindex import __version__, commands, finding
from gitindex.errors import Exit, GitIndexError
from gitindex.export import FORMATS
from gitindex.report import show_status
from gitindex.symbols import Wanted

app = typer.Typer(
    name="gitindex",
    help="A code index of a git repository that is always fresh, and can prove it.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Path = Annotated[str, typer.Option("--repo", "-C", help="A folder inside the work tree.")]
Json = Annotated[bool, typer.Option("--json", help="Print the structured answer.")]


def run_cli(args: list[str]) -> int:
    """Run one command line and return its exit code."""
    try:
        code = app(args, prog_name="gitindex", standalone_mode=False)
    except UsageError as error:
        if isinstance(error, NoArgsIsHelpError):
            error.show()
            return int(Exit.USAGE)
        asked = error.ctx.command_path if error.ctx else "gitindex"
        raise GitIndexError(
            error.format_message().replace("\n", " "), f"see `{asked} --help`", Exit.USAGE
        ) from error
    except typer.Abort:
        return 130
    return code if isinstance(code, int) else int(Exit.OK)


def _leave(code: int) -> None:
    raise typer.Exit(code)


def _show_version(value: bool) -> None:
    if value:
        typer.echo(f"gitindex {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """A code index of a git repository that is always fresh, and can prove it."""


Global = Annotated[
    bool, typer.Option("--global", help="For all repositories of this user that are opted in.")
]


@app.command()
def install(
    path: Path = ".",
    mode: Annotated[
        str, typer.Option(help="auto, config (git 2.54 and later) or hooks (hook files).")
    ] = "auto",
    everywhere: Global = False,
) -> None:
    """Install the git hooks and start the first index. Exit 1: something is to be added by hand."""
    _leave(commands.install(path, mode, everywhere))


@app.command()
def uninstall(path: Path = ".", everywhere: Global = False) -> None:
    """Remove the git hooks, byte for byte; the index stays."""
    _leave(commands.uninstall(path, everywhere))


@app.command(context_settings={"ignore_unknown_options": True})
def hook(
    event: Annotated[str, typer.Argument(help="The hook's name; `auto` under pre-commit.")],
    args: Annotated[list[str] | None, typer.Argument(help="The hook's arguments.")] = None,
) -> None:
    """Note that HEAD may have moved, as an installed hook does. Silent; always succeeds."""
    from gitindex.event import note_event

    _leave(note_event(event, args or []))


@app.command()
def template(
    folder: Annotated[str, typer.Argument(help="Where to write the template directory.")],
) -> None:
    """Write a git template directory (init.templateDir): new clones are indexed without a command."""
    _leave(commands.template(folder))


aliases = typer.Typer(help="`git fresh` and `git idx` for this user.", no_args_is_help=True)
app.add_typer(aliases, name="aliases")


@aliases.command("install")
def install_aliases() -> None:
    """Define the aliases whose names are free. Exit 1: a name was taken."""
    _leave(commands.install_aliases())


@aliases.command("uninstall")
def uninstall_aliases() -> None:
    """Remove the aliases."""
    _leave(commands.uninstall_aliases())


@app.command()
def doctor(
    path: Path = ".",
    as_json: Json = False,
    trial: Annotated[
        bool, typer.Option(help="Commit in a scratch worktree, and see the event arrive.")
    ] = True,
) -> None:
    """Say what is installed, what is wrong, and how to mend it. Exit 0 or 4."""
    from gitindex.doctor import examine

    _leave(examine(path, as_json, trial))


@app.command()
def index(
    path: Path = ".",
    force: Annotated[
        bool, typer.Option("--force", help="Extract everything again; rebuild a damaged store.")
    ] = False,
) -> None:
    """Build or refresh the index now."""
    _leave(commands.index(path, force))


@app.command()
def run(
    path: Path = ".",
    once: Annotated[
        bool, typer.Option("--once", help="Work until nothing waits (the default).")
    ] = False,
    wait: Annotated[
        bool, typer.Option("--wait", help="Linger for more events before leaving.")
    ] = False,
) -> None:
    """Be the runner: process queued refreshes."""
    if once and wait:
        raise typer.BadParameter("--once and --wait exclude each other")
    _leave(commands.run(path, wait))


@app.command()
def wait(
    path: Path = ".",
    timeout: Annotated[
        float, typer.Option("--timeout", min=0.0, help="Seconds to wait at most.")
    ] = 60.0,
) -> None:
    """Wait until HEAD is indexed; works itself if nobody does."""
    _leave(commands.wait(path, timeout))


@app.command()
def status(
    path: Path = ".",
    as_json: Json = False,
    short: Annotated[bool, typer.Option("--short", help="Print one word, for a prompt.")] = False,
    skipped: Annotated[
        bool, typer.Option("--skipped", help="List tracked paths that are not indexed, and why.")
    ] = False,
) -> None:
    """Is the index current? Exit 0 fresh, 1 stale or rebuilding, 3 not indexed, 4 error."""
    if skipped:
        _leave(commands.skipped(path, as_json))
    _leave(show_status("json" if as_json else "short" if short else "text", path))


@app.command()
def check(path: Path = ".", as_json: Json = False) -> None:
    """The same as `status --short`, for scripts and CI."""
    status(path, as_json, short=True)


@app.command()
def search(
    query: Annotated[
        str, typer.Argument(help="Any text: words, identifiers, a path, a pasted line.")
    ],
    path: Path = ".",
    limit: Annotated[
        int, typer.Option("--limit", "-n", min=1, max=200, help="Results at most.")
    ] = 10,
    as_json: Json = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Refuse to answer while a job runs.")
    ] = False,
) -> None:
    """Search the index: best places first, with proof."""
    _leave(finding.find(query, path, limit, as_json, strict))


@app.command()
def symbols(
    name: Annotated[str, typer.Argument(help="A name, or a qualified name; all if left out.")] = "",
    path: Path = ".",
    below: Annotated[
        str, typer.Option("--path", help="Only in this file or folder of the tree.")
    ] = "",
    kind: Annotated[
        str, typer.Option("--kind", help="Only this kind: function, class, method, …")
    ] = "",
    file: Annotated[
        str, typer.Option("--file", help="Look at this file on disk instead, indexed or not.")
    ] = "",
    limit: Annotated[
        int, typer.Option("--limit", "-n", min=1, max=1000, help="Symbols at most.")
    ] = 50,
    as_json: Json = False,
) -> None:
    """Definitions by name, path and kind."""
    if file:
        _leave(commands.symbols_of_file(file, as_json))
    _leave(commands.symbols(Wanted(name, below, kind, limit), path, as_json))


@app.command()
def outline(
    file: Annotated[str, typer.Argument(help="A tracked file.")],
    path: Path = ".",
    as_json: Json = False,
) -> None:
    """All definitions of one file, in its order."""
    _leave(commands.outline(file, path, as_json))


@app.command("slice")
def slice_(
    place: Annotated[str, typer.Argument(metavar="FILE:LINE[:COL]", help="A line, or a variable.")],
    path: Path = ".",
    forward: Annotated[
        bool, typer.Option("--forward", help="What it influences, not what it depends on.")
    ] = False,
    as_json: Json = False,
) -> None:
    """The lines of its function that a line, or a variable, depends on."""
    _leave(commands.slice_lines(place, path, forward, as_json))


@app.command()
def export(
    form: Annotated[str, typer.Option("--format", help="ctags, scip or json.")],
    path: Path = ".",
    output: Annotated[
        str, typer.Option("--output", "-o", help="A file; - for standard output.")
    ] = "-",
) -> None:
    """The whole index in another tool's format; vim reads the ctags file."""
    if form not in FORMATS:
        raise typer.BadParameter(f"one of {', '.join(FORMATS)}", param_hint="--format")
    _leave(commands.write_export(form, path, output))


@app.command()
def impact(
    path: Path = ".",
    staged: Annotated[
        bool, typer.Option("--staged", help="Of what is staged, against HEAD.")
    ] = False,
    dangling: Annotated[
        bool, typer.Option("--dangling", help="References left behind; exit 1 if any.")
    ] = False,
    tests: Annotated[
        bool, typer.Option("--tests", help="Test files that reach the change.")
    ] = False,
    as_json: Json = False,
) -> None:
    """What a staged change reaches."""
    if not staged or dangling == tests:
        raise typer.BadParameter("give --staged and one of --dangling, --tests")
    _leave((commands.staged_dangling if dangling else commands.staged_tests)(path, as_json))


@app.command()
def jobs(
    path: Path = ".",
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="Jobs at most.")] = 20,
    as_json: Json = False,
) -> None:
    """The refresh queue and its history."""
    _leave(commands.jobs(path, limit, as_json))


@app.command()
def log(
    path: Path = ".",
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="Lines at most.")] = 40,
) -> None:
    """The last lines of the store's log."""
    _leave(commands.log(path, limit))
