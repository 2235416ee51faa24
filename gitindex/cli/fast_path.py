"""The common forms of common commands, without the 200 ms that a full command line parser costs.

Handles only forms without options besides `--json` and a plain `-n`. `cli` handles everything else,
and both call the same verbs.
"""

from __future__ import annotations

import gc
import os

from gitindex.base.errors import Exit, GitIndexError
from gitindex.base.lean import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from gitindex.git.worktree_probe import WorktreeProbe

RARELY = (50_000, 20, 100)
"""When cycles are looked for: an answer makes many objects and ends; looking was a fifth of `refs`."""
_FORMS = {"--json": "json", "--short": "short", "--no-edits": "brief"}


def take_globals(args: list[str]) -> list[str]:
    """Apply what precedes the verb (`-C DIR`, as in git) and `--full-name`; return the rest."""
    while len(args) > 1 and args[0] == "-C":
        try:
            os.chdir(args[1])
        except OSError as error:
            raise GitIndexError(
                f"cannot change to {args[1]!r}: {error.strerror}", code=Exit.USAGE
            ) from error
        args = args[2:]
    end = args.index("--") if "--" in args else len(args)
    if "--full-name" in args[:end]:
        from gitindex.cli.shown_path import show_full_names

        show_full_names()
        return [arg for arg in args[:end] if arg != "--full-name"] + args[end:]
    return args


def run_everyday(args: list[str]) -> int | None:
    """Run the command and return its exit code; None if it needs the full parser."""
    if args == ["index"]:
        from gitindex.cli.verbs.refreshing import index

        return index()
    run = _VERBS.get(args[0]) if args else None
    if run is None:
        return None
    gc.set_threshold(*RARELY)
    return run(args[0], args[1:])


def _status(verb: str, rest: list[str]) -> int | None:
    check, forms = verb == "check", [word for word in rest if word != "--clean"]
    if len(forms) > 1 or not set(forms) <= _FORMS.keys() or (check and forms == ["--no-edits"]):
        return None
    from gitindex.freshness.report import show_status

    form = _FORMS[forms[0]] if forms else "short" if check else "text"
    return show_status(form, check=check, clean="--clean" in rest)


def _hook(_verb: str, rest: list[str]) -> int | None:
    if not rest or rest[0].startswith("-"):
        return None
    from gitindex.install.event import note_event

    return note_event(rest[0], rest[1:])


def _run_gate(_verb: str, rest: list[str]) -> int | None:
    """Run the gate that pre-commit calls before every commit."""
    if not rest or rest[0].startswith("-"):
        return None
    from gitindex.cli.verbs.gates import run_gate

    return run_gate(rest[0], rest[1:])


def _impact(_verb: str, rest: list[str]) -> int | None:
    """Run the two forms of `impact` that gates use."""
    if len(rest) != 2 or rest[0] != "--staged" or rest[1] not in ("--dangling", "--tests"):
        return None
    from gitindex.cli.verbs.impact import dangling, reached_tests

    return (dangling if rest[1] == "--dangling" else reached_tests)("", True)


def _merge_check(_verb: str, rest: list[str]) -> int | None:
    """Check a merge with a branch, with the upstream, or the merge under way."""
    if len(rest) > 1 or (rest and rest[0].startswith("-") and rest[0] != "--merging"):
        return None
    from gitindex.cli.verbs.merges import merge_check

    merging = rest == ["--merging"]
    return merge_check("" if merging else "".join(rest), merging=merging)


def _search(verb: str, rest: list[str]) -> int | None:
    plain, limit = _take_limit(rest, 1, 200)
    words, as_json = _words(plain)
    if not words:
        return None
    with _look() as begun:
        from gitindex.cli.terminal import paged
        from gitindex.cli.verbs.search import SearchRequest, find

        wish = SearchRequest() if limit is None else SearchRequest(limit=limit)
        with paged([verb, *rest]):
            return find(" ".join(words), wish=wish, as_json=as_json, begun=begun)


def _grep(verb: str, rest: list[str]) -> int | None:
    if not rest or any(word.startswith("--") and word != "--json" for word in rest):
        return None
    with _look() as begun:
        from gitindex.cli.terminal import paged
        from gitindex.cli.verbs.grep import find_lines, read_flags

        plain, limit = _take_limit(rest, 0, 1 << 31)
        asked = read_flags(plain)
        if asked is None:
            return None
        query = asked[0] if limit is None else asked[0]._replace(limit=limit)
        with paged([verb, *rest]):
            return find_lines(query, asked[1], as_json="--json" in rest, begun=begun)


def _ask(verb: str, rest: list[str]) -> int | None:
    """Run a command that takes one name, one file or one place."""
    words, as_json = _words(rest)
    if len(words) != 1:
        return None
    from gitindex.cli.terminal import paged

    with paged([verb, *rest]):
        if verb in ("outline", "read", "symbols"):
            return _ask_file(verb, words[0], as_json)
        return _ask_name(verb, words[0], as_json)


def _ask_file(verb: str, word: str, as_json: bool) -> int:
    from gitindex.cli.verbs.questions import outline, read, symbols

    if verb == "symbols":
        from gitindex.query.symbols import SymbolQuery

        return symbols(SymbolQuery(word, exact=False), as_json=as_json)
    return (outline if verb == "outline" else read)(word, as_json=as_json)


def _ask_name(verb: str, word: str, as_json: bool) -> int:
    from gitindex.cli.verbs.graph import graph, refs

    if verb == "refs":
        from gitindex.query.references import ReferenceQuery

        return refs(ReferenceQuery(word), as_json=as_json)
    from gitindex.base.vocabulary import Direction
    from gitindex.query.callgraph.answer import GraphQuery

    return graph(GraphQuery(word, Direction(verb)), form="json" if as_json else "text")


def _words(rest: list[str]) -> tuple[list[str], bool]:
    """Return the words and whether `--json` ends them; no words if there are other options."""
    as_json = rest[-1:] == ["--json"]
    words = rest[:-1] if as_json else rest
    return ([] if any(word.startswith("-") for word in words) else words), as_json


def _take_limit(rest: list[str], least: int, most: int) -> tuple[list[str], int | None]:
    """Take `-n NUMBER` out of the words; a malformed one stays for the parser to report."""
    if rest.count("-n") != 1:
        return rest, None
    at = rest.index("-n")
    number = rest[at + 1] if at + 1 < len(rest) else ""
    if not (number.isascii() and number.isdecimal() and least <= int(number) <= most):
        return rest, None
    return rest[:at] + rest[at + 2 :], int(number)


def _look() -> AbstractContextManager[WorktreeProbe | None]:
    """Start git's look at the work tree before the imports, which are half of a cold start."""
    from contextlib import nullcontext

    from gitindex.base.worktree import find_worktree
    from gitindex.git.worktree_probe import WorktreeProbe

    try:
        return WorktreeProbe.start(find_worktree("."))
    except GitIndexError:
        return nullcontext()  # the command itself reports that there is no repository


_VERBS: dict[str, Callable[[str, list[str]], int | None]] = {
    **dict.fromkeys(("status", "check"), _status),
    "hook": _hook,
    "gate": _run_gate,
    "impact": _impact,
    "merge-check": _merge_check,
    "search": _search,
    "grep": _grep,
    **dict.fromkeys(("symbols", "outline", "read", "refs", "callers", "callees"), _ask),
}
