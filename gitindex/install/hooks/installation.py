"""Installs, removes and inspects the hooks of one repository or of one user."""

from __future__ import annotations

import contextlib
import json
import os
import stat
from typing import NamedTuple

from gitindex.base.atomic_file import read_small, remove, write_atomic
from gitindex.base.errors import Exit, GitIndexError
from gitindex.base.locations import event_script
from gitindex.base.worktree import Worktree
from gitindex.freshness.status_file import parse_object
from gitindex.install.hooks import by_hand, files, include
from gitindex.install.hooks.block import (
    BLOCK_VERSION,
    EVENTS,
    ORIGINAL,
    SHEBANG,
    Form,
    HookBlock,
    sh_quote,
    wrap,
)
from gitindex.install.hooks.by_hand import Advice, advise
from gitindex.install.hooks.place import (
    CONFIG_HOOKS,
    HooksFolder,
    find_global_place,
    find_place,
    git_version,
    knows_config_hooks,
)

EVENT = "reference-transaction"
LINES = 8
"""Changed references that are checked: a fetch has many, none of them a local branch."""


def render_references(script: str) -> bytes:
    """Return the hook. It reads its input, so it is never inserted into another hook."""
    quoted = sh_quote(script)
    return SHEBANG + wrap(
        Form.FILE,
        f'[ "$1" = committed ] && [ -r {quoted} ] || exit 0\n'
        "left=" + "x" * LINES + "\n"
        'while [ -n "$left" ] && read -r old new ref; do\n'
        "    left=${left#x}\n"
        "    case $ref in HEAD | refs/heads/* | refs/stash) ;; *) continue ;; esac\n"
        f"    gitindex_event={EVENT}\n"
        "    exec </dev/null >/dev/null 2>&1\n"
        f"    . {quoted}\n"
        "done\n"
        "exit 0\n",
    )


def install_references(worktree: Worktree) -> str:
    """Write the hook and return its path. Refuses if another hook exists or we must not write."""
    place = find_place(worktree)
    path = os.path.join(place.folder, EVENT)
    hook = files.read_hook(path)
    if place.refusal or (hook is not None and (hook.found is None or hook.link)):
        why = place.refusal or "another one is there"
        raise GitIndexError(f"the hook {EVENT} was not written: {why}", "leave --references out")
    os.makedirs(place.folder, exist_ok=True)
    files.write_hook(path, render_references(event_script()))
    return path


def uninstall_references(worktree: Worktree) -> list[str]:
    """Remove the hook; return its path if it was there."""
    path = os.path.join(find_place(worktree).folder, EVENT)
    return [path] if files.take_out(path) else []


MODES = ("auto", "config", "hooks")
RECORD = "install.json"
STUB = "event.sh"


class HookState(NamedTuple):
    """The state of one hook."""

    event: str
    path: str
    state: str  # "installed", "absent", "outdated", "not executable", or "by hand"
    via: str = ""  # "file", "block", "dispatcher", "legacy", "config", "lefthook" or "shared"
    why: str = ""  # for "by hand": what prevents writing it
    advice: Advice | None = None


class Record(NamedTuple):
    """A record of an install, to notice when others undo it."""

    mode: str
    folder: str
    events: tuple[str, ...]
    made_folder: bool = False


def decide_mode(mode: str, root: str = "/") -> str:
    """Return the mode to use: "config" or "hooks". Refuses one that this git does not support."""
    if mode not in MODES:
        raise GitIndexError(f"unknown mode: {mode}", "one of " + ", ".join(MODES), Exit.USAGE)
    able = knows_config_hooks(root)
    if mode == "config" and not able:
        installed, needed = (".".join(map(str, v)) for v in (git_version(root), CONFIG_HOOKS))
        raise GitIndexError(
            f"git {installed} does not run hooks from its configuration: {needed} does",
            "use `--mode hooks`",
            Exit.ERROR,
        )
    return "config" if able and mode != "hooks" else "hooks"


