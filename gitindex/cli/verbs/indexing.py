"""Verbs that set up, run and show the index: plain functions that return an exit code."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from typing import Any

from gitindex.base.errors import Exit, NotIndexed
from gitindex.base.escape import counted, safe_text
from gitindex.base.ownership import check_owner
from gitindex.base.vocabulary import ManageOutcome
from gitindex.base.worktree import Worktree, find_worktree
from gitindex.cli.printing import in_tree, print_answer
from gitindex.cli.shown_path import shown_path
from gitindex.cli.terminal import say
from gitindex.cli.verbs.refreshing import opted_in
from gitindex.git.hook_switch import note_switch
from gitindex.git.settings import SETTINGS, Setting, SettingValue, read_settings, unknown_settings
from gitindex.install import hooks
from gitindex.query.health import job_fields, skipped_paths
from gitindex.refresh import public_files
from gitindex.refresh.log import read_log
from gitindex.refresh.queue import Job, read_history
from gitindex.refresh.spool import INSTALL, append_event
from gitindex.view.tree import NOW, TreeView

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


def skipped(path: str = ".", as_json: bool = False) -> int:
    """List every tracked path without content in the index, and why."""

    def question(view: TreeView) -> dict[str, Any]:
        return view.envelope(skipped=skipped_paths(view))

    def text(answer: dict[str, Any]) -> None:
        for row in answer["skipped"]:
            say(f"{row['reason']:<14} {shown_path(row['path'])}")

    return print_answer(in_tree(path, NOW, question), as_json, text)


def jobs(path: str = ".", limit: int = 20, as_json: bool = False) -> int:
    """List the queue and its history, newest first."""
    found = read_history(find_worktree(path), limit)
    if found is None:
        raise NotIndexed
    answer = {"status": "ok", "jobs": [job_fields(job) for job in found]}
    return print_answer(lambda: answer, as_json, lambda _: [*map(say, map(_job_line, found))])


def config(path: str = ".", as_json: bool = False) -> int:
    """List every setting, its value and where it was set; unknown settings are reported by name."""
    values = read_settings(find_worktree(path))
    unknown = unknown_settings(values)
    set_ = {value.name: value for value in values}
    rows = [(setting, set_.get(setting.name)) for setting in SETTINGS]
    listed = [_setting_fields(setting, value) for setting, value in rows]

    def text(_answer: dict[str, Any]) -> None:
        for setting, value in rows:
            told = f"{safe_text(value.value)} ({value.origin})" if value else setting.default
            say(f"gitindex.{setting.name:<17} {told:<20} {setting.meaning}")
        for name in unknown:
            sys.stderr.write(f"gitindex: unknown setting gitindex.{name}\n")

    answer = {"status": "ok", "settings": listed, "unknown": unknown}
    return print_answer(lambda: answer, as_json, text)


def _setting_fields(setting: Setting, value: SettingValue | None) -> dict[str, str | None]:
    """Return the JSON fields of a setting; `origin` is null if the default applies."""
    told = safe_text(value.value) if value else setting.default
    return {"name": setting.name, "value": told, "origin": value.origin if value else None}


def log(path: str = ".", limit: int = 40, as_json: bool = False) -> int:
    """Print the last lines of the store's log."""
    answer = {"status": "ok", "lines": [*map(safe_text, read_log(opted_in(path).store, limit))]}
    return print_answer(lambda: answer, as_json, lambda _: [*map(say, answer["lines"])])


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


def _job_line(job: Job) -> str:
    took = (
        f"{job.finished_at - job.started_at:.2f} s" if job.finished_at and job.started_at else "-"
    )
    why = safe_text(job.error or job.superseded_reason or "")
    line = f"{job.id:>5} {job.status:<10} {took:>8} {counted(job.extracted, 'blobs'):>12}"
    return f"{line}  {safe_text(job.trigger_reason)}  {why}".rstrip()
