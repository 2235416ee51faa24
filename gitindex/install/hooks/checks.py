"""Checks of installed hooks, each with a remedy. Read-only."""

from __future__ import annotations

import os
from itertools import pairwise
from typing import NamedTuple

from gitindex.base.worktree import Worktree
from gitindex.install.hooks import files, include
from gitindex.install.hooks.block import EVENTS
from gitindex.install.hooks.installation import HookState, Record, hook_states, read_record
from gitindex.install.hooks.place import (
    HooksFolder,
    ask_git,
    find_place,
    git_version,
    knows_config_hooks,
)

INSTALL = "run `gitindex install`"
PRE_COMMIT_CONFIG = ".pre-commit-config.yaml"
LFS_HOOKS = ("pre-push", "post-checkout", "post-commit", "post-merge")


class Finding(NamedTuple):
    """The result of one check."""

    name: str
    ok: bool
    detail: str
    remedy: str = ""


class EventRoutes(NamedTuple):
    """The routes by which events reach us in this worktree."""

    config: bool  # this repository's configuration
    user_config: bool  # the user's configuration
    file: bool  # the hook file git runs
    legacy: bool  # the copy of ours that pre-commit made, and runs
    pre_commit: bool  # pre-commit runs our id


def check_hooks(worktree: Worktree) -> list[Finding]:
    """Check every event, then everything that may break them all."""
    place, record, ways = find_place(worktree), read_record(worktree), find_ways(worktree)
    states = hook_states(worktree)
    findings = [_event(state, place, record, ways) for state in states]
    return [
        *findings,
        *_moved_folder(place, record, ways),
        *_config_hooks(worktree, ways),
        *_twice(ways),
        *_git_lfs(worktree, place),
    ]


def find_ways(worktree: Worktree) -> EventRoutes:
    """Return the routes by which a commit reaches us, as far as files show."""
    path = os.path.join(find_place(worktree).folder, "post-commit")
    hook, legacy = files.read_hook(path), files.read_hook(path + files.LEGACY)
    managed = hook is not None and hook.writer in ("pre-commit", "prek")
    user = os.path.join(include.user_folder(), include.NAME)
    return EventRoutes(
        config=include.is_included(worktree.root, "local", include.INCLUDED),
        user_config=include.is_included(worktree.root, "global", user),
        file=hook is not None and hook.found is not None,
        legacy=managed and legacy is not None and legacy.found is not None,
        pre_commit=managed and _has_our_id(worktree.root),
    )


def _event(
    state: HookState, place: HooksFolder, record: Record | None, ways: EventRoutes
) -> Finding:
    where = f"{state.state} at {state.path}"
    if state.state == "installed":
        return Finding(state.event, True, f"{where} ({state.via})")
    if state.state == "not executable":
        return Finding(state.event, False, where, f"run `chmod +x '{state.path}'`")
    if state.state == "outdated":
        return Finding(state.event, False, f"{where}: made by another gitindex", INSTALL)
    return _missing(state, place, record, ways)


def _missing(
    state: HookState, place: HooksFolder, record: Record | None, ways: EventRoutes
) -> Finding:
    """Explain a hook without our block: another route may serve us, or a tool has replaced us."""
    event, path = state.event, os.path.join(place.folder, state.event)
    hook, old = files.read_hook(path), files.read_hook(path + ".old")
    writer = hook.writer if hook else ""
    served = _other_route(state, hook, ways)
    if served:
        return Finding(event, True, served)
    if old is not None and old.found is not None:
        who = writer or "another tool"
        detail = f"{who} moved ours to {path}.old, which it does not run"
        return Finding(event, False, detail, f"{INSTALL}: it says what to add to lefthook.yml")
    if record is not None and event in record.events and record.folder == place.folder:
        detail = f"gone from {path}" + (f": {writer} wrote it anew" if writer else "")
        more = f", or add the id `gitindex` to {PRE_COMMIT_CONFIG}" if "pre" in writer else ""
        return Finding(event, False, detail, INSTALL + more)
    why = f": {state.why}" if state.why else ""
    return Finding(event, False, f"not installed at {path}{why}", f"{INSTALL}: it says what to do")


def _other_route(state: HookState, hook: files.HookFile | None, ways: EventRoutes) -> str:
    """Return how an event reaches us although its hook has no block of ours; empty if it does not."""
    writer = hook.writer if hook else ""
    if ways.user_config:
        return "through your global configuration"
    if ways.pre_commit and (writer in ("pre-commit", "prek") or state.event == "post-applypatch"):
        return f"through {writer or 'pre-commit, which lacks it'}"
    return f"added by hand: {state.path}" if _mentioned(state, hook) else ""


def _moved_folder(place: HooksFolder, record: Record | None, ways: EventRoutes) -> list[Finding]:
    if record is None or ways.config or not record.folder or record.folder == place.folder:
        return []
    detail = f"installed into {record.folder}, but git runs hooks from {place.folder}"
    return [Finding("core.hooksPath", False, detail, INSTALL)]


def _config_hooks(worktree: Worktree, ways: EventRoutes) -> list[Finding]:
    if not (ways.config or ways.user_config) or knows_config_hooks(worktree.root):
        return []
    version = ".".join(map(str, git_version(worktree.root)))
    detail = f"hooks are in git's configuration, and git {version} does not read them there"
    return [Finding("config hooks", False, detail, "run `gitindex install --mode hooks`")]


def _twice(ways: EventRoutes) -> list[Finding]:
    used = [name.replace("_", " ") for name, there in ways._asdict().items() if there]
    if len(used) < 2:
        return []
    remedy = "harmless, but paid twice: run `gitindex uninstall`, then keep one of them"
    return [Finding("duplicate", False, f"a commit reaches us by {' and by '.join(used)}", remedy)]


def _git_lfs(worktree: Worktree, place: HooksFolder) -> list[Finding]:
    """Warn that `git lfs install` stops at the first hook that is not its own."""
    try:
        with open(os.path.join(worktree.root, ".gitattributes"), "rb") as file:
            used = b"filter=lfs" in file.read(1 << 20)
    except OSError:
        return []
    if not used or ask_git(worktree.root, "config", "--get", "filter.lfs.clean").code:
        return []
    lacking = [name for name in LFS_HOOKS if not _runs_lfs(os.path.join(place.folder, name))]
    ours = [e for e in EVENTS if (h := files.read_hook(os.path.join(place.folder, e))) and h.found]
    if not lacking or not ours:
        return []
    remedy = "run `gitindex uninstall && git lfs install && gitindex install`"
    return [Finding("git-lfs", False, f"its hooks are missing: {', '.join(lacking)}", remedy)]


def _runs_lfs(path: str) -> bool:
    hook = files.read_hook(path)
    return hook is not None and b"git lfs " in (hook.data or b"")


def _mentioned(state: HookState, hook: files.HookFile | None) -> bool:
    advised = files.read_hook(state.advice.file) if state.advice else None
    texts = [h.data for h in (hook, advised) if h is not None and h.data]
    return any(b"gitindex_event=" in text or b"gitindex hook " in text for text in texts)


def _has_our_id(root: str) -> bool:
    try:
        with open(os.path.join(root, PRE_COMMIT_CONFIG), "rb") as file:
            words = file.read(1 << 20).replace(b"'", b"").replace(b'"', b"").split()
    except OSError:
        return False
    ids = {b"gitindex", b"gitindex-python"}
    return any(a == b"id:" and b.rstrip(b",}") in ids for a, b in pairwise(words))