def install(worktree: Worktree, mode: str = "auto") -> list[HookState]:
    """Install for one repository; return the state of each hook afterwards."""
    mode = decide_mode(mode, worktree.root)
    _leave_stub(worktree)
    if mode == "config":
        _remove_files(worktree)
        include.install_include(worktree, event_script())
        states = hook_states(worktree)
        _write_record(worktree, Record("config", "", EVENTS))
        return states
    include.uninstall_include(worktree)
    place = find_place(worktree)
    made = _make_folder(worktree, place) or _was_made(worktree, place)
    refused = {} if place.refusal else _put_all(place)
    states = hook_states(worktree, refused)
    done = tuple(s.event for s in states if s.state == "installed")
    _write_record(worktree, Record("hooks", place.folder, done, made))
    return states


def install_shared(worktree: Worktree, states: list[HookState]) -> list[str]:
    """Write what is left to add by hand into the team's files; return those files."""
    events = [state.event for state in states if state.state == "by hand"]
    return by_hand.write_shared(worktree, events) if events else []


def uninstall(worktree: Worktree) -> list[str]:
    """Remove everything of ours; return what was removed or restored."""
    removed = [f"include.path {include.INCLUDED}"] if include.uninstall_include(worktree) else []
    removed += uninstall_references(worktree)
    removed += _remove_files(worktree)
    remove(os.path.join(worktree.store, RECORD))
    remove(os.path.join(worktree.store, STUB))
    return removed


def left_over(worktree: Worktree) -> list[str]:
    """Return hooks that were moved aside and whose place another hook has taken since."""
    folder = find_place(worktree).folder
    paths = [os.path.join(folder, event + ORIGINAL) for event in EVENTS]
    return [path for path in paths if os.path.lexists(path)]


def install_for_user(mode: str = "auto") -> list[HookState]:
    """Install for all repositories of this user. Inert in those that are not opted in."""
    script = event_script()
    if decide_mode(mode) == "config":
        path = include.install_user_include(script)
        return [HookState(event, path, "installed", "config") for event in EVENTS]
    place = find_global_place()
    if place is None:
        raise GitIndexError(
            "git before 2.54 has hooks for all repositories only through core.hooksPath, "
            "and setting it would silence every other hook",
            "use `gitindex template DIR` for new clones, or `gitindex install` in each repository",
            Exit.ERROR,
        )
    with contextlib.suppress(OSError):
        os.makedirs(place.folder, exist_ok=True)
    return _states(place, _put_all(place))


def uninstall_for_user() -> list[str]:
    """Undo `install_for_user`; return what was removed or restored."""
    removed = ["include.path of your global configuration"]
    removed = removed if include.uninstall_user_include() else []
    place = find_global_place()
    return removed + (_take_out_all(place.folder) if place else [])


def hook_states(worktree: Worktree, refused: dict[str, str] | None = None) -> list[HookState]:
    """Return the state of the hook of every event."""
    if include.is_included(worktree.root, "local", include.INCLUDED):
        path = include.include_file(worktree)
        state = "installed" if _read(path) == include.render_include(event_script()) else "outdated"
        state = state if os.path.exists(path) else "absent"
        return [HookState(event, path, state, "config") for event in EVENTS]
    place = find_place(worktree)
    return [_as_added(worktree, place, state) for state in _states(place, refused or {})]


def _as_added(worktree: Worktree, place: HooksFolder, state: HookState) -> HookState:
    """Mark a hook that we must not write as installed if the advised lines were added."""
    if state.state not in ("by hand", "absent"):
        return state
    hook = files.read_hook(state.path)
    managed = hook is not None and hook.writer == "lefthook"
    if managed and by_hand.lefthook_knows(worktree.root, state.event):
        return HookState(state.event, state.path, "installed", "lefthook")
    path = by_hand.line_added(place, state.event) if place.shared else ""
    return HookState(state.event, path, "installed", "shared") if path else state


def read_record(worktree: Worktree) -> Record | None:
    """Return the record of the last install; None if there is none or it is unreadable."""
    fields = parse_object(_read(os.path.join(worktree.store, RECORD)))
    if fields is None:
        return None
    events = fields.get("events")
    known = [e for e in events if e in EVENTS] if isinstance(events, list) else []
    return Record(
        str(fields.get("mode")),
        str(fields.get("folder", "")),
        tuple(known),
        fields.get("madeFolder") is True,
    )


