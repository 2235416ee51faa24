"""Verbs that set up, run and show the index: plain functions that return an exit code."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from gitindex.base.errors import Exit, GitIndexError
from gitindex.base.escape import counted, safe_text
from gitindex.base.vocabulary import ManageOutcome
from gitindex.base.worktree import Worktree, check_owner, find_worktree
from gitindex.cli.printing import CommandReply, print_reply
from gitindex.cli.progress import progress_bar
from gitindex.cli.shell_here import shown_path
from gitindex.cli.terminal import say
from gitindex.git.settings import note_switch
from gitindex.install.hooks import installation as hooks
from gitindex.maintenance.gc import collect, survey
from gitindex.query.health import skipped_paths
from gitindex.refresh import public_files
from gitindex.refresh.detached import start_runner
from gitindex.refresh.spool import INSTALL, append_event, waiting
from gitindex.view.tree import open_tree


def status(
    path: str, as_json: bool, short: bool, no_edits: bool, clean: bool, skipped: bool
) -> int:
    """Print whether the index is current, or what it leaves out."""
    from gitindex.freshness.report import show_status

    if skipped:
        return print_reply(partial(list_skipped, path), as_json)
    form = "json" if as_json else "short" if short else "brief" if no_edits else "text"
    return show_status(form, path, clean=clean)


def check(path: str, as_json: bool, clean: bool) -> int:
    """Print one word, and return its exit code."""
    from gitindex.freshness.report import show_status

    return show_status("json" if as_json else "short", path, check=True, clean=clean)


def index_history(path: str) -> int:
    """Bring the history layer up to HEAD."""
    from gitindex.refresh.history_index import index_history as index_now

    with progress_bar("history") as report:
        done = index_now(find_worktree(path), report)
    cut = f", {done.forgotten} forgotten" if done.forgotten else ""
    say(
        f"history: {counted(done.commits, 'commits')} added{cut}, {counted(done.blobs, 'blobs')} extracted"
    )
    return int(Exit.OK)


PURGE_SECONDS = 60.0
"""How long `uninstall --purge` waits for a runner that started before the hooks were removed."""


def install(path: str, mode: str, everywhere: bool, write: bool, references: bool) -> CommandReply:
    """Opt in, install the hooks, and start the first index in the background."""
    if everywhere:
        return _installed(hooks.install_for_user(mode))
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
    with suppress(GitIndexError):  # the runner would wait until nobody can be deleting the clone
        public_files.ensure_folder(worktree)
    start_runner(worktree)
    return _installed(states, note_switch(worktree), written, sys.stdout.isatty())


def uninstall(path: str, everywhere: bool, purge: bool) -> CommandReply:
    """Remove our hooks. The index stays, unless `purge` is given."""
    from gitindex.install import aliases

    removed = hooks.uninstall_for_user() if everywhere else hooks.uninstall(find_worktree(path))
    if not everywhere and aliases.uninstall_for_clone(find_worktree(path)):
        removed.append(f"include.path {aliases.IN_CLONE}")
    left = [] if everywhere else hooks.left_over(find_worktree(path))
    answer: dict[str, Any] = {"status": "ok", "removed": removed, "kept": left}
    lines = [f"removed gitindex from {safe_text(what)}" for what in removed]
    lines += [
        f"kept {safe_text(hook)}: your previous hook; another hook now occupies its place"
        for hook in left
    ]
    lines += [] if removed else ["no hook of gitindex is installed"]
    code = Exit.NO if left else Exit.OK
    if purge:
        answer["index"] = index = _remove_index(find_worktree(path), PURGE_SECONDS)
        lines.append(index["message"])
        code = code if index["outcome"] == ManageOutcome.CLEARED else Exit.ERROR
    return CommandReply(answer, lines, code)


def clear(path: str) -> CommandReply:
    """Remove the store and the public files; the next `gitindex index` rebuilds them."""
    done = _remove_index(find_worktree(path))
    code = Exit.OK if done["outcome"] == ManageOutcome.CLEARED else Exit.ERROR
    return CommandReply({"status": "ok", **done}, [done["message"]], code)


def _remove_index(worktree: Worktree, patience: float = 0.0) -> dict[str, str]:
    """Remove the index; waits this many seconds for a runner that works or lingers."""
    from gitindex.refresh.lifecycle import clear as remove_index

    deadline = time.monotonic() + patience
    done = remove_index(worktree, worktree.root)
    while done.outcome != ManageOutcome.CLEARED and time.monotonic() < deadline:
        time.sleep(0.1)
        done = remove_index(worktree, worktree.root)
    return {"outcome": str(done.outcome), "message": done.message}


def template(folder: str, temporary: bool) -> CommandReply:
    """Write a git template directory that makes new clones index themselves."""
    from gitindex.install.git_template import write_template

    notes = write_template(folder, temporary)
    return CommandReply({"status": "ok", "notes": notes}, notes)


def install_aliases() -> CommandReply:
    """Define `git fresh` and `git idx` for this user; returns 1 if a name was taken."""
    from gitindex.install import aliases

    found = aliases.install_aliases()
    taken = ": you have an alias of that name, it stays"
    lines = [f"git {alias.name}{'' if alias.installed else taken}" for alias in found]
    code = Exit.OK if all(alias.installed for alias in found) else Exit.NO
    return CommandReply({"status": "ok", "aliases": [a._asdict() for a in found]}, lines, code)


def uninstall_aliases() -> CommandReply:
    """Remove the aliases."""
    from gitindex.install import aliases

    removed = aliases.uninstall_aliases()
    answer = {"status": "ok", "removed": removed}
    return CommandReply(answer, ["removed" if removed else "not installed"])


def list_skipped(path: str) -> CommandReply:
    """List every tracked path without content in the index, and why."""
    with open_tree(find_worktree(path), path) as view:
        answer = view.envelope(skipped=skipped_paths(view))
    rows = answer["skipped"]
    return CommandReply(answer, [f"{row['reason']:<14} {shown_path(row['path'])}" for row in rows])


def _installed(
    states: list[hooks.HookState],
    enabled: bool = True,
    written: Sequence[str] = (),
    person: bool = False,
) -> CommandReply:
    """Say what was installed; `written` are files of hook managers that were edited instead."""
    done = bool(written) or all(hook.state == "installed" for hook in states)
    fields = [_hook_fields(hook) for hook in states]
    answer = {"status": "ok", "hooks": fields, "written": [*written], "enabled": enabled}
    lines = [
        f"gitindex written to {safe_text(path)}: commit it, or leave it to this clone"
        for path in written
    ] or [line for hook in states for line in _hook_lines(hook)]
    if not enabled:
        lines.append("hooks are disabled (gitindex.enabled is false)")
    elif person:
        lines += NEXT
    return CommandReply(answer, lines, Exit.OK if done else Exit.NO)


NEXT = (
    "Indexing HEAD in the background: `gitindex wait` shows the progress and waits for it.",
    "Then try `gitindex search WORDS`, or `gitindex --help` for everything else.",
)


def _hook_fields(hook: hooks.HookState) -> dict[str, Any]:
    fields = hook._asdict() | {"path": safe_text(hook.path)}
    advice = hook.advice
    return fields | {"advice": None if advice is None else advice._asdict()}


def _hook_lines(hook: hooks.HookState) -> Iterator[str]:
    path = safe_text(hook.path)
    if hook.advice is None:
        yield f"gitindex {hook.state} at {path} ({hook.via})"
        return
    yield f"left alone: {path}: {safe_text(hook.why)}"
    yield f"  add to {safe_text(hook.advice.file)}:"
    yield safe_text(hook.advice.lines, keep="\n").rstrip()


def gc(path: str = ".", dry_run: bool = False) -> CommandReply:
    """Remove what no worktree and no branch needs."""
    worktree = find_worktree(path)
    if dry_run:
        answer = survey(worktree)
    else:
        check_owner(worktree)
        os.umask(0o077)
        try:
            with progress_bar("collecting garbage") as report:
                answer = collect(worktree, report)
        finally:
            if waiting(worktree):  # a hook found the lock taken and left its event to us
                start_runner(worktree)
    would, forgot = ("would remove", "would forget") if dry_run else ("removed", "forgot")
    lines = [
        f"{would} {counted(answer['removedBlobs'], 'blobs')}; {answer['keptBlobs']} are needed",
        *(f"{forgot} worktree {name}" for name in answer["forgottenWorktrees"]),
        f"{answer['reusableBytes']} bytes of the store are free for new facts",
    ]
    return CommandReply(answer, lines)
