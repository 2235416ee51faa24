"""The checks that hook managers and CI run on a change; internal errors never block."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple, TypeVar

from gitindex.base.errors import Exit, GitIndexError
from gitindex.base.escape import safe_text
from gitindex.base.worktree import Worktree, find_worktree

A = TypeVar("A")


class Options(NamedTuple):
    """Options that every gate takes: what to compare, and whether what is not checked fails."""

    rest: tuple[str, ...]
    from_ref: str = ""
    to_ref: str = ""
    all_files: bool = False
    strict: bool = False


def run_gate(name: str, args: list[str]) -> int:
    """Run a gate. Exit 1 is its refusal, 2 a wrong option; what was not checked fails with `--strict`."""
    if name not in GATES:
        known = ", ".join(GATES)
        raise GitIndexError(f"unknown gate: {name}", f"one of {known}", Exit.USAGE)
    if os.environ.get("GITINDEX") == "0":
        return int(Exit.OK)
    options = _options(args)
    if options.to_ref and not options.to_ref.strip("0"):
        return int(Exit.OK)  # the push deletes a branch
    try:
        return GATES[name](find_worktree(os.getcwd()), options)
    except GitIndexError as error:
        if error.code == Exit.USAGE:
            raise
        hint = f"; {error.hint}" if error.hint else ""
        return _unchecked(f"{error.message}{hint}", options)
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # noqa: BLE001 — a panic in Rust is no Exception
        return _unchecked(f"internal error: {error!r}", options)


def _options(args: list[str]) -> Options:
    """Split the common options off; pre-commit names two commits in the environment before a push."""
    rest: list[str] = []
    refs = {"--from-ref": "", "--to-ref": ""}
    flags = {"--all-files": False, "--strict": False}
    words = iter(args)
    for word in words:
        name, equals, value = word.partition("=")
        if word == "--":
            rest += ["--", *words]
        elif name in refs:
            refs[name] = value if equals else next(words, "")
        elif word in flags:
            flags[word] = True
        else:
            rest.append(word)
    given = {"--from-ref": "PRE_COMMIT_FROM_REF", "--to-ref": "PRE_COMMIT_TO_REF"}
    old, new = (refs[name] or os.environ.get(given[name], "") for name in refs)
    return Options(tuple(rest), old, new, flags["--all-files"], flags["--strict"])


def _change_of(worktree: Worktree, options: Options) -> str:
    """Return the range to check: two given commits, what this branch changes, or empty for what is staged."""
    from gitindex.git.command import try_git

    if options.to_ref and options.from_ref.strip("0"):
        return f"{options.from_ref}..{options.to_ref}"
    if options.to_ref or options.all_files:
        return _of_branch(worktree, options.to_ref or "HEAD")  # of a new branch
    committing = "GIT_INDEX_FILE" in os.environ  # git sets it for its own hooks
    staged = try_git(worktree.root, "diff", "--cached", "--quiet", "HEAD", "--").returncode
    return "" if committing or staged else _of_branch(worktree, "HEAD")  # `run --all-files`


def _of_branch(worktree: Worktree, tip: str) -> str:
    """Return what a branch changes, and say it: nobody named the commits that are compared."""
    from gitindex.query.impact.change import branch_range

    between = branch_range(worktree, tip)
    base, _, end = between.partition("..")
    shown = (
        f"compared {base[:10]}..{end[:10]}" if base else f"no commit before {tip} to compare with"
    )
    sys.stderr.write(f"gitindex: {safe_text(shown)}\n")
    return between


def _impact(kind: str, worktree: Worktree, options: Options) -> int:
    between = _change_of(worktree, options)
    return _ask(worktree, ["impact", between or "--staged", kind, *options.rest], options)


def _api(worktree: Worktree, options: Options) -> int:
    """Before a commit only report; for commits that are there, fail on what nothing announces."""
    since = [word for word in options.rest if word.startswith("--since")]
    between = "" if since else _change_of(worktree, options)
    how = [between, "--check"] if between else ["--check"] if since else ["--staged"]
    return _ask(worktree, ["api", *how, *options.rest], options)


def _merge(worktree: Worktree, options: Options) -> int:
    """Check the merge under way, else with the named branch, the upstream, or the default branch."""
    from gitindex.git.command import try_git
    from gitindex.query.impact.change import default_branch
    from gitindex.questions.merge_check import has_upstream, is_merging

    rest = [*options.rest]
    if is_merging(worktree):
        return _ask(worktree, ["merge-check", "--merging", *rest], options)
    branches = [word for word in rest if not word.startswith("-")]
    for branch in branches:
        verify = ("rev-parse", "-q", "--verify", "--end-of-options", f"{branch}^{{commit}}")
        if try_git(worktree.root, *verify).returncode:
            return _unchecked(f"there is no {branch} here", options)
    if not branches:
        branch = "@{upstream}" if has_upstream(worktree) else default_branch(worktree)
        if not branch:
            return _unchecked("there is no branch to merge with", options)
        rest.insert(0, branch)
        branches = [branch]
    contained = ("merge-base", "--is-ancestor", branches[0], "HEAD")
    behind = try_git(worktree.root, *contained).returncode
    shown = f"merged HEAD with {branches[0]} in memory"
    shown = shown if behind else f"HEAD has all of {branches[0]}: nothing to merge"
    sys.stderr.write(f"gitindex: {safe_text(shown)}\n")
    return _ask(worktree, ["merge-check", *rest], options)


def _check(worktree: Worktree, options: Options) -> int:
    """Say in one line whether the index is proven for HEAD, and what to do if not."""
    from gitindex.base.vocabulary import EditScope
    from gitindex.cli.own_command import for_this_user
    from gitindex.freshness.observation import observe
    from gitindex.freshness.verdict import judge

    clean = "--clean" in options.rest
    seen = observe(worktree, EditScope.TRACKED if clean else EditScope.NONE)
    verdict = judge(seen)
    if verdict.code is not Exit.OK:
        step = "wait" if seen.pending or verdict.code is Exit.NO else "index"
        todo = for_this_user(f"run `gitindex {step}`")
        why = "" if verdict.why == verdict.word else f": {safe_text(verdict.why)}"
        sys.stdout.write(f"{verdict.word}{why}; {todo}\n")
        return int(verdict.code)
    if clean and seen.head.dirty:
        count = len(seen.head.dirty)
        paths = "1 tracked path differs" if count == 1 else f"{count} tracked paths differ"
        sys.stdout.write(f"not clean: {paths} from HEAD; commit first\n")
        return int(Exit.NO)
    return int(Exit.OK)


def _ask(worktree: Worktree, line: list[str], options: Options) -> int:
    """Ask a question and print its answer; build the index first if there is none to answer from."""
    from gitindex.cli.commands import resolve
    from gitindex.cli.door import place_of, show_answer
    from gitindex.cli.parse import HelpWanted, parse
    from gitindex.questions.table import Question

    question, rest = resolve(line)
    assert isinstance(question, Question)
    try:
        params = question.given(**parse(question, rest))
    except HelpWanted:
        from gitindex.cli.help import show_help

        return show_help([question.name])
    as_json = params.pop("as_json") or params.get("form") == "json"
    answer = _with_index(worktree, lambda: question.ask(place_of(question, params), params))
    if _is_short(answer):
        _build_index(worktree)
        answer = question.ask(place_of(question, params), params)
    code = show_answer(question, params, as_json, answer)
    if code not in (Exit.OK, Exit.NO, Exit.USAGE):
        code = int(Exit.OK)
    short = _is_short(answer)
    if short:
        _unchecked("more files differ from the index than one answer reads", options)
    left_out = short or answer.get("unchecked") or ("dangling" in answer and answer["truncated"])
    return int(Exit.NO) if options.strict and left_out else code


def _is_short(answer: dict[str, Any]) -> bool:
    """Return whether an answer left files out because too many differ from an old index."""
    freshness = answer["freshness"]
    return bool(freshness.get("leftOut")) and freshness["state"] != "fresh"


def _with_index(worktree: Worktree, ask: Callable[[], A]) -> A:
    """Return the answer; where there is no index, or a damaged one, build it first."""
    from gitindex.base.errors import CorruptStore
    from gitindex.view.snapshot import GateClosed

    try:
        return ask()
    except (GateClosed, CorruptStore):
        _build_index(worktree)
        return ask()


def _build_index(worktree: Worktree) -> None:
    """Index HEAD in the foreground: a fresh clone and CI have no index, an old one is brought up to date."""
    from gitindex.base.worktree import check_owner
    from gitindex.cli.progress import progress_bar
    from gitindex.refresh.run import refresh_now
    from gitindex.refresh.runner import RefreshRequest

    check_owner(worktree)
    with progress_bar("indexing") as report:
        refresh_now(RefreshRequest(worktree, "gate"), report)


def _run(worktree: Worktree, options: Options) -> int:
    """Run a command with the tests that the change reaches, and return its exit code."""
    import shutil
    import subprocess

    rest = [*options.rest]
    command = rest[1:] if rest[:1] == ["--"] else rest
    if not command:
        hint = "args: [--, pytest, -q]"
        raise GitIndexError("no command to run the tests with", hint, Exit.USAGE)
    tests = _affected(worktree, options)
    if not tests:
        sys.stderr.write("gitindex: no test reaches the change\n")
        return int(Exit.OK)
    own = os.path.dirname(sys.executable)  # the tests run in the project's environment, not in ours
    path = [p for p in os.environ.get("PATH", "").split(os.pathsep) if p != own]
    env = {**os.environ, "PATH": os.pathsep.join(path)}
    if env.get("VIRTUAL_ENV") == sys.prefix:
        del env["VIRTUAL_ENV"]
    program = shutil.which(command[0], path=env["PATH"])
    if program is None:
        return _unchecked(f"{command[0]} was not found", options)
    try:
        done = subprocess.run([program, *command[1:], *tests], env=env, check=False)
    except OSError as error:  # more files than one command line takes, or no program after all
        return _unchecked(f"{command[0]}: {error.strerror}", options)
    return done.returncode if done.returncode >= 0 else 128 - done.returncode


def _affected(worktree: Worktree, options: Options) -> list[str]:
    """Return the tests to hand to the command: pytest's node ids where they are known, else files."""
    from gitindex.query.impact.change import comparing, parse_range
    from gitindex.query.impact.reach import AffectedTest, affected_tests

    between = _change_of(worktree, options)

    def ask() -> list[AffectedTest]:
        with comparing(worktree, ".", parse_range(between, not between)) as change:
            return affected_tests(change).tests

    found = _with_index(worktree, ask)
    nodes = [node for test in found for node in test.nodes or (test.path,)]
    long = sum(len(os.fsencode(node)) + 1 for node in nodes) > MAX_ARGUMENTS
    return [test.path for test in found] if long else nodes


MAX_ARGUMENTS = 100_000
"""Bytes of node ids on one command line; with more, whole files are named."""
GATES: dict[str, Callable[[Worktree, Options], int]] = {
    "dangling": partial(_impact, "--dangling"),
    "tests": partial(_impact, "--tests"),
    "merge": _merge,
    "api": _api,
    "run": _run,
    "check": _check,
}
"""The gates of .pre-commit-hooks.yaml."""


def _unchecked(why: str, options: Options) -> int:
    from gitindex.cli.own_command import for_this_user

    sys.stderr.write(f"gitindex: not checked: {safe_text(for_this_user(why))}\n")
    return int(Exit.NO if options.strict else Exit.OK)
