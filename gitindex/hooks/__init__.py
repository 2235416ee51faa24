"""The git hooks: installed anywhere, felt nowhere. Refuses to write what is not ours to write."""

from gitindex.hooks.block import EVENTS
from gitindex.hooks.installation import (
    HookState,
    hook_states,
    install,
    install_for_user,
    uninstall,
    uninstall_for_user,
)
from gitindex.hooks.start import start_runner

__all__ = [
    "EVENTS",
    "HookState",
    "hook_states",
    "install",
    "install_for_user",
    "start_runner",
    "uninstall",
    "uninstall_for_user",
]
