"""`python -m tests.pages.site DIR`: nothing in a built site is fetched from elsewhere."""

from __future__ import annotations

import re
import sys
from pathlib import Path

_REMOTE = r"""["']?(?:https?:)?//[^"'> ]+"""
_FETCHED = re.compile(
    rf"<(?:script|img|iframe|source|audio|video)\b[^>]*\bsrc={_REMOTE}"
    r"""|<link\b(?=[^>]*\brel=["']?(?:stylesheet|preconnect|preload|icon))"""
    rf"[^>]*\bhref={_REMOTE}",
    re.IGNORECASE,
)
_STYLE = re.compile(r"""(?:@import|url\()\s*["']?(?:https?:)?//""", re.IGNORECASE)


def remote_assets(site: Path) -> list[str]:
    """What pages and style sheets would fetch from another host."""
    found = []
    for path in sorted(site.rglob("*")):
        pattern = {".html": _FETCHED, ".css": _STYLE}.get(path.suffix)
        if pattern:
            found += [f"{path.name}: {hit[0]}" for hit in pattern.finditer(path.read_text())]
    return found


if __name__ == "__main__":
    wrong = remote_assets(Path(sys.argv[1]))
    sys.exit("\n".join(wrong) or 0)
