"""Git's configuration files, read without git: to tell that a setting is certainly not there."""

from __future__ import annotations

import os
import sys

from gitindex.base.atomic_file import read_small
from gitindex.base.errors import GitIndexError
from gitindex.base.light_types import TYPE_CHECKING
from gitindex.base.worktree import Worktree, worktree_at

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


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
    values = {key: of_user.get(key, _TAKEN_BACK.get(key[1], "")) for key in own}
    for name, last in own:
        if last in ("clean", "process") and not values[name, last]:
            values[name, "required"] = "false"  # else git fails without a filter
    return [(f"filter.{name}.{last}", value) for (name, last), value in values.items()]


def _may_define(root: str) -> bool:
    """False only if the repository's configuration names neither a filter nor another file."""
    try:
        worktree = worktree_at(root)
    except GitIndexError:
        return False  # not a repository: git will report it
    return may_mention(own_files(worktree), b"filter", b"include")


SYSTEM = "/etc/gitconfig"


def own_files(worktree: Worktree) -> tuple[str, ...]:
    """Return the files of the repository itself."""
    own = os.path.join(worktree.git_dir, "config.worktree")
    return os.path.join(worktree.common_dir, "config"), own


def user_files() -> tuple[str, ...]:
    """Return the files of the user."""
    home = os.path.expanduser("~")
    xdg = os.environ.get("XDG_CONFIG_HOME") or os.path.join(home, ".config")
    return os.path.join(home, ".gitconfig"), os.path.join(xdg, "git", "config")


def attribute_files(worktree: Worktree) -> tuple[str, ...]:
    """Return the files with attributes outside of the work tree."""
    own = os.path.join(worktree.common_dir, "info", "attributes")
    beside = os.path.join(os.path.dirname(user_files()[1]), "attributes")
    return own, beside, "/etc/gitattributes"


def may_be_anywhere(word: bytes, worktree: Worktree, git: str) -> bool:
    """False only if no file that this git reads has the word or includes further files."""
    if sys.platform != "linux" or git != "/usr/bin/git":
        return True  # another git may have its system configuration anywhere
    return may_mention((*own_files(worktree), *user_files(), SYSTEM), word, b"include")


def may_mention(files: Iterable[str], *words: bytes) -> bool:
    """False only if every file was read whole and has none of the words, in any case."""
    try:
        texts = [(read_small(file) or b"").lower() for file in files]
    except OSError:
        return True
    return any(word in text for text in texts for word in words)
