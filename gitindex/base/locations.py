"""Where files of ours are outside of any repository: shipped with the code, or of one user (XDG)."""

from __future__ import annotations

import os


def state_folder() -> str:
    """`$XDG_STATE_HOME/gitindex`, or `~/.local/state/gitindex`: kept over a reboot."""
    state = _absolute("XDG_STATE_HOME")
    if state is None:
        state = os.path.join(os.path.expanduser("~"), ".local", "state")
    return os.path.join(state, "gitindex")


def runtime_folder() -> str:
    """`$XDG_RUNTIME_DIR/gitindex`, which ends with the login; the state folder where there is none."""
    runtime = _absolute("XDG_RUNTIME_DIR")
    return state_folder() if runtime is None else os.path.join(runtime, "gitindex")


def _absolute(variable: str) -> str | None:
    """The folder that a variable names. By the XDG rules a relative value counts as none."""
    folder = os.environ.get(variable, "")
    return folder if os.path.isabs(folder) else None


def shipped_folder(name: str) -> str:
    """The absolute path of the shipped `hooks/` or `templates/`."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    inside = os.path.join(package, "_data", name)
    return inside if os.path.isdir(inside) else os.path.join(os.path.dirname(package), name)


def event_script() -> str:
    """The script every hook of ours sources."""
    return os.path.join(shipped_folder("hooks"), "event.sh")
