"""The settings: one table of git configuration keys, their meaning, and who may set them."""

from __future__ import annotations

import os

from gitindex.base.atomic_file import remove, write_atomic
from gitindex.base.escape import safe_text
from gitindex.base.light_types import NamedTuple
from gitindex.base.worktree import Worktree
from gitindex.git.command import (
    clean_env,
    git_program,
    may_be_anywhere,
    own_files,
    try_git,
    user_files,
)


def is_enabled(worktree: Worktree) -> bool:
    """Return the current setting in git. Unset or unreadable means enabled."""
    if not may_be_anywhere(b"gitindex", worktree, git_program(clean_env())):
        return True  # saves a git process at every prompt
    answer = try_git(worktree.root, "config", "--type=bool", "--get", "gitindex.enabled")
    return answer.output.strip() != b"false"


def note_switch(worktree: Worktree) -> bool:
    """Return the current setting, and update the hooks' note. For writers only."""
    newest = _newest(worktree)
    enabled = is_enabled(worktree)
    if os.path.isdir(worktree.store):
        _note(_note_path(worktree), enabled, newest)
    return enabled


def _note(path: str, enabled: bool, newest: int) -> None:
    try:
        if enabled:
            remove(path)
        else:
            write_atomic(path, b"gitindex.enabled is false\n", durable=False)
            os.utime(path, ns=(newest, newest))
    except OSError:
        return  # without the note a hook starts a runner, which asks git


def _newest(worktree: Worktree) -> int:
    """Return the modification time of the newest configuration file that a hook checks."""
    times = [0]
    for path in (*own_files(worktree), *user_files()):
        try:
            times.append(os.stat(path).st_mtime_ns)
        except OSError:
            continue
    return max(times)


def _note_path(worktree: Worktree) -> str:
    return os.path.join(worktree.store, f"off.{worktree.id}")


YES = ("true", "yes", "on", "1")
USER_SCOPES = ("global", "system")
"""Scopes of git's configuration that are the user's own."""


class Setting(NamedTuple):
    """One key below `gitindex.`."""

    name: str
    default: str
    meaning: str


class SettingValue(NamedTuple):
    """A value that is set, and the file git read it from."""

    name: str
    value: str
    origin: str


SETTINGS = (
    Setting("enabled", "true", "false: the hooks of this repository do nothing"),
    Setting("semantic", "false", "true, or a path: indexers may run (your own config only)"),
    Setting(
        "semantic.oncommit", "false", "true: commits start allowed indexers (your own config only)"
    ),
    Setting(
        "documents", "", "a folder whose documents are searched though git does not track them"
    ),
    Setting("submodules", "false", "true: submodules that a git template opted in are indexed"),
    Setting("strict", "false", "true: no answer while a job runs, as with --strict"),
    Setting("resident", "use", "off: no command uses or starts a resident process"),
    Setting("mcp.write", "false", "true: agents may apply renames (your own config only)"),
    Setting("pack.dest", "", "where packs are pushed to and pulled from (your own config only)"),
    Setting("pack.key", "", "the SSH key that signs packs (your own config only)"),
    Setting("pack.signers", "", "allowed signers; else gpg.ssh.allowedSignersFile (your own only)"),
    Setting("pack.trust", "signed", "any: facts of unsigned packs are taken too (your own only)"),
    Setting("team.url", "", "the team's PostgreSQL server (your own config only)"),
    Setting("team.text", "true", "false: a push sends names, not the text (your own config only)"),
    Setting(
        "pack.certify", "verified", "signed: certificates rest on signed facts (your own only)"
    ),
)


def read_settings(worktree: Worktree) -> list[SettingValue]:
    """Return every `gitindex.*` key that is set; the effective value is last."""
    output = try_git(
        worktree.root, "config", "--show-scope", "-z", "--get-regexp", r"^gitindex\."
    ).output
    fields = output.split(b"\0")[:-1]
    values = []
    for scope, entry in zip(fields[::2], fields[1::2], strict=False):
        key, _, value = entry.partition(b"\n")
        name = key.decode("utf-8", "replace").removeprefix("gitindex.")
        values.append(SettingValue(name, value.decode("utf-8", "replace"), scope.decode()))
    return values


def user_setting(worktree: Worktree, key: str) -> str:
    """Return a value of the user's or the system's configuration; the repository's own is ignored.

    So is any file that lies inside the repository, however it is included.
    """
    answer = try_git(
        worktree.root, "config", "-z", "--show-scope", "--show-origin", "--get-all", key
    )
    words = os.fsdecode(answer.output).split("\0")
    value = ""
    for scope, origin, text in zip(words[0::3], words[1::3], words[2::3], strict=False):
        if scope in USER_SCOPES and not is_inside(origin.removeprefix("file:"), worktree):
            value = text
    return value


def user_allows(worktree: Worktree, key: str) -> bool:
    """Is a key true in the user's or the system's configuration?"""
    return user_setting(worktree, key).lower() in YES


def is_inside(origin: str, worktree: Worktree) -> bool:
    """Does a configuration file lie inside the repository?"""
    path = os.path.realpath(os.path.join(worktree.root, origin))
    folders = (worktree.root, worktree.common_dir, os.path.realpath(worktree.git_dir))
    return any(path.startswith(folder + os.sep) for folder in folders)


def is_strict(worktree: Worktree) -> bool:
    """Is the strict gate configured? Unreadable means no."""
    answer = try_git(worktree.root, "config", "--type=bool", "--get", "gitindex.strict")
    return answer.output.strip() == b"true"


def unknown_settings(values: list[SettingValue]) -> list[str]:
    """Return keys that are set but unknown."""
    known = {setting.name.partition(".")[0] for setting in SETTINGS}
    return sorted({safe_text(v.name) for v in values if v.name.partition(".")[0] not in known})
