"""Verbs that set up, run and show the index: plain functions that return an exit code."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from typing import Any

from gitindex.base.errors import Exit
from gitindex.base.escape import safe_text
from gitindex.base.ownership import check_owner
from gitindex.base.vocabulary import ManageOutcome
from gitindex.base.worktree import Worktree, find_worktree
from gitindex.cli.printing import in_tree, print_answer
from gitindex.cli.shown_path import shown_path
from gitindex.cli.terminal import say
from gitindex.git.hook_switch import note_switch
from gitindex.install import hooks
from gitindex.query.health import skipped_paths
from gitindex.refresh import public_files
from gitindex.refresh.spool import INSTALL, append_event
from gitindex.view.tree import NOW, TreeView


def status(
    path: str, as_json: bool, short: bool, no_edits: bool, clean: bool, skipped: bool
) -> int:
    """Print whether the index is current, or what it leaves out."""
    from gitindex.freshness.report import show_status

    if skipped:
        return list_skipped(path, as_json)
    form = "json" if as_json else "short" if short else "brief" if no_edits else "text"
    return show_status(form, path, clean=clean)


def check(path: str, as_json: bool, clean: bool) -> int:
    """Print one word, and return its exit code."""
    from gitindex.freshness.report import show_status

    return show_status("json" if as_json else "short", path, check=True, clean=clean)


def index_history(path: str) -> int:
    """Bring the history layer up to HEAD."""
    from gitindex.cli.progress import progress_bar
    from gitindex.refresh.history_index import index_history as index_now

    with progress_bar("history") as report:
        done = index_now(find_worktree(path), report)
    cut = f", {done.forgotten} forgotten" if done.forgotten else ""
    say(f"history: {done.commits} commits added{cut}, {done.blobs} blobs extracted")
    return int(Exit.OK)


PURGE_SECONDS = 60.0
"""How long `uninstall --purge` waits for a runner that started before the hooks were removed."""


def install(
    path: str = ".",
    mode: str = "auto",
    everywhere: bool = False,
    write: bool = False,
    as_json: bool = False,
    references: bool = False,
) -> int:
    """Opt in, install the hooks, and start the first index in the background."""
    if everywhere:
        return _print_installed(hooks.install_for_user(mode), as_json)
    worktree = find_worktree(path)
    check_owner(worktree)
    os.umask(0o077)
    mode = hooks.decide_mode(mode, worktree.root)
    public_files.create_store(worktree)
    states = hooks.install(worktree, mode)
    written = hooks.install_shared(worktree, states) if write else []
    if references:
        hooks.install_references(worktree)
    append_event(worktree, INSTALL)
    hooks.start_runner(worktree)
    enabled = note_switch(worktree)
    code = _print_installed(states, as_json, enabled, written)
    if sys.stdout.isatty() and enabled and not as_json:
        say("Indexing HEAD in the background: `gitindex wait` shows the progress and waits for it.")
        say("Then try `gitindex search WORDS`, or `gitindex --help` for everything else.")
    return code


def uninstall(
    path: str = ".", everywhere: bool = False, purge: bool = False, as_json: bool = False
) -> int:
    """Remove our hooks. The index stays, unless `purge` is given."""
    from gitindex.install import aliases

    removed = hooks.uninstall_for_user() if everywhere else hooks.uninstall(find_worktree(path))
    if not everywhere and aliases.uninstall_for_clone(find_worktree(path)):
        removed.append(f"include.path {aliases.IN_CLONE}")
    left = [] if everywhere else hooks.left_over(find_worktree(path))
    answer: dict[str, Any] = {"status": "ok", "removed": removed, "kept": left}
    if purge:
        answer |= {"index": _remove_index(find_worktree(path), PURGE_SECONDS)}

    def text(_answer: dict[str, Any]) -> None:
        for what in removed:
            say(f"removed gitindex from {safe_text(what)}")
        for hook in left:
            say(f"kept {safe_text(hook)}: your previous hook; another hook now occupies its place")
        if not removed:
            say("no hook of gitindex is installed")
        if purge:
            say(answer["index"]["message"])

    if purge and answer["index"]["outcome"] != ManageOutcome.CLEARED:
        return print_answer(lambda: answer, as_json, text, lambda _: Exit.ERROR)
    return print_answer(lambda: answer, as_json, text, lambda _: Exit.NO if left else Exit.OK)


def clear(path: str = ".", as_json: bool = False) -> int:
    """Remove the store and the public files; the next `gitindex index` rebuilds them."""
    worktree = find_worktree(path)

    def code(answer: dict[str, Any]) -> int:
        return int(Exit.OK if answer["outcome"] == ManageOutcome.CLEARED else Exit.ERROR)

    def ask() -> dict[str, Any]:
        return {"status": "ok", **_remove_index(worktree)}

    return print_answer(ask, as_json, lambda answer: say(answer["message"]), code)


def _remove_index(worktree: Worktree, patience: float = 0.0) -> dict[str, str]:
    """Remove the index; waits this many seconds for a runner that works or lingers."""
    from gitindex.refresh.lifecycle import clear as remove_index

    deadline = time.monotonic() + patience
    done = remove_index(worktree, worktree.root)
    while done.outcome != ManageOutcome.CLEARED and time.monotonic() < deadline:
        time.sleep(0.1)
        done = remove_index(worktree, worktree.root)
    return {"outcome": str(done.outcome), "message": done.message}


def template(folder: str, temporary: bool = False, as_json: bool = False) -> int:
    """Write a git template directory that makes new clones index themselves."""
    from gitindex.install.git_template import write_template

    answer = {"status": "ok", "notes": write_template(folder, temporary)}
    return print_answer(lambda: answer, as_json, lambda _: [*map(say, answer["notes"])])


def install_aliases(as_json: bool = False) -> int:
    """Define `git fresh` and `git idx` for this user; returns 1 if a name was taken."""
    from gitindex.install import aliases

    found = aliases.install_aliases()
    answer = {"status": "ok", "aliases": [alias._asdict() for alias in found]}

    def text(_answer: dict[str, Any]) -> None:
        for alias in found:
            taken = "" if alias.installed else ": you have an alias of that name, it stays"
            say(f"git {alias.name}{taken}")

    done = all(alias.installed for alias in found)
    return print_answer(lambda: answer, as_json, text, lambda _: Exit.OK if done else Exit.NO)


def uninstall_aliases(as_json: bool = False) -> int:
    """Remove the aliases."""
    from gitindex.install import aliases

    removed = aliases.uninstall_aliases()
    answer = {"status": "ok", "removed": removed}
    return print_answer(
        lambda: answer, as_json, lambda _: say("removed" if removed else "not installed")
    )


def list_skipped(path: str = ".", as_json: bool = False) -> int:
    """List every tracked path without content in the index, and why."""

    def question(view: TreeView) -> dict[str, Any]:
        return view.envelope(skipped=skipped_paths(view))

    def text(answer: dict[str, Any]) -> None:
        for row in answer["skipped"]:
            say(f"{row['reason']:<14} {shown_path(row['path'])}")

    return print_answer(in_tree(path, NOW, question), as_json, text)


def _print_installed(
    states: list[hooks.HookState], as_json: bool, enabled: bool = True, written: Sequence[str] = ()
) -> int:
    """Print what was installed; `written` are files of hook managers that were edited instead."""
    done = bool(written) or all(hook.state == "installed" for hook in states)
    fields = [_hook_fields(hook) for hook in states]
    answer = {"status": "ok", "hooks": fields, "written": [*written], "enabled": enabled}

    def text(_answer: dict[str, Any]) -> None:
        if written:
            _say_written(written)
        else:
            _say_installed(states)
        if not enabled:
            say("hooks are disabled (gitindex.enabled is false)")

    return print_answer(lambda: answer, as_json, text, lambda _: Exit.OK if done else Exit.NO)


def _hook_fields(hook: hooks.HookState) -> dict[str, Any]:
    fields = hook._asdict() | {"path": safe_text(hook.path)}
    advice = hook.advice
    return fields | {"advice": None if advice is None else advice._asdict()}


def _say_installed(states: list[hooks.HookState]) -> None:
    for hook in states:
        path = safe_text(hook.path)
        if hook.advice is None:
            say(f"gitindex {hook.state} at {path} ({hook.via})")
        else:
            say(f"left alone: {path}: {safe_text(hook.why)}")
            say(f"  add to {safe_text(hook.advice.file)}:")
            say(safe_text(hook.advice.lines, keep="\n").rstrip())


def _say_written(written: Sequence[str]) -> None:
    for path in written:
        say(f"gitindex written to {safe_text(path)}: commit it, or leave it to this clone")
