"""The command's door. `status`, `check`, `search` and `hook` take a short way: no typer, no pygit2."""

from __future__ import annotations

import os
import sys

from gitindex.errors import Exit, GitIndexError

_FORMS = {"--json": "json", "--short": "short"}


def main() -> int:
    """Run one command; every known failure is one line, a hint, and its exit code."""
    args = sys.argv[1:]
    try:
        code = _short_way(args)
        if code is not None:
            return code
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


def _short_way(args: list[str]) -> int | None:
    """The everyday forms of everyday commands, without the 100 ms of a full command line parser."""
    verb, rest = args[:1], args[1:]
    if verb in (["status"], ["check"]) and len(rest) <= 1 and set(rest) <= _FORMS.keys():
        from gitindex.report import show_status

        return show_status(_FORMS.get(args[-1], "short" if verb == ["check"] else "text"))
    if verb == ["hook"] and rest and not rest[0].startswith("-"):
        from gitindex.event import note_event

        return note_event(rest[0], rest[1:])
    if verb == ["search"] and rest and not rest[0].startswith("-") and rest[1:] in ([], ["--json"]):
        from gitindex.finding import find

        return find(rest[0], as_json=rest[1:] == ["--json"])
    return None


def _complain(error: GitIndexError) -> int:
    from gitindex.paths import safe_text

    sys.stderr.write(f"gitindex: {safe_text(error.message)}\n")
    if error.hint:
        sys.stderr.write(f"  hint: {safe_text(error.hint)}\n")
    return int(error.code)


if __name__ == "__main__":
    sys.exit(main())
