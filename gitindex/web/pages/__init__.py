"""The pages by URL, one module each."""

from __future__ import annotations

from gitindex.web.pages.checks import CLAIMS, RADAR
from gitindex.web.pages.file import FILE, HISTORY
from gitindex.web.pages.health import HEALTH, HOOK
from gitindex.web.pages.home import CENTRAL_PAGE
from gitindex.web.pages.late_parts import CALLERS, HOVER, NAMES, REACH, SINCE
from gitindex.web.pages.map import MAP
from gitindex.web.pages.search import SEARCH
from gitindex.web.pages.symbol import SYMBOL
from gitindex.web.pages.time import TIME
from gitindex.web.session import WebPage

_ALL = (
    SEARCH,
    FILE,
    HISTORY,
    SYMBOL,
    MAP,
    TIME,
    HEALTH,
    CALLERS,
    HOVER,
    NAMES,
    REACH,
    SINCE,
    HOOK,
    CENTRAL_PAGE,
    CLAIMS,
    RADAR,
)
PAGES: dict[str, WebPage] = {page.name: page for page in _ALL}
