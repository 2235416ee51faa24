"""What prompts and hooks run: a status, an event and the version, without the door of all other commands."""

from __future__ import annotations

import os

from gitindex.base.errors import Exit, GitIndexError

_FORMS = {"--json": "json", "--short": "short", "--no-edits": "brief"}


def take_globals(args: list[str]) -> list[str]:
    """Apply what precedes the verb (`-C DIR`, as in git) and `--full-name`; return the rest."""
    while args[:1] == ["-C"]:
        if len(args) == 1:
            hint = "see `gitindex --help`"
            raise GitIndexError("Option '-C' requires an argument.", hint, Exit.USAGE)
        try:
            os.chdir(args[1])
        except OSError as error:
            raise GitIndexError(
                f"cannot change to {args[1]!r}: {error.strerror}", code=Exit.USAGE
            ) from error
        args = args[2:]
    end = args.index("--") if "--" in args else len(args)
    if "--full-name" in args[:end]:
        from gitindex.cli.shell_here import show_full_names

        show_full_names()
        return [arg for arg in args[:end] if arg != "--full-name"] + args[end:]
    return args


def run_everyday(args: list[str]) -> int | None:
    """Run what prompts and hooks run, and return the exit code; None: the table's door does it."""
    if args[:1] == ["hook"] and len(args) > 1 and not args[1].startswith("-"):
        from gitindex.install.event import note_event

        return note_event(args[1], args[2:])
    if args == ["--version"]:
        import sys

        from gitindex.base.version import __version__

        sys.stdout.write(f"gitindex {__version__}\n")
        return int(Exit.OK)
    return _status(args[0], args[1:]) if args and args[0] in ("status", "check") else None


def _status(verb: str, rest: list[str]) -> int | None:
    check, forms = verb == "check", [word for word in rest if word != "--clean"]
    if len(forms) > 1 or not set(forms) <= _FORMS.keys() or (check and forms == ["--no-edits"]):
        return None
    from gitindex.freshness.report import show_status

    form = _FORMS[forms[0]] if forms else "short" if check else "text"
    return show_status(form, check=check, clean="--clean" in rest)
