"""The git hooks: installs, checks and removes them. Refuses to write files that are not ours."""

from gitindex.install.hooks.block import EVENTS
from gitindex.install.hooks.installation import (
    HookState,
    decide_mode,
    hook_states,
    install,
    install_for_user,
    install_references,
    install_shared,
    left_over,
    uninstall,
    uninstall_for_user,
)
from gitindex.refresh.detached import start_runner

__all__ = [
    "EVENTS",
    "HookState",
    "decide_mode",
    "hook_states",
    "install",
    "install_for_user",
    "install_references",
    "install_shared",
    "left_over",
    "start_runner",
    "uninstall",
    "uninstall_for_user",
]
