"""Markdown as HTML that cannot do anything: words of raw HTML, no remote images, links inside or https.

The only importer of markdown_it.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable
from html import unescape
from typing import Any
from urllib.parse import unquote, urlsplit

from markdown_it import MarkdownIt

from gitindex.web.html import Html, element, link, text

MAX_CHARS = 60_000
_TAGS = "p h1 h2 h3 h4 h5 h6 ul ol li blockquote em strong s table thead tbody tr th td"
_MARKUP = re.compile(r"<!--.*?(?:-->|$)|<(script|style)\b.*?(?:</\1>|$)|<[^>]*>?", re.I | re.S)
_KNOWN = frozenset(_TAGS.split())
_LEAVES: dict[str, Callable[[str], str]] = {
    "text": text,
    "html_inline": lambda _: "",
    "html_block": lambda content: element("p", words) if (words := _words(content)) else "",
    "fence": lambda content: element("pre", element("code", content), tabindex=0),  # it scrolls
    "code_block": lambda content: element("pre", element("code", content), tabindex=0),
    "code_inline": lambda content: element("code", content),
    "image": lambda content: element("em", content),  # nothing is fetched from elsewhere
    "softbreak": lambda _: "\n",
    "hardbreak": lambda _: "<br>",
    "hr": lambda _: "<hr>",
    "link_close": lambda _: "</a>",
}
"""How a token without others inside is written."""


def render_markdown(source: str, folder: str = "", at: str = "") -> Html:
    """Render a document of the tree; relative links lead to its files as the page shows them."""
    parser = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    return _Writer(folder, at).write(parser.parse(source[:MAX_CHARS]))


_RST = (
    (r"^ *\.\. _([^:\n]+): *(\S+)$", r"[\1]: \2"),  # where a link leads
    (r"^\.\. (?:code-block|code|sourcecode)::.*\n(?: +:.*\n)*((?:\n| +.*\n)+)", r"```\n\1```\n"),
    (r"^\.\.(?: .*|)\n(?:(?: {2,}.*)?\n)*?(?=\S|\Z)", ""),  # other directives and comments
    (r"^([=~^\"'#*+-])\1+\n(.+\n)(\1\1+)$", r"\2\3"),  # a line above a title
    (r"^(\S.*)\n([=])\2{2,}$", r"# \1"),
    (r"^(\S.*)\n([~^\"'#*+-])\2{2,}$", r"## \1"),
    (r"`([^`<\n]{1,200}?) ?<([^>`\n]{1,400})>`__?", r"[\1](\2)"),
    (r":\w+:(`[^`\n]+`)(?!`)", r"\1"),
    (r"(?<!`)`([^`\n]+)`_\b", r"[\1]"),
    (r"::$", ":"),
)


def markdown_of(rst: str) -> str:
    """Return reStructuredText as Markdown, as far as a README uses it; the rest stays text."""
    for pattern, plain in _RST:
        rst = re.sub(pattern, plain, rst[:MAX_CHARS], flags=re.M)
    return rst


class _Writer:
    """Writes tokens by a list of known tags: what is not on it is left out, or is text."""

    def __init__(self, folder: str, at: str) -> None:
        self._folder, self._at = folder, at
        self._parts: list[str] = []

    def write(self, tokens: list[Any]) -> Html:
        for token in tokens:
            self._token(token)
        return Html("".join(self._parts))

    def _token(self, token: Any) -> None:
        if token.type == "inline":
            self.write(token.children or [])
        elif token.type == "link_open":
            self._open_link(str(token.attrs.get("href", "")))
        elif token.type in _LEAVES:
            self._parts.append(_LEAVES[token.type](token.content))
        elif token.tag in _KNOWN and not token.hidden:
            tag = _lower(token.tag)
            self._parts.append(f"<{tag}>" if token.nesting > 0 else f"</{tag}>")

    def _open_link(self, href: str) -> None:
        target = self._target(href)
        rel = "noreferrer noopener" if target.startswith("https:") else None
        opened = element("a", href=target or None, rel=rel)
        self._parts.append(opened.removesuffix("</a>"))

    def _target(self, href: str) -> str:
        """Return where a link may lead: https, or a file of the tree; empty for anything else."""
        try:
            parts = urlsplit(href)
        except ValueError:
            return ""
        if parts.scheme or parts.netloc:
            return href if parts.scheme == "https" and parts.netloc else ""
        path = posixpath.normpath(posixpath.join(self._folder, unquote(parts.path)))
        return (
            link("file", path.lstrip("/"), at=self._at) if parts.path and path[:2] != ".." else ""
        )


def _words(markup: str) -> str:
    """Return what raw HTML says, without its tags; the rest of it is shown to nobody."""
    return " ".join(unescape(_MARKUP.sub(" ", markup)).split())


def _lower(tag: str) -> str:
    """Return a heading two levels lower: the page has its own above it."""
    return f"h{min(6, int(tag[1]) + 1)}" if tag[0] == "h" and tag[1:].isdigit() else tag
