"""The command's door. `status`, `check` and `hook` take a short way: no typer, no pygit2."""

from __future__ import annotations

import os
import sys

from gitindex.errors import Exit, GitIndexError

_FORMS = {"--json": "json", "--short": "short"}


def main() -> int:
    """Run one command; every known failure is one line, a hint, and its exit code."""
    args = sys.argv[1:]
    try:
        if (
            args[:1] in (["status"], ["check"])
            and len(args) <= 2
            and set(args[1:]) <= _FORMS.keys()
        ):
            from gitindex.report import show_status

            form = _FORMS.get(args[-1], "short" if args[0] == "check" else "text")
            return show_status(form)
        if args[:1] == ["hook"] and args[1:] and not args[1].startswith("-"):
            from gitindex.event import note_event

            return note_event(args[1], args[2:])
        from gitindex.cli import run_cli

        return run_cli(args)
    except GitIndexError as error:
        return _complain(error)
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return int(Exit.OK)
    except OSError as error:
        where = f": {os.fsdecode(error.filename)}" if error.filename else ""
        return _complain(
            GitIndexError(f"{error.strerror or error}{where}", "check its permissions and disk")
        )
    except Exception as error:
        if os.environ.get("GITINDEX_TRACE"):
            raise
        return _complain(
            GitIndexError(f"internal error: {error!r}", "set GITINDEX_TRACE=1 and report it")
        )


def _complain(error: GitIndexError) -> int:
    from gitindex.paths import safe_text

    sys.stderr.write(f"gitindex: {safe_text(error.message)}\n")
    if error.hint:
        sys.stderr.write(f"  hint: {safe_text(error.hint)}\n")
    return int(error.code)


if __name__ == "__main__":
    sys.exit(main())
