"""A time as people read it."""

from __future__ import annotations

import time

from gitindex.web.html import Html, element


def day_of(when: int) -> Html:
    """Return day and minute in UTC."""
    return element("time", time.strftime("%Y-%m-%d %H:%M", time.gmtime(when)), title="UTC")
