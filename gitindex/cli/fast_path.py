"""The everyday forms of everyday commands, without the 200 ms that a full command line parser costs.

Only forms without options besides `--json`: everything else is `cli`'s, and both call the same verbs.
"""

from __future__ import annotations

import os

from gitindex.base.errors import Exit, GitIndexError
from gitindex.base.lean import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from gitindex.git.worktree_probe import WorktreeProbe

_FORMS = {"--json": "json", "--short": "short", "--no-edits": "brief"}


def take_globals(args: list[str]) -> list[str]:
    """Act on what stands before the verb (`-C DIR`, as git has it) and on `--full-name`; the rest."""
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


def short_way(args: list[str]) -> int | None:
    """Run the command and return its exit code; None where the whole parser is needed."""
    if not args:
        return None
    verb, rest = args[0], args[1:]
    if verb in ("status", "check"):
        return _status(verb, rest)
    if args == ["index"]:
        from gitindex.cli.verbs.indexing import index

        return index()
    if verb == "impact" and len(rest) == 2 and rest[0] == "--staged":
        return _gate(rest[1])
    if verb == "hook" and rest and not rest[0].startswith("-"):
        from gitindex.install.event import note_event

        return note_event(rest[0], rest[1:])
    if not any(word.startswith("--") and word != "--json" for word in rest):
        if verb == "grep" and rest:
            return _while_git_looks(lambda begun: _paged(args, _grep(rest, begun)))
        return _question(args, verb, rest)
    return None


def _status(verb: str, rest: list[str]) -> int | None:
    check, forms = verb == "check", [word for word in rest if word != "--clean"]
    if len(forms) > 1 or not set(forms) <= _FORMS.keys() or (check and forms == ["--no-edits"]):
        return None
    from gitindex.freshness.report import show_status

    form = _FORMS[forms[0]] if forms else "short" if check else "text"
    return show_status(form, check=check, clean="--clean" in rest)


def _question(args: list[str], verb: str, rest: list[str]) -> int | None:
    as_json = rest[-1:] == ["--json"]
    words = rest[:-1] if as_json else rest
    if not words or any(word.startswith("-") for word in words):
        return None
    if verb == "search":
        text = " ".join(words)
        return _while_git_looks(lambda begun: _paged(args, _search(text, as_json, begun)))
    if verb in _ASKED and len(words) == 1:
        return _paged(args, lambda: _ASKED[verb](words[0], as_json))
    return None


def _while_git_looks(ask: Callable[[WorktreeProbe | None], int | None]) -> int | None:
    """Ask while git looks at the work tree: half of a cold start is imports, which can be made meanwhile."""
    from gitindex.base.worktree import find_worktree
    from gitindex.git.worktree_probe import WorktreeProbe

    try:
        probe = WorktreeProbe.start(find_worktree("."))
    except GitIndexError:
        return ask(None)  # whoever needs a repository will tell
    with probe:
        return ask(probe)


def _paged(args: list[str], question: Callable[[], int] | None) -> int | None:
    from gitindex.cli.terminal import paged

    if question is None:
        return None
    with paged(args):
        return question()


def _gate(flag: str) -> int | None:
    """What pre-commit asks before every commit."""
    from gitindex.cli.verbs.graph import dangling, reached_tests

    gates = {"--dangling": dangling, "--tests": reached_tests}
    return gates[flag]("", True) if flag in gates else None


def _grep(rest: list[str], begun: WorktreeProbe | None) -> Callable[[], int] | None:
    from gitindex.cli.verbs.grep import read_flags

    return read_flags(rest, begun)


def _search(text: str, as_json: bool, begun: WorktreeProbe | None) -> Callable[[], int]:
    from gitindex.cli.verbs.search import find

    return lambda: find(text, as_json=as_json, begun=begun)


def _symbols(name: str, as_json: bool) -> int:
    from gitindex.cli.verbs.questions import symbols
    from gitindex.query.symbols import SymbolQuery

    return symbols(SymbolQuery(name, exact=False), as_json=as_json)


def _outline(file: str, as_json: bool) -> int:
    from gitindex.cli.verbs.questions import outline

    return outline(file, as_json=as_json)


def _read(place: str, as_json: bool) -> int:
    from gitindex.cli.verbs.questions import read

    return read(place, as_json=as_json)


def _refs(name: str, as_json: bool) -> int:
    from gitindex.cli.verbs.graph import refs
    from gitindex.query.references import ReferenceQuery

    return refs(ReferenceQuery(name), as_json=as_json)


def _callers(symbol: str, as_json: bool) -> int:
    return _graph(symbol, "callers", as_json)


def _callees(symbol: str, as_json: bool) -> int:
    return _graph(symbol, "callees", as_json)


def _graph(symbol: str, direction: str, as_json: bool) -> int:
    from gitindex.base.vocabulary import Direction
    from gitindex.cli.verbs.graph import graph
    from gitindex.query.callgraph.answer import GraphQuery

    return graph(GraphQuery(symbol, Direction(direction)), form="json" if as_json else "text")


_ASKED: dict[str, Callable[[str, bool], int]] = {
    "symbols": _symbols,
    "outline": _outline,
    "read": _read,
    "refs": _refs,
    "callers": _callers,
    "callees": _callees,
}
