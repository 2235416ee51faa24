"""Python's `import` and `from … import`, read from the statement's text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gitindex.base.pattern import compile_later
from gitindex.languages.facts import Import

if TYPE_CHECKING:
    from gitindex.languages.syntax.parser import Captures

_NOISE = compile_later(r"#[^\n]*|[\\()]")


def read(captures: Captures) -> list[Import]:
    """Return all import statements; `import a.b` binds `a`, `import a.b as c` binds `c`."""
    found: list[Import] = []
    for node in captures.get("import", ()):
        text = (node.text or b"").decode("utf-8", "replace")
        if "#" in text or "(" in text or "\\" in text:
            text = _NOISE.sub(" ", text)
        head, _, names = text.partition("import")
        if head:
            found.append(_from(head[4:].strip(), names, node.start_byte))
        else:
            found += _plain(names, node.start_byte)
    return found


def _plain(names: str, start: int) -> list[Import]:
    found = []
    for module, alias in _pairs(names):
        bound = alias or module.partition(".")[0]
        found.append(Import(module, ((module, bound),), 0, start))
    return found


def _from(source: str, names: str, start: int) -> Import:
    source = "".join(source.split())
    module = source.lstrip(".")
    pairs = tuple((name, alias or name) for name, alias in _pairs(names))
    return Import(module, pairs, len(source) - len(module), start)


def _pairs(names: str) -> list[tuple[str, str]]:
    """Return each name with its alias, or ""."""
    found = []
    for item in names.split(","):
        words = item.split()
        if words:
            aliased = len(words) == 3 and words[1] == "as"
            found.append((words[0], words[2] if aliased else ""))
    return found
