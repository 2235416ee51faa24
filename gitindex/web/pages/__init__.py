"""The pages by URL, one module for each subject."""

from __future__ import annotations

from gitindex.web.pages import checks, file, health, home, late_parts, map, search, symbol, time
from gitindex.web.session import WebPage

_MODULES = (search, file, symbol, map, time, health, late_parts, home, checks)
PAGES: dict[str, WebPage] = {
    page.name: page
    for module in _MODULES
    for page in vars(module).values()
    if isinstance(page, WebPage)
}
