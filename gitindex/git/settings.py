"""The settings: one table of git configuration keys, what they mean, and whom we let set them."""

from __future__ import annotations

from typing import NamedTuple

from gitindex.base.escape import safe_text
from gitindex.base.worktree import Worktree
from gitindex.git.command import try_git


class Setting(NamedTuple):
    """One key below `gitindex.`."""

    name: str
    default: str
    meaning: str


class SettingValue(NamedTuple):
    """What is set: where git read it from, and what it says."""

    name: str
    value: str
    origin: str


SETTINGS = (
    Setting("enabled", "true", "false: the hooks of this repository do nothing"),
    Setting("semantic", "false", "true, or a path: indexers may run (your own config only)"),
    Setting(
        "documents", "", "a folder whose documents are searched though git does not track them"
    ),
    Setting("submodules", "false", "true: submodules that a git template opted in are indexed"),
    Setting("strict", "false", "true: no answer while a job runs, as with --strict"),
)


def read_settings(worktree: Worktree) -> list[SettingValue]:
    """Every `gitindex.*` key that is set, the one in force last."""
    found = try_git(
        worktree.root, "config", "--show-scope", "-z", "--get-regexp", r"^gitindex\."
    ).output
    fields = found.split(b"\0")[:-1]
    values = []
    for scope, entry in zip(fields[::2], fields[1::2], strict=False):
        key, _, value = entry.partition(b"\n")
        name = key.decode("utf-8", "replace").removeprefix("gitindex.")
        values.append(SettingValue(name, value.decode("utf-8", "replace"), scope.decode()))
    return values


def is_strict(worktree: Worktree) -> bool:
    """Does the configuration ask for the strict gate? Unreadable is no."""
    answer = try_git(worktree.root, "config", "--type=bool", "--get", "gitindex.strict")
    return answer.output.strip() == b"true"


def unknown_settings(values: list[SettingValue]) -> list[str]:
    """Keys that are set and mean nothing here."""
    known = {setting.name for setting in SETTINGS}
    return sorted({safe_text(v.name) for v in values if v.name.partition(".")[0] not in known})
