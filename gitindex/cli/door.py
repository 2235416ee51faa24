"""The command line's door: parses by the table, asks, prints, and returns an exit code."""

from __future__ import annotations

import gc
import os
import sys
from importlib import import_module

from gitindex.base.errors import Exit, GitIndexError
from gitindex.base.light_types import TYPE_CHECKING
from gitindex.cli.commands import GROUP_HELP, resolve
from gitindex.cli.parse import HelpWanted, parse
from gitindex.questions.table import Question

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from gitindex.git.worktree_probe import WorktreeProbe
    from gitindex.questions.here import Here
    from gitindex.questions.table import Command, Params

COMPLETE = "_GITINDEX_COMPLETE"
"""The environment variable a shell sets to ask for completions instead of running a command."""
RARELY = (50_000, 20, 100)
"""When the collector runs: an answer makes many objects and ends; collecting was a fifth of its time."""
WATCH_SECONDS = 1.0
"""Between two probes of `--watch`."""
_MOVING = frozenset({"freshness", "receipt"})
"""Fields that differ although the answer is the same."""
UNPAGED = frozenset({"find", "merge-check", "radar", "verify", "audit", "config"})
"""Questions whose answer is never longer than a screen, or is a picker's."""


def run_cli(args: list[str]) -> int:
    """Run one command line and return its exit code."""
    if COMPLETE in os.environ:
        from gitindex.cli.complete import print_offers

        return print_offers()
    one, rest = resolve(args)
    if one is None:
        return _no_command(args)
    try:
        params = parse(one, rest)
    except HelpWanted:
        from gitindex.cli.help import show_help

        return show_help(one.name.split())
    if isinstance(one, Question):
        gc.set_threshold(*RARELY)  # not for a server, which would keep the cycles of its answers
        return _answered(one, params)
    return _commanded(one, params)


def _commanded(command: Command, params: Params) -> int:
    """Run a command: it returns what it says, or prints it itself and returns its exit code."""
    module, _, name = command.run.partition(":")
    home = module if module.startswith("gitindex.") else f"gitindex.cli.{module}"
    _stand_in(params.get("path", "."))
    function = getattr(import_module(home), name)
    if command.prints or not command.json:
        code: int = function(**params)
        return code
    from gitindex.cli.printing import print_reply

    as_json = params.pop("as_json")
    return print_reply(lambda: function(**params), as_json)


def _no_command(args: list[str]) -> int:
    """Help where it is asked for or nothing is said; else say what could be meant."""
    from gitindex.cli.help import known_names, print_front, show_help

    if args[:1] in (["--help"], ["-h"]):
        return show_help([])
    if not args:
        print_front(sys.stderr)
        return int(Exit.USAGE)
    if args[0] in GROUP_HELP:
        if len(args) == 1 or args[1] in ("--help", "-h"):
            return show_help(args[:1]) if len(args) > 1 else show_help(args[:1]) or int(Exit.USAGE)
        raise GitIndexError(
            f"no such command: {args[1]}", f"see `gitindex {args[0]} --help`", Exit.USAGE
        )
    if args[0].startswith("-"):
        raise GitIndexError(f"No such option: {args[0]}", "see `gitindex --help`", Exit.USAGE)
    from difflib import get_close_matches

    near = get_close_matches(args[0], known_names())
    meant = f"; did you mean {' or '.join(near)}?" if near else ""
    raise GitIndexError(f"no such command: {args[0]}{meant}", "see `gitindex --help`", Exit.USAGE)


def _answered(question: Question, params: Params) -> int:
    """Ask a question and print its answer."""
    from gitindex.cli.terminal import paged

    params = question.given(**params)
    as_json = params.pop("as_json") or params.get("form") == "json"
    _stand_in(params["path"])
    _read_stdin(question, params)
    with _start_probe(question, params) as probe:
        if question.name == "find" and not as_json and sys.stdin.isatty() and sys.stdout.isatty():
            from gitindex.cli.verbs.find import has_picker, pick_place

            if has_picker(params["words"]):
                return pick_place(params)
        with paged(question.name not in UNPAGED and not as_json):
            return ask_and_print(question, params, as_json, probe)


def ask_and_print(
    question: Question, params: Params, as_json: bool, probe: WorktreeProbe | None = None
) -> int:
    """Print the answer as JSON or text; a closed gate is an answer too: its envelope, or a line."""
    from gitindex.cli.printing import print_closed
    from gitindex.view.snapshot import GateClosed

    here = place_of(question, params, probe)
    here.terminal = sys.stdout.isatty() and not as_json
    if params.get("watch"):
        return _watched(question, here, params, as_json)
    try:
        scopes = [name for name in ("team", "linked") if params.get(name)]
        if scopes:
            from gitindex.questions.linked import ask_with

            answer = ask_with(question, here, params, scopes)
        else:
            answer = question.ask(here, params)
    except GateClosed as closed:
        return print_closed(closed, as_json)
    return show_answer(question, params, as_json, answer)