def _put_all(place: HooksFolder) -> dict[str, str]:
    """Install every event in a folder; return the reasons for those that failed."""
    refused = {}
    for event in EVENTS:
        try:
            files.put(os.path.join(place.folder, event), event, event_script())
        except files.WriteRefused as why:
            refused[event] = str(why)
        except OSError as error:
            refused[event] = f"it cannot be written: {error.strerror}"
    return refused


def _take_out_all(folder: str) -> list[str]:
    paths = [os.path.join(folder, event) for event in EVENTS]
    return [path for path in paths if files.take_out(path)]


def _remove_files(worktree: Worktree) -> list[str]:
    """Remove our lines from the current hooks folder and from the one we installed into."""
    record, place = read_record(worktree), find_place(worktree)
    folders = [] if place.scope in ("global", "system") else [place.folder]
    if record is not None and record.folder and record.folder != place.folder:
        folders.append(record.folder)
    removed = [path for folder in folders for path in _take_out_all(folder)]
    removed += by_hand.take_out_shared(worktree, place)
    if record is not None and record.made_folder:
        with contextlib.suppress(OSError):
            os.rmdir(record.folder)
    return removed


def _states(place: HooksFolder, refused: dict[str, str]) -> list[HookState]:
    return [_state(event, place, refused.get(event, "")) for event in EVENTS]


def _state(event: str, place: HooksFolder, refused: str) -> HookState:
    path = os.path.join(place.folder, event)
    hook, via = files.read_hook(path), ""
    writer = hook.writer if hook else ""
    if writer in ("pre-commit", "prek") and hook is not None and hook.found is None:
        legacy = files.read_hook(path + files.LEGACY)
        if legacy is not None and legacy.found is not None:
            hook, via = legacy, "legacy"
    if hook is None or hook.found is None:
        why = place.refusal or refused
        if not why:
            return HookState(event, path, "absent", "", "", None)
        return HookState(event, path, "by hand", "", why, advise(event, place, writer))
    return _present_state(event, hook, hook.found, via)


def _present_state(event: str, hook: files.HookFile, ours: HookBlock, via: str) -> HookState:
    via = via or str(ours.form)
    if not hook.runnable:
        return HookState(event, hook.path, "not executable", via)
    current = ours.version > BLOCK_VERSION or _sources(ours.text)
    return HookState(event, hook.path, "installed" if current else "outdated", via)


def _sources(text: bytes) -> bool:
    """Is this block of our version, and does it source the script shipped now?"""
    own = f"# >>> gitindex {BLOCK_VERSION} >>>".encode()
    return text.startswith(own) and os.fsencode(sh_quote(event_script())) in text


def _make_folder(worktree: Worktree, place: HooksFolder) -> bool:
    if place.refusal or os.path.isdir(place.folder):
        return False
    mode = stat.S_IMODE(os.stat(worktree.common_dir).st_mode)
    try:
        os.makedirs(place.folder)
        os.chmod(place.folder, mode)
    except OSError:
        return False  # the hooks report why
    return True


def _was_made(worktree: Worktree, place: HooksFolder) -> bool:
    record = read_record(worktree)
    return record is not None and record.made_folder and record.folder == place.folder


def _write_record(worktree: Worktree, record: Record) -> None:
    if os.path.isdir(worktree.store):
        fields = {
            "version": BLOCK_VERSION,
            "mode": record.mode,
            "folder": record.folder,
            "events": record.events,
            "madeFolder": record.made_folder,
        }
        write_atomic(os.path.join(worktree.store, RECORD), json.dumps(fields).encode())


def _leave_stub(worktree: Worktree) -> None:
    """Write the stub in the store that shared hooks source: it has the path on this machine."""
    if os.path.isdir(worktree.store):
        write_atomic(os.path.join(worktree.store, STUB), render_stub())


def render_stub() -> bytes:
    """Return a script that sources the shipped one."""
    script = os.fsencode(sh_quote(event_script()))
    return b"[ -r " + script + b" ] && . " + script + b"\n"


def _read(path: str) -> bytes | None:
    try:
        return read_small(path)
    except OSError:
        return None
