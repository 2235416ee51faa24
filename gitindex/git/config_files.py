"""Git's configuration files, read without git: to tell that a setting is certainly not there."""

from __future__ import annotations

import os
import sys

from gitindex.base.atomic_file import read_small
from gitindex.base.light_types import TYPE_CHECKING
from gitindex.base.worktree import Worktree

if TYPE_CHECKING:
    from collections.abc import Iterable

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
