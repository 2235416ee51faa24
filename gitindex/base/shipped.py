"""Where the files are that are shipped beside the code: in the wheel, or in a checkout."""

from __future__ import annotations

import os


def shipped_folder(name: str) -> str:
    """The absolute path of the shipped `hooks/` or `templates/`."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    inside = os.path.join(package, "_data", name)
    return inside if os.path.isdir(inside) else os.path.join(os.path.dirname(package), name)


def event_script() -> str:
    """The script every hook of ours sources."""
    return os.path.join(shipped_folder("hooks"), "event.sh")