def show_answer(question: Question, params: Params, as_json: bool, answer: Any) -> int:
    """Print an answer and return its exit code."""
    from gitindex.base.escape import print_json

    if as_json:
        print_json(answer)
    else:
        _print_text(question, params, answer)
    return _code(question, params, answer)


def _watched(question: Question, here: Here, params: Params, as_json: bool) -> int:
    """Ask again and again, and print each answer that differs; returns at Ctrl-C."""
    import time

    from gitindex.base.escape import print_json
    from gitindex.cli.printing import print_closed
    from gitindex.view.snapshot import GateClosed

    last: Any = None
    seen: Any = None
    try:
        while True:
            try:
                answer = question.ask(here, params)
            except GateClosed as closed:
                return print_closed(closed)
            content = {name: value for name, value in answer.items() if name not in _MOVING}
            if content != seen:
                print_json(answer) if as_json else _print_text(question, params, answer)
                sys.stdout.flush()
            last, seen = answer, content
            time.sleep(WATCH_SECONDS)
    except KeyboardInterrupt:
        return _code(question, params, last) if last is not None else int(Exit.OK)


def _code(question: Question, params: Params, answer: Any) -> int:
    if params.get("team") and question.team is not None:
        if "team" not in answer:
            return int(Exit.GATED)
        if answer["team"]["hits"]:
            return int(Exit.OK)
    if params.get("linked"):
        from gitindex.questions.linked import has_linked

        if has_linked(question, answer):
            return int(Exit.OK)
    if question.code is not None:
        return int(question.code(answer, params))
    fields = question.found.split()
    return int(Exit.NO if fields and not any(map(answer.get, fields)) else Exit.OK)


def place_of(question: Question, params: Params, probe: WorktreeProbe | None = None) -> Here:
    """Return where a command line asks: its folder and its tree."""
    from gitindex.cli.shell_here import ShellHere
    from gitindex.view.tree import TreeChoice

    at, staged = params.get("at", ""), params.get("staged", False)
    if at and staged:
        raise GitIndexError(
            "Invalid value: --at and --staged exclude each other",
            f"see `gitindex {question.name} --help`",
            Exit.USAGE,
        )
    staged = staged and "staged" in question.trees.split()
    choice = TreeChoice(params.get("strict", False), at, staged)
    return ShellHere(
        params["path"], choice, worktree=probe.worktree if probe else None, probe=probe
    )


def _print_text(question: Question, params: Params, answer: Any) -> None:
    from gitindex.cli.shell_here import shown_path
    from gitindex.cli.terminal import coloured, width
    from gitindex.questions.ink import Ink, team_lines

    ink = Ink(width(), coloured(), params, shown_path)
    if params.get("team") and "team" not in answer:
        answer = {**answer, "status": "ok"}
    said = print_lines(question.text(answer, ink))
    said += print_lines(team_lines(answer, params))
    if "linked" in answer:
        from gitindex.questions.linked import linked_lines

        said += print_lines(linked_lines(question, answer, ink))
    if not said and sys.stderr.isatty():
        sys.stderr.write("gitindex: nothing found\n")


def print_lines(lines: Iterable[str]) -> int:
    """Print lines and count them; notes go to stderr, asides only where a person reads them."""
    from gitindex.cli.terminal import say
    from gitindex.questions.ink import Aside, Note

    many = 0
    for line in lines:
        many += 1
        if not isinstance(line, Note):
            say(line)
        elif not isinstance(line, Aside) or sys.stderr.isatty():
            sys.stderr.write(f"gitindex: {line}\n")
    return many


def _stand_in(folder: str) -> None:
    if folder != ".":
        from gitindex.cli.shell_here import stand_in

        stand_in(folder)


def _read_stdin(question: Question, params: Params) -> None:
    """`-` for an argument: its text comes from standard input."""
    for param in question.params:
        if not param.flags and params.get(param.name) in ("-", ["-"]):
            text = sys.stdin.read((param.most and int(param.most)) or 1 << 16).strip()
            params[param.name] = [text] if param.kind == "texts" else text


def _start_probe(question: Question, params: Params) -> Any:
    """Start git's probe of the work tree before the imports, which are half of a cold start."""
    from contextlib import nullcontext

    if not question.probes or params.get("at") or params.get("staged"):
        return nullcontext()
    from gitindex.base.worktree import find_worktree
    from gitindex.git.worktree_probe import WorktreeProbe

    try:
        return WorktreeProbe.start(find_worktree(params["path"]))
    except GitIndexError:
        return nullcontext()  # the question itself reports that there is no repository
