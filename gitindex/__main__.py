"""The entry point: runs one command, and prints every failure as one line."""

from __future__ import annotations

import os
import sys

from gitindex.base.errors import Exit, GitIndexError, shortage
from gitindex.base.light_types import TYPE_CHECKING
from gitindex.cli.fast_path import run_everyday, take_globals

if TYPE_CHECKING:
    from typing import NoReturn


def run() -> NoReturn:
    """Run the command and exit without freeing memory, which takes longer than git's own work."""
    _prepare_streams()
    code = _handed_over()
    if code is None:
        code = main()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            continue  # reported already
    os._exit(code)


def _prepare_streams() -> None:
    """Open streams that are closed, as git does; names and texts are UTF-8 in every locale."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:  # or a file of the index would be opened under this number
            null = os.open(os.devnull, os.O_RDWR)
            if null != number:
                os.dup2(null, number)
            setattr(sys, name, os.fdopen(number, "w" if number else "r"))
    if sys.getfilesystemencoding() != "utf-8" and "utf8" not in sys._xoptions:
        os.execv(sys.executable, [sys.executable, "-X", "utf8", *sys.orig_argv[1:]])  # noqa: S606
    if sys.stdout.encoding != "utf-8":
        sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]


def _handed_over() -> int | None:
    """Return the exit code of a resident process that ran the command; None if none did."""
    if sys.argv[1:2] in ([], ["hook"], ["--version"]):
        return None
    from gitindex.cli.resident import hand_over

    try:
        return hand_over(sys.argv)
    except KeyboardInterrupt:
        return 130


def main() -> int:
    """Run one command; report every known failure as one line, a hint and its exit code."""
    args = sys.argv[1:]
    try:
        args = take_globals(args)
        code = run_everyday(args)
        if code is None:
            from gitindex.cli.door import run_cli

            code = run_cli(args)
        _flush_output()
        return code
    except GitIndexError as error:
        return _complain(error, args)
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return int(Exit.OK)  # a stream of bytes (`export`) whose reader closed the pipe
    except OSError as error:
        return _complain(_of_the_system(error), args)
    except Exception as error:
        if os.environ.get("GITINDEX_TRACE"):
            raise
        internal = GitIndexError(f"internal error: {error!r}", "set GITINDEX_TRACE=1 and report it")
        return _complain(shortage(error) or internal, args)


def _of_the_system(error: OSError) -> GitIndexError:
    if isinstance(error, FileNotFoundError) and not error.filename:  # by os.getcwd
        return GitIndexError("the current folder was deleted", "`cd` to another one")
    where = f": {os.fsdecode(error.filename)}" if error.filename else ""
    return GitIndexError(f"{error.strerror or error}{where}", "check its permissions and disk")


def _flush_output() -> None:
    """Write what is buffered. A closed pipe does not change the exit code."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def _complain(error: GitIndexError, args: list[str]) -> int:
    """Print the error as one line, and as an envelope if `--json` was given; return its exit code."""
    from gitindex.base.escape import safe_text

    if "--json" in args:
        from gitindex.base.escape import print_json, refused

        print_json(refused(error))
    sys.stderr.write(f"gitindex: {safe_text(error.message)}\n")
    if error.hint:
        from gitindex.cli.own_command import for_this_user

        sys.stderr.write(f"  hint: {safe_text(for_this_user(error.hint))}\n")
    return int(error.code)


if __name__ == "__main__":
    run()
