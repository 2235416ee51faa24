"""Neutralizes filter drivers that a repository defines itself: their commands never run.

`git status` and `git hash-object` run `filter.<name>.clean` and `.process` if `.gitattributes`
names the driver. Drivers of the user's own configuration (git-lfs) keep working; those that only
the repository's configuration defines are overridden, and their files are compared by raw bytes.
"""

from __future__ import annotations

from gitindex.base.errors import GitIndexError
from gitindex.base.light_types import TYPE_CHECKING
from gitindex.base.worktree import worktree_at
from gitindex.git.config_files import may_mention, own_files

if TYPE_CHECKING:
    from collections.abc import Callable

QUESTION = ("config", "--show-scope", "-z", "--get-regexp", r"^filter\.")
_TAKEN_BACK = {"required": "false"}
_OWN_SCOPES = frozenset({"local", "worktree"})


def filter_overrides(root: str, ask_git: Callable[[], bytes]) -> dict[str, str]:
    """Return variables that override the drivers of the repository at `root`; mostly empty.

    `ask_git` answers QUESTION. It is called only if the repository's configuration names a filter
    or includes other files.
    """
    if not _may_define(root):
        return {}
    pairs = overrides_of(ask_git())
    env = {"GIT_CONFIG_COUNT": str(len(pairs))} if pairs else {}
    for number, (key, value) in enumerate(pairs):
        env |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
    return env


def overrides_of(answer: bytes) -> list[tuple[str, str]]:
    """Return settings that reset each key of the repository to the user's value, or to nothing."""
    fields = answer.decode("utf-8", "surrogateescape").split("\0")[:-1]
    own: dict[tuple[str, str], None] = {}
    of_user: dict[tuple[str, str], str] = {}
    for scope, entry in zip(fields[::2], fields[1::2], strict=False):
        key, _, value = entry.partition("\n")
        name, _, last = key.removeprefix("filter.").rpartition(".")
        if scope in _OWN_SCOPES:
            own[name, last] = None
        else:
            of_user[name, last] = value
    found = {key: of_user.get(key, _TAKEN_BACK.get(key[1], "")) for key in own}
    for name, last in own:
        if last in ("clean", "process") and not found[name, last]:
            found[name, "required"] = "false"  # else git fails without a filter
    return [(f"filter.{name}.{last}", value) for (name, last), value in found.items()]


def _may_define(root: str) -> bool:
    """False only if the repository's configuration names neither a filter nor another file."""
    try:
        worktree = worktree_at(root)
    except GitIndexError:
        return False  # not a repository: git will report it
    return may_mention(own_files(worktree), b"filter", b"include")
